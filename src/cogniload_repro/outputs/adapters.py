"""Records of other programs -> rows of outputs: batch lines, lm-evaluation-harness and Inspect samples.

A record is recognised by its keys. The puzzle is named where one of the record's texts is a puzzle's name;
elsewhere the row carries the prompt as `text`, by which the puzzle can be found.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from cogniload_repro.endings import join_reasoning
from cogniload_repro.puzzles.catalog import parse_name

FAILED, ANOTHER_MODEL = "failed request", "another model"

# Files of one run of the harness end in the same date.
_HARNESS_RUN = re.compile(r"samples_.+_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(?:\.gz|\.zst)?")

# parts of a content that are reasoning
_REASONING = ("reasoning", "thinking", "redacted_thinking")

#: Fields of a row, or the reason why there is none and what exactly was found.
Row = dict | tuple[str, str]


def adapt_record(record: dict, model: str | None = None, asked: Mapping[str, object] | None = None) -> Iterator[Row]:
    """Yield the rows of one JSON object: several where a model was asked several times, itself if it is a row.

    Parameters
    ----------
    record : dict
        A line of a JSONL file.
    model : str, optional
        The model of a record that names none.
    asked : mapping, optional
        What the log of an Inspect sample tells of how its model was asked, see `settings.SETTINGS`.
    """
    if "custom_id" in record and ("response" in record or "error" in record):
        yield from _batch_rows(record)
    elif "custom_id" in record and "result" in record:
        yield from _message_batch_rows(record)
    elif "doc" in record and "resps" in record:
        yield from _harness_rows(record, model)
    elif "epoch" in record and "output" in record:
        yield from _inspect_rows(record, model, asked or {})
    else:
        yield record


def find_harness_model(samples: Path) -> str | None:
    """Return the model of an lm-evaluation-harness sample log, which only the results beside it name."""
    run = _HARNESS_RUN.fullmatch(samples.name)
    for results in sorted(samples.parent.glob(f"*_{run[1]}.json")) if run else ():
        try:
            name = json.loads(results.read_bytes()).get("model_name")
        except (OSError, ValueError, AttributeError, RecursionError):
            continue
        if isinstance(name, str) and name:
            return Path(name).name if Path(name).is_absolute() else name
    return None


def _batch_rows(line: Mapping) -> Iterator[Row]:
    """Read a line of a batch's output or error file; chat completions and responses have bodies of their own."""
    custom_id, response = line["custom_id"], line.get("response") or {}
    body = _mapping(response.get("body") if isinstance(response, dict) else None)
    error = line.get("error") or body.get("error")
    if error or _mapping(response).get("status_code", 200) != 200 or not ("choices" in body or "output" in body):
        yield FAILED, f"{custom_id}: {json.dumps(error or response)[:200]}"
        return
    answers = [_read_choice(choice, "finish_reason") for choice in map(_mapping, _list(body.get("choices")))]
    if "choices" not in body:
        answers = [_read_response(body)]
    usage = _mapping(body.get("usage"))
    yield from _rows(
        answers,
        **_named_by(custom_id, body),
        prompt_tokens=usage.get("prompt_tokens", usage.get("input_tokens")),
        response_tokens=usage.get("completion_tokens", usage.get("output_tokens")),
        date=body.get("created", body.get("created_at")),
        effort=_mapping(body.get("reasoning")).get("effort"),
        max_tokens=body.get("max_output_tokens"),
        **{key: body.get(key) for key in ("temperature", "top_p")},
    )


