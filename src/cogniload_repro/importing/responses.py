"""Turn a record of any program into a response, or say why it is not one.

``data/programs.csv`` has a line for each place where a program writes a column. A path is the keys
and indices from the record down, as in ``choices.0.text``. Of several paths to a column the first
one with a value counts. A record is that of the first program of which it has a path to ``mark``.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote

import pandas as pd

from cogniload_repro.importing.endings import join_reasoning, read_stop
from cogniload_repro.importing.rejections import IMPORT_PAGE, RowError
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
#: What spreadsheets, pandas and R write in place of a value that is lost or missing.
LOST_WORDS = re.compile(
    r"#\w[\w/]*[!?]|#N/?[AV]|#GETTING_DATA|Err:\d{3}|Loading\.\.\."
    r"|<NA>|NA|N/A|NaN|nan|NULL|null|None"
)
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


def read_response(record: Mapping | RowError, model: str | None = None) -> Response:
    """Return a record as a response, of this model if one is given; RowError if it is not one."""
    row = take_columns(record)
    # a name may be MODEL/PUZZLE
    prefix, _, row["name"] = take_name(row, "name").rpartition("/")
    row["model"] = model or prefix or row.get("model")
    if row["model"] is not None:  # a failed request may name none
        label = take_name(row, "model")
        row["model"] = BY_LABEL.get(label, label)
        if not is_missing(row.get("perturbation")):
            row["model"] += f" ({row['perturbation']})"
    refuse_failure(row)
    try:
        trace, answer = read_content(row.get("response"))
        reasoning = "".join(read_content(row.get("reasoning"))) or trace
    except RecursionError:
        raise RowError("unknown shape", "its parts are too deep") from None
    refuse_textless(row, reasoning, answer)
    return Response(
        take_name(row, "model"),
        row["name"],
        clean_text(join_reasoning(reasoning, answer)),
        *read_tokens(row),
        read_stop(row.get("finish_reason")),
        take_settings(row),
    )


@cache
def load_programs() -> dict[str, dict[str, list[str]]]:
    """Return the paths to each column by program, in the order of the file."""
    programs = {}
    for program, lines in pd.read_csv(PROGRAMS).groupby("program", sort=False):
        programs[program] = lines.groupby("column")["path"].agg(list).to_dict()
    return programs


def take_columns(record: Mapping | RowError) -> dict[str, Any]:
    """Return a record under the documented columns; RowError if it is of no known program."""
    if isinstance(record, RowError):
        raise record
    for columns in load_programs().values():
        marks = [find_value(record, path, _ABSENT) for path in columns["mark"]]
        if any(mark is not _ABSENT for mark in marks):
            return {column: take_first(record, columns[column]) for column in columns}
    detail = f"it has {', '.join(record):.300}, but no response; {IMPORT_PAGE}"
    raise RowError("unknown shape", detail)


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


def take_name(row: Mapping, column: str) -> str:
    """Return a row's model, or the name of its puzzle; RowError if there is no safe one.

    A safe name is printable, not quoted, and that of a file that is not hidden.
    """
    name = row.get(column)
    if name is None:
        detail = (
            f"{column}; if the source has one model, --model names it; {IMPORT_PAGE}"
        )
        raise RowError("missing field", detail)
    is_text = isinstance(name, str) and name.isprintable() and not is_missing(name)
    is_safe = is_text and name == name.strip() and '"' not in name
    if not is_safe or name.startswith(".") or len(quote(name)) > 200:
        raise RowError("bad value", f"{column} is {name!r:.200}")
    return name


def refuse_failure(row: Mapping) -> None:
    """Raise RowError if a request failed or was aborted, even after a part of the text."""
    cause = row.get("error")
    for column in ("finish_reason", "status", "status_code"):
        if is_missing(cause) and read_stop(row.get(column)) == "error":
            cause = row[column]
    if not is_missing(cause):
        # a status is 502, also where the numbers of a table are floats
        detail = re.sub(r"(\d{3})\.0(?![.\d])", r"\1", f"{cause!r:.200}")
        raise RowError("failed request", detail, row["name"], row["model"])
    if row.get("second_response") is not None:
        detail = "it has several responses; keep one, since tokens are counted together"
        raise RowError("unknown shape", f"{detail}; {IMPORT_PAGE}", row["name"])


def refuse_textless(row: Mapping, reasoning: str, answer: str) -> None:
    """Raise RowError if a text is lost, or missing although the model did not end by itself."""
    for text in (answer.strip(), reasoning.strip()):
        if LOST_WORDS.fullmatch(text):
            raise RowError("damaged cell", f"its text is {text!r}", row["name"])
    word = row.get("finish_reason")
    if not (answer + reasoning).strip() and read_stop(word) not in _ENDED:
        detail = f"it has no text, and its finish_reason is {word!r:.40}"
        raise RowError("failed request", detail, row["name"], row["model"])


def is_missing(value: Any) -> bool:
    """Return whether a value is empty, has empty members only, or is a word for a missing one."""
    if isinstance(value, dict):
        return all(map(is_missing, value.values()))
    if isinstance(value, str):
        return not value.strip() or LOST_WORDS.fullmatch(value.strip()) is not None
    return not value


def read_content(content: Any) -> tuple[str, str]:
    """Return the reasoning and the answer of a content: a text, or a list of parts.

    Adjacent parts of one kind are one text, so nothing is put between them. Text before a part of
    reasoning belongs to the reasoning.
    """
    reasoning = ""
    answer = ""
    for is_reasoning, text in read_parts(content):
        if is_reasoning and answer:
            reasoning = f"{reasoning}\n\n{answer}\n\n".lstrip("\n")
            answer = ""
        if is_reasoning:
            reasoning += text
        else:
            answer += text
    return reasoning, answer


def read_parts(content: Any, is_reasoning: bool = False) -> Iterator[tuple[bool, str]]:
    """Yield the texts of a content, each with whether it is reasoning.

    Encrypted reasoning has no text. RowError for a part of an unknown kind, such as a tool's call.
    """
    if isinstance(content, str | None):
        yield is_reasoning, content or ""
    elif isinstance(content, list):
        for part in content:
            yield from read_parts(part, is_reasoning)
    elif isinstance(content, dict):
        keys = [key for key in _TEXT_KEYS if key in content]
        kind = str(content.get("type") or keys[:1])
        is_reasoning |= names_reasoning(kind) or bool(content.get("thought"))
        if not keys and not is_reasoning:
            detail = f"a part of the text has {', '.join(content):.80}; {IMPORT_PAGE}"
            raise RowError("unknown shape", detail)
        text = next((content[key] for key in keys if content[key]), "")
        yield from read_parts(text, is_reasoning)
    else:
        kind = type(content).__name__
        raise RowError("bad value", f"response is {kind}, not text")


def read_tokens(row: Mapping) -> tuple[int | None, int | None]:
    """Return the tokens of prompt and response, None for those that are not known.

    Some servers leave reasoning out of the response's count, and add it to the total alone.
    """
    prompt = add_counts(row, "prompt_tokens", "cache_read_tokens", "cache_write_tokens")
    response = add_counts(row, "response_tokens", "thought_tokens")
    reasoning = add_counts(row, "reasoning_tokens")
    if response and reasoning > response:
        response += reasoning
    if prompt:
        response = max(response, add_counts(row, "total_tokens") - prompt)
    return prompt or None, response or None


def add_counts(row: Mapping, *columns: str) -> int:
    """Return the sum of counts; 0 means unknown, since servers send it that do not count."""
    total = 0
    for column in columns:
        value = row.get(column)
        try:
            count = 0.0 if is_missing(value) else float(str(value))
        except ValueError:
            count = -1.0
        if not 0 <= count < 2**53 or count % 1:
            raise RowError("bad value", f"{column} is {value!r:.40}, not a count")
        total += int(count)
    return total


def take_settings(row: Mapping) -> dict[str, str]:
    """Return a row's settings as short texts by name (`SETTINGS`); of a time, its day."""
    settings = {}
    for name in SETTINGS:
        value = row.get(name)
        text = f"{value:.10g}" if isinstance(value, float) else str(value)
        if not is_missing(text):
            settings[name] = clean_text(text)[: 10 if name == "date" else 100]
    return settings


def clean_text(text: str) -> str:
    """Return a text with Unix line ends; half of a surrogate pair is replaced by U+FFFD."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\r\n", "\n").replace("\r", "\n")
