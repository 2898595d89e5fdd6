"""Turn rows into responses: find what the model wrote, and check each column."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import NamedTuple
from urllib.parse import quote

from cogniload_repro.endings import join_reasoning, names_reasoning, read_stop
from cogniload_repro.models import BY_LABEL
from cogniload_repro.outputs.records import (
    MALFORMED,
    MISSING_FIELD,
    MISSING_WORDS,
    NOT_UTF8,
    WRONG_TYPE,
    Refusal,
    Row,
    first,
)
from cogniload_repro.puzzles.ontology import names_value

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
FAILED = "failed request"
UNSAFE_NAME = "unsafe name"
UNKNOWN_SHAPE = "unknown shape"

#: Keys of a message, or columns of a table, with reasoning apart from the answer; the first one
#: with a text counts.
REASONING = (
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "reasoning_text",
    "thinking",
    "thinking_blocks",
    "thoughts",
)
#: Spreadsheets truncate a cell at this many UTF-16 code units.
CELL_CHARS = 32_767

# keys for the text of a content part; the first that is not empty counts
_TEXT_KEYS = ("text", "thinking", "reasoning", "summary", "refusal")
# keys beside a text that hold no text, encrypted reasoning included
_NO_TEXT_NAMES = (
    "role type id name format status model object phase source provider metadata internal"
    " tool_choice verbosity signature encrypted_content thought_signature finish_reason"
    " native_finish_reason finish_message stop_reason matched_stop logprobs logprobs_result"
    " content_filter_results safety_ratings citation_metadata grounding_metadata"
)
_NO_TEXT = frozenset(_NO_TEXT_NAMES.split())
# words in the names of columns and keys whose texts no model wrote
_OTHERS = re.compile(
    "prompt|question|puzzle|input|user|system|gold|correct|expected|reference|target|truth"
    "|instruct|query|request|context|error|filter|token|comment|warning|descri|_at$|_id$"
    "|(?<![a-z])(date|time|timestamp|notes?|stop|finish|service)(?![a-z])",
    re.IGNORECASE,
)
_PROMPT_ROLES = ("user", "system", "developer", "tool")
# with these reasons for stopping, a missing text is an empty, wrong answer
_TEXTLESS = ("stop", "length", "context", "refusal")
_COUNT = re.compile(r"(\d{1,19})(\.0*)?", re.ASCII)
_PERTURBATION = re.compile(r"[a-z_]{1,40}")
# columns that a response must have, with what to do if one is missing
_REQUIRED = {
    "name": "name; add a column with the puzzle's name (in a batch: custom_id or key)",
    "model": "model; add it as a column (samples of lm-evaluation-harness need the results file of"
    " their run beside them), or, if the source has one model, give --model to cogniload check or"
    " download-outputs",
}


class Output(NamedTuple):
    """A response as in the outputs table, how the model was asked, and remarks for the reader."""

    model: str
    name: str
    response: str
    prompt_tokens: int | None
    response_tokens: int | None
    stopped: str | None = None
    settings: Mapping[str, str] = {}
    remarks: tuple[str, ...] = ()


class RowError(Exception):
    """Why a row cannot be used: reason, detail, and the model if only its puzzle is at fault."""

    def __init__(self, reason: str, detail: str, *model: str):
        # the detail may quote the source: shorten it, and make it valid UTF-8
        text = detail[:1000].encode("utf-8", "backslashreplace").decode()
        super().__init__(reason, text, *model)


def read_response(row: Row) -> Output:
    """Return a row as a response; RowError if it is not one, or has an invalid column."""
    fields = row.fields
    refusal = row.refusal
    name = fields.get("name")
    message = fields.get("message") or {}
    try:
        texts = read_message(message)
    except RecursionError:
        raise RowError(MALFORMED, "it is nested too deeply") from None
    # the authors' files do not say why a model stopped: an empty one is an empty response
    if not refusal and not fields.get("is_release"):
        refusal = refuse_textless(texts, fields.get("stopped"), "content" in message)
    if refusal:
        reason, detail = refusal
        raise RowError(reason, f"{name}: {detail}" if name else detail)
    response = join_reasoning(texts.reasoning, texts.answer)
    for column in _REQUIRED:
        _check_text(column, fields.get(column))
    _check_text("response", response)
    return Output(
        name_model(str(fields["model"]), fields.get("perturbation")),
        str(name),
        response,
        _read_count("prompt_tokens", fields.get("prompt_tokens")),
        _read_count("response_tokens", fields.get("response_tokens")),
        read_stop(fields.get("stopped")),
        take_settings(fields),
        find_remarks(texts),
    )


def _check_text(column: str, value: object) -> None:
    """Raise RowError if a value is missing, not text, not UTF-8, or an unsafe name."""
    if value is None:
        raise RowError(MISSING_FIELD, _REQUIRED[column])
    if not isinstance(value, str):
        raise RowError(WRONG_TYPE, f"{column} is {type(value).__name__}, not text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        sign = value[error.start]
        fault = f"{column} has {sign!r}, not a character of UTF-8; save it as UTF-8"
        raise RowError(NOT_UTF8, fault) from None
    if column != "response" and not is_safe(value, slash=column == "model"):
        raise RowError(UNSAFE_NAME, f"{column} is {value[:200]!r}")


def name_model(model: str, perturbation: object) -> str:
    """Return the full name of a row's model, with any perturbation of the prompt after it."""
    model = BY_LABEL.get(model, model)
    if not perturbation:
        return model
    if not _PERTURBATION.fullmatch(str(perturbation)):
        word = str(perturbation)[:40]
        raise RowError(
            WRONG_TYPE, f"perturbation is {word!r}, not a name such as rail_fence"
        )
    return f"{model} ({perturbation})"


