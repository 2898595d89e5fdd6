"""Sources of model outputs, read as responses and rejected rows, and how models were asked, as far as a source says."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from cogniload_repro.endings import join_reasoning, read_stop
from cogniload_repro.outputs.adapters import RowError
from cogniload_repro.outputs.layout import UNSAFE_NAME, Layout, Rejected, answer_name, find_files
from cogniload_repro.outputs.readers import MISSING_FIELD, read_table
from cogniload_repro.puzzles.catalog import Catalog, check_row
from cogniload_repro.puzzles.readers import release_row
from cogniload_repro.records import NOT_UTF8, WRONG_TYPE, Entry, read_text
from cogniload_repro.schemas import OUTPUTS, PUZZLES

#: What a source may say of a request, by the names of columns.
SETTINGS = ("provider", "version", "date", "effort", "temperature", "top_p", "max_tokens", "form")
#: Columns under which a table may say why a model stopped, the first that is not empty counts.
STOP_COLUMNS = ("stopped", "finish_reason", "stop_reason")
#: How the prompt was perturbed (such answers are those of a model of their own, "MODEL (NAME)"), reasoning in a column
#: of its own (it is put in front of the response, as the paper scores both), stop reasons and settings.
COLUMNS = [*OUTPUTS.names, "perturbation", "reasoning", *STOP_COLUMNS[1:], *SETTINGS]
BAD_PUZZLE, UNKNOWN_PUZZLE, DUPLICATE = "bad puzzle", "unknown puzzle", "duplicate"

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOST_TOLD, _LONGEST = 20, 100


class Output(NamedTuple):
    """One response, as in the outputs table, and how the model was asked, as far as the source says."""

    model: str
    name: str
    response: str
    prompt_tokens: int | None
    response_tokens: int | None
    stopped: str | None = None
    settings: Mapping[str, str] = {}


def read_outputs(
    source: str | Path | Layout, catalog: Catalog, *, model: str | None = None
) -> Iterator[Output | Rejected]:
    """Read the responses of a file or folder, one by one, in the order of paths and rows; first what it refused.

    A table is JSONL, CSV or Parquet with `COLUMNS`, or in one of the forms of `adapters`. The source's own puzzles, and
    those drawn from their names, are added to the catalog. `model` is that of rows that name none; or ``OLD=NEW``,
    another name for one (ValueError if no row has it).
    """
    layout = source if isinstance(source, Layout) else find_files(source)
    yield from layout.source.refused
    rows = _Rows(layout, catalog, model)
    for path, entry in _entries(layout, catalog):
        try:
            yield rows.check(entry)
        except RowError as error:
            reason, detail, *model_asked = error.args
            detail = detail[:1000].encode("utf-8", "backslashreplace").decode()  # it may quote the source
            yield Rejected(layout.label(path), entry.row, reason, detail, *model_asked)
    if rows.is_renamed and not rows.found_old:
        raise ValueError(f"no row has the model {rows.model!r}, which was to be renamed {rows.new!r}")


def _entries(layout: Layout, catalog: Catalog) -> Iterator[tuple[Path, Entry]]:
    yield from _add_puzzles(layout, catalog)
    for path in layout.tables:
        yield from ((path, entry) for entry in read_table(path, COLUMNS))
    for model, path in layout.answers:
        content = read_text(path)
        fields = {"model": model, "name": answer_name(path), "response": content}
        yield path, Entry.of(0, fields if isinstance(content, str) else content)
    yield from ((path, Entry(0, None, refusal)) for path, refusal in layout.lost)


def _add_puzzles(layout: Layout, catalog: Catalog) -> Iterator[tuple[Path, Entry]]:
    """Add the source's own puzzles to the catalog; yield those that are refused."""
    for name, path in layout.states.items():
        try:
            text, state = (read_text(one) for one in (layout.texts.get(name, path), path))
            if name not in layout.texts:
                raise ValueError("the metadata have no text; add exp/**/NAME.txt")
            if not (isinstance(text, str) and isinstance(state, str)):
                raise ValueError(": ".join(text if isinstance(state, str) else state))
            catalog.add(release_row(name, text, state))
        except ValueError as error:
            yield path, Entry(0, None, (BAD_PUZZLE, f"{name}: {error}"))
    for path in layout.puzzle_tables:
        for entry in read_table(path, PUZZLES.names):
            fields = entry.fields or {}
            try:
                if entry.refusal:
                    yield path, entry
                else:
                    catalog.add(check_row(fields))
            except ValueError as error:
                yield path, Entry(entry.row, None, (BAD_PUZZLE, f"{fields.get('name')}: {error}"))


