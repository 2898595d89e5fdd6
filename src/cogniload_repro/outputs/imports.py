"""Outputs of a source -> the outputs table, one partition a model, with its puzzles and its rejected rows."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.outputs.layout import Layout, answer_name, find_files
from cogniload_repro.outputs.readers import read_table
from cogniload_repro.outputs.rows import Output, Rejected, read_outputs
from cogniload_repro.outputs.settings import SettingsTally
from cogniload_repro.outputs.sources import LocalSource, local_source
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
from cogniload_repro.records import read_text
from cogniload_repro.schemas import OUTPUTS, PROVENANCE, REJECTED
from cogniload_repro.storage import (
    UNFINISHED,
    part_writer,
    partition_path,
    read_metadata,
    remove_parts,
    replacing,
    weakest_provenance,
    write_table,
)

#: Responses are kept in memory up to this many characters, then the fullest partition is written on.
BUFFER_CHARS = 64_000_000
#: More rejected rows than this end an import: they are kept in memory, and such a source is none.
MAX_REJECTED_ROWS = 1_000_000


@dataclass(frozen=True)
class Report:
    """What an import has found: responses by model, rejected rows by reason, one example of each reason.

    ``origin`` says how well the editions of the generator fit the puzzles that were drawn again from their names,
    ``settings`` how models were asked (responses by model, setting and value), ``others`` which files were not read, as
    nothing in them looks like outputs.
    """

    responses: Mapping[str, int]
    rejected: Mapping[str, int]
    examples: Mapping[str, Rejected]
    origin: str = ""
    settings: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    others: Sequence[str] = ()

    def summary(self) -> str:
        """Return the report in a few lines."""
        total, rejected = sum(self.responses.values()), sum(self.rejected.values())
        counted = f"{_plural(total, 'response')} of {_plural(len(self.responses), 'model')}"
        lines = [f"{counted}, {_plural(rejected, 'row')} rejected", *filter(None, [self.origin])]
        for reason, count in sorted(self.rejected.items()):
            first = self.examples[reason]
            lines.append(f"  {count:,} {reason}, first in {first.file!r}, row {first.row}: {first.detail}")
        if self.others:
            more = f" and {len(self.others) - 3:,} more" if len(self.others) > 3 else ""
            lines.append(f"not read, as nothing in them looks like outputs: {', '.join(self.others[:3])}{more}")
        return "\n".join(lines)

    def check(self, max_rejected: int = 0) -> None:
        """Raise ValueError if more rows were rejected than allowed, or none was accepted."""
        count = sum(self.rejected.values())
        if count > max_rejected:
            raise ValueError(
                f"{_plural(count, 'row')} {'was' if count == 1 else 'were'} rejected, "
                f"{max_rejected:,} {'is' if max_rejected == 1 else 'are'} allowed; "
                "see the rejected table, then correct the source or raise --max-rejected"
            )
        if not self.responses:
            raise ValueError("the source has no usable response; see the rejected table")


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


class NamedPuzzles:
    """Draws the puzzles of which a source gives the name, and perhaps the text, but no metadata.

    The source is read for its names when the first such puzzle is asked for; the catalog draws with this from then on.
    ``fits`` says how well the editions fit, the best first; it is empty as long as no puzzle had to be drawn, or with a
    given edition, under which all are drawn.
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
        named = ((answer_name(path), None) for _, path in self._layout.answers)
        tables = (entry for path in self._layout.tables for entry in read_table(path, ["name", "text"]))
        rows = (entry.fields or {} for entry in tables)
        for name, prompt in chain(((row.get("name"), row.get("text")) for row in rows), named):
            if isinstance(name, str) and name not in self._catalog:
                yield name, prompt if isinstance(prompt, str) else self._read_text(name)

    def _read_text(self, name: str) -> str | None:
        path = self._layout.texts.get(name)
        text = read_text(path) if path else None
        return text if isinstance(text, str) else None


