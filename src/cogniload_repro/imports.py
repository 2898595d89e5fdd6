"""Outputs of a source -> the outputs table, one partition a model, with its puzzles and its rejected rows."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.catalog import Catalog, read_catalog
from cogniload_repro.layout import Layout, find_files
from cogniload_repro.outputs import Output, Rejected, read_outputs
from cogniload_repro.parquet import read_metadata, remove_parts, table_writer, weakest_provenance, write_table
from cogniload_repro.schemas import OUTPUTS, REJECTED

#: Responses are kept in memory up to this many characters, then the fullest partition is written on.
BUFFER_CHARS = 64_000_000


@dataclass(frozen=True)
class Report:
    """What an import has found: responses by model, rejected rows by reason, one example of each reason."""

    responses: Mapping[str, int]
    rejected: Mapping[str, int]
    examples: Mapping[str, Rejected]

    def summary(self) -> str:
        """Return the report in a few lines."""
        total, rejected = sum(self.responses.values()), sum(self.rejected.values())
        lines = [f"{total:,} responses of {len(self.responses)} models, {rejected:,} rows rejected"]
        for reason, count in sorted(self.rejected.items()):
            first = self.examples[reason]
            lines.append(f"  {count:,} {reason}, first in {first.file!r}, row {first.row}: {first.detail}")
        return "\n".join(lines)

    def check(self, max_rejected: int = 0) -> None:
        """Refuse an import with too many rejected rows.

        Raises
        ------
        ValueError
            If more rows were rejected than allowed, or none was accepted.
        """
        count = sum(self.rejected.values())
        if count > max_rejected:
            raise ValueError(
                f"{count:,} rows were rejected, {max_rejected:,} are allowed; "
                "see the rejected table, then mend the source or raise --max-rejected"
            )
        if not self.responses:
            raise ValueError("the source has no usable response; see the rejected table")


def partition_path(folder: str | Path, model: str) -> Path:
    """Return the file of a model: its name with every character escaped that is not safe in a path."""
    return Path(folder) / f"{quote(model, safe=' +()')}.parquet"


def import_outputs(
    source: str | Path,
    outputs_dir: str | Path,
    puzzles_path: str | Path,
    rejected_path: str | Path,
    *,
    provenance: str = "imported",
    label: str | None = None,
    model: str | None = None,
    refused: Sequence[Rejected] = (),
    keep: bool = False,
) -> Report:
    """Write the responses of a source as ``outputs_dir/<model>.parquet``, its puzzles and its rejected rows.

    Files appear when the whole source is read. The report is to be checked by the caller.

    Parameters
    ----------
    source : path
        A local file or folder, see `read_outputs`.
    outputs_dir, puzzles_path, rejected_path : path
        What is written. Puzzles that are there already stay known; new ones are added to them.
    provenance : {"imported", "evaluated"}
        Where the responses come from; tables that carry a weaker word themselves keep it.
    label : str, optional
        How the source is called in the files' metadata; by default its own name without the folders above.
    model : str, optional
        The model of rows that name none.
    refused : sequence of Rejected
        What was refused before, such as members of an archive.
    keep : bool
        Keep the partitions of other models that are there already.

    Raises
    ------
    ValueError
        If there is no such source or it holds no outputs.
    """
    source, outputs_dir, puzzles_path = Path(source), Path(outputs_dir), Path(puzzles_path)
    catalog = read_catalog(puzzles_path) if puzzles_path.exists() else Catalog()
    known = len(catalog)
    metadata = {
        "provenance": weakest_provenance([provenance, *_own_provenances(find_files(source))]),
        "source": label or source.name,
        "version": __version__,
        "command": "cogniload download-outputs",
    }
    remove_parts(outputs_dir)
    rejected = list(refused)
    with _Partitions(outputs_dir, metadata) as partitions:
        for item in tqdm(read_outputs(source, catalog, model=model), "import", unit=" rows", disable=None):
            rejected.append(item) if isinstance(item, Rejected) else partitions.add(item)
        if len(catalog) > known or not puzzles_path.exists():
            write_table(puzzles_path, catalog.table(), metadata)
        write_table(rejected_path, pa.Table.from_pylist([row._asdict() for row in rejected], REJECTED), metadata)
    if not keep:
        for stale in set(outputs_dir.glob("*.parquet")) - {partition_path(outputs_dir, m) for m in partitions.rows}:
            stale.unlink()
    examples = {row.reason: row for row in reversed(rejected)}
    return Report(dict(partitions.rows), Counter(row.reason for row in rejected), examples)


class _Partitions:
    """Writers of one file a model, with a common buffer; the files appear together at the end."""

    def __init__(self, folder: Path, metadata: Mapping[str, str]):
        self.rows: Counter[str] = Counter()
        self._folder, self._metadata = folder, metadata
        self._stack = ExitStack()
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._buffers: dict[str, list[Output]] = defaultdict(list)
        self._chars: Counter[str] = Counter()

    def __enter__(self) -> "_Partitions":
        return self

    def __exit__(self, *error) -> bool | None:
        try:
            if error[0] is None:
                for model in sorted(self._buffers):
                    self._flush(model)
        except BaseException as failure:
            self._stack.__exit__(type(failure), failure, failure.__traceback__)
            raise
        return self._stack.__exit__(*error)

    def add(self, output: Output) -> None:
        self.rows[output.model] += 1
        self._buffers[output.model].append(output)
        self._chars[output.model] += len(output.response) + len(output.name)
        if self._chars.total() > BUFFER_CHARS:
            self._flush(max(self._chars, key=self._chars.__getitem__))

    def _flush(self, model: str) -> None:
        if model not in self._writers:
            path = partition_path(self._folder, model)
            self._writers[model] = self._stack.enter_context(table_writer(path, OUTPUTS, self._metadata))
        rows = [output._asdict() for output in self._buffers.pop(model)]
        self._writers[model].write_table(pa.Table.from_pylist(rows, self._writers[model].schema))
        del self._chars[model]


def _own_provenances(layout: Layout) -> Iterator[str]:
    """Yield the words that the source's own Parquet files carry."""
    for path in layout.tables:
        if path.suffix == ".parquet":
            try:
                word = read_metadata(path).get("provenance")
            except (ValueError, OSError):
                continue  # reported when the rows are read
            if word:
                yield word