class _Rows:
    """Turns the entries of one source into responses, which answer known puzzles once per model."""

    def __init__(self, layout: Layout, catalog: Catalog, model: str | None):
        self._texts, self._catalog, self._seen = layout.texts, catalog, defaultdict[str, set[int]](set)
        self._agree: dict[str, bool] = {}
        self.model, self.is_renamed, self.new = (model or "").partition("=")
        self.found_old = False
        if self.is_renamed and not (self.model and self.new):
            raise ValueError(f"the model is {model!r}; give a name for rows without one, or OLD=NEW")

    def check(self, entry: Entry) -> Output:
        """Return the response of an entry, or raise why it is none."""
        if entry.refusal:
            raise RowError(*entry.refusal)
        fields = {name: value for name, value in (entry.fields or {}).items() if value is not None}
        prompt = fields.pop("text", None)
        if "name" not in fields and isinstance(prompt, str):
            fields["name"] = self._catalog.find_text(prompt)
            if fields["name"] is None:
                remedy = "give its name, or put puzzles.jsonl next to it"
                raise RowError(UNKNOWN_PUZZLE, f"no known puzzle has the text {prompt[:60]!r}...; {remedy}")
        if self.is_renamed and fields.get("model") == self.model:
            self.found_old, fields["model"] = True, self.new
        elif self.model and not self.is_renamed:
            fields.setdefault("model", self.model)
        output = _read_fields(fields)
        place = self._find_puzzle(output, prompt)
        if place in self._seen[output.model]:
            raise RowError(DUPLICATE, f"{output.model} has answered {output.name} already", output.model)
        self._seen[output.model].add(place)
        return output

    def _find_puzzle(self, output: Output, prompt: object) -> int:
        """Return the puzzle's place in the catalog, if its file of text and the prompt in the row are its own."""
        name = output.name
        try:
            place = self._catalog.place(name)
        except ValueError as error:
            raise RowError(UNKNOWN_PUZZLE, f"{name}: {error}", output.model) from None
        if name in self._texts and name not in self._agree:
            text = read_text(self._texts[name])
            self._agree[name] = isinstance(text, str) and text.strip() == self._catalog.text(place).strip()
        is_other = isinstance(prompt, str) and self._catalog.text(place).strip() not in prompt
        if is_other or not self._agree.get(name, True):
            detail = "its text is not that of the known puzzle of this name; add its metadata, or correct one"
            raise RowError(UNKNOWN_PUZZLE, f"{name}: {detail}", output.model)
        return place


def _read_fields(fields: dict) -> Output:
    """Return fields as a response, or raise why they are none."""
    if isinstance(fields.get("reasoning"), str) and isinstance(fields.get("response", ""), str):
        fields["response"] = join_reasoning(fields["reasoning"], fields.get("response", ""))
    for name in ("model", "name", "response"):
        if name not in fields:
            raise RowError(MISSING_FIELD, "model; name it with --model" if name == "model" else name)
        if not isinstance(fields[name], str):
            raise RowError(WRONG_TYPE, f"{name} is {type(fields[name]).__name__}, not text")
        try:
            fields[name].encode()
        except UnicodeEncodeError as error:
            raise RowError(NOT_UTF8, f"{name}, character {error.start}: {error.reason}") from None
        if name != "response" and not _is_safe(fields[name], slash=name == "model"):
            raise RowError(UNSAFE_NAME, f"{name} is {fields[name][:200]!r}")
    for name in ("prompt_tokens", "response_tokens"):
        count = fields.get(name)
        if isinstance(count, float) and count.is_integer():
            fields[name] = count = int(count)
        if count is not None and (type(count) is not int or not 0 <= count < 2**63):
            raise RowError(WRONG_TYPE, f"{name} is {str(count)[:40]!r}, not a number of tokens")
    if perturbation := fields.get("perturbation"):
        if not (isinstance(perturbation, str) and re.fullmatch("[a-z_]{1,40}[0-9]{0,4}", perturbation)):
            raise RowError(WRONG_TYPE, f"perturbation is {str(perturbation)[:40]!r}, not a name such as rail_fence")
        fields["model"] += f" ({perturbation})"
    tokens = fields.get("prompt_tokens"), fields.get("response_tokens")
    stopped = read_stop(next((word for name in STOP_COLUMNS if (word := fields.get(name))), None))
    return Output(fields["model"], fields["name"], fields["response"], *tokens, stopped, take_settings(fields))


def _is_safe(name: str, *, slash: bool) -> bool:
    """Return whether a name is plain text that names no place outside its folder."""
    parts = name.split("/")
    is_plain = name.isprintable() and name == name.strip() and "\\" not in name and len(quote(name)) <= 200
    return is_plain and (slash or len(parts) == 1) and all(part and not part.startswith(".") for part in parts)


def take_settings(fields: Mapping[str, object]) -> dict[str, str]:
    """Return those of `SETTINGS` that a row has, as short text; a date is a day (ISO 8601, of a time in UTC)."""
    stated = {name: fields.get(name) for name in SETTINGS}
    if stated["date"] is not None:
        stated["date"] = _read_day(stated["date"])
    return {name: text for name, value in stated.items() if (text := _read_value(value))}


def sum_settings(counts: Mapping[tuple[str, str, str], int]) -> dict[str, dict[str, dict[str, int]]]:
    """Return responses by model, setting and value, of their counts; of very many values the first."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for (model, name, value), count in sorted(counts.items(), key=lambda item: (SETTINGS.index(item[0][1]), item[0])):
        values = found.setdefault(model, {}).setdefault(name, {})
        if len(values) < _MOST_TOLD:
            values[value] = count
    return dict(sorted(found.items()))


def _read_day(value: object) -> object:
    """Return the day of a time that is given in seconds or in words; None if it is neither."""
    if isinstance(value, str):
        day = _DAY.match(value)
        return day[0] if day else None
    try:
        return datetime.fromtimestamp(float(value), UTC).date().isoformat()  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _read_value(value: object) -> str:
    """Return a word or number as it is shown; nothing for anything else, and for whole numbers of 2**53 or more."""
    if isinstance(value, str):
        return " ".join(value.split()).encode("utf-8", "backslashreplace").decode()[:_LONGEST]
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 2**53:
        return ""
    return str(int(value)) if float(value).is_integer() else f"{value:g}"
