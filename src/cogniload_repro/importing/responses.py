"""Turn a record of any program into a response, or say why it is not one.

``data/programs.csv`` has a line for each place where a program writes a column. A path is the keys
and indices from the record down, as in ``choices.0.text``. Of several paths to a column the first
one with a value counts. A record is that of the first program of which it has a path to ``mark``.
"""

import csv
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import quote

from cogniload_repro.importing.endings import join_reasoning, read_stop
from cogniload_repro.importing.rejections import (
    BAD_VALUE,
    DAMAGED_CELL,
    FAILED,
    IMPORT_PAGE,
    MISSING_FIELD,
    UNKNOWN_SHAPE,
    RowError,
)
from cogniload_repro.models import BY_LABEL
from cogniload_repro.paths import DATA
from cogniload_repro.scoring.reasoning import names_reasoning

PROGRAMS = DATA / "programs.csv"
#: Columns in which a source may say how a request was made.
SETTINGS = (
    "provider",
    "version",
    "date",
    "effort",
    "temperature",
    "top_p",
    "max_tokens",
)
_DAMAGED = "#NAME? #VALUE! #REF! #ERROR! #DIV/0! #NUM! #NULL! #N/A #SPILL! Loading... NaN nan <NA>"
#: What spreadsheets and pandas write in place of a text that is lost.
DAMAGED_WORDS = frozenset(_DAMAGED.split(" "))
#: Words for a missing value in columns that may be empty.
MISSING_WORDS = DAMAGED_WORDS | {"", "NA", "N/A", "null", "NULL", "None"}
# keys for the text of a part; the first that is not empty counts
_TEXT_KEYS = ("text", "thinking", "reasoning", "content", "summary", "refusal")
# with these reasons for stopping, a missing text is an empty, wrong answer
_ENDED = ("stop", "length", "context", "refusal")


# in place of a value that is not there, unlike one that is null
_ABSENT = object()


class Response(NamedTuple):
    """A response under the columns of the outputs table, and how the model was asked."""

    model: str
    name: str
    response: str
    prompt_tokens: int | None
    response_tokens: int | None
    stopped: str | None
    settings: dict[str, str]


def read_response(record: Mapping, model: str | None = None) -> Response:
    """Return a record as a response, of this model if one is given; RowError if it is not one."""
    row = take_columns(record)
    prefix, _, name = take_name(row, "name").rpartition("/")
    row["name"] = name
    row["model"] = model or prefix or row.get("model")
    if row["model"] is not None:
        label = take_name(row, "model")
        perturbation = row.get("perturbation")
        row["model"] = BY_LABEL.get(label, label)
        if not is_missing(perturbation):
            row["model"] += f" ({perturbation})"
    refuse_failure(row)
    trace, answer = read_content(row.get("response"))
    reasoning = "".join(read_content(row.get("reasoning"))) or trace
    refuse_textless(row, reasoning, answer)
    prompt_tokens, response_tokens = read_tokens(row)
    return Response(
        model=take_name(row, "model"),
        name=name,
        response=clean_text(join_reasoning(reasoning, answer)),
        prompt_tokens=prompt_tokens,
        response_tokens=response_tokens,
        stopped=read_stop(row.get("finish_reason")),
        settings=take_settings(row),
    )


@cache
def load_programs() -> dict[str, dict[str, list[str]]]:
    """Return the paths to each column by program, in the order of the file."""
    programs: dict = defaultdict(lambda: defaultdict(list))
    with PROGRAMS.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            programs[line["program"]][line["column"]].append(line["path"])
    return programs


def take_columns(record: Mapping) -> dict[str, Any]:
    """Return a record under the documented columns; RowError if it is of no known program."""
    for columns in load_programs().values():
        if any(
            find_value(record, mark, _ABSENT) is not _ABSENT for mark in columns["mark"]
        ):
            return {
                column: take_first(record, paths) for column, paths in columns.items()
            }
    names = ", ".join(record)
    raise RowError(
        UNKNOWN_SHAPE, f"it has {names:.300}, but no response; {IMPORT_PAGE}"
    )


def find_value(record: Any, path: str, default: object = None) -> Any:
    """Return the value at a path, the default if there is no such key or index."""
    value = record
    for key in path.split("."):
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (LookupError, TypeError, ValueError):
            return default
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def take_first(record: Mapping, paths: list[str]) -> Any:
    """Return the first value at these paths that is not empty, nor NaN; None if there is none."""
    for path in paths:
        value = find_value(record, path)
        if value not in (None, "") and value == value:
            return value
    return None


def find_unread(record: Mapping) -> set[str]:
    """Return the names of a table's columns that are not read."""
    known = set(chain.from_iterable(load_programs()["table"].values()))
    return record.keys() - known if "name" in record else set()


def take_name(row: Mapping, column: str) -> str:
    """Return a row's model, or the name of its puzzle; RowError if there is no safe one."""
    name = row.get(column)
    if name is None:
        raise RowError(
            MISSING_FIELD,
            f"{column}; if the source has one model, --model names it; {IMPORT_PAGE}",
        )
    if not isinstance(name, str) or not is_safe(name):
        raise RowError(BAD_VALUE, f"{column} is {name!r:.200}")
    return name


