"""Outputs of a source -> one table per model, the puzzles, the rejected rows."""

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.outputs.inspect_logs import INVALIDATED, find_finished
from cogniload_repro.outputs.layout import Layout, LocalSource, answer_name, find_files
from cogniload_repro.outputs.records import Entry, read_table, read_text
from cogniload_repro.outputs.report import ANSWERED, Rejected, Report
from cogniload_repro.outputs.responses import (
    FAILED,
    Output,
    RowError,
    name_model,
    read_output,
)
from cogniload_repro.outputs.rows import end_at_damage, read_rows
from cogniload_repro.puzzles.catalog import (
    Catalog,
    EditionMatch,
    check_row,
    choose_edition,
    describe_fits,
    draw_named,
    find_edition,
    parse_name,
    read_catalog,
)
from cogniload_repro.puzzles.draws import PORT, Edition
from cogniload_repro.puzzles.sets import release_row
from cogniload_repro.schemas import OUTPUTS
from cogniload_repro.storage import (
    open_parquet,
    part_writer,
    partition_path,
    read_metadata,
    write_table,
)

BAD_PUZZLE = "bad puzzle"
UNKNOWN_PUZZLE = "unknown puzzle"
DUPLICATE = "duplicate"

#: Responses are kept in memory up to this many characters; then they are set aside.
BUFFER_CHARS = 64_000_000
# what a row takes beside its response, and the folder of what is set aside
_ROW_CHARS = 1_000
_ASIDE = ".aside"


def import_outputs(
    source: str | Path | LocalSource,
    folder: str | Path,
    *,
    model: str | None = None,
    edition: Edition | None = None,
    known_only: bool = False,
) -> Report:
    """Write the responses of a source to a folder: outputs/<model>.parquet, puzzles, rejected rows.

    The folder is new, or holds other sources, whose puzzles are known and whose models may not
    come again; after a ValueError only its rejected rows are of use. For `model` and `edition` see
    `read_outputs`; with `known_only` answers to puzzles that the folder does not have are left out.
    """
    layout = find_files(source)
    folder = Path(folder)
    metadata = {
        "source": layout.source.label,
        "version": __version__,
        "command": "cogniload download-outputs",
    }
    known = folder / "puzzles.parquet"
    catalog = read_catalog(known) if known.exists() else Catalog()
    catalog.closed = known_only
    count = len(catalog)
    report = Report()
    partitions = _Partitions(folder / "outputs", metadata)
    try:
        for output in read_outputs(
            layout, catalog, report, model=model, edition=edition
        ):
            partitions.add(output)
        partitions.finish()
    finally:
        report.write_rejected(folder, metadata)
    if len(catalog) > count or not known.exists():
        write_table(known, catalog.table(), metadata)
    return report


class _Partitions:
    """Writes one file per model; what fills the memory is set aside in files until the end."""

    def __init__(self, folder: Path, metadata: Mapping[str, str]):
        self._folder = folder
        self._metadata = metadata
        self._buffers: dict[str, list[Output]] = defaultdict(list)
        self._chars = 0
        self._aside: dict[str, list[Path]] = defaultdict(list)
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, output: Output) -> None:
        """Write a response, sooner or later."""
        self._buffers[output.model].append(output)
        self._chars += len(output.response) + _ROW_CHARS
        if self._chars > BUFFER_CHARS:
            self._set_aside()

    def _set_aside(self) -> None:
        for model, outputs in self._buffers.items():
            rows = [output._asdict() for output in outputs]
            folder = self._folder / _ASIDE / str(len(self._aside[model]))
            path = partition_path(folder, model)
            write_table(path, pa.Table.from_pylist(rows, OUTPUTS))
            self._aside[model].append(path)
        self._buffers.clear()
        self._chars = 0

    def finish(self) -> None:
        """Write the file of each model."""
        self._set_aside()
        for model, parts in sorted(self._aside.items()):
            path = partition_path(self._folder, model)
            if path.exists():
                source = read_metadata(path).get("source")
                raise ValueError(
                    f"{model} was already imported from {source}; name it otherwise in the rows of"
                    " one of the two sources"
                )
            with part_writer(path, OUTPUTS, self._metadata) as writer:
                for part in parts:
                    with open_parquet(part) as file:
                        writer.write_table(file.read())
        shutil.rmtree(self._folder / _ASIDE, ignore_errors=True)


def read_outputs(
    source: str | Path | LocalSource | Layout,
    catalog: Catalog,
    report: Report,
    *,
    model: str | None = None,
    edition: Edition | None = None,
) -> Iterator[Output]:
    """Yield the responses of a file or folder, one by one, in the order of paths and rows.

    The report gets what is rejected and how many responses there are. The source's own puzzles,
    and those drawn from their names, are added to the catalog. `model` takes the place of the
    source's names; `edition` is that of puzzles known by name alone, by default the one that fits.
    Failed requests and invalidated samples are rejected last, since a later one may have been
    answered.
    """
    layout = source if isinstance(source, Layout) else find_files(source)
    catalog.draw = _draw_from_names(layout, catalog, edition, report)
    answers = _Answers(catalog)
    failures: list[tuple[Rejected, dict]] = []
    entries = _read_entries(layout, catalog, answers)
    for file, entry in tqdm(entries, "import", unit=" rows", disable=None):
        fields = entry.fields | {"model": model} if model else entry.fields
        if answers.is_copy(entry):
            continue
        try:
            output = read_output(fields, entry.refusal)
            if catalog.closed and output.name not in catalog:
                continue
            answers.add(output, file)
        except RowError as error:
            row = Rejected(file, entry.row, *error.args)
            if row.reason in (FAILED, INVALIDATED):
                failures.append((row, fields))
            else:
                report.rejected.append(row)
        else:
            report.count(output)
            yield output
    report.rejected += [answers.settle(row, fields) for row, fields in failures]


