"""Turn a record of any program into a response, or say why it is not one."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote

from cogniload_repro.endings import join_reasoning, names_reasoning, read_stop
from cogniload_repro.importing.programs import take_columns
from cogniload_repro.importing.rejections import (
    DAMAGED_CELL,
    FAILED,
    IMPORT_PAGE,
    MISSING_FIELD,
    UNKNOWN_SHAPE,
    UNSAFE_NAME,
    WRONG_TYPE,
    RowError,
)
from cogniload_repro.models import BY_LABEL

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
#: What spreadsheets and pandas write in place of a text that is lost.
DAMAGED_WORDS = frozenset(
    "#NAME? #VALUE! #REF! #ERROR! #DIV/0! #NUM! #NULL! #N/A #SPILL! Loading... NaN nan NaT <NA>".split()
)
#: Words for a missing value in columns that may be empty.
MISSING_WORDS = DAMAGED_WORDS | {"", "NA", "N/A", "null", "NULL", "None"}
# keys for the text of a part; the first that is not empty counts
_TEXT_KEYS = ("text", "thinking", "reasoning", "content", "summary", "refusal")
# with these reasons for stopping, a missing text is an empty, wrong answer
_ENDED = ("stop", "length", "context", "refusal")


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
    row["model"] = name_model(row, model)
    row["name"] = take_name(row, "name").rpartition("/")[2]
    refuse_failure(row)
    trace, answer = read_content(row.get("response"))
    reasoning = "".join(read_content(row.get("reasoning"))) or trace
    refuse_textless(row, reasoning, answer)
    prompt_tokens, response_tokens = read_tokens(row)
    return Response(
        model=take_name(row, "model"),
        name=row["name"],
        response=clean_text(join_reasoning(reasoning, answer)),
        prompt_tokens=prompt_tokens,
        response_tokens=response_tokens,
        stopped=read_stop(row.get("finish_reason")),
        settings=take_settings(row),
    )


def name_model(row: Mapping, model: str | None) -> Any:
    """Return the full name of a row's model, with any perturbation of the prompt after it.

    The model may be given, or stand in a request's id, as in ``MODEL/NAME``.
    """
    prefix = str(row.get("name")).rpartition("/")[0]
    model = model or prefix or row.get("model")
    if not isinstance(model, str):
        return model
    name = BY_LABEL.get(model, model)
    perturbation = row.get("perturbation")
    return name if is_missing(perturbation) else f"{name} ({perturbation})"


def take_name(row: Mapping, column: str) -> str:
    """Return a row's model, or the name of its puzzle; RowError if there is no safe one."""
    name = row.get(column)
    if name is None:
        remedy = IMPORT_PAGE if column == "name" else "if the source has one, give --model"
        raise RowError(MISSING_FIELD, f"{column}; {remedy}")
    if not isinstance(name, str) or not is_safe(name):
        raise RowError(UNSAFE_NAME, f"{column} is {name!r:.200}")
    return name


def is_safe(name: str) -> bool:
    """Return whether a name is printable and, as a path, does not lead out of its folder."""
    is_plain = name.isprintable() and name == name.strip() and "\\" not in name
    is_inside = not any(part.startswith(".") for part in name.split("/"))
    return is_plain and is_inside and all(name.split("/")) and len(quote(name)) <= 200


def refuse_failure(row: Mapping) -> None:
    """Raise RowError if a request failed or was aborted, even after a part of the text."""
    error = row.get("error")
    members = error.values() if isinstance(error, dict) else [error]
    status = read_count("status_code", row.get("status_code"))
    is_refused = status is not None and status // 100 != 2
    is_aborted = read_stop(row.get("finish_reason")) == "error"
    if is_refused or is_aborted or not all(map(is_missing, members)):
        cause = error or status or row.get("finish_reason")
        raise RowError(FAILED, f"{cause!r:.200}", row["name"], row["model"])
    if row.get("second_response") is not None:
        remedy = f"keep one, since tokens are counted together; {IMPORT_PAGE}"
        raise RowError(UNKNOWN_SHAPE, f"it has several responses; {remedy}", row["name"])


