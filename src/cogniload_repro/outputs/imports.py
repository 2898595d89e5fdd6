"""Outputs of a source -> the outputs table, one partition a model, with its puzzles and its rejected rows."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.outputs.layout import NOT_READ, Layout, LocalSource, Rejected, answer_name, find_files
from cogniload_repro.outputs.readers import read_table
from cogniload_repro.outputs.rows import Output, read_outputs, sum_settings
from cogniload_repro.puzzles.catalog import (
    Catalog,
    EditionMatch,
    choose_edition,
    describe_fits,
    draw_named,
    find_edition,
    parse_name,
    read_catalog,
)
from cogniload_repro.puzzles.editions import PORT, Edition
from cogniload_repro.records import Entry, read_text
from cogniload_repro.schemas import OUTPUTS, PROVENANCE, REJECTED
from cogniload_repro.storage import part_writer, partition_path, read_metadata, weakest_provenance, write_table

#: Responses are kept in memory up to this many characters, then the fullest partition is written on.
BUFFER_CHARS = 64_000_000
#: More rejected rows than this end an import: they are kept in memory, and such a source is none.
MAX_REJECTED_ROWS = 1_000_000
#: So many ways in which models were asked are counted, and others left out.
MAX_SETTINGS = 100_000


@dataclass(frozen=True)
class Report:
    """What an import has found: responses by model, rejected rows and files that are not read by reason, with examples.

    ``origin`` says which edition drew the puzzles, ``settings`` how models were asked (responses by model, setting and
    value).
    """

    responses: Mapping[str, int]
    rejected: Mapping[str, int]
    examples: Mapping[str, Rejected]
    origin: str = ""
    settings: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)

    @property
    def unusable(self) -> int:
        """Number of rejected rows; files that are not read are listed, but are no rows."""
        return sum(self.rejected.values()) - self.rejected.get(NOT_READ, 0)

    def summary(self) -> str:
        """Return the report in a few lines."""
        counted = f"{_plural(sum(self.responses.values()), 'response')} of {_plural(len(self.responses), 'model')}"
        lines = [f"{counted}, {_plural(self.unusable, 'row')} rejected", *filter(None, [self.origin])]
        for reason, count in sorted(self.rejected.items()):
            first = self.examples[reason]
            lines.append(f"  {count:,} {reason}, first in {first.file!r}, row {first.row}: {first.detail}")
        return "\n".join(lines)

    def check(self, max_rejected: int = 0) -> None:
        """Raise ValueError if more rows were rejected than allowed, or none was accepted."""
        if self.unusable > max_rejected:
            raise ValueError(
                f"{_plural(self.unusable, 'row')} {'was' if self.unusable == 1 else 'were'} rejected, "
                f"{max_rejected:,} {'is' if max_rejected == 1 else 'are'} allowed; see the rejected table; correct "
                "the source, or set the number of unusable rows that you accept: --max-rejected n, with make "
                "MAX_REJECTED=n"
            )
        if not self.responses:
            listed = (
                " that can be read; see the rejected table" if self.rejected else ": it is empty, or a header alone"
            )
            raise ValueError(f"the source has no row{listed}")


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


class NamedPuzzles:
    """Draws the puzzles of which a source gives the name, and perhaps the text, but no metadata.

    The edition is found when the first such puzzle is asked for; ``fits`` says how well each fits, the best first.
    """

    def __init__(self, layout: Layout, catalog: Catalog, edition: Edition | None = None):
        self.fits: list[EditionMatch] = []
        self._layout, self._catalog, self._edition = layout, catalog, edition
        catalog.draw = self.draw

    def draw(self, name: str) -> dict:
        """Return the row of a puzzle; ValueError if it is too long, fits no edition or has another solution or text."""
        if self._edition is None and parse_name(name) is not None:
            if not self.fits:
                texts = dict(self._read_names())
                self.fits = find_edition(texts, {one: text for one, text in texts.items() if text is not None})
            self._edition = choose_edition(self.fits)
        text = self._read_text(name)
        row = draw_named(name, self._edition or PORT, text)
        if text is not None and text.strip() != row["text"].strip():
            raise ValueError(f"its text is not the one that edition {self._edition} draws; add its metadata")
        return row

    def _read_names(self) -> Iterator[tuple[str, str | None]]:
        """Yield the names that the source gives and the catalog lacks, with their texts."""
        tables = chain.from_iterable(read_table(path, ["name", "text"]) for path in self._layout.tables)
        answers = (Entry(0, {"name": answer_name(path)}) for _, path in self._layout.answers)
        for fields in (entry.fields or {} for entry in chain(tables, answers)):
            name, prompt = fields.get("name"), fields.get("text")
            if isinstance(name, str) and name not in self._catalog:
                yield name, prompt if isinstance(prompt, str) else self._read_text(name)

    def _read_text(self, name: str) -> str | None:
        path = self._layout.texts.get(name)
        text = read_text(path) if path else None
        return text if isinstance(text, str) else None


def import_outputs(
    source: str | Path | LocalSource,
    folder: str | Path,
    *,
    model: str | None = None,
    leave_out: Collection[str] = (),
    validate: Callable[[Report], None] = lambda report: None,
    extra_puzzles: Callable[[], Iterable[dict]] = tuple,
    edition: Edition | None = None,
) -> Report:
    """Write the responses of a source to a folder: outputs/<model>.parquet, puzzles.parquet, rejected.parquet.

    The folder is new, or has been made from other sources, whose puzzles are known and whose models may not come again;
    after a ValueError only its rejected rows are of use. For `model` see `read_outputs`; models to `leave_out` are not
    taken; what `validate` raises refuses the import; prompts without a name are looked up in `extra_puzzles`; `edition`
    is that of puzzles known by name alone, by default the one that fits them.
    """
    layout, folder = find_files(source), Path(folder)
    metadata = {
        "provenance": weakest_provenance(["imported", *_own_provenances(layout)]),
        "source": layout.source.label,
        "version": __version__,
        "command": "cogniload download-outputs",
    }
    known = folder / "puzzles.parquet"
    catalog = read_catalog(known) if known.exists() else Catalog()
    catalog.elsewhere = extra_puzzles
    before, rejected = len(catalog), list[Rejected]()
    try:
        with _Partitions(folder / "outputs", metadata) as partitions:
            report = read_source(layout, catalog, partitions.add, rejected, model, edition, leave_out)
            partitions.flush_all()
    finally:
        rows = pa.Table.from_pylist([row._asdict() for row in rejected], REJECTED)
        write_table(folder / "rejected.parquet", rows, metadata)
    if len(catalog) > before or not known.exists():
        write_table(known, catalog.table(), metadata)
    validate(report)
    return report


def read_source(
    layout: Layout,
    catalog: Catalog,
    take: Callable[[Output], None],
    rejected: list[Rejected],
    model: str | None = None,
    edition: Edition | None = None,
    leave_out: Collection[str] = (),
) -> Report:
    """Give each response of a source to `take`, append its rejected rows, and report both; see `import_outputs`."""
    named, responses = NamedPuzzles(layout, catalog, edition), Counter[str]()
    settings: Counter[tuple[str, str, str]] = Counter()
    for item in tqdm(read_outputs(layout, catalog, model=model), "import", unit=" rows", disable=None):
        if isinstance(item, Rejected):
            rejected.append(item)
            if len(rejected) > MAX_REJECTED_ROWS:
                label = layout.source.label
                raise ValueError(f"{label} has more than {MAX_REJECTED_ROWS:,} rows that cannot be used")
        elif item.model not in leave_out:
            take(item)
            responses[item.model] += 1
            asked = ((item.model, name, value) for name, value in item.settings.items())
            settings.update(one for one in asked if one in settings or len(settings) < MAX_SETTINGS)
    reasons, examples = Counter(row.reason for row in rejected), {row.reason: row for row in reversed(rejected)}
    return Report(responses, reasons, examples, describe_fits(named.fits), sum_settings(settings))


class _Partitions(ExitStack):
    """Writes responses as one file per model; a file stays open only where its rows overflow the common buffer."""

    def __init__(self, folder: Path, metadata: Mapping[str, str]):
        super().__init__()
        self._folder, self._metadata = folder, metadata
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._buffers: dict[str, list[Output]] = defaultdict(list)
        self._chars: Counter[str] = Counter()
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, output: Output) -> None:
        """Write a response, sooner or later."""
        self._buffers[output.model].append(output)
        self._chars[output.model] += len(output.response) + len(output.name)
        if self._chars.total() > BUFFER_CHARS:
            self._flush(max(self._chars, key=self._chars.__getitem__), self)

    def flush_all(self) -> None:
        """Write what is gathered; nothing more will come."""
        for model in sorted(self._buffers):
            with ExitStack() as stack:
                self._flush(model, stack)

    def _flush(self, model: str, stack: ExitStack) -> None:
        """Write the rows of a model; its file is open until the stack ends, if it is not open already."""
        rows = [output._asdict() for output in self._buffers.pop(model)]
        del self._chars[model]
        path = partition_path(self._folder, model)
        if model not in self._writers:
            if path.exists():
                raise ValueError(
                    f"{model} was already imported from {read_metadata(path).get('source')}; "
                    "rename one with OLD=NEW, or remove it first"
                )
            self._writers[model] = stack.enter_context(part_writer(path, OUTPUTS, self._metadata))
        self._writers[model].write_table(pa.Table.from_pylist(rows, OUTPUTS))


def _own_provenances(layout: Layout) -> Iterator[str]:
    """Yield the words of ours that the source's own Parquet files carry; others use the key for something else."""
    for path in layout.tables:
        with suppress(ValueError, OSError):  # a damaged one is reported when its rows are read
            if path.suffix == ".parquet" and (word := read_metadata(path).get("provenance")) in PROVENANCE:
                yield word
