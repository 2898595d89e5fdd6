"""Records of other programs -> rows of outputs: lines of batches, lm-evaluation-harness and Inspect samples.

A record is recognised by its keys. The puzzle is named where one of the record's texts is a puzzle's name;
elsewhere the row carries the prompt as `text`, by which the puzzle can be found.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from cogniload_repro.endings import join_reasoning, read_stop
from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.records import read_json_lines

FAILED, ANOTHER_MODEL = "failed request", "another model"
#: What the clients of lm-evaluation-harness ask for where its task does not say: it logs no default.
HARNESS_TEMPERATURE = "client default 0"

# Files of one run of the harness end in the same date.
_HARNESS_RUN = re.compile(r"samples_.+_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(?:\.\w+)?")
_REQUEST_FILES = "*requests*.jsonl"
_MAX_RESULTS = 50_000_000  # bytes of a results file
# parts of a content that are reasoning, and the others that are text
_REASONING = ("reasoning", "thinking", "redacted_thinking")
_TEXT = (None, "text", "output_text", "refusal")
# why a model may have ended without a text; elsewhere a record without one is a failed request
_TEXTLESS = ("stop", "length", "context", "refusal")

#: Fields of a row, or the reason why there is none and what exactly was found.
Row = dict | tuple[str, str]
#: The text of an answer, None where there is none, and why the model stopped, in the source's word.
Answer = tuple[object, object]


class Beside(NamedTuple):
    """What other files say of the records in one: their model, and how it was asked (`settings.SETTINGS`)."""

    model: str | None = None
    asked: Mapping[str, object] = {}


def adapt_record(record: dict, model: str | None = None, asked: Mapping[str, object] | None = None) -> Iterator[Row]:
    """Yield the rows of one JSON object: several where a model was asked several times, itself if it is a row.

    `model` is that of a record which names none, `asked` what is known elsewhere of how it was asked
    (`settings.SETTINGS`). A request that stands next to its answers is no row.
    """
    asked = asked or {}
    if "custom_id" in record and ("response" in record or "error" in record):
        yield from _batch_rows(record, asked)
    elif "custom_id" in record and "result" in record:
        yield from _message_batch_rows(record, asked)
    elif "candidates" in _mapping(record.get("response")) or _is_keyed(record):
        yield from _gemini_rows(record, asked)
    elif "doc" in record and "resps" in record:
        yield from _harness_rows(record, model, asked)
    elif "epoch" in record and "output" in record:
        yield from _inspect_rows(record, model, asked)
    elif _find_request(record) is None:
        yield record


def find_beside(path: Path) -> Beside:
    """Return what the files next to a table say: the results of a harness run, the requests of a batch."""
    run = _HARNESS_RUN.fullmatch(path.name)
    for results in sorted(path.parent.glob(f"*_{run[1]}.json")) if run else ():
        try:
            content = _mapping(json.loads(results.read_bytes()) if results.stat().st_size < _MAX_RESULTS else None)
        except (OSError, ValueError, RecursionError):
            continue
        name = content.get("model_name")
        if isinstance(name, str) and name:
            return Beside(Path(name).name if Path(name).is_absolute() else name)
    asked: list[dict] = []
    for requests in () if run else sorted(path.parent.glob(_REQUEST_FILES)):
        try:
            first = next(read_json_lines(requests), None)
        except (OSError, ValueError):
            continue
        request = _find_request(first.fields or {}) if first else None
        asked += [] if request is None else [_read_settings(request)]
    return Beside(asked=asked[0] if asked and all(one == asked[0] for one in asked) else {})


def _find_request(record: Mapping) -> Mapping | None:
    """Return what a line of a batch's requests asks for (OpenAI, Anthropic, Gemini); None if it is no such line."""
    if "custom_id" in record and ("body" in record or "params" in record):
        return _mapping(record.get("body") or record.get("params"))
    return _mapping(record["request"]) if "key" in record and "request" in record else None


