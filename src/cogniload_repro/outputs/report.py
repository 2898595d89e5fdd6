"""The report of an import: responses per model, rejected rows with reasons, remarks."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_repro.files import for_spreadsheet, write_whole
from cogniload_repro.outputs.inspect_logs import CONTINUED
from cogniload_repro.outputs.layout import NOT_READ
from cogniload_repro.outputs.records import UNREADABLE
from cogniload_repro.outputs.responses import Output
from cogniload_repro.schemas import REJECTED
from cogniload_repro.storage import write_table

#: Reason of a failed request whose puzzle the source answers elsewhere.
ANSWERED = "answered elsewhere"
# reasons of rows that are listed, but not counted as rejected
_LISTED = (NOT_READ, CONTINUED, ANSWERED)


class Rejected(NamedTuple):
    """A row that cannot be used (0: the whole file); a model only if its puzzle is at fault."""

    file: str
    row: int
    reason: str
    detail: str
    model: str | None = None


@dataclass
class Report:
    """The findings of an import; ``settings`` counts responses by model, setting and value.

    ``origin`` says which edition drew the puzzles, ``remarks`` counts responses by remark.
    """

    responses: Counter[str] = field(default_factory=Counter)
    rejected: list[Rejected] = field(default_factory=list)
    origin: str = ""
    settings: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    remarks: Counter[str] = field(default_factory=Counter)

    def count(self, output: Output) -> None:
        """Count a response."""
        self.responses[output.model] += 1
        self.remarks.update(output.remarks)
        for name, value in output.settings.items():
            values = self.settings.setdefault(output.model, {}).setdefault(name, {})
            values[value] = values.get(value, 0) + 1

    @property
    def unusable(self) -> int:
        """Number of rejected rows, without those that are only listed."""
        return sum(row.reason not in _LISTED for row in self.rejected)

    def summary(self) -> str:
        """Return the report in a few lines, with an example of each reason."""
        counts = f"responses: {sum(self.responses.values()):,}, models: {len(self.responses):,}"
        lines = [f"{counts}, rejected rows: {self.unusable:,}"]
        if self.origin:
            lines.append(self.origin)
        reasons = Counter(row.reason for row in self.rejected)
        examples = {row.reason: row for row in reversed(self.rejected)}
        for reason, count in sorted(reasons.items()):
            row = examples[reason]
            place = f"first in {row.file!r}, row {row.row}"
            lines.append(f"  {count:,} {reason}, {place}: {row.detail}")
        for remark, count in sorted(self.remarks.items()):
            lines.append(f"  {count:,} responses: {remark}")
        return "\n".join(lines)

    def check(self, max_rejected: int = 0) -> None:
        """Raise ValueError if more rows were rejected than allowed, or none was accepted.

        A file that cannot be read to its end always raises it: any number of rows may be lost.
        """
        for row in self.rejected:
            if row.reason == UNREADABLE and row.row == 0:
                raise ValueError(
                    f"{row.file!r} cannot be read to its end, so an unknown number of rows is"
                    f" lost ({row.detail}); repair it, or remove it from the source"
                )
        if self.unusable > max_rejected:
            raise ValueError(
                f"rejected rows: {self.unusable:,}, allowed: {max_rejected:,}; correct the source,"
                " or state how many unusable rows you accept: --max-rejected n, or with make"
                " MAX_REJECTED=n"
            )
        if not self.responses:
            raise ValueError(
                "the source has no row that can be read; it may be empty, or have only a header"
            )

    def write_rejected(self, folder: Path, metadata: Mapping[str, str]) -> None:
        """Append the rejected rows to those in a folder, as Parquet and CSV (for spreadsheets)."""
        path = folder / "rejected.parquet"
        rows = [row._asdict() for row in self.rejected]
        table = pa.Table.from_pylist(rows, REJECTED)
        if path.exists():
            table = pa.concat_tables([pq.read_table(path).cast(REJECTED), table])
        write_table(path, table, metadata)
        csv = for_spreadsheet(table.to_pandas())
        text = csv.to_csv(index=False, lineterminator="\n")
        write_whole(path.with_suffix(".csv"), text)
