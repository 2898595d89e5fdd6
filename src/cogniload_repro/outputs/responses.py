"""Rows of tables -> responses: every column checked, names safe, counts whole, settings short."""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import NamedTuple
from urllib.parse import quote

from cogniload_repro.endings import join_reasoning, read_stop
from cogniload_repro.models import BY_LABEL
from cogniload_repro.outputs.messages import find_remarks, read_message, refuse_textless
from cogniload_repro.outputs.records import (
    MALFORMED,
    MISSING_FIELD,
    NOT_UTF8,
    WRONG_TYPE,
    Refusal,
)
from cogniload_repro.outputs.rows import SETTINGS

UNSAFE_NAME = "unsafe name"

_COUNT = re.compile(r"(\d{1,19})(\.0*)?", re.ASCII)
_PERTURBATION = re.compile(r"[a-z_]{1,40}")
# columns that a response must have, with what to do where one is missing
_REQUIRED = {
    "name": "name; nothing says which puzzle is answered (a batch does in custom_id or key)",
    "model": "model; write it into the rows as a column (samples of lm-evaluation-harness need the"
    " results file of their run beside them), or name the model of one source with --model of"
    " cogniload check and download-outputs",
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
    """Why a row cannot be used: reason, detail, and the model if only its puzzle is the fault."""

    def __init__(self, reason: str, detail: str, model: str | None = None):
        # it may quote the source
        text = detail[:1000].encode("utf-8", "backslashreplace").decode()
        super().__init__(reason, text, model)


def read_output(fields: Mapping, refusal: Refusal | None = None) -> Output:
    """Return a row as a response; RowError if it is none, or has a column that cannot be right."""
    name = fields.get("name")
    message = fields.get("message") or {}
    try:
        texts = read_message(message)
    except RecursionError:
        raise RowError(MALFORMED, "it is nested too deeply") from None
    # the authors' files give no reasons, and an empty one is an empty response
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
        name_model(fields),
        str(name),
        response,
        _read_count("prompt_tokens", fields.get("prompt_tokens")),
        _read_count("response_tokens", fields.get("response_tokens")),
        read_stop(fields.get("stopped")),
        take_settings(fields),
        find_remarks(texts),
    )


def _check_text(column: str, value: object) -> None:
    """Raise RowError for a text that is missing, no text, not UTF-8, or an unsafe name."""
    if value is None:
        raise RowError(MISSING_FIELD, _REQUIRED[column])
    if not isinstance(value, str):
        raise RowError(WRONG_TYPE, f"{column} is {type(value).__name__}, not text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        sign = value[error.start]
        fault = f"{column} has {sign!r}, no character of UTF-8; save it as UTF-8"
        raise RowError(NOT_UTF8, fault) from None
    if column != "response" and not is_safe(value, slash=column == "model"):
        raise RowError(UNSAFE_NAME, f"{column} is {value[:200]!r}")


def name_model(fields: Mapping) -> str:
    """Return the model of a row by its one name, with the perturbation of the prompt behind it."""
    model = BY_LABEL.get(str(fields["model"]), str(fields["model"]))
    perturbation = fields.get("perturbation")
    if not perturbation:
        return model
    if not _PERTURBATION.fullmatch(str(perturbation)):
        word = str(perturbation)[:40]
        raise RowError(
            WRONG_TYPE, f"perturbation is {word!r}, not a name such as rail_fence"
        )
    return f"{model} ({perturbation})"


def _read_count(name: str, count: object) -> int | None:
    """Return a number of tokens; where some are missing, pandas writes the others as 10.0."""
    if count is None or count == "":
        return None
    digits = None if isinstance(count, bool) else _COUNT.fullmatch(str(count))
    if digits is None or int(digits[1]) >= 2**63:
        raise RowError(
            WRONG_TYPE, f"{name} is {str(count)[:40]!r}, not a number of tokens"
        )
    return int(digits[1])


def is_safe(name: str, *, slash: bool) -> bool:
    """Return whether a name is plain text that names no place outside its folder."""
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
    """Return how a model was asked, as short texts by `SETTINGS`; a date is a day (UTC)."""
    settings = {}
    for name in SETTINGS:
        value = row.get(name)
        if name == "date" and isinstance(value, int | float) and 0 < value < 1e10:
            value = datetime.fromtimestamp(value, UTC)
        if isinstance(value, str | int | float | date):
            text = " ".join(str(value).split()).encode("utf-8", "replace").decode()
            settings[name] = text[: 10 if name == "date" else 100]
    return {name: text for name, text in settings.items() if text}
