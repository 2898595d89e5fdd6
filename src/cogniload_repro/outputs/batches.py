"""Read lines of batch results: OpenAI's (chat, completions, Responses), Anthropic's, Gemini's."""

import json
import re
from collections.abc import Mapping
from typing import Any

from cogniload_repro.outputs.records import Row, at, first
from cogniload_repro.outputs.responses import (
    FAILED,
    UNKNOWN_SHAPE,
    read_choice,
    read_choices,
    take_beside,
)

_HUMP = re.compile(r"(?<=[a-z])[A-Z]")
# words of an error if the provider's filter has blocked the prompt or the answer
_BLOCKED = re.compile(
    r"content[ _](filter|polic)|invalid_prompt|block_reason", re.IGNORECASE
)
# key of a body's messages, and its type: OpenAI's Responses, Anthropic's, chats, Gemini's
_PLACES: dict[str, Any] = {
    "output": list,
    "content": (list, str),
    "choices": list,
    "candidates": list,
}
# tokens of a prompt that Anthropic's servers and Inspect count separately
_CACHED = (
    *("cache_read_input_tokens", "cache_creation_input_tokens"),
    *("input_tokens_cache_read", "input_tokens_cache_write"),
)


def is_batch_line(record: Mapping) -> bool:
    """Return whether a record is a line of a batch's results: it has a custom_id or a key."""
    if "custom_id" in record:
        return not record.keys().isdisjoint(("response", "error", "result"))
    response = record.get("response")
    if isinstance(response, dict) and response.get("candidates") is not None:
        return True
    if "name" in record:
        return False
    has_key = "key" in record or at(record, "metadata", "key") is not None
    return has_key and ("error" in record or isinstance(response, dict))


def read_batch_line(record: Row) -> list[Row]:
    """Return the rows of a line of results; a blocked prompt or answer counts as a refusal."""
    line = _to_snake_case(record.fields)
    body, beside = _find_body(line)
    # the key may be MODEL/NAME; otherwise the model is the one that the server names
    key = first(line, "custom_id", "key") or at(line, "metadata", "key")
    model, slash, name = str(key or "").rpartition("/")
    version = first(body, "model", "model_version")
    fields = {
        "name": name or None,
        "model": model if slash else version,
        "version": version,
        "date": first(body, "created", "created_at", "create_time"),
        "max_tokens": at(body, "max_output_tokens"),
        **read_tokens(first(body, "usage", "usage_metadata")),
    }
    error = line.get("error") or at(body, "error")
    is_done = at(line, "response", "status_code") in (None, 200)
    is_done = is_done and at(line, "result", "type") in (None, "succeeded")
    place = _find_place(body)
    choices = _read_choices(place, body) if place and is_done and not error else []
    if choices:
        return read_choices(
            record.number, fields, choices, beside | take_beside(body, place)
        )
    detail = json.dumps(error or line.get("result") or line.get("response"))
    if _BLOCKED.search(detail):
        return read_choices(record.number, fields, [({"content": None}, "refusal")])
    is_empty = place or not body or not is_done or error
    reason = FAILED if is_empty else UNKNOWN_SHAPE
    return [Row(record.number, fields, (reason, detail[:200]))]


def _find_body(line: Mapping) -> tuple[Any, dict]:
    """Return the body of the provider's response, and other fields that may hold its text."""
    beside = take_beside(line, "response", "result", "key")
    response = line.get("response")
    if response is None:
        result = line.get("result")
        return at(result, "message"), beside | take_beside(result, "message")
    if isinstance(response, dict) and "body" in response:  # OpenAI's
        return response["body"], beside | take_beside(response, "body")
    return response, beside


def _find_place(body: object) -> str:
    """Return the key that holds the messages of a body; "" if it has no known one."""
    for place, kinds in _PLACES.items():
        if isinstance(at(body, place), kinds):
            return place
    return ""


def _read_choices(place: str, body: Mapping) -> list[tuple[object, object]]:
    """Return the messages of a body, each with the word for why the model stopped."""
    if place == "choices":
        return [read_choice(choice) for choice in body["choices"]]
    if place == "candidates":
        return [_read_candidate(candidate) for candidate in body["candidates"]]
    if place == "content":
        return [({"content": body["content"]}, body.get("stop_reason"))]
    parts = [part for item in body["output"] for part in _read_item(item)]
    reason = at(body, "incomplete_details", "reason") or body.get("status")
    return [({"content": parts}, reason)]


def _read_item(item: object) -> list:
    if not isinstance(item, dict):
        return [item]
    rest = dict(item)
    texts = [rest.pop(key) for key in ("summary", "content") if key in item]
    is_trace = item.get("type") == "reasoning"
    return [{"text": text, "thought": is_trace} for text in texts] + [rest]


def _read_candidate(candidate: object) -> tuple[object, object]:
    """Return a Gemini candidate, which omits empty fields, as a message and a stop reason."""
    if not isinstance(candidate, dict):
        return None, None
    content = candidate.get("content")
    if isinstance(content, dict):
        candidate = candidate | take_beside(content, "parts")
        content = content.get("parts")
    return candidate | {"content": content}, candidate.get("finish_reason")


def read_tokens(usage: object) -> dict[str, object]:
    """Return the token counts of prompt and response, whatever the server calls them."""
    prompt = first(usage, "prompt_tokens", "prompt_token_count")
    if prompt is None:
        prompt = _add_up(usage, "input_tokens", *_CACHED)
    response = first(usage, "completion_tokens", "output_tokens")
    if response is None:
        response = _add_up(usage, "candidates_token_count", "thoughts_token_count")
    return {"prompt_tokens": prompt, "response_tokens": response}


def _add_up(usage: object, *names: str) -> object:
    """Return the sum of the counts present, or the first one if any is not an integer."""
    counts = [at(usage, name) for name in names]
    stated = [count for count in counts if count is not None]
    if stated and all(type(count) is int for count in stated):
        return sum(stated)
    return next(iter(stated), None)


def _to_snake_case(value: Any) -> Any:
    """Return a JSON value with keys in snake case; Google's programs also use camel case."""
    if isinstance(value, list):
        return [_to_snake_case(item) for item in value]
    if not isinstance(value, dict):
        return value
    snake_case = {}
    for key, item in value.items():
        name = _HUMP.sub(lambda hump: f"_{hump[0].lower()}", key)
        snake_case[name] = _to_snake_case(item)
    return snake_case
