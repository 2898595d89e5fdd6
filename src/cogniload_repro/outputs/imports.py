"""Outputs of a source -> the outputs table, one partition a model, with its puzzles and its rejected rows."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.endings import join_reasoning, read_stop
from cogniload_repro.models import BY_LABEL
from cogniload_repro.outputs.readers import MISSING_FIELD, RowError, read_table
from cogniload_repro.outputs.sources import NOT_READ, Layout, LocalSource, answer_name, find_files
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
from cogniload_repro.puzzles.readers import release_row
from cogniload_repro.records import NOT_UTF8, WRONG_TYPE, Entry, read_text
from cogniload_repro.schemas import OUTPUTS, PUZZLES, REJECTED
from cogniload_repro.storage import part_writer, partition_path, read_metadata, write_table

#: What a source may say of a request, by the names of columns.
SETTINGS = ("provider", "version", "date", "effort", "temperature", "top_p", "max_tokens")
#: Columns under which a table may say why a model stopped, the first that is not empty counts.
STOP_COLUMNS = ("stopped", "finish_reason", "stop_reason")
#: How the prompt was perturbed (such answers are those of a model of their own, "MODEL (NAME)"), reasoning in a column
#: of its own (it is put in front of the response, as the paper scores both), stop reasons and settings.
COLUMNS = [*OUTPUTS.names, "perturbation", "reasoning", *STOP_COLUMNS[1:], *SETTINGS]
BAD_PUZZLE, UNKNOWN_PUZZLE, DUPLICATE, UNSAFE_NAME = (
    "bad puzzle",
    "unknown puzzle",
    "duplicate",
    "unsafe name",
)

_COUNT = re.compile(r"(\d{1,19})(\.0*)?", re.ASCII)
#: Responses are kept in memory up to this many characters, then the fullest partition is written on.
BUFFER_CHARS = 64_000_000


class Output(NamedTuple):
    """One response, as in the outputs table, and how the model was asked, as far as the source says."""

    model: str
    name: str
    response: str
    prompt_tokens: int | None
    response_tokens: int | None
    stopped: str | None = None
    settings: Mapping[str, str] = {}


class Rejected(NamedTuple):
    """A row that cannot be used: file, row (0: the whole file), why, and the model if its puzzle is the trouble."""

    file: str
    row: int
    reason: str
    detail: str
    model: str | None = None


class Report(NamedTuple):
    """What an import has found: responses by model, what was rejected or not read, which edition drew the puzzles.

    ``settings`` has the responses by model, setting and value.
    """

    responses: Mapping[str, int]
    rejected: list[Rejected]
    origin: str = ""
    settings: Mapping[str, Mapping[str, Mapping[str, int]]] = {}

    @property
    def unusable(self) -> int:
        """Number of rejected rows; files that are not read are listed, but are no rows."""
        return sum(row.reason != NOT_READ for row in self.rejected)

    def summary(self) -> str:
        """Return the report in a few lines, with an example of each reason."""
        counts = f"responses: {sum(self.responses.values()):,}, models: {len(self.responses):,}"
        lines = [f"{counts}, rejected rows: {self.unusable:,}", *filter(None, [self.origin])]
        first = {row.reason: row for row in reversed(self.rejected)}
        for reason, count in sorted(Counter(row.reason for row in self.rejected).items()):
            file, row, _, detail, _ = first[reason]
            lines.append(f"  {count:,} {reason}, first in {file!r}, row {row}: {detail}")
        return "\n".join(lines)

    def check(self, max_rejected: int = 0) -> None:
        """Raise ValueError if more rows were rejected than allowed, or none was accepted."""
        if self.unusable > max_rejected:
            raise ValueError(
                f"rejected rows: {self.unusable:,}, allowed: {max_rejected:,}; see the rejected table; correct the "
                "source, or set the number of unusable rows that you accept: --max-rejected n, with make MAX_REJECTED=n"
            )
        if not self.responses:
            why = (
                " that can be read; see the rejected table"
                if self.rejected
                else ": it is empty, or a header alone"
            )
            raise ValueError(f"the source has no row{why}")


def import_outputs(
    source: str | Path | LocalSource,
    folder: str | Path,
    *,
    model: str | None = None,
    edition: Edition | None = None,
    known_only: bool = False,
) -> Report:
    """Write the responses of a source to a folder: outputs/<model>.parquet, puzzles.parquet, rejected.parquet.

    The folder is new, or has been made from other sources, whose puzzles are known and whose models may not come again;
    after a ValueError only its rejected rows are of use. For `model` see `read_outputs`; `edition` is that of puzzles
    known by name alone, by default the one that fits them; with `known_only` answers to puzzles that the folder does
    not have are left out.
    """
    layout, folder = find_files(source), Path(folder)
    metadata = {
        "source": layout.source.label,
        "version": __version__,
        "command": "cogniload download-outputs",
    }
    known, rejected = folder / "puzzles.parquet", list[Rejected]()
    catalog = read_catalog(known) if known.exists() else Catalog()
    catalog.closed = known_only
    before = len(catalog)
    try:
        with _Partitions(folder / "outputs", metadata) as partitions:
            report = read_source(layout, catalog, partitions.add, rejected, model, edition)
            partitions.flush_all()
    finally:
        rows = pa.Table.from_pylist([row._asdict() for row in rejected], REJECTED)
        write_table(folder / "rejected.parquet", rows, metadata)
    if len(catalog) > before or not known.exists():
        write_table(known, catalog.table(), metadata)
    return report


def read_source(
    layout: Layout,
    catalog: Catalog,
    take: Callable[[Output], None],
    rejected: list[Rejected],
    model: str | None = None,
    edition: Edition | None = None,
) -> Report:
    """Give each response of a source to `take`, append its rejected rows, and report both; see `import_outputs`."""
    fits, responses = list[EditionMatch](), Counter[str]()
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(
        lambda: {name: Counter() for name in SETTINGS}
    )
    catalog.draw = _draw_from_names(layout, catalog, edition, fits)
    for item in tqdm(
        read_outputs(layout, catalog, model=model), "import", unit=" rows", disable=None
    ):
        if isinstance(item, Rejected):
            rejected.append(item)
            continue
        take(item)
        responses[item.model] += 1
        for name, value in item.settings.items():
            counts[item.model][name][value] += 1
    settings = {
        one: {name: dict(counter) for name, counter in counts[one].items() if counter}
        for one in counts
    }
    return Report(responses, rejected, describe_fits(fits), settings)


def _draw_from_names(
    layout: Layout, catalog: Catalog, edition: Edition | None, fits: list[EditionMatch]
) -> Callable[[str], dict]:
    """Return what draws a puzzle of which a source gives the name, and perhaps the text, but no metadata.

    The edition is found when the first such puzzle is asked for: `fits` gets how well each fits, the best first.
    """

    def find() -> list[EditionMatch]:
        entries = chain.from_iterable(read_table(path, ["name"]) for path in layout.tables)
        tables = ((entry.fields or {}).get("name") for entry in entries)
        names = {name for name in chain(tables, (answer_name(path) for _, path in layout.answers))
                 if isinstance(name, str) and name not in catalog}  # fmt: skip
        return find_edition(
            names,
            {name: str(read_text(layout.texts[name])) for name in names & layout.texts.keys()},
        )

    def draw(name: str) -> dict:
        nonlocal edition
        if edition is None and parse_name(name) is not None:
            fits[:] = fits or find()
            edition = choose_edition(fits)
        text = str(read_text(layout.texts[name])) if name in layout.texts else None
        row = draw_named(name, edition or PORT, text)
        if text is not None and text.strip() != row["text"].strip():
            raise ValueError(
                f"its text is not the one that edition {edition} draws; add its metadata"
            )
        return row

    return draw


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
        rows, path = (
            [output._asdict() for output in self._buffers.pop(model)],
            partition_path(self._folder, model),
        )
        del self._chars[model]
        if model not in self._writers:
            if path.exists():
                old = read_metadata(path).get("source")
                raise ValueError(
                    f"{model} was already imported from {old}; give another name with --model, or in it"
                )
            self._writers[model] = stack.enter_context(part_writer(path, OUTPUTS, self._metadata))
        self._writers[model].write_table(pa.Table.from_pylist(rows, OUTPUTS))


def read_outputs(
    source: str | Path | Layout, catalog: Catalog, *, model: str | None = None
) -> Iterator[Output | Rejected]:
    """Read the responses of a file or folder, one by one, in the order of paths and rows; first what it refused.

    A table is JSONL, CSV or Parquet with `COLUMNS`, or what another program writes, see `readers`. The source's own
    puzzles, and those drawn from their names, are added to the catalog. `model` takes the place of the source's names.
    """
    layout = source if isinstance(source, Layout) else find_files(source)
    seen, changed = defaultdict[str, set[int]](set), set[str]()
    for path, entry in _entries(layout, catalog, changed):
        try:
            if entry.refusal:
                raise RowError(*entry.refusal)
            output = _read_fields(entry.fields or {}, model)
            if catalog.closed and output.name not in catalog:
                continue
            try:
                if output.name in changed:
                    raise ValueError(
                        "its text is not that of the known puzzle of this name; correct one"
                    )
                place = catalog.place(output.name)
            except ValueError as error:
                raise RowError(UNKNOWN_PUZZLE, f"{output.name}: {error}", output.model) from None
            if place in seen[output.model]:
                raise RowError(
                    DUPLICATE, f"{output.model} has answered {output.name} already", output.model
                )
            seen[output.model].add(place)
            yield output
        except RowError as error:
            reason, detail, *model_asked = error.args
            detail = (
                detail[:1000].encode("utf-8", "backslashreplace").decode()
            )  # it may quote the source
            yield Rejected(layout.label(path), entry.row, reason, detail, *model_asked)


def _entries(layout: Layout, catalog: Catalog, changed: set[str]) -> Iterator[tuple[Path, Entry]]:  # noqa: C901
    """Yield the rows of all files, those of puzzles first; `changed` gets puzzles that are known with another text."""
    for name, path in layout.states.items():
        try:
            text = layout.texts[name].read_text("utf-8-sig") if name in layout.texts else ""
            catalog.add(release_row(name, text, path.read_text("utf-8-sig")))
        except (OSError, ValueError) as error:
            yield path, Entry(0, None, (BAD_PUZZLE, f"{name}: {error}"))
    for path in layout.puzzle_tables:
        for entry in read_table(path, PUZZLES.names):
            try:
                if entry.fields is None:
                    yield path, entry
                else:
                    catalog.add(check_row(entry.fields))
            except ValueError as error:
                yield (
                    path,
                    Entry(
                        entry.row,
                        None,
                        (BAD_PUZZLE, f"{(entry.fields or {}).get('name')}: {error}"),
                    ),
                )
    for name in filter(
        catalog.__contains__, layout.texts
    ):  # others are compared when they are drawn
        if str(read_text(layout.texts[name])).strip() != catalog.text(catalog.place(name)).strip():
            changed.add(name)
    for path in layout.tables:
        yield from ((path, entry) for entry in read_table(path, COLUMNS))
    for model, path in layout.answers:
        content = read_text(path)
        fields = {"model": model, "name": answer_name(path), "response": content}
        yield path, Entry.of(0, fields if isinstance(content, str) else content)
    yield from ((path, Entry(0, None, refusal)) for path, refusal in layout.lost)


def _read_fields(fields: Mapping, own_model: str | None = None) -> Output:
    """Return fields as a response, or raise why they are none."""
    fields = {name: value for name, value in fields.items() if value is not None}
    if own_model:
        fields["model"] = own_model
    if isinstance(fields.get("reasoning"), str) and isinstance(fields.get("response", ""), str):
        fields["response"] = join_reasoning(fields["reasoning"], fields.get("response", ""))
    for name in ("model", "name", "response"):
        if name not in fields:
            raise RowError(
                MISSING_FIELD, "model; name it with --model" if name == "model" else name
            )
        if not isinstance(fields[name], str):
            raise RowError(WRONG_TYPE, f"{name} is {type(fields[name]).__name__}, not text")
        try:
            fields[name].encode()
        except UnicodeEncodeError as error:
            raise RowError(NOT_UTF8, f"{name}, character {error.start}: {error.reason}") from None
        if name != "response" and not is_safe(fields[name], slash=name == "model"):
            raise RowError(UNSAFE_NAME, f"{name} is {fields[name][:200]!r}")
    model = BY_LABEL.get(fields["model"], fields["model"])
    if perturbation := fields.get("perturbation"):
        if not (isinstance(perturbation, str) and re.fullmatch("[a-z_]{1,40}", perturbation)):
            raise RowError(
                WRONG_TYPE,
                f"perturbation is {str(perturbation)[:40]!r}, not a name such as rail_fence",
            )
        model += f" ({perturbation})"
    prompt, response = (
        _read_count(name, fields.get(name)) for name in ("prompt_tokens", "response_tokens")
    )
    stopped = read_stop(next((word for name in STOP_COLUMNS if (word := fields.get(name))), None))
    return Output(
        model, fields["name"], fields["response"], prompt, response, stopped, take_settings(fields)
    )


def _read_count(name: str, count: object) -> int | None:
    """Return a number of tokens; CSV has text, with the point that pandas gives counts where some are unknown."""
    if count is None or count == "":
        return None
    found = _COUNT.fullmatch(str(count)) if not isinstance(count, bool) else None
    if found is None or int(found[1]) >= 2**63:
        raise RowError(WRONG_TYPE, f"{name} is {str(count)[:40]!r}, not a number of tokens")
    return int(found[1])


def is_safe(name: str, *, slash: bool) -> bool:
    """Return whether a name is plain text that names no place outside its folder."""
    parts = name.split("/")
    is_plain = (
        name.isprintable() and name == name.strip() and "\\" not in name and len(quote(name)) <= 200
    )
    return (
        is_plain
        and (slash or len(parts) == 1)
        and all(part and not part.startswith(".") for part in parts)
    )


def take_settings(fields: Mapping[str, object]) -> dict[str, str]:
    """Return those of `SETTINGS` that a row has, as short text; a date is a day (ISO 8601, of a time in UTC)."""
    stated = {
        name: value for name in SETTINGS if isinstance(value := fields.get(name), str | int | float)
    }
    if isinstance(day := stated.get("date"), int | float) and 0 < day < 1e10:
        stated["date"] = datetime.fromtimestamp(day, UTC).isoformat()
    shown = {
        name: " ".join(str(value).split()).encode("utf-8", "replace")
        for name, value in stated.items()
    }
    return {
        name: text.decode()[: 10 if name == "date" else 100] for name, text in shown.items() if text
    }