def _read_count(name: str, count: object) -> int | None:
    """Return a token count as an int; pandas writes it as 10.0 if other counts are missing."""
    if count is None or count == "":
        return None
    digits = None if isinstance(count, bool) else _COUNT.fullmatch(str(count))
    if digits is None or int(digits[1]) >= 2**63:
        raise RowError(
            WRONG_TYPE, f"{name} is {str(count)[:40]!r}, not a number of tokens"
        )
    return int(digits[1])


def is_safe(name: str, *, slash: bool) -> bool:
    """Return whether a name is printable and, as a path, does not lead out of its folder."""
    parts = name.split("/")
    if (
        not name.isprintable()
        or name != name.strip()
        or "\\" in name
        or len(quote(name)) > 200
    ):
        return False
    has_places = all(part and not part.startswith(".") for part in parts)
    return has_places and (slash or len(parts) == 1)


def take_settings(row: Mapping[str, object]) -> dict[str, str]:
    """Return a row's settings as short texts by name (`SETTINGS`); dates are days (UTC)."""
    settings = {}
    for name in SETTINGS:
        value = row.get(name)
        if name == "date" and isinstance(value, int | float) and 0 < value < 1e10:
            value = datetime.fromtimestamp(value, UTC)
        if isinstance(value, str | int | float | date):
            text = " ".join(str(value).split()).encode("utf-8", "replace").decode()
            settings[name] = text[: 10 if name == "date" else 100]
    return {name: text for name, text in settings.items() if text}


class Texts(NamedTuple):
    """The reasoning and answer of a message, and the keys of possible texts that are not read."""

    reasoning: str = ""
    answer: str = ""
    unread: tuple[str, ...] = ()


def read_choices(
    number: int,
    fields: dict,
    choices: list[tuple[object, object]],
    beside: Mapping = {},
) -> list[Row]:
    """Return one row per choice: a message, and the program's word for why the model stopped.

    The fields ``beside`` the choices are added to each message, as they may hold its text.
    """
    if len(choices) > 1:  # the tokens of all choices are counted together
        fields = fields | {"response_tokens": None}
    rows = []
    for message, stopped in choices:
        texts = {**beside, **message} if isinstance(message, dict) else None
        rows.append(Row(number, fields | {"message": texts, "stopped": stopped}))
    return rows


def read_choice(choice: object) -> tuple[object, object]:
    """Return the message of an OpenAI choice, and the word for why the model stopped."""
    stopped = first(choice, "finish_reason", "stop_reason")
    if not isinstance(choice, dict):
        return None, stopped
    beside = dict(choice)
    message = beside.pop("message", None)
    if message is None and "text" in beside:  # a completion
        message = {"content": beside.pop("text")}
    return beside | message if isinstance(message, dict) else None, stopped


def read_message(message: Mapping) -> Texts:
    """Return the texts of a chat message: its content, and reasoning beside it (`REASONING`)."""
    reasoning, answer, unread = read_content(message.get("content"))
    for key, value in message.items():
        if key in ("content", "refusal"):
            continue
        texts = read_content(value) if key in REASONING else Texts(unread=(key,))
        reasoning = reasoning or texts.reasoning or texts.answer
        if texts.unread and _may_be_answer(key, value):
            unread += (key,)
    answer = answer or read_content(message.get("refusal")).answer
    return Texts(reasoning, answer, unread)


def read_content(content: object) -> Texts:
    """Return the texts of a message's content: a string, a part, or a list of parts.

    Text between two parts of reasoning belongs to the reasoning. Encrypted reasoning has at most a
    summary.
    """
    if isinstance(content, str) or content is None:
        return Texts(answer=content or "")
    if isinstance(content, list):
        return _join_parts([read_content(part) for part in content])
    if isinstance(content, dict):
        return _read_part(content)
    return Texts(unread=(type(content).__name__,))


