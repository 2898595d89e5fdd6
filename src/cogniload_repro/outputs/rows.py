"""Sources of model outputs, read as responses and rejected rows.

A row that cannot be used never stops the others and never vanishes: it is yielded with its reason.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from cogniload_repro.endings import join_reasoning, read_stop
from cogniload_repro.outputs.layout import Layout, answer_name, find_files, read_puzzles
from cogniload_repro.outputs.readers import MISSING_FIELD, read_table
from cogniload_repro.outputs.settings import SETTINGS, take_settings
from cogniload_repro.puzzles.catalog import Catalog
from cogniload_repro.records import NOT_UTF8, WRONG_TYPE, Entry, read_text
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
    rows = _Rows(layout, catalog, model)
    for path, entry in _entries(layout, catalog):
        try:
            yield rows.check(entry)
        except _RowError as error:
            detail = error.detail[:1000].encode("utf-8", "backslashreplace").decode()  # it may quote the source
            yield Rejected(layout.label(path), entry.row, error.reason, detail, error.model)
    rows.check_renaming()


def _entries(layout: Layout, catalog: Catalog) -> Iterator[tuple[Path, Entry]]:
    yield from read_puzzles(layout, catalog)
    for path in layout.tables:
        yield from ((path, entry) for entry in read_table(path, [*OUTPUTS.names, *OPTIONAL]))
    for model, path in layout.answers:
        content = read_text(path)
        fields = {"model": model, "name": answer_name(path), "response": content}
        yield path, Entry.of(0, fields if isinstance(content, str) else content)
    yield from ((path, Entry(0, None, refusal)) for path, refusal in layout.lost)


class _RowError(Exception):
    """Why a row cannot be used; with the model where only its puzzle is the trouble."""

    def __init__(self, reason: str, detail: str, model: str | None = None):
        self.reason, self.detail, self.model = reason, detail, model


class _Rows:
    """Turns the entries of one source into responses, which answer known puzzles once per model."""

    def __init__(self, layout: Layout, catalog: Catalog, model: str | None):
        self._texts, self._catalog, self._seen = layout.texts, catalog, defaultdict[str, set[int]](set)
        self._agree: dict[str, bool] = {}
        self._model, self._is_renamed, self._new = (model or "").partition("=")
        self._found_old = False
        if self._is_renamed and not (self._model and self._new):
            raise ValueError(f"the model is {model!r}; give a name for rows without one, or OLD=NEW")

    def check(self, entry: Entry) -> Output:
        """Return the response of an entry, or raise why it is none."""
        if entry.refusal:
            raise _RowError(*entry.refusal)
        fields = {name: value for name, value in (entry.fields or {}).items() if value is not None}
        prompt = fields.pop("text", None)
        if "name" not in fields and isinstance(prompt, str):
            fields["name"] = self._find_name(prompt)
        if self._is_renamed and fields.get("model") == self._model:
            self._found_old, fields["model"] = True, self._new
        elif self._model and not self._is_renamed:
            fields.setdefault("model", self._model)
        output = _read_fields(fields)
        place = self._find_puzzle(output, prompt)
        if place in self._seen[output.model]:
            raise _RowError(DUPLICATE, f"{output.model} has answered {output.name} already", output.model)
        self._seen[output.model].add(place)
        return output

    def check_renaming(self) -> None:
        """Raise ValueError if a model was to be renamed that no row has."""
        if self._is_renamed and not self._found_old:
            raise ValueError(f"no row has the model {self._model!r}, which was to be renamed {self._new!r}")

    def _find_name(self, prompt: str) -> str:
        name = self._catalog.find_text(prompt)
        if name is None:
            remedy = "give its name, or put puzzles.jsonl next to it"
            raise _RowError(UNKNOWN_PUZZLE, f"no known puzzle has the text {prompt[:60]!r}...; {remedy}")
        return name

    def _find_puzzle(self, output: Output, prompt: object) -> int:
        """Return the puzzle's place in the catalog, if its file of text and the prompt in the row are its own."""
        name = output.name
        try:
            place = self._catalog.place(name)
        except ValueError as error:
            raise _RowError(UNKNOWN_PUZZLE, f"{name}: {error}", output.model) from None
        if name in self._texts and name not in self._agree:
            text = read_text(self._texts[name])
            self._agree[name] = isinstance(text, str) and text.strip() == self._catalog.text(place).strip()
        is_other = isinstance(prompt, str) and self._catalog.text(place).strip() not in prompt
        if is_other or not self._agree.get(name, True):
            detail = "its text is not that of the known puzzle of this name; add its metadata, or correct one"
            raise _RowError(UNKNOWN_PUZZLE, f"{name}: {detail}", output.model)
        return place


def _read_fields(fields: dict) -> Output:
    """Return fields as a response, or raise why they are none."""
    if isinstance(fields.get(REASONING), str) and isinstance(fields.get("response", ""), str):
        fields["response"] = join_reasoning(fields[REASONING], fields.get("response", ""))
    for name in ("model", "name", "response"):
        if name not in fields:
            raise _RowError(MISSING_FIELD, "model; name it with --model" if name == "model" else name)
        if not isinstance(fields[name], str):
            raise _RowError(WRONG_TYPE, f"{name} is {type(fields[name]).__name__}, not text")
        try:
            fields[name].encode()
        except UnicodeEncodeError as error:
            raise _RowError(NOT_UTF8, f"{name}, character {error.start}: {error.reason}") from None
        if name != "response" and not _is_safe(fields[name], slash=name == "model"):
            raise _RowError(UNSAFE_NAME, f"{name} is {fields[name][:200]!r}")
    for name in ("prompt_tokens", "response_tokens"):
        count = fields.get(name)
        if isinstance(count, float) and count.is_integer():
            fields[name] = count = int(count)
        if count is not None and (type(count) is not int or not 0 <= count < 2**63):
            raise _RowError(WRONG_TYPE, f"{name} is {str(count)[:40]!r}, not a number of tokens")
    if perturbation := fields.get(PERTURBATION):
        if not (isinstance(perturbation, str) and re.fullmatch("[a-z_]{1,40}[0-9]{0,4}", perturbation)):
            raise _RowError(WRONG_TYPE, f"perturbation is {str(perturbation)[:40]!r}, not a name such as rail_fence")
        fields["model"] += f" ({perturbation})"
    tokens = fields.get("prompt_tokens"), fields.get("response_tokens")
    stopped = read_stop(next((word for name in ("stopped", *STOP_COLUMNS) if (word := fields.get(name))), None))
    return Output(fields["model"], fields["name"], fields["response"], *tokens, stopped, take_settings(fields))


def _is_safe(name: str, *, slash: bool) -> bool:
    """Return whether a name is plain text that names no place outside its folder."""
    parts = name.split("/")
    return (
        name.isprintable()
        and name == name.strip()
        and "\\" not in name
        and (slash or len(parts) == 1)
        and all(part and not part.startswith(".") for part in parts)
        and len(quote(name)) <= 200
    )
