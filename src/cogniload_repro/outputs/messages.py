"""What a model wrote, wherever its program puts it: the reasoning, the answer, what is not read."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from cogniload_repro.endings import names_reasoning, read_stop
from cogniload_repro.outputs.records import Refusal, first

FAILED = "failed request"
UNKNOWN_SHAPE = "unknown shape"

#: Where programs put reasoning that they keep apart, as keys of a message and as columns of a
#: table; the first one with a text counts.
REASONING = (
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "reasoning_text",
    "thinking",
    "thinking_blocks",
    "thoughts",
)
#: Spreadsheets cut a cell at this many characters of UTF-16.
CELL_CHARS = 32_767
#: A row as programs have it: columns of a table, of which ``message`` holds the texts and
#: ``stopped`` the program's word, and why it is no response.
Row = tuple[dict, Refusal | None]

# where the text of a part stands, the first that is not empty
_TEXT_KEYS = ("text", "thinking", "reasoning", "summary", "refusal")
# what stands beside a text and is none; encrypted reasoning among it
_NO_TEXT = (
    *(
        "role",
        "type",
        "id",
        "name",
        "format",
        "status",
        "model",
        "source",
        "metadata",
        "internal",
    ),
    *("data", "signature", "encrypted_content", "thought_signature"),
    *(
        "finish_reason",
        "native_finish_reason",
        "finish_message",
        "stop_reason",
        "matched_stop",
    ),
    *("logprobs", "content_filter_results", "safety_ratings"),
    *("citation_metadata", "grounding_metadata", "logprobs_result"),
)
_KNOWN = frozenset(("content", "refusal", *REASONING, *_NO_TEXT))
# words in the names of columns and keys that may hold an answer, and of those that hold others
_ANSWER = re.compile(
    "text|resp|answer|reply|completion|content|generat|output|predict|choice|result|message"
    "|assistant",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    "prompt|question|puzzle|input|user|system|messages|gold|correct|expected|reference|target"
    "|context|error|filter|token|_at$|_time$",
    re.IGNORECASE,
)
# a model that stopped so without a text has given a wrong, empty answer
_TEXTLESS = ("stop", "length", "context", "refusal")


class Texts(NamedTuple):
    """Reasoning and answer of a content, whether it is a refusal, the names of what is not read."""

    reasoning: str = ""
    answer: str = ""
    is_refusal: bool = False
    unread: tuple[str, ...] = ()


def read_choices(fields: dict, choices: list[tuple[object, object]]) -> list[Row]:
    """Return each choice, its message and the word for why it stopped, as a row."""
    if len(choices) > 1:
        fields = fields | {
            "response_tokens": None
        }  # it counts the tokens of all choices
    return [
        (fields | {"message": text, "stopped": stop}, None) for text, stop in choices
    ]


def read_choice(choice: object) -> tuple[object, object]:
    """Return the message of a choice of OpenAI's programs, and the word for why it stopped."""
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
    texts = read_content(message.get("content"))
    unread = list(texts.unread)
    reasoning = texts.reasoning
    for key in [key for key in REASONING if key in message]:
        part = read_content(message[key])
        reasoning = reasoning or part.reasoning or part.answer
        if part.unread:
            unread.append(key)
    unread += [
        key
        for key, value in message.items()
        if key not in _KNOWN and _count_words(value)
    ]
    refusal = read_content(message.get("refusal")).answer
    is_refusal = texts.is_refusal or bool(refusal)
    return Texts(reasoning, texts.answer or refusal, is_refusal, tuple(unread))