def _read_part(part: Mapping) -> Texts:
    """Return the texts of a part: the first of `_TEXT_KEYS` that is not empty."""
    keys = [key for key in _TEXT_KEYS if part.get(key)]
    kind = str(part.get("type") or " ".join(keys[:1]))
    is_trace = bool(part.get("thought")) or names_reasoning(kind)
    if part.get("redacted"):
        return Texts(reasoning=read_content(part.get("summary")).answer)
    unread: list[str] = []
    for key in keys:
        texts = read_content(part[key])
        text = texts.reasoning or texts.answer
        if text and is_trace:
            return Texts(reasoning=text, unread=texts.unread)
        if text:
            return Texts(answer=text, unread=texts.unread)
        unread += texts.unread
    is_encrypted = "redacted" in kind or "encrypted" in kind
    for key in sorted(part.keys() - {*_NO_TEXT, *_TEXT_KEYS}):
        is_text = part[key] and isinstance(part[key], str | list | dict)
        if is_text and not (is_encrypted and key == "data"):
            unread.append(key)
    return Texts(unread=(kind or unread[0],) if unread else ())


def _join_parts(parts: list[Texts]) -> Texts:
    traces = [place for place, part in enumerate(parts) if part.reasoning]
    start = traces[-1] + 1 if traces else 0
    reasoning = [part.reasoning or part.answer for part in parts[:start]]
    answer = [part.answer for part in parts[start:]]
    return Texts(
        "\n\n".join(filter(None, reasoning)),
        "\n\n".join(filter(None, answer)),
        tuple(name for part in parts for name in part.unread),
    )


def is_unknown_place(name: str) -> bool:
    """Return whether a column or key of this name may hold what a model wrote."""
    return name not in _NO_TEXT and (names_reasoning(name) or not _OTHERS.search(name))


def take_beside(record: object, *places: str) -> dict:
    """Return the fields outside ``places`` that may hold text, renamed for `read_message`."""
    fields = record if isinstance(record, dict) else {}
    names = [name for name in fields if name not in places and is_unknown_place(name)]
    return {f"outer {name}": fields[name] for name in names}


def _may_be_answer(name: str, value: object) -> bool:
    """Return whether the value of an unknown key may be an answer or reasoning.

    It may be one if a text in it has several words, or names a value that puzzles ask for.
    """
    if not is_unknown_place(name):
        return False
    for text in _find_texts(value):
        words = [word for word in text.split() if any(map(str.isalpha, word))]
        if len(words) > 1 or names_value(text):
            return True
    return False


def _find_texts(value: object) -> Iterator[str]:
    """Yield the texts in a value, without messages that no model wrote, such as prompts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and value.get("role") not in _PROMPT_ROLES:
        value = [item for key, item in value.items() if key not in _NO_TEXT]
    if isinstance(value, list):
        for item in value:
            yield from _find_texts(item)


def refuse_textless(texts: Texts, stopped: object, has_place: bool) -> Refusal | None:
    """Return why a record is not a response, None if it is one: the same rule for all programs.

    A record without text is an empty, wrong response only if it has a field for the text, and the
    model stopped by itself or at a limit, or was blocked. A word for a missing value counts as a
    text, unless the model stopped for another reason.
    """
    answer = texts.answer.strip()
    is_ended = read_stop(stopped) in _TEXTLESS
    is_failed = answer in MISSING_WORDS and stopped and not is_ended
    if answer and not is_failed:
        return None
    if texts.unread:
        place = f"{texts.unread[0]!r} may hold its text, but is not read"
        remedy = "move it to response (in a message: content), or remove it"
        return UNKNOWN_SHAPE, f"{place}; {remedy}"
    if texts.reasoning.strip():
        return None
    if not has_place:
        return UNKNOWN_SHAPE, "it has no field for a text"
    if is_ended:
        return None
    reason = str(stopped or "not stated")[:40]
    return FAILED, f"there is no text; the model stopped for the reason {reason!r}"


def find_remarks(texts: Texts) -> tuple[str, ...]:
    """Return remarks on a response: unread reasoning, a text that may be missing or truncated."""
    remarks = [
        f"{key!r} looks like reasoning, but is not read; rename it to 'reasoning'"
        for key in texts.unread
        if names_reasoning(key)
    ]
    if texts.answer.strip() in MISSING_WORDS:
        remarks.append("their text is a word for a missing value, and counts as wrong")
    for text in (texts.reasoning, texts.answer):
        if len(text.encode("utf-16-le", "surrogatepass")) == 2 * CELL_CHARS:
            cut = f"a text of {CELL_CHARS:,} characters, where spreadsheets truncate cells"
            remarks.append(cut)
    return tuple(remarks)