def _is_keyed(record: Mapping) -> bool:
    """Return whether a record is a line of Gemini's results, though without candidates."""
    return "key" in record and "name" not in record and (
        isinstance(record.get("response"), dict) or ("error" in record and "response" not in record)
    )  # fmt: skip


def _read_settings(body: Mapping) -> dict[str, object]:
    """Return settings from a request, or from a response that repeats them; only those that are there."""
    config = _mapping(body.get("generationConfig") or body.get("generation_config")) or body
    thinking = _mapping(config.get("thinkingConfig") or config.get("thinking_config") or config.get("thinking"))
    names = {
        "effort": ("reasoning_effort", "thinking_budget", "thinkingBudget", "budget_tokens", "thinkingLevel",
                   "thinking_level", "effort"),
        "temperature": ("temperature",),
        "top_p": ("top_p", "topP"),
        "max_tokens": ("max_completion_tokens", "max_output_tokens", "max_tokens", "maxOutputTokens", "max_gen_toks"),
    }  # fmt: skip
    stated = {**_mapping(config.get("output_config")), **thinking, **_mapping(config.get("reasoning")), **config}
    found = {
        key: next((stated[one] for one in ones if stated.get(one) is not None), None) for key, ones in names.items()
    }
    return {key: value for key, value in found.items() if value is not None}


def _batch_rows(line: Mapping, asked: Mapping) -> Iterator[Row]:
    """Read a line of a batch's output or error file; chat completions and responses have bodies of their own."""
    custom_id, response = line["custom_id"], line.get("response") or {}
    body = _mapping(response.get("body") if isinstance(response, dict) else None)
    error = line.get("error") or body.get("error")
    if error or _mapping(response).get("status_code", 200) != 200 or not ("choices" in body or "output" in body):
        yield FAILED, f"{custom_id}: {json.dumps(error or response)[:200]}"
        return
    chat = [_read_choice(choice, "finish_reason") for choice in _list(body.get("choices"))]
    usage = _mapping(body.get("usage"))
    yield from _rows(
        chat if "choices" in body else [_read_response(body)],
        **{**asked, **_read_settings(body)},
        **_named_by(custom_id, body),
        prompt_tokens=usage.get("prompt_tokens", usage.get("input_tokens")),
        response_tokens=usage.get("completion_tokens", usage.get("output_tokens")),
        date=body.get("created", body.get("created_at")),
    )


