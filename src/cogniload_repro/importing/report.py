"""The report of an import: responses per model, rejected rows with reasons, columns not read."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from cogniload_repro.importing.rejections import IMPORT_PAGE, LISTED, Rejected
from cogniload_repro.importing.responses import Response
from cogniload_repro.safe_text import for_spreadsheet


def _count_settings() -> dict[str, dict[str, Counter]]:
    return defaultdict(lambda: defaultdict(Counter))


@dataclass
class Report:
    """The findings of an import.

    ``settings`` counts responses by model, setting and value, ``unread`` has the columns that are
    not read; ``untested`` is the number of responses without both token counts; ``origin`` says
    which edition drew the puzzles.
    """

    responses: Counter[str] = field(default_factory=Counter)
    rejected: list[Rejected] = field(default_factory=list)
    settings: dict[str, dict[str, Counter]] = field(default_factory=_count_settings)
    unread: set[str] = field(default_factory=set)
    untested: int = 0
    origin: str = ""

    def count(self, response: Response) -> None:
        """Count a response and its settings."""
        self.responses[response.model] += 1
        self.untested += not response.has_tokens
        for name, value in response.settings.items():
            self.settings[response.model][name][value] += 1

    @property
    def unusable(self) -> int:
        """Number of rejected rows, without those that are only listed."""
        return sum(row.reason not in LISTED for row in self.rejected)

    def summary(self) -> str:
        """Return the report in a few lines, with an example of each reason."""
        total = self.responses.total()
        counts = f"responses: {total:,}, models: {len(self.responses):,}"
        lines = [f"{counts}, rejected rows: {self.unusable:,}"]
        if self.untested:
            cause = f"{self.untested:,} responses lack a number of tokens"
            lines.append(f"  {cause}: whether they overflow cannot be tested")
        if self.origin:
            lines.append(self.origin)
        rows = pd.DataFrame(self.rejected, columns=Rejected._fields)
        for reason, group in rows.groupby("reason"):
            first = group.iloc[0]
            place = f"first in {first['file']!r}, row {first['row']}"
            lines.append(f"  {len(group):,} {reason}, {place}: {first['detail']}")
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
                loss = f"cannot be read to its end, so rows are lost ({row.detail})"
                raise ValueError(
                    f"{row.file!r} {loss}; repair it, save it as UTF-8, or remove it"
                )
        if self.unusable > max_rejected:
            counts = f"rejected rows: {self.unusable:,}, allowed: {max_rejected:,}"
            raise ValueError(
                f"{counts}; correct the source, or accept them:"
                " --max-rejected n, or with make MAX_REJECTED=n"
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