def read_content(content: object) -> Texts:
    """Return the texts of a content: of a string, of a part, or of a list of parts.

    Texts between two parts of reasoning belong to the reasoning. Reasoning that is encrypted has
    at most a summary.
    """
    if isinstance(content, str) or content is None:
        return Texts(answer=content or "")
    if isinstance(content, list):
        return _join_parts([read_content(part) for part in content])
    if not isinstance(content, dict):
        return Texts(unread=(type(content).__name__,))
    keys = (
        ["summary"]
        if content.get("redacted")
        else [key for key in _TEXT_KEYS if content.get(key)]
    )
    kind = str(content.get("type") or " ".join(keys[:1]))
    for key in keys:
        part = read_content(content.get(key))
        if text := part.reasoning or part.answer:
            is_trace = bool(content.get("thought")) or names_reasoning(kind)
            texts = Texts(reasoning=text) if is_trace else Texts(answer=text)
            return texts._replace(is_refusal=bool(content.get("refusal")))
    unread = [
        key
        for key, value in content.items()
        if key not in _NO_TEXT and isinstance(value, str | list | dict) and value
    ]
    if content.get("redacted") or not unread:
        return Texts()
    return Texts(unread=(kind or unread[0],))


def _join_parts(parts: list[Texts]) -> Texts:
    traces = [place for place, part in enumerate(parts) if part.reasoning]
    start = traces[-1] + 1 if traces else 0
    reasoning = [part.reasoning or part.answer for part in parts[:start]]
    answer = [part.answer for part in parts[start:]]
    return Texts(
        "\n\n".join(filter(None, reasoning)),
        "\n\n".join(filter(None, answer)),
        any(part.is_refusal for part in parts),
        tuple(name for part in parts for name in part.unread),
    )


def _count_words(value: object) -> int:
    """Return the number of words of a text, or of the longest one that a value holds."""
    if isinstance(value, dict):
        value = [item for key, item in value.items() if key not in _NO_TEXT]
    if isinstance(value, list):
        return max(map(_count_words, value), default=0)
    return len(value.split()) if isinstance(value, str) else 0


def may_hold_text(name: str) -> bool:
    """Return whether a column or key of this name may hold what a model wrote."""
    is_answer = _ANSWER.search(name) is not None and not _NO_ANSWER.search(name)
    return is_answer or names_reasoning(name)


def take_sentences(record: Mapping) -> dict:
    """Return what a model may have written into places that are not known: several words each."""
    return {
        key: value
        for key, value in record.items()
        if may_hold_text(key) and _count_words(value) > 1
    }


def refuse_textless(texts: Texts, stopped: object, has_place: bool) -> Refusal | None:
    """Return why a record is no response, None if it is one: one rule for all programs.

    A record without any text is a wrong, empty response only if the place for its text is there
    and empty, and the model stopped by itself or at a limit, or was blocked.
    """
    if texts.answer.strip():
        return None
    if texts.unread:
        return UNKNOWN_SHAPE, f"{texts.unread[0]!r} may hold its text and is not read"
    if texts.reasoning.strip():
        return None
    if not has_place:
        return UNKNOWN_SHAPE, "it has no place for a text"
    if texts.is_refusal or read_stop(stopped) in _TEXTLESS:
        return None
    stop = (
        f"stopped with {str(stopped)[:40]!r}"
        if stopped
        else "does not say why it stopped"
    )
    return FAILED, f"there is no text, and the model {stop}"


def find_remarks(texts: Texts, message: Mapping) -> tuple[str, ...]:
    """Return what a reader should know: reasoning that is not read, a text that was cut off."""
    remarks = [
        f"{key!r} looks like reasoning and is not read; name it 'reasoning'"
        for key in texts.unread
        if names_reasoning(key) and _count_words(message.get(key, message)) > 1
    ]
    if any(map(_fills_cell, (texts.reasoning, texts.answer))):
        remarks.append(
            f"a text of {CELL_CHARS:,} characters, where spreadsheets cut a cell"
        )
    return tuple(remarks)


def _fills_cell(text: str) -> bool:
    """Return whether a text has the length of the longest cell, as spreadsheets count it."""
    if not CELL_CHARS / 2 <= len(text) <= CELL_CHARS:
        return False
    return len(text.encode("utf-16-le", "surrogatepass")) == 2 * CELL_CHARS
