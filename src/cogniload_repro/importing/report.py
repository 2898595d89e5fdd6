"""The report of an import: responses per model, rejected rows with reasons, columns not read."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_repro.files import for_spreadsheet, write_whole
from cogniload_repro.importing.rejections import (
    ANSWERED,
    IMPORT_PAGE,
    NOT_READ,
    UNREADABLE,
    Rejected,
)
from cogniload_repro.importing.responses import Response
from cogniload_repro.schemas import REJECTED
from cogniload_repro.storage import write_table


@dataclass
class Report:
    """The findings of an import.

    ``settings`` counts responses by model, setting and value, ``unread`` rows by a column that is
    not read; ``origin`` says which edition drew the puzzles.
    """

    responses: Counter[str] = field(default_factory=Counter)
    rejected: list[Rejected] = field(default_factory=list)
    settings: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    origin: str = ""

    def count(self, response: Response) -> None:
        """Count a response and its settings."""
        self.responses[response.model] += 1
        for name, value in response.settings.items():
            values = self.settings.setdefault(response.model, {}).setdefault(name, {})
            values[value] = values.get(value, 0) + 1

    @property
    def unusable(self) -> int:
        """Number of rejected rows, without those that are only listed."""
        return sum(row.reason not in (NOT_READ, ANSWERED) for row in self.rejected)

    def summary(self) -> str:
        """Return the report in a few lines, with an example of each reason."""
        counts = f"responses: {self.responses.total():,}, models: {len(self.responses):,}"
        lines = [f"{counts}, rejected rows: {self.unusable:,}"]
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
            if row.reason == UNREADABLE:
                cause = f"so an unknown number of rows is lost ({row.detail})"
                remedy = "repair it, or remove it from the source"
                raise ValueError(f"{row.file!r} cannot be read to its end, {cause}; {remedy}")
        if self.unusable > max_rejected:
            remedy = "correct the source, or accept them: --max-rejected n, or with make"
            raise ValueError(
                f"rejected rows: {self.unusable:,}, allowed: {max_rejected:,}; {remedy}"
                " MAX_REJECTED=n"
            )
        if not self.responses:
            raise ValueError("the source has no row that can be read; it may have only a header")

    def write_rejected(self, folder: Path, metadata: Mapping[str, str]) -> None:
        """Append the rejected rows to those in a folder, as Parquet and CSV (for spreadsheets)."""
        path = folder / "rejected.parquet"
        rows = [row._asdict() for row in self.rejected]
        table = pa.Table.from_pylist(rows, REJECTED)
        if path.exists():
            table = pa.concat_tables([pq.read_table(path).cast(REJECTED), table])
        write_table(path, table, metadata)
        text = for_spreadsheet(table.to_pandas()).to_csv(index=False, lineterminator="\n")
        write_whole(path.with_suffix(".csv"), text)
