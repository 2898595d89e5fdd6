"""Sources of model outputs, read as responses and rejected rows.

A row that cannot be used never stops the others and never vanishes: it is yielded with its reason.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from cogniload_repro.endings import join_reasoning, read_stop
from cogniload_repro.outputs.layout import Layout, answer_name, find_files, read_puzzles
from cogniload_repro.outputs.readers import MISSING_FIELD, read_table
from cogniload_repro.outputs.settings import SETTINGS, take_settings
from cogniload_repro.puzzles.catalog import Catalog
from cogniload_repro.records import NOT_UTF8, WRONG_TYPE, Entry, Refusal, read_text
from cogniload_repro.schemas import OUTPUTS

#: How the prompt was perturbed; such answers are those of a model of their own, "MODEL (NAME)".
PERTURBATION = "perturbation"
#: Reasoning that a source keeps in a column of its own; it is put in front of the response, as the paper scores both.
REASONING = "reasoning"
#: Columns under which a table may say why a model stopped, beside `stopped`.
STOP_COLUMNS = ("finish_reason", "stop_reason")
OPTIONAL = (PERTURBATION, REASONING, *STOP_COLUMNS, *SETTINGS)
UNKNOWN_PUZZLE = "unknown puzzle"
DUPLICATE = "duplicate"
UNSAFE_NAME = "unsafe name"


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
    """A row that cannot be used: the file below the source, the row in it (0: the whole file), and why.

    The model is given where only its puzzle is the trouble.
    """

    file: str
    row: int
    reason: str
    detail: str
    model: str | None = None


def read_outputs(
    source: str | Path | Layout, catalog: Catalog, *, model: str | None = None
) -> Iterator[Output | Rejected]:
    """Read the responses of a file or folder, one by one, in the order of paths and rows.

    Parameters
    ----------
    source : path or Layout
        A table with the columns of the outputs table, and perhaps those of `OPTIONAL`: JSONL, CSV, TSV or a JSON array
        (each perhaps compressed: .gz, .zst, .bz2, .xz), Parquet or Arrow. Or results of a batch of OpenAI, Anthropic or
        Gemini, a sample log of lm-evaluation-harness, a log of Inspect (.eval or .json), a folder of such files, or of
        answers in the authors' layout. Or the files of a folder, as `find_files` has sorted them.
    catalog : Catalog
        Known puzzles; the source's own and those drawn again from their names are added.
    model : str, optional
        The model of rows that name none; or ``OLD=NEW``, another name for one (ValueError if no row has it).
    """
    layout = source if isinstance(source, Layout) else find_files(Path(source))
    naming = _Naming(model)
    seen: dict[str, set[int]] = defaultdict(set)
    texts = _Texts(layout, catalog)
    for path, entry in _entries(layout, catalog):
        fields = entry.fields or {}
        prompt = fields.pop("text", None)
        found = entry.refusal or _name(fields, prompt, catalog) or _check(naming.apply(fields))
        if not isinstance(found, Output):
            yield _reject(layout, path, entry, found)
        elif refusal := _check_puzzle(found, catalog, seen[found.model], partial(texts.check, prompt)):
            yield _reject(layout, path, entry, refusal, found.model)
        else:
            yield found
    naming.check()


class _Naming:
    """The name of rows without a model, or another name for one model."""

    def __init__(self, stated: str | None):
        self._old, self._is_new, self._name = (stated or "").partition("=")
        if self._is_new and not (self._old and self._name):
            raise ValueError(f"the model is {stated!r}; give a name for rows without one, or OLD=NEW")
        self._met = False

    def apply(self, fields: dict) -> dict:
        model = fields.get("model")
        if self._is_new and model == self._old:
            self._met = True
            return fields | {"model": self._name}
        return fields | {"model": self._old} if model is None and self._old and not self._is_new else fields

    def check(self) -> None:
        if self._is_new and not self._met:
            raise ValueError(f"no row has the model {self._old!r}, which was to be renamed {self._name!r}")


def _reject(layout: Layout, path: Path, entry: Entry, refusal: Refusal, model: str | None = None) -> Rejected:
    reason, detail = refusal
    return Rejected(layout.label(path), entry.row, reason, _printable(detail), model)


def _entries(layout: Layout, catalog: Catalog) -> Iterator[tuple[Path, Entry]]:
    yield from read_puzzles(layout, catalog)
    for path in layout.tables:
        yield from ((path, entry) for entry in read_table(path, [*OUTPUTS.names, *OPTIONAL]))
    for model, path in layout.answers:
        content = read_text(path)
        if isinstance(content, str):
            yield path, Entry(0, {"model": model, "name": answer_name(path), "response": content})
        else:
            yield path, Entry(0, None, content)
    yield from ((path, Entry(0, None, refusal)) for path, refusal in layout.lost)


def _name(fields: dict, text: object, catalog: Catalog) -> Refusal | None:
    """Find the puzzle of a row that has only its text; return why there is none."""
    if fields.get("name") is None and isinstance(text, str):
        fields["name"] = catalog.find_text(text)
        if fields["name"] is None:
            return (
                UNKNOWN_PUZZLE,
                f"no known puzzle has the text {text[:60]!r}...; give its name, or put puzzles.jsonl next to it",
            )
    return None


def _check(fields: dict) -> Output | Refusal:
    """Return the fields as a response if they are one."""
    fields = {name: value for name, value in fields.items() if value is not None}
    if isinstance(fields.get(REASONING), str) and isinstance(fields.get("response", ""), str):
        fields["response"] = join_reasoning(fields[REASONING], fields.get("response", ""))
    for name in ("model", "name", "response"):
        if name not in fields:
            return MISSING_FIELD, "model; name it with --model" if name == "model" else name
        if not isinstance(fields[name], str):
            return WRONG_TYPE, f"{name} is {type(fields[name]).__name__}, not text"
        try:
            fields[name].encode()
        except UnicodeEncodeError as error:
            return NOT_UTF8, f"{name}, character {error.start}: {error.reason}"
    for name in ("prompt_tokens", "response_tokens"):
        count = fields.get(name)
        if isinstance(count, float) and count.is_integer():
            fields[name] = count = int(count)
        if count is not None and (type(count) is not int or not 0 <= count < 2**63):
            return WRONG_TYPE, f"{name} is {str(count)[:40]!r}, not a number of tokens"
    for name in ("model", "name"):
        if not _is_safe(fields[name], slash=name == "model"):
            return UNSAFE_NAME, f"{name} is {fields[name][:200]!r}"
    if perturbation := fields.get(PERTURBATION):
        if not (isinstance(perturbation, str) and re.fullmatch("[a-z_]{1,40}[0-9]{0,4}", perturbation)):
            return WRONG_TYPE, f"perturbation is {str(perturbation)[:40]!r}, not a name such as rail_fence"
        fields["model"] += f" ({perturbation})"
    tokens = fields.get("prompt_tokens"), fields.get("response_tokens")
    stopped = read_stop(next((word for name in ("stopped", *STOP_COLUMNS) if (word := fields.get(name))), None))
    return Output(fields["model"], fields["name"], fields["response"], *tokens, stopped, take_settings(fields))


def _printable(detail: str) -> str:
    """Return what can be written of a detail, which may quote a source."""
    return detail[:1000].encode("utf-8", "backslashreplace").decode()


def _is_safe(name: str, *, slash: bool) -> bool:
    """Tell whether a name is plain text that names no place outside its folder."""
    parts = name.split("/")
    return (
        name.isprintable()
        and name == name.strip()
        and "\\" not in name
        and (slash or len(parts) == 1)
        and all(part and not part.startswith(".") for part in parts)
        and len(quote(name)) <= 200
    )


def _check_puzzle(
    output: Output, catalog: Catalog, seen: set[int], check_text: Callable[[str, int], None]
) -> Refusal | None:
    """Return why a response belongs to no puzzle, or to one that the model has answered already."""
    try:
        place = catalog.place(output.name)
        check_text(output.name, place)
    except ValueError as error:
        return UNKNOWN_PUZZLE, f"{output.name}: {error}"
    if place in seen:
        return DUPLICATE, f"{output.model} has answered {output.name} already"
    seen.add(place)
    return None


class _Texts:
    """What a source says that the texts of puzzles are, compared with those of the same names that are known."""

    def __init__(self, layout: Layout, catalog: Catalog):
        self._files, self._catalog = layout.texts, catalog
        self._agree: dict[str, bool] = {}

    def check(self, prompt: object, name: str, place: int) -> None:
        """Refuse a puzzle whose file of text, or whose prompt in the row, is about another one than the known."""
        if name in self._files and name not in self._agree:
            text = read_text(self._files[name])
            self._agree[name] = isinstance(text, str) and text.strip() == self._catalog.text(place).strip()
        if not self._agree.get(name, True) or (
            isinstance(prompt, str) and self._catalog.text(place).strip() not in prompt
        ):
            raise ValueError("its text is not that of the known puzzle of this name; add its metadata, or correct one")