def _message_batch_rows(line: Mapping) -> Iterator[Row]:
    """Read a line of the results of a batch of Anthropic's messages."""
    custom_id, result = line["custom_id"], _mapping(line["result"])
    message = _mapping(result.get("message"))
    if not message:
        yield FAILED, f"{custom_id}: {json.dumps(result)[:200]}"
        return
    usage = _mapping(message.get("usage"))
    yield from _rows(
        [(_message_text(message), message.get("stop_reason"))],
        **_named_by(custom_id, message),
        prompt_tokens=_sum_tokens(usage, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
        response_tokens=usage.get("output_tokens"),
    )


def _named_by(custom_id: object, body: Mapping) -> dict[str, object]:
    """Return the puzzle that an id names, perhaps behind a model, and the model that answered."""
    asked, slash, name = str(custom_id).rpartition("/")
    return {"model": asked if slash else body.get("model"), "name": name, "version": body.get("model")}


def _harness_rows(sample: Mapping, model: str | None) -> Iterator[Row]:
    """Read a harness sample: the raw responses, not what its filters have made of them.

    Neither tokens are logged nor why the model stopped.
    """
    doc, texts = _mapping(sample["doc"]), []
    for repeats in _list(sample["resps"]):
        texts += repeats if isinstance(repeats, list) else [repeats]
    prompts = [text for text in doc.values() if isinstance(text, str)]
    asked = _mapping(_mapping(_mapping(sample.get("arguments")).get("gen_args_0")).get("arg_1"))
    yield from _rows(
        [(text, None) for text in texts],
        model=model,
        **_identify(prompts),
        perturbation=doc.get("perturbation") or None,
        max_tokens=asked.get("max_gen_toks", asked.get("max_tokens")),
        **{key: asked.get(key) for key in ("temperature", "top_p")},
    )


def _inspect_rows(sample: Mapping, model: str | None, asked: Mapping[str, object]) -> Iterator[Row]:
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
    answers = [_read_choice(choice, "stop_reason") for choice in map(_mapping, output["choices"])]
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


def _rows(answers: list[tuple[object, object]], **fields) -> Iterator[Row]:
    """Yield a row for each response to one prompt, a refusal without any; a count for several together is none's.

    An answer is a text and why the model stopped, in the source's word.
    """
    if not answers:
        puzzle = fields.get("name") or fields.get("text") or "no puzzle named"
        yield FAILED, f"{puzzle[:100]}: there is no response"
    if len(answers) > 1:
        fields["response_tokens"] = None
    for text, stopped in answers:
        yield {**fields, "response": text, "stopped": stopped}


def _read_choice(choice: Mapping, stop: str) -> tuple[object, object]:
    """Return the text of one choice of a completion, and why the model stopped, which stands under this key."""
    refused = _mapping(choice.get("message")).get("refusal")
    return _message_text(choice.get("message")), "refusal" if refused else choice.get(stop)


def _read_response(body: Mapping) -> tuple[object, object]:
    """Return the text of a body of the responses endpoint, and why the model stopped."""
    reasoning: list[object] = []
    answer: list[object] = []
    for item in map(_mapping, _list(body["output"])):
        reasoning += map(_part_text, _list(item.get("summary")))
        (reasoning if item.get("type") == "reasoning" else answer).extend(map(_part_text, _list(item.get("content"))))
    cut = _mapping(body.get("incomplete_details")).get("reason")
    return join_reasoning(_join(reasoning), _join(answer)), cut or body.get("status")


def _identify(texts: Iterable) -> dict[str, str]:
    """Return the first text that is a puzzle's name; without one, the longest text as the prompt."""
    texts = [text for text in texts if isinstance(text, str)]
    for text in texts:
        if parse_name(text.removesuffix(".txt")):
            return {"name": text.removesuffix(".txt")}
    return {"text": max(texts, key=len)} if texts else {}


def _message_text(message: object) -> object:
    """Return the text of a chat message: its reasoning, where that is readable, and its content.

    A content of an unknown form is returned as it stands, to be refused by its type.
    """
    message = _mapping(message)
    content = message.get("content")
    if content is None or isinstance(content, str):
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        return join_reasoning(_join([reasoning]), _join([content or message.get("refusal")]))
    if not isinstance(content, list):
        return content
    kinds = [(_mapping(part).get("type") in _REASONING, _part_text(part)) for part in content]
    last = max((place for place, (is_trace, _) in enumerate(kinds) if is_trace), default=-1)
    # texts between two traces belong to what the model wrote on its way
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
