"""Records of other programs -> rows of outputs: lines of batches, samples of lm-evaluation-harness, logs of Inspect.

A record is recognised by its keys. Where none of its texts is a puzzle's name, the row carries the prompt as `text`.
"""

import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from cogniload_repro.endings import join_reasoning, read_stop
from cogniload_repro.outputs.layout import NOT_READ
from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.records import (
    ROW_BYTES,
    UNREADABLE,
    Entry,
    Refusal,
    check_record,
    load_json,
    over_limit,
    parse_json,
    read_json_lines,
    unpacked_limit,
)

FAILED, ANOTHER_MODEL = "failed request", "another model"
#: Why a log is refused beside its samples, which are read.
UNFINISHED_LOG = "unfinished log"
#: What the clients of lm-evaluation-harness ask for where its task does not say: it logs no default.
HARNESS_TEMPERATURE = "client default 0"
#: Our own task of Inspect, and the number in its versions, raised when prompts, verdicts or the order of draws change:
#: answers no longer compare.
TASK, COMPARABILITY = "cogniload", 1
#: Longest log in JSON that is read, bytes: it is read whole. Logs in the form .eval are read sample by sample.
LOG_BYTES = 1 << 28

# files of one run of the harness end in the same date
_HARNESS_RUN = re.compile(r"samples_.+_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(?:\.gz)?")
_ZSTANDARD = 93  # the number of a zip member's compression; Python before 3.14 does not know it
# parts of a content that are reasoning, and the others that are text
_REASONING = ("reasoning", "thinking", "redacted_thinking")
_TEXT = (None, "text", "output_text", "refusal")
# why a model may have ended without a text; elsewhere a record without one is a failed request
_TEXTLESS = ("stop", "length", "context", "refusal")
# what an error says where the provider's filter has blocked the prompt or the answer
_BLOCKED = re.compile(r"content[ _](?:filter|polic)|invalid_prompt|block_?reason", re.IGNORECASE)
# what servers call the settings of a request
_SETTINGS = {
    "effort": ("reasoning_effort", "thinking_budget", "thinkingBudget", "budget_tokens", "thinkingLevel",
               "thinking_level", "effort"),
    "temperature": ("temperature",),
    "top_p": ("top_p", "topP"),
    "max_tokens": ("max_completion_tokens", "max_output_tokens", "max_tokens", "maxOutputTokens", "max_gen_toks"),
}  # fmt: skip
# what servers count, the first that there is, and what they count apart from it
_TOKENS = {
    "prompt_tokens": ("prompt_tokens", "promptTokenCount", "prompt_token_count", "input_tokens"),
    "response_tokens": (
        "completion_tokens",
        "output_tokens",
        "candidatesTokenCount",
        "candidates_token_count",
        "thoughtsTokenCount",
        "thoughts_token_count",
    ),
}
_APART = {
    "input_tokens": ("cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens_cache_read",
                     "input_tokens_cache_write"),
    "candidatesTokenCount": ("thoughtsTokenCount",),
    "candidates_token_count": ("thoughts_token_count",),
}  # fmt: skip

#: The text of an answer, None where there is none, and why the model stopped, in the source's word.
Answer = tuple[object, object]
#: The answers to one prompt, and what is said of all of them.
Found = tuple[list[Answer], dict[str, object]]


class Origin(NamedTuple):
    """What is said elsewhere of a file's records: their model, and how it was asked (`rows.SETTINGS`)."""

    model: str | None = None
    asked: Mapping[str, object] = {}


class RowError(Exception):
    """Why a row cannot be used: reason and detail, and the model where only its puzzle is the trouble."""


def adapt_entries(entries: Iterable[tuple[Entry, Origin]], columns: list[str]) -> Iterator[Entry]:
    """Yield what records hold: the wanted columns, and the text by which a puzzle can be found."""
    filters: list[object] = []
    for entry, origin in entries:
        record = entry.fields or {}
        if "filtered_resps" in record:
            filters = filters or [record.get("filter")]
            if record.get("filter") not in filters:
                continue  # the same response once more, as another filter of the harness has cut it
        for found in [entry.refusal] if entry.refusal else adapt_record(record, *origin):
            if isinstance(found, dict):
                found = {name: found[name] for name in (*columns, "text") if name in found}
            yield Entry.of(entry.row, found)