def refuse_textless(row: Mapping, reasoning: str, answer: str) -> None:
    """Raise RowError if a row has no text, and the model did not end by itself or at a limit."""
    word = row.get("finish_reason")
    if answer.strip() in DAMAGED_WORDS:
        raise RowError(DAMAGED_CELL, f"its text is {answer.strip()!r}", row["name"])
    if not answer.strip() and not reasoning.strip() and read_stop(word) not in _ENDED:
        cause = f"it has no text; why the model stopped: {word or 'not stated'!r:.40}"
        raise RowError(FAILED, cause, row["name"], row["model"])


def is_missing(value: Any) -> bool:
    """Return whether a value is empty, or a word for a missing one."""
    if isinstance(value, str):
        return value.strip() in MISSING_WORDS
    return not value or value != value


def read_content(content: Any) -> tuple[str, str]:
    """Return the reasoning and the answer of a content: a text, or a list of parts.

    Adjacent parts of one kind are one text, so nothing is put between them. Text before a part of
    reasoning belongs to the reasoning.
    """
    if isinstance(content, str | None):
        return "", content or ""
    if not isinstance(content, list | dict):
        raise RowError(WRONG_TYPE, f"response is {type(content).__name__}, not text")
    reasoning = ""
    answer = ""
    for part in content if isinstance(content, list) else [content]:
        is_reasoning, text = read_part(part)
        if is_reasoning and answer:
            reasoning = f"{reasoning}\n\n{answer}\n\n{text}".lstrip("\n")
            answer = ""
        elif is_reasoning:
            reasoning += text
        else:
            answer += text
    return reasoning, answer


def read_part(part: Any) -> tuple[bool, str]:
    """Return whether a part of a content is reasoning, and its text.

    Encrypted reasoning has no text. RowError for a part of an unknown kind, such as a tool's call.
    """
    if isinstance(part, str):
        return False, part
    if not isinstance(part, dict):
        raise RowError(WRONG_TYPE, f"a part of the text is {type(part).__name__}")
    keys = [key for key in _TEXT_KEYS if key in part]
    kind = str(part.get("type") or keys[:1])
    is_reasoning = names_reasoning(kind) or bool(part.get("thought"))
    if not keys and not is_reasoning:
        names = ", ".join(map(str, part))
        raise RowError(UNKNOWN_SHAPE, f"a part of the text has {names:.80}; {IMPORT_PAGE}")
    texts = [part[key] for key in keys if part[key]]
    text = "".join(read_content(texts[0])) if texts else ""
    return is_reasoning, text


def read_tokens(row: Mapping) -> tuple[int | None, int | None]:
    """Return the tokens of prompt and response, None for those that are not known.

    Some servers leave reasoning out of the response's count, and add it to the total alone.
    """
    prompt = read_count("prompt_tokens", row.get("prompt_tokens"))
    response = read_count("response_tokens", row.get("response_tokens"))
    total = read_count("total_tokens", row.get("total_tokens"))
    if prompt and response and total:
        response = max(response, total - prompt)
    return prompt, response


def read_count(name: str, value: Any) -> int | None:
    """Return a count, None if it is missing or 0, which servers send if they do not count."""
    if isinstance(value, list):
        counts = [read_count(name, item) or 0 for item in value]
        return sum(counts) or None
    if is_missing(value):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0 <= number < 2**53 or not number.is_integer():
        raise RowError(WRONG_TYPE, f"{name} is {value!r:.40}, not a count")
    return int(number) or None


def take_settings(row: Mapping) -> dict[str, str]:
    """Return a row's settings as short texts by name (`SETTINGS`); dates are days (UTC)."""
    settings = {}
    for name in SETTINGS:
        value = row.get(name)
        if name == "date" and isinstance(value, int | float) and 0 < value < 1e10:
            value = datetime.fromtimestamp(value, UTC)
        if isinstance(value, int | float):
            value = format(value, ".10g")
        if not is_missing(value):
            text = clean_text(" ".join(str(value).split()))
            settings[name] = text[:10] if name == "date" else text[:100]
    return settings


def clean_text(text: str) -> str:
    """Return a text with Unix line ends; half of a surrogate pair is replaced by U+FFFD."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\r\n", "\n")