def is_safe(name: str) -> bool:
    """Return whether a name is printable and, as a path, does not lead out of its folder."""
    parts = name.split("/")
    is_plain = name.isprintable() and name == name.strip() and "\\" not in name
    is_inside = all(part and not part.startswith(".") for part in parts)
    return is_plain and is_inside and len(quote(name)) <= 200


def refuse_failure(row: Mapping) -> None:
    """Raise RowError if a request failed or was aborted, even after a part of the text."""
    error = row.get("error")
    members = error.values() if isinstance(error, dict) else [error]
    status = add_counts(row, "status_code") or 200
    is_aborted = read_stop(row.get("finish_reason")) == "error"
    if is_aborted or status // 100 != 2 or not all(map(is_missing, members)):
        cause = error or row.get("finish_reason") or status
        raise RowError(FAILED, f"{cause!r:.200}", row["name"], row["model"])
    if row.get("second_response") is not None:
        remedy = f"keep one, since tokens are counted together; {IMPORT_PAGE}"
        raise RowError(
            UNKNOWN_SHAPE, f"it has several responses; {remedy}", row["name"]
        )


def refuse_textless(row: Mapping, reasoning: str, answer: str) -> None:
    """Raise RowError if a row has no text, and the model did not end by itself or at a limit."""
    word = row.get("finish_reason")
    if answer.strip() in DAMAGED_WORDS:
        raise RowError(DAMAGED_CELL, f"its text is {answer.strip()!r}", row["name"])
    if not (answer + reasoning).strip() and read_stop(word) not in _ENDED:
        cause = f"it has no text, and the model did not end, but {word!r:.40}"
        raise RowError(FAILED, cause, row["name"], row["model"])


def is_missing(value: Any) -> bool:
    """Return whether a value is empty, or a word for a missing one."""
    if isinstance(value, str):
        return value.strip() in MISSING_WORDS
    return not value


def read_content(content: Any) -> tuple[str, str]:
    """Return the reasoning and the answer of a content: a text, or a list of parts.

    Adjacent parts of one kind are one text, so nothing is put between them. Text before a part of
    reasoning belongs to the reasoning.
    """
    if isinstance(content, str | None):
        return "", content or ""
    if not isinstance(content, list | dict):
        raise RowError(BAD_VALUE, f"response is {type(content).__name__}, not text")
    reasoning = ""
    answer = ""
    for part in content if isinstance(content, list) else [content]:
        is_reasoning, text = read_part(part)
        if is_reasoning and answer:
            reasoning = f"{reasoning}\n\n{answer}\n\n".lstrip("\n")
            answer = ""
        if is_reasoning:
            reasoning += text
        else:
            answer += text
    return reasoning, answer


def read_part(part: Any) -> tuple[bool, str]:
    """Return whether a part of a content is reasoning, and its text.

    Encrypted reasoning has no text. RowError for a part of an unknown kind, such as a tool's call.
    """
    if not isinstance(part, dict):
        return False, read_content(part)[1]
    keys = [key for key in _TEXT_KEYS if key in part]
    kind = str(part.get("type") or keys[:1])
    is_reasoning = names_reasoning(kind) or bool(part.get("thought"))
    if not keys and not is_reasoning:
        names = ", ".join(part)
        raise RowError(
            UNKNOWN_SHAPE, f"a part of the text has {names:.80}; {IMPORT_PAGE}"
        )
    text = next((part[key] for key in keys if part[key]), "")
    return is_reasoning, "".join(read_content(text))


def read_tokens(row: Mapping) -> tuple[int | None, int | None]:
    """Return the tokens of prompt and response, None for those that are not known.

    Some servers leave reasoning out of the response's count, and add it to the total alone.
    """
    prompt = add_counts(row, "prompt_tokens", "cache_read_tokens", "cache_write_tokens")
    response = add_counts(row, "response_tokens", "thought_tokens")
    total = add_counts(row, "total_tokens")
    if prompt and response and total:
        response = max(response, total - prompt)
    return prompt, response


def add_counts(row: Mapping, *columns: str) -> int | None:
    """Return the sum of counts, None if it is 0, which servers send that do not count."""
    total = 0
    for column in columns:
        value = row.get(column)
        try:
            count = 0.0 if is_missing(value) else float(str(value))
        except (TypeError, ValueError):
            count = -1.0
        if not 0 <= count < 2**53 or count % 1:
            raise RowError(BAD_VALUE, f"{column} is {value!r:.40}, not a count")
        total += int(count)
    return total or None


def take_settings(row: Mapping) -> dict[str, str]:
    """Return a row's settings as short texts by name (`SETTINGS`)."""
    settings = {}
    for name in SETTINGS:
        value = row.get(name)
        if isinstance(value, int | float):
            value = format(value, ".10g")
        if not is_missing(value):
            settings[name] = clean_text(str(value))[:100]
    return settings


def clean_text(text: str) -> str:
    """Return a text with Unix line ends; half of a surrogate pair is replaced by U+FFFD."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\r\n", "\n")