def import_outputs(
    source: str | Path | LocalSource,
    outputs_dir: str | Path,
    puzzles_path: str | Path,
    rejected_path: str | Path,
    *,
    model: str | None = None,
    append: bool = False,
    leave_out: Collection[str] = (),
    validate: Callable[[Report], None] = lambda report: None,
    extra_puzzles: Callable[[], Iterable[dict]] = tuple,
    edition: Edition | None = None,
) -> Report:
    """Write the responses of a source as ``outputs_dir/<model>.parquet``, its puzzles and its rejected rows.

    Files appear together, when the whole source is read, written and accepted; a refused one leaves only its rejected
    rows. If this is interrupted while files take their places, a mark stays in the folder, and its outputs are not
    scored until an import has finished. Outputs are imported, unless the source's own tables say that they are
    reconstructed.

    Parameters
    ----------
    source : path or LocalSource
        A local file or folder, see `rows.read_outputs`, or what `open_source` returned.
    outputs_dir, puzzles_path, rejected_path : path
        What is written.
    model : str, optional
        The model of rows that name none; or ``OLD=NEW``, another name for one.
    append : bool
        Keep the models that are there already, and their puzzles, to which new ones are added; the source must bring
        other models. By default they are replaced.
    leave_out : collection of str
        Models that are not taken.
    validate : function of a Report
        What it raises refuses the import. By default every import is accepted.
    extra_puzzles : function
        Returns puzzles in which prompts are looked up of which the source does not name the puzzle; see `Catalog`.
    edition : Edition, optional
        Under which puzzles known by name alone are drawn; by default the one that fits them.

    If there is no such source, it holds no outputs, or brings a model that is to be kept, ValueError is raised.
    """
    local, outputs_dir, puzzles_path = local_source(source), Path(outputs_dir), Path(puzzles_path)
    layout = find_files(local.path, local.label, local.inner, may_be_empty=bool(local.refused))
    metadata = {
        "provenance": weakest_provenance(["imported", *_own_provenances(layout)]),
        "source": local.label,
        "version": __version__,
        "command": "cogniload download-outputs",
    }
    mark = outputs_dir / UNFINISHED
    if append and mark.exists() and (other := mark.read_text(encoding="utf-8")) != metadata["source"]:
        raise ValueError(f"the import of {other} was interrupted; run it again before you add other outputs")
    for folder in {outputs_dir, puzzles_path.parent, Path(rejected_path).parent}:
        remove_parts(folder)
    catalog = read_catalog(puzzles_path) if append and puzzles_path.exists() else Catalog()
    catalog.elsewhere = extra_puzzles
    known, rejected = len(catalog), list(local.refused)
    named = NamedPuzzles(layout, catalog, edition)
    settings = SettingsTally()
    with _Tables(metadata, mark, outputs_dir) as tables:
        for item in tqdm(read_outputs(layout, catalog, model=model), "import", unit=" rows", disable=None):
            if isinstance(item, Output):
                if item.model not in leave_out:
                    tables.add(item)
                    settings.add(item.model, item.settings)
            elif len(rejected) >= MAX_REJECTED_ROWS:
                raise ValueError(f"{metadata['source']} has more than {MAX_REJECTED_ROWS:,} rows that cannot be used")
            else:
                rejected.append(item)
        tables.flush_all()
        rows = pa.Table.from_pylist([row._asdict() for row in rejected], REJECTED)
        if len(catalog) > known or not append:
            tables.write(puzzles_path, catalog.table())
        tables.write(rejected_path, rows)
        examples = {row.reason: row for row in reversed(rejected)}
        reasons = Counter(row.reason for row in rejected)
        others = [layout.label(path) for path in layout.others]
        report = Report(dict(tables.rows), reasons, examples, describe_fits(named.fits), settings.by_model(), others)
        try:
            validate(report)
            if append:
                _refuse_known(outputs_dir, metadata["source"], report.responses)
        except ValueError:
            write_table(rejected_path, rows, metadata)
            raise
    if not append:
        _remove_others(outputs_dir, tables.rows)
    mark.unlink()
    return report


def _refuse_known(outputs_dir: Path, source: str, models: Iterable[str]) -> None:
    for path in (partition_path(outputs_dir, model) for model in models):
        if path.exists():
            raise ValueError(
                f"{unquote(path.stem)} of {source} was already imported from {read_metadata(path).get('source')}; "
                "rename one with OLD=NEW, or remove it first"
            )


def _remove_others(outputs_dir: Path, models: Iterable[str]) -> None:
    for stale in set(outputs_dir.glob("*.parquet")) - {partition_path(outputs_dir, model) for model in models}:
        stale.unlink()


class _Tables(ExitStack):
    """Tables that are written to parts, all of which take their places when the block ends without an error.

    The mark, a file with the source's name, is there from when the first takes its place. Models' rows are gathered in
    a common buffer; a file stays open only while more rows of its model are to come, as there may be very many models.
    """

    def __init__(self, metadata: Mapping[str, str], mark: Path, outputs_dir: Path):
        super().__init__()
        self.rows: Counter[str] = Counter()
        self._metadata, self._mark, self._outputs_dir = metadata, mark, outputs_dir
        self._writers: dict[str, tuple[ExitStack, pq.ParquetWriter]] = {}
        self._buffers: dict[str, list[Output]] = defaultdict(list)
        self._chars: Counter[str] = Counter()

    def __exit__(self, kind, *error):  # type: ignore[no-untyped-def]
        try:
            for stack, _ in self._writers.values():
                stack.close()
            if kind is None:
                self._mark.parent.mkdir(parents=True, exist_ok=True)
                self._mark.write_text(self._metadata["source"], encoding="utf-8")
        except BaseException as failure:  # such as of a full disk: no table takes its place
            super().__exit__(type(failure), failure, failure.__traceback__)
            raise
        return super().__exit__(kind, *error)

    def write(self, path: str | Path, table: pa.Table) -> None:
        """Write a whole table."""
        with part_writer(self.enter_context(replacing(path)), table.schema, self._metadata) as writer:
            writer.write_table(table)

    def add(self, output: Output) -> None:
        """Write a response, sooner or later."""
        self.rows[output.model] += 1
        self._buffers[output.model].append(output)
        self._chars[output.model] += len(output.response) + len(output.name)
        if self._chars.total() > BUFFER_CHARS:
            self._flush(max(self._chars, key=self._chars.__getitem__))

    def flush_all(self) -> None:
        """Write what is gathered; nothing more will come."""
        for model in sorted(self._buffers):
            self._flush(model, is_last=True)

    def _flush(self, model: str, *, is_last: bool = False) -> None:
        rows = [output._asdict() for output in self._buffers.pop(model)]
        del self._chars[model]
        table, path = pa.Table.from_pylist(rows, OUTPUTS), partition_path(self._outputs_dir, model)
        if is_last and model not in self._writers:
            self.write(path, table)
            return
        if model not in self._writers:
            stack, part = ExitStack(), self.enter_context(replacing(path))
            self._writers[model] = stack, stack.enter_context(part_writer(part, OUTPUTS, self._metadata))
        self._writers[model][1].write_table(table)


def _own_provenances(layout: Layout) -> Iterator[str]:
    """Yield the words of ours that the source's own Parquet files carry; others use the key for something else."""
    for path in layout.tables:
        if path.suffix == ".parquet":
            try:
                word = read_metadata(path).get("provenance")
            except (ValueError, OSError):
                continue  # reported when the rows are read
            if word in PROVENANCE:
                yield word