def adapt_record(
    record: dict, model: str | None = None, asked: Mapping[str, object] = Origin().asked
) -> Iterator[dict | Refusal]:
    """Yield the rows of one JSON object, itself if it is a row; a request beside its answers is none. See `Origin`."""
    try:
        if _is_answered(record):
            answers, fields = _read_batch(record)
        elif "doc" in record and "resps" in record:
            answers, fields = _read_harness(record, asked)
        elif "epoch" in record and "output" in record:
            answers, fields = _read_inspect(record, model)
        else:
            if _find_request(record) is None:
                yield record
            return
    except RowError as error:
        yield error.args[0], error.args[1]
        return
    fields = {"model": model, **asked} | {name: value for name, value in fields.items() if value is not None}
    puzzle = str(fields.get("name") or fields.get("text") or "no puzzle named")[:100]
    if not answers:
        yield FAILED, f"{puzzle}: there is no response"
    if len(answers) > 1:
        fields["response_tokens"] = None  # a count for several together is none's
    for text, stopped in answers:
        if text is None:
            yield FAILED, f"{puzzle}: the record has no text"
        else:
            yield {**fields, "response": text, "stopped": stopped}


def find_origin(path: Path) -> Origin:
    """Return what the files next to a table say: the results of a harness run, the requests of a batch."""
    run = _HARNESS_RUN.fullmatch(path.name)
    for results in sorted(path.parent.glob(f"*_{run[1]}.json")) if run else ():
        try:
            content = json.loads(results.read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
        name = _at(content, "model_name")
        if isinstance(name, str) and name:
            return Origin(Path(name).name if Path(name).is_absolute() else name)
    asked: list[dict] = []
    for requests in () if run else sorted(path.parent.glob("*requests*.jsonl")):
        try:
            first = next(read_json_lines(requests), None)
        except (OSError, ValueError):
            continue
        request = _find_request(first.fields or {}) if first else None
        asked += [] if request is None else [_read_settings(request)]
    return Origin(asked=asked[0] if asked and all(one == asked[0] for one in asked) else {})


def read_json(path: Path) -> Iterator[tuple[Entry, Origin]]:
    """Yield the samples of an Inspect log in JSON; another JSON file is not read."""
    if (size := path.stat().st_size) > LOG_BYTES:
        raise ValueError(f"JSON of {size:,} bytes is not read; convert a log to .eval, other rows to JSONL")
    value = load_json(path.read_bytes())
    if not isinstance(_at(value, "eval"), dict):
        yield Entry(0, None, (NOT_READ, "it is JSON, but no log of Inspect; write rows as JSONL")), Origin()
        return
    origin, samples = _read_header(value), _list(_at(value, "samples"))
    for row, record in enumerate(samples, start=1):
        yield Entry.of(row, check_record(record)), origin
    yield from _judge_status(_mapping(value), len(samples))


def read_archive(path: Path) -> Iterator[tuple[Entry, Origin]]:
    """Yield the samples of an Inspect log (`.eval`), one in memory at a time; ValueError if it is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            headers = [name for name in ("header.json", "_journal/start.json") if name in archive.namelist()]
            if not headers:
                raise ValueError("not an Inspect log: it has neither header.json nor _journal/start.json")
            header = load_json(_read_member(archive, archive.getinfo(headers[0])))  # the journal of an interrupted run
            origin, left, row = _read_header(header), unpacked_limit(), 0
            # a run that was taken up again has samples of both attempts under one name, of which the last counts
            for info in {info.filename: info for info in archive.infolist()}.values():
                left -= info.file_size
                if left < 0:
                    raise ValueError(over_limit(path.name))
                if info.filename.startswith("samples/") and info.filename.endswith(".json"):
                    row += 1
                    try:
                        record = parse_json(_read_member(archive, info))
                    except (OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
                        record = UNREADABLE, f"{info.filename}: {error}"
                    yield Entry.of(row, record), origin
            yield from _judge_status(_mapping(header), row)
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise ValueError(f"not a whole Inspect log: {error}") from None


def _read_header(header: object) -> Origin:
    """Return what a log says of the run: what the plan says goes before the model's own settings."""
    if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
        raise ValueError("not an Inspect log: it has no eval")
    about = header["eval"]
    task, version = (str(about.get(key, "")) for key in ("task", "task_version"))
    found, is_own = re.fullmatch(r"(\d+)-[A-Z]+", version), task.rpartition("/")[2] == TASK
    if is_own and found and int(found[1]) != COMPARABILITY:
        raise ValueError(
            f"log of comparability version {found[1]} of the task {TASK}, not comparable with version {COMPARABILITY}; "
            "evaluate again or use the matching release"
        )
    configs = about.get("model_generate_config"), _at(header, "plan", "config")
    asked = {key: value for config in configs for key, value in _mapping(config).items() if value is not None}
    model, stated = about.get("model"), _mapping(about.get("metadata"))
    return Origin(model, {
        "provider": model.partition("/")[0] if isinstance(model, str) and "/" in model else None,
        "date": about.get("created"),
        "effort": asked.get("reasoning_effort") or stated.get("effort") or asked.get("reasoning_tokens"),
        **{key: asked.get(key) for key in ("temperature", "top_p", "max_tokens")},
        "form": stated.get("form") if is_own else None,
    })  # fmt: skip


def _judge_status(header: Mapping, count: int) -> Iterator[tuple[Entry, Origin]]:
    """Refuse a log that is not that of a whole run, beside its samples."""
    if (status := header.get("status")) != "success":
        error, expected = _at(header, "error", "message"), _at(header, "eval", "dataset", "samples")
        detail = (
            f"the run did not finish (status {status or 'unknown'}{f': {str(error)[:200]}' if error else ''}): "
            f"{count:,} samples{f' of {expected:,}' if isinstance(expected, int) else ''} are in it; "
            "continue it with `inspect eval-retry`, or accept rejected rows to use what is there"
        )
        yield Entry(0, None, (UNFINISHED_LOG, detail)), Origin()


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if max(info.file_size, info.compress_size) > ROW_BYTES:
        raise ValueError(f"{info.file_size:,} bytes are more than a sample has")
    if info.compress_type != _ZSTANDARD:
        return archive.read(info)
    stored = zipfile.ZipInfo(info.filename)  # read as if it were not compressed, then decompress
    for name in ("header_offset", "flag_bits", "orig_filename"):
        setattr(stored, name, getattr(info, name))
    stored.file_size = stored.compress_size = info.compress_size
    stored.CRC = None  # type: ignore[assignment]
    with pa.input_stream(pa.BufferReader(archive.read(stored)), compression="zstd") as stream:
        content = stream.read(info.file_size + 1)
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise ValueError("the content does not have its check sum")
    return content


def _find_request(record: Mapping) -> Mapping | None:
    """Return what a line of a batch's requests asks for (OpenAI, Anthropic, Gemini); None if it is no such line."""
    if "custom_id" in record and ("body" in record or "params" in record):
        return _mapping(record.get("body") or record.get("params"))
    return _mapping(record["request"]) if "key" in record and "request" in record else None


def _is_answered(record: Mapping) -> bool:
    """Return whether a record is a line of a batch's results: with a custom_id, or a key as Gemini has it."""
    if "custom_id" in record:
        return not record.keys().isdisjoint(("response", "error", "result"))
    is_keyed = "name" not in record and ("key" in record or _at(record, "metadata", "key") is not None)
    return is_keyed and ("error" in record or isinstance(record.get("response"), dict))


def _read_settings(body: Mapping) -> dict[str, object]:
    """Return settings from a request, or from a response that repeats them; only those that are there."""
    config = _mapping(body.get("generationConfig") or body.get("generation_config")) or body
    thinking = _mapping(config.get("thinkingConfig") or config.get("thinking_config") or config.get("thinking"))
    stated = {**_mapping(config.get("output_config")), **thinking, **_mapping(config.get("reasoning")), **config}
    return {key: value for key, names in _SETTINGS.items() if (value := _first(stated, *names)) is not None}


def _read_batch(line: Mapping) -> Found:
    """Read a line of results: OpenAI's completions or responses, Anthropic's, Gemini's.

    What the provider's filter has blocked, prompt or answer, is a refusal: an empty answer, which is wrong.
    """
    response, result = _mapping(line.get("response")), _mapping(line.get("result"))
    body = _mapping(response.get("body") or result.get("message")) or ({} if "body" in response else response)
    key = _first(line, "custom_id", "key") or _at(line, "metadata", "key")
    error = line.get("error") or body.get("error")
    is_done = response.get("status_code", 200) == 200 and result.get("type", "succeeded") == "succeeded"
    has_answer = not body.keys().isdisjoint(("choices", "output", "content")) or _list(body.get("candidates"))
    if error or not is_done or not has_answer:
        detail = json.dumps(error or line.get("result") or line.get("response"))
        if not _BLOCKED.search(detail):
            raise RowError(FAILED, f"{key}: {detail[:200]}")
        answers: list[Answer] = [("", "refusal")]
    elif "choices" in body:
        answers = list(map(_read_choice, _list(body["choices"])))
    elif "output" in body:
        answers = [_read_response(body)]
    elif "content" in body:
        answers = [(_message_text(body), body.get("stop_reason"))]
    else:
        answers = list(map(_read_candidate, body["candidates"]))
    model = _first(body, "model", "modelVersion", "model_version")
    asked, slash, name = str(key).rpartition("/")  # perhaps the model that was asked stands before the puzzle
    return answers, {
        **_read_settings(body),
        "name": name,
        **_read_tokens(_first(body, "usage", "usageMetadata", "usage_metadata")),
        "model": asked if slash else model,
        "version": model,
        "date": _first(body, "created", "created_at", "createTime", "create_time"),
    }


def _read_harness(sample: Mapping, asked: Mapping) -> Found:
    """Read a harness sample: the raw responses, not what its filters made of them; tokens and stops are not logged."""
    doc = _mapping(sample["doc"])
    repeated = (one if isinstance(one, list) else [one] for one in _list(sample["resps"]))
    stated = _mapping(_at(sample, "arguments", "gen_args_0", "arg_1"))
    is_greedy = stated and not stated.get("do_sample")
    return [(text, None) for texts in repeated for text in texts], {
        "temperature": asked.get("temperature", HARNESS_TEMPERATURE if is_greedy else None),
        **_read_settings(stated),
        **_identify(doc.values()),
        "perturbation": doc.get("perturbation") or None,
    }


def _read_inspect(sample: Mapping, model: str | None) -> Found:
    """Read an Inspect sample: what the model was thinking and what it answered."""
    output, prompt = _mapping(sample["output"]), sample.get("input")
    if sample.get("error") or not _list(output.get("choices")):
        error = _at(sample, "error", "message") or "there is no output"
        raise RowError(FAILED, f"{sample.get('id')}: {error}"[:200])
    if isinstance(prompt, list):
        prompt = next((_message_text(one) for one in reversed(prompt) if _at(one, "role") == "user"), None)
    for fallback in map(_mapping, [output.get("fallback"), *_list(sample.get("model_fallbacks"))]):
        if other := fallback.get("fallback_model"):
            detail = f"{sample.get('id')}: {other} answered in place of {fallback.get('model') or model}"
            raise RowError(ANOTHER_MODEL, detail)
    metadata, answers = _mapping(sample.get("metadata")), list(map(_read_choice, output["choices"]))
    if limit := _at(sample, "limit", "type"):  # the harness stopped it, whatever the model's last word was
        answers = [(text, f"{limit}_limit") for text, _ in answers]
    return answers, {
        "model": model,
        "version": output.get("model"),
        "max_tokens": metadata.get("max_tokens"),  # a solver may give each request a limit of its own
        **_read_tokens(output.get("usage")),
        "perturbation": metadata.get("perturbation") or None,
        **_identify([sample.get("id"), *metadata.values(), prompt]),
    }


def _identify(texts: Iterable) -> dict[str, str]:
    """Return the first text that is a puzzle's name; without one, the longest text as the prompt."""
    texts = [text for text in texts if isinstance(text, str)]
    for text in texts:
        if parse_name(text.removesuffix(".txt")):
            return {"name": text.removesuffix(".txt")}
    return {"text": max(texts, key=len)} if texts else {}


def _read_choice(choice: object) -> Answer:
    """Return the text of one choice of a completion, and why the model stopped."""
    message = _at(choice, "message")
    stopped = "refusal" if _at(message, "refusal") else _first(_mapping(choice), "finish_reason", "stop_reason")
    text = _message_text(message)
    is_empty = isinstance(message, dict) and message.get("content") is None and read_stop(stopped) in _TEXTLESS
    return "" if text is None and is_empty else text, stopped


def _read_candidate(candidate: object) -> Answer:
    """Return the text of one candidate of Gemini's, and why the model stopped."""
    parts = [_mapping(part) for part in _list(_at(candidate, "content", "parts"))]
    stopped = _first(_mapping(candidate), "finishReason", "finish_reason")
    is_text = any(isinstance(p.get("text"), str) for p in parts) if parts else read_stop(stopped) in _TEXTLESS
    return _join_kinds((bool(p.get("thought")), p.get("text")) for p in parts) if is_text else None, stopped


def _read_response(body: Mapping) -> Answer:
    """Return the text of a body of the responses endpoint, and why the model stopped."""
    items = list(map(_mapping, _list(body["output"])))
    parts: list[tuple[bool, object]] = []
    for item in items:
        parts += [(True, _part_text(part)) for part in _list(item.get("summary"))]
        parts += [(item.get("type") == "reasoning", _part_text(part)) for part in _list(item.get("content"))]
    text = _join_kinds(parts)
    refused = any(_at(part, "type") == "refusal" for item in items for part in _list(item.get("content")))
    cut = "refusal" if refused else _at(body, "incomplete_details", "reason")
    is_text = text or ((items or cut) and all(item.get("type") in ("reasoning", "message") for item in items))
    return text if is_text else None, cut or body.get("status")


def _message_text(message: object) -> object:
    """Return a chat message's readable reasoning and content; None without a text, an unknown content as it stands."""
    if not isinstance(message, dict):
        return None
    content = message.get("content")
    if content is None or isinstance(content, str):
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        return _join_kinds([(True, reasoning), (False, content or message.get("refusal"))]) or content
    if not isinstance(content, list):
        return content
    kinds = [(_mapping(part).get("type") in _REASONING, _part_text(part)) for part in content]
    last = max((place for place, (is_trace, _) in enumerate(kinds) if is_trace), default=-1)
    if content and last < 0 and not any(isinstance(p, dict) and p.get("type") in _TEXT for p in content):
        return None
    # texts between two traces are part of the reasoning
    return _join_kinds((place <= last, text) for place, (_, text) in enumerate(kinds))


def _part_text(part: object) -> object:
    """Return the text of one part of a content; reasoning that is encrypted has at most a summary."""
    part = _mapping(part)
    if part.get("type") == "reasoning":
        return (not part.get("redacted") and part.get("reasoning")) or part.get("summary")
    return part.get("text") or part.get("thinking") or part.get("refusal")


def _join_kinds(parts: Iterable[tuple[bool, object]]) -> str:
    """Return texts, those of reasoning marked as such, as one response."""
    texts: dict[bool, list[str]] = {True: [], False: []}
    for is_reasoning, text in parts:
        texts[is_reasoning] += [text] if isinstance(text, str) and text else []
    return join_reasoning("\n\n".join(texts[True]), "\n\n".join(texts[False]))


def _read_tokens(usage: object) -> dict[str, object]:
    """Return the tokens of prompt and response, with what is counted apart where the rest is a number."""
    counts = {}
    for column, names in _TOKENS.items():
        name = next((name for name in names if name in _mapping(usage)), "")
        count, apart = _at(usage, name), [_at(usage, one) for one in _APART.get(name, ())]
        counts[column] = count + sum(one for one in apart if type(one) is int) if type(count) is int else count
    return counts


def _first(fields: Mapping, *names: str) -> object:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _at(value: object, *keys: str) -> Any:
    """Return what stands below these keys of nested objects; None where one of them is no object."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _mapping(value: object) -> Mapping:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list:
    return value if isinstance(value, list) else []