def _message_batch_rows(line: Mapping, asked: Mapping) -> Iterator[Row]:
    """Read a line of the results of a batch of Anthropic's messages."""
    custom_id, result = line["custom_id"], _mapping(line["result"])
    message = _mapping(result.get("message"))
    if not message or result.get("type", "succeeded") != "succeeded":
        yield FAILED, f"{custom_id}: {json.dumps(result)[:200]}"
        return
    usage = _mapping(message.get("usage"))
    yield from _rows(
        [(_message_text(message), message.get("stop_reason"))],
        **asked,
        **_named_by(custom_id, message),
        prompt_tokens=_sum_tokens(usage, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
        response_tokens=usage.get("output_tokens"),
    )


def _gemini_rows(line: Mapping, asked: Mapping) -> Iterator[Row]:
    """Read a line of the results of a batch of Gemini's; without a key, the request in the line has the prompt."""
    key, response, request = line.get("key"), _mapping(line.get("response")), _mapping(line.get("request"))
    if line.get("error") or not _list(response.get("candidates")):
        yield FAILED, f"{key}: {json.dumps(line.get('error') or line.get('status') or response)[:200]}"
        return
    answers: list[Answer] = []
    usage = _mapping(response.get("usageMetadata"))
    for candidate in map(_mapping, response["candidates"]):
        parts = [_mapping(part) for part in _list(_mapping(candidate.get("content")).get("parts"))]
        texts = [[p.get("text") for p in parts if bool(p.get("thought")) is thought] for thought in (True, False)]
        stopped = candidate.get("finishReason")
        is_text = any(isinstance(p.get("text"), str) for p in parts) if parts else read_stop(stopped) in _TEXTLESS
        answers.append((join_reasoning(*map(_join, texts)) if is_text else None, stopped))
    contents = map(_mapping, _list(request.get("contents")))
    prompts = [_mapping(part).get("text") for content in contents for part in _list(content.get("parts"))]
    named = _named_by(key, {"model": response.get("modelVersion")}) if key else _identify(prompts)
    yield from _rows(
        answers,
        **{**asked, **_read_settings(request)},
        **{"model": response.get("modelVersion"), "version": response.get("modelVersion"), **named},
        prompt_tokens=_sum_tokens(usage, "promptTokenCount"),
        response_tokens=_sum_tokens(usage, "candidatesTokenCount", "thoughtsTokenCount")
        if "candidatesTokenCount" in usage
        else usage.get("thoughtsTokenCount"),
        date=response.get("createTime") or line.get("processed_time"),
    )


def _named_by(custom_id: object, body: Mapping) -> dict[str, object]:
    """Return the puzzle that an id names, perhaps behind a model, and the model that answered."""
    asked, slash, name = str(custom_id).rpartition("/")
    return {"model": asked if slash else body.get("model"), "name": name, "version": body.get("model")}


def _harness_rows(sample: Mapping, model: str | None, asked: Mapping) -> Iterator[Row]:
    """Read a harness sample: the raw responses, not what its filters have made of them.

    Neither tokens are logged nor why the model stopped.
    """
    doc, texts = _mapping(sample["doc"]), []
    for repeats in _list(sample["resps"]):
        texts += repeats if isinstance(repeats, list) else [repeats]
    prompts = [text for text in doc.values() if isinstance(text, str)]
    stated = _mapping(_mapping(_mapping(sample.get("arguments")).get("gen_args_0")).get("arg_1"))
    is_greedy = stated and not stated.get("do_sample")
    yield from _rows(
        [(text, None) for text in texts],
        **({"temperature": HARNESS_TEMPERATURE} if is_greedy else {}) | {**asked, **_read_settings(stated)},
        model=model,
        **_identify(prompts),
        perturbation=doc.get("perturbation") or None,
    )


def _inspect_rows(sample: Mapping, model: str | None, asked: Mapping) -> Iterator[Row]:
    """Read an Inspect sample: what the model was thinking and what it answered."""
    output, prompt = _mapping(sample["output"]), sample.get("input")
    if sample.get("error") or not _list(output.get("choices")):
        error = _mapping(sample.get("error")).get("message", "there is no output")
        yield FAILED, f"{sample.get('id')}: {error}"[:200]
        return
    if isinstance(prompt, list):
        users = [message for message in map(_mapping, prompt) if message.get("role") == "user"]
        prompt = _message_text(users[-1]) if users else None
    for fallback in map(_mapping, [output.get("fallback"), *_list(sample.get("model_fallbacks"))]):
        if other := fallback.get("fallback_model"):
            yield ANOTHER_MODEL, f"{sample.get('id')}: {other} answered in place of {fallback.get('model') or model}"
            return
    usage, metadata = _mapping(output.get("usage")), _mapping(sample.get("metadata"))
    own_limit = {key: metadata[key] for key in ("max_tokens",) if key in metadata}  # a solver may give each request one
    answers = [_read_choice(choice, "stop_reason") for choice in output["choices"]]
    if limit := _mapping(sample.get("limit")).get("type"):  # the harness stopped it, whatever the model's last word was
        answers = [(text, f"{limit}_limit") for text, _ in answers]
    yield from _rows(
        answers,
        **{**asked, **own_limit, "model": model, "version": output.get("model")},
        prompt_tokens=_sum_tokens(usage, "input_tokens", "input_tokens_cache_read", "input_tokens_cache_write"),
        response_tokens=usage.get("output_tokens"),
        perturbation=metadata.get("perturbation") or None,
        **_identify([sample.get("id"), *metadata.values(), prompt]),
    )


def _rows(answers: list[Answer], **fields) -> Iterator[Row]:
    """Yield a row for each response to one prompt, a refusal without any; a count for several together is none's."""
    puzzle = str(fields.get("name") or fields.get("text") or "no puzzle named")[:100]
    if not answers:
        yield FAILED, f"{puzzle}: there is no response"
    if len(answers) > 1:
        fields["response_tokens"] = None
    for text, stopped in answers:
        if text is None:
            yield FAILED, f"{puzzle}: the record has no text"
        else:
            yield {**fields, "response": text, "stopped": stopped}


def _read_choice(choice: object, stop: str) -> Answer:
    """Return the text of one choice of a completion, and why the model stopped, which stands under this key."""
    message = _mapping(choice).get("message")
    stopped = "refusal" if _mapping(message).get("refusal") else _mapping(choice).get(stop)
    text = _message_text(message)
    is_empty = isinstance(message, dict) and message.get("content") is None and read_stop(stopped) in _TEXTLESS
    return "" if text is None and is_empty else text, stopped


def _read_response(body: Mapping) -> Answer:
    """Return the text of a body of the responses endpoint, and why the model stopped."""
    reasoning: list[object] = []
    answer: list[object] = []
    items = [_mapping(item) for item in _list(body["output"])]
    for item in items:
        reasoning += map(_part_text, _list(item.get("summary")))
        (reasoning if item.get("type") == "reasoning" else answer).extend(map(_part_text, _list(item.get("content"))))
    text = join_reasoning(_join(reasoning), _join(answer))
    cut = _mapping(body.get("incomplete_details")).get("reason")
    is_text = text or ((items or cut) and all(item.get("type") in ("reasoning", "message") for item in items))
    return text if is_text else None, cut or body.get("status")


def _identify(texts: Iterable) -> dict[str, str]:
    """Return the first text that is a puzzle's name; without one, the longest text as the prompt."""
    texts = [text for text in texts if isinstance(text, str)]
    for text in texts:
        if parse_name(text.removesuffix(".txt")):
            return {"name": text.removesuffix(".txt")}
    return {"text": max(texts, key=len)} if texts else {}


def _message_text(message: object) -> object:
    """Return the text of a chat message: its reasoning, where that is readable, and its content; None without a text.

    A content of an unknown form is returned as it stands, to be refused by its type.
    """
    if not isinstance(message, dict):
        return None
    content = message.get("content")
    if content is None or isinstance(content, str):
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        text = join_reasoning(_join([reasoning]), _join([content or message.get("refusal")]))
        return text or content
    if not isinstance(content, list):
        return content
    kinds = [(_mapping(part).get("type") in _REASONING, _part_text(part)) for part in content]
    last = max((place for place, (is_trace, _) in enumerate(kinds) if is_trace), default=-1)
    if content and last < 0 and not any(isinstance(p, dict) and p.get("type") in _TEXT for p in content):
        return None
    # texts between two traces are part of the reasoning
    return join_reasoning(*(_join(text for _, text in part) for part in (kinds[: last + 1], kinds[last + 1 :])))


def _part_text(part: object) -> object:
    """Return the text of one part of a content; reasoning that is encrypted has at most a summary."""
    part = _mapping(part)
    if part.get("type") == "reasoning":
        return (not part.get("redacted") and part.get("reasoning")) or part.get("summary")
    return part.get("text") or part.get("thinking") or part.get("refusal")


def _sum_tokens(usage: Mapping, *names: str) -> object:
    """Return tokens that are counted in parts, or the first part where it is unknown or no number."""
    first, *others = (usage.get(name) for name in names)
    return first + sum(part for part in others if type(part) is int) if type(first) is int else first


def _join(texts: Iterable) -> str:
    return "\n\n".join(text for text in texts if isinstance(text, str) and text)


def _mapping(value: object) -> Mapping:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list:
    return value if isinstance(value, list) else []
