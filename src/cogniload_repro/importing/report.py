"""The report of an import: responses per model, rejected rows with reasons, columns not read."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cogniload_repro.importing.rejections import IMPORT_PAGE, RowError
from cogniload_repro.importing.responses import Response, clean_text
from cogniload_repro.safe_text import for_spreadsheet

#: Reasons of rows that are listed, but do not count as rejected: other files, and failed requests
#: whose puzzle the source answers elsewhere.
LISTED = ("not read", "answered elsewhere")


class Rejected(NamedTuple):
    """A row that cannot be used (0: the whole file); its puzzle and its model, where known."""

    file: str
    row: int
    reason: str
    detail: str
    name: str | None = None
    model: str | None = None


@dataclass
class Report:
    """The findings of an import.

    ``facts`` counts the responses of a model with a stop reason, and those with "tokens".
    ``cells`` has models and their configurations, ``settings`` models, settings and values;
    ``unread`` has the columns that are not read.
    """

    responses: Counter[str] = field(default_factory=Counter)
    facts: Counter[tuple[str, str]] = field(default_factory=Counter)
    cells: set[tuple[str, ...]] = field(default_factory=set)
    settings: set[tuple[str, str, str]] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    rejected: list[Rejected] = field(default_factory=list)

    def count(self, response: Response) -> None:
        """Count a response, and collect its configuration and settings."""
        model = response.model
        self.responses[model] += 1
        self.facts[model, response.stopped or "unknown"] += 1
        if None not in (response.prompt_tokens, response.response_tokens):
            self.facts[model, "tokens"] += 1
        # a name begins with the configuration: N_d_needles
        self.cells.add((model, *response.name.split("_")[:3]))
        settings = response.settings.items()
        self.settings.update((model, *setting) for setting in settings)

    def reject(self, file: str, row: int, error: RowError) -> None:
        """List a row that cannot be used."""
        reason, detail, *place = error.args
        self.rejected.append(
            Rejected(file, row, reason, clean_text(detail)[:1000], *place)
        )

    def settle(self, answers: dict[tuple[str, str], str]) -> None:
        """Mark the failed requests to which another row has the answer.

        A line of a failed batch may name no model; the source's only model is then assumed.
        """
        for place, row in enumerate(self.rejected):
            models = [row.model] if row.model else [*self.responses]
            answered = [(model, row.name) in answers for model in models]
            if row.reason == "failed request" and answered == [True]:
                self.rejected[place] = row._replace(reason="answered elsewhere")

    @property
    def unusable(self) -> int:
        """Number of rejected rows, without those that are only listed."""
        return sum(row.reason not in LISTED for row in self.rejected)

    def summary(self) -> str:
        """Return the report in a few lines, with an example of each reason."""
        total = self.responses.total()
        counts = f"responses: {total:,}, models: {len(self.responses):,}"
        lines = [f"{counts}, rejected rows: {self.unusable:,}"]
        tested = sum(self.facts[model, "tokens"] for model in self.responses)
        if tested < total:
            lines.append(
                f"  {total - tested:,} responses lack a number of tokens: whether they overflow"
                " cannot be tested"
            )
        reasons = Counter(row.reason for row in self.rejected)
        for reason, count in sorted(reasons.items()):
            first = next(row for row in self.rejected if row.reason == reason)
            place = f"first in {first.file!r}, row {first.row}"
            lines.append(f"  {count:,} {reason}, {place}: {first.detail}")
        if self.unread:
            names = ", ".join(sorted(self.unread))
            lines.append(f"  columns that are not read: {names}; {IMPORT_PAGE}")
        return "\n".join(lines)

    def check(self, max_rejected: int = 0) -> None:
        """Raise ValueError if more rows were rejected than allowed, or none was accepted.

        A file that cannot be read to its end always raises it: any number of rows may be lost.
        """
        for row in self.rejected:
            if row.reason == "unreadable file":
                raise ValueError(
                    f"{row.file!r} cannot be read to its end, so rows are lost ({row.detail});"
                    " repair it, save it as UTF-8, or remove it"
                )
        if self.unusable > max_rejected:
            raise ValueError(
                f"rejected rows: {self.unusable:,}, allowed: {max_rejected:,}; correct the source,"
                " or accept them: --max-rejected n, or with make MAX_REJECTED=n"
            )
        if not self.responses:
            raise ValueError(
                "the source has no row that can be read; it may have only a header"
            )

    def write_rejected(self, path: Path) -> None:
        """Append the rejected rows to a CSV file, made safe for spreadsheets."""
        rows = pd.DataFrame(self.rejected, columns=Rejected._fields)
        for_spreadsheet(rows).to_csv(
            path, mode="a", header=not path.exists(), index=False
        )