def _draw_from_names(
    layout: Layout, catalog: Catalog, edition: Edition | None, report: Report
) -> Callable[[str], dict]:
    """Return what draws a puzzle of which a source gives the name, and perhaps the text.

    Without an edition, the one that fits is looked for when the first puzzle is drawn; the report
    then says how well each one fits.
    """

    def draw(name: str) -> dict:
        nonlocal edition
        if edition is None and parse_name(name) is not None:
            fits = _find_edition(layout, catalog)
            report.origin = describe_fits(fits)
            edition = choose_edition(fits)
        text = str(read_text(layout.texts[name])) if name in layout.texts else None
        row = draw_named(name, edition or PORT, text)
        if text is not None and text.strip() != row["text"].strip():
            raise ValueError(
                f"its text is not the one that edition {edition} draws; add its metadata"
            )
        return row

    return draw


def _find_edition(layout: Layout, catalog: Catalog) -> list[EditionMatch]:
    """Return how well editions fit the puzzles that a source names and the catalog lacks."""
    names = {answer_name(path) for _, path in layout.answers}
    for path in layout.tables:
        names |= {str(entry.fields.get("name")) for entry in read_rows(path)}
    unknown = {name for name in names if name not in catalog}
    texts = {
        name: str(read_text(layout.texts[name]))
        for name in unknown & layout.texts.keys()
    }
    return find_edition(unknown, texts)


class _Answers:
    """The answers of a source so far: by model, the file of each puzzle's answer."""

    def __init__(self, catalog: Catalog):
        self._catalog = catalog
        self._files: dict[str, dict[int, str]] = defaultdict(dict)
        self._samples: set[str] = set()
        #: Names of puzzles that the catalog knows with another text than the source's.
        self.changed: set[str] = set()

    def add(self, output: Output, file: str) -> None:
        """Add an answer, or raise RowError if its puzzle is unknown or answered already."""
        try:
            if output.name in self.changed:
                raise ValueError(
                    "its text is not that of the known puzzle of this name"
                )
            place = self._catalog.place(output.name)
        except ValueError as error:
            detail = f"{output.name}: {error}"
            raise RowError(UNKNOWN_PUZZLE, detail, output.model) from None
        files = self._files[output.model]
        if place in files:
            detail = f"{output.model} has answered {output.name} already, in {files[place]!r}"
            raise RowError(DUPLICATE, detail, output.model)
        files[place] = file

    def is_copy(self, entry: Entry) -> bool:
        """Return whether a sample of Inspect was read before; a retry copies those it has."""
        sample = entry.fields.get("uuid")
        if entry.refusal or not isinstance(sample, str):
            return False
        is_copy = sample in self._samples
        self._samples.add(sample)
        return is_copy

    def settle(self, failure: Rejected, fields: Mapping) -> Rejected:
        """Return a row without an answer as answered, if the source has one of the same model.

        A line of a failed batch may name no model; then it is the only one of the source.
        """
        name = fields.get("name")
        try:
            models = [name_model(fields)] if fields.get("model") else list(self._files)
        except RowError:
            return failure
        if len(models) != 1 or not isinstance(name, str) or name not in self._catalog:
            return failure
        file = self._files[models[0]].get(self._catalog.place(name))
        if file is None:
            return failure
        detail = f"{name}: it is answered in {file!r}"
        return failure._replace(reason=ANSWERED, detail=detail)


def _read_entries(
    layout: Layout, catalog: Catalog, answers: _Answers
) -> Iterator[tuple[str, Entry]]:
    """Yield the rows of all files with the names of the files, faults of puzzles first.

    Puzzles are added to the catalog.
    """
    for path, fault in _read_puzzles(layout, catalog):
        yield layout.label(path), fault
    for name, path in layout.texts.items():
        # a puzzle that is not known yet is compared when it is drawn
        if name in catalog:
            known = catalog.text(catalog.place(name))
            if str(read_text(path)).strip() != known.strip():
                answers.changed.add(name)
    labels = {path: layout.label(path) for path in layout.tables}
    finished = find_finished(labels)
    for path, label in labels.items():
        for entry in read_rows(path, finished):
            yield label, entry
    for model, path in layout.answers:
        text = read_text(path)
        about = {"model": model, "name": answer_name(path), "is_release": True}
        message = {"message": {"content": text}}
        refusal = None if isinstance(text, str) else text
        yield layout.label(path), Entry(1, about | message, refusal)
    for path, refusal in layout.lost:
        yield layout.label(path), Entry(0, {}, refusal)


def _read_puzzles(layout: Layout, catalog: Catalog) -> Iterator[tuple[Path, Entry]]:
    """Add the puzzles of a source to the catalog, and yield those that cannot be."""
    for name, path in layout.states.items():
        try:
            text = ""
            if name in layout.texts:
                text = layout.texts[name].read_text("utf-8-sig")
            catalog.add(release_row(name, text, path.read_text("utf-8-sig")))
        except (OSError, ValueError) as error:
            yield path, Entry(0, {}, (BAD_PUZZLE, f"{name}: {error}"))
    for path in layout.puzzle_tables:
        for entry in end_at_damage(read_table(path)):
            refusal = entry.refusal
            if refusal is None:
                try:
                    catalog.add(check_row(entry.fields))
                except ValueError as error:
                    refusal = (BAD_PUZZLE, f"{entry.fields.get('name')}: {error}")
            if refusal:
                yield path, Entry(entry.row, {}, refusal)
