"""Files of outputs -> rows: JSON lines, CSV, Parquet, and what other programs write.

Those are lines of batches, samples of lm-evaluation-harness and logs of Inspect; a record is recognised by its keys.
"""

import csv
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from cogniload_repro.endings import join_reasoning, read_stop
from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.records import (
    MALFORMED,
    ROW_BYTES,
    UNREADABLE,
    Entry,
    Refusal,
    check_size,
    decode_batch,
    load_json,
    parse_json,
    read_json_lines,
    read_lines,
)
from cogniload_repro.storage import open_parquet

MISSING_FIELD, FAILED, ANOTHER_MODEL = "missing field", "failed request", "another model"
UNFINISHED_LOG = "unfinished log"  # it is refused beside its samples, which are read
#: Number in the versions of our task of Inspect, raised when prompts, verdicts or the order of draws change.
COMPARABILITY = 1

_BATCH_ROWS = 16
_DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    csv.Error,
    zlib.error,
    zipfile.BadZipFile,
    pa.ArrowException,
)
# files of one run of the harness end in the same date
_HARNESS_RUN = re.compile(r"samples_.+_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(?:\.gz)?")
_HUMP = re.compile(r"(?<=[a-z])[A-Z]")
_ZSTANDARD = 93  # the number of a zip member's compression; Python before 3.14 does not know it
_REASONING = ("reasoning", "thinking", "redacted_thinking")
# a model that ended so without a text has answered nothing; elsewhere a record without a text is a failed request
_TEXTLESS = ("stop", "length", "context", "refusal")
# what an error says where the provider's filter has blocked the prompt or the answer
_BLOCKED = re.compile(r"content[ _](?:filter|polic)|invalid_prompt|block_reason", re.IGNORECASE)
# what servers count: the first that there is, and what they count apart from it
_CACHED = "cache_read_input_tokens cache_creation_input_tokens input_tokens_cache_read input_tokens_cache_write"
_TOKENS = {
    "prompt_tokens": ("prompt_tokens", "prompt_token_count", f"input_tokens {_CACHED}"),
    "response_tokens": (
        *("completion_tokens", "output_tokens"),
        *("candidates_token_count thoughts_token_count", "thoughts_token_count"),
    ),
}


class RowError(Exception):
    """Why a row cannot be used: reason and detail, and the model where only its puzzle is the trouble."""


def read_table(path: Path, columns: list[str]) -> Iterator[Entry]:
    """Yield the rows of a file with one of `sources.TABLES`' endings, with those fields that are among the columns."""
    readers = {"jsonl": _read_jsonl, "csv": _read_csv, "parquet": _read_parquet, "eval": _read_log}
    try:
        yield from readers[path.name.removesuffix(".gz").rpartition(".")[2]](path, columns)
    except MemoryError:
        yield Entry(0, None, (UNREADABLE, "it takes more memory than there is"))
    except _DAMAGE as error:
        yield Entry(0, None, (UNREADABLE, f"{type(error).__name__}: {error}"))


def _read_csv(path: Path, columns: list[str]) -> Iterator[Entry]:
    csv.field_size_limit(
        max(ROW_BYTES, csv.field_size_limit())
    )  # the whole process's: never lowered
    lines = csv.reader(_decode_lines(path), strict=True)
    header, row = next(lines, []), 0
    if twice := [name for name in columns if header.count(name) > 1]:
        raise ValueError(f"the header has the column {twice[0]} twice")
    while True:
        first, fields = lines.line_num + 1, list[str]()
        try:
            fields = next(lines)
            refusal = _check_fields(fields, header) if fields else None
        except StopIteration:
            return
        except csv.Error as error:
            refusal = f"not CSV: {error}"
        row += bool(fields or refusal)  # not a blank line
        if refusal:
            where = f"lines {first} to {lines.line_num}: " if lines.line_num > first else ""
            yield Entry(row, None, (MALFORMED, where + refusal))
        elif fields:
            yield Entry(
                row,
                {name: word for name, word in zip(header, fields, strict=True) if name in columns},
            )


def _decode_lines(path: Path) -> Iterator[str]:
    for number, line in enumerate(read_lines(path)):
        if not isinstance(line, bytes):
            raise ValueError(f"line {number + 1} is {line[1]}")
        yield line.decode("utf-8-sig" if number == 0 else "utf-8", "surrogateescape")


def _check_fields(fields: list[str], header: list[str]) -> str | None:
    """Return why the fields of a row cannot be right; an open quote takes the rows behind it into one field."""
    if len(fields) != len(header):
        return f"{len(fields)} fields, where the header has {len(header)}"
    place = header.index("name") if "name" in header else len(header)
    for line in (line for field in fields for line in field.splitlines()[1:]):
        inner = next(csv.reader([line]), [])
        if place < len(inner) <= len(header) and len(inner) > 1 and parse_name(inner[place]):
            return "a quote is not closed: a field holds other rows of this table"
    return None


def _read_parquet(path: Path, columns: list[str]) -> Iterator[Entry]:
    with open_parquet(path) as file:
        about, names = file.metadata, file.schema_arrow.names
        if twice := [name for name in columns if names.count(name) > 1]:
            raise ValueError(f"the file has the column {twice[0]} twice")
        check_size(
            path.name,
            sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups)),
        )
        batches = file.iter_batches(
            _BATCH_ROWS, columns=[name for name in columns if name in names]
        )
        for row, found in enumerate(chain.from_iterable(map(decode_batch, batches)), start=1):
            yield Entry.of(row, found)


def _read_jsonl(path: Path, columns: list[str]) -> Iterator[Entry]:
    model, seen = _find_model(path), dict[str, object]()
    for entry in read_json_lines(path):
        record = entry.fields or {}
        if "filtered_resps" in record:
            kind = record.get("filter")
            if seen.setdefault(str(record.get("doc_id")), kind) != kind:
                continue  # the same response once more, as another filter of the harness has cut it
        yield from _adapt(entry, columns, model)


def _find_model(samples: Path) -> str | None:
    """Return the model that the results of a harness run, beside its samples, name."""
    run = _HARNESS_RUN.fullmatch(samples.name)
    for results in sorted(samples.parent.glob(f"*_{run[1]}.json")) if run else ():
        name = _at(parse_json(results.read_bytes()), "model_name")
        if isinstance(name, str) and name:
            return Path(name).name if Path(name).is_absolute() else name
    return None


def _read_log(path: Path, columns: list[str]) -> Iterator[Entry]:
    """Yield the samples of an Inspect log (`.eval`), one in memory at a time; ValueError if it is none."""
    with zipfile.ZipFile(path) as archive:
        # a resumed run has samples of both attempts under one name; the last one counts
        members = {info.filename: info for info in archive.infolist()}
        check_size(path.name, sum(info.file_size for info in members.values()))
        start = members.get("header.json") or members.get(
            "_journal/start.json"
        )  # of an interrupted run
        header = _mapping(load_json(_read_member(archive, start)) if start else None)
        if "eval" not in header:
            raise ValueError("not an Inspect log: nothing in it says what was evaluated")
        model, asked = _at(header, "eval", "model"), _read_header(header)
        samples = [
            info for name, info in members.items() if re.fullmatch(r"samples/.*\.json", name)
        ]
        for row, info in enumerate(samples, start=1):
            try:
                entry = Entry.of(row, parse_json(_read_member(archive, info)))
            except _DAMAGE as error:
                entry = Entry(row, None, (UNREADABLE, f"{info.filename}: {error}"))
            yield from _adapt(entry, columns, model, asked)
        if header.get("status") != "success":
            remedy = "continue it with `inspect eval-retry`, or accept rejected rows to use what is there"
            yield Entry(0, None, (UNFINISHED_LOG, f"{len(samples):,} samples are in it; {remedy}"))


def _read_header(header: Mapping) -> dict[str, object]:
    """Return how a log's model was asked: what the plan says goes before the model's own settings."""
    about, asked = _mapping(header["eval"]), dict[str, object]()
    for config in about.get("model_generate_config"), _at(header, "plan", "config"):
        asked |= {key: value for key, value in _mapping(config).items() if value is not None}
    effort = (
        asked.get("reasoning_effort")
        or _at(about, "metadata", "effort")
        or asked.get("reasoning_tokens")
    )
    known = {
        "provider": str(about.get("model")).partition("/")[0],
        "date": about.get("created"),
        "effort": effort,
    }
    return known | {key: asked.get(key) for key in ("temperature", "top_p", "max_tokens")}


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


def _adapt(entry: Entry, columns: list[str], model: object, asked: Mapping = {}) -> Iterator[Entry]:
    for found in (
        [entry.refusal] if entry.fields is None else adapt_record(entry.fields, model, asked)
    ):
        wanted = (
            {name: found[name] for name in columns if name in found}
            if isinstance(found, dict)
            else found
        )
        yield Entry.of(entry.row, wanted)


def adapt_record(
    record: dict, model: object = None, asked: Mapping = {}
) -> Iterator[dict | Refusal]:
    """Yield the rows of one JSON object, itself if it is a row; model and settings are those named elsewhere."""
    try:
        if _is_answered(record):
            choices, fields = _read_batch(_to_snake_case(record))
        elif "doc" in record and "resps" in record:
            choices, fields = _read_harness(record)
        elif "epoch" in record and "output" in record:
            choices, fields = _read_inspect(record, model)
        else:
            yield record
            return
    except RowError as error:
        yield error.args[0], error.args[1]
        return
    fields = {"model": model, **asked} | {
        name: value for name, value in fields.items() if value is not None
    }
    if len(choices) > 1:
        fields["response_tokens"] = None  # it counts all choices together
    for text, stopped in map(_read_choice, choices or [None]):
        if text is None and read_stop(stopped) not in _TEXTLESS:
            yield FAILED, f"{str(fields.get('name') or 'no puzzle named')[:100]}: there is no text"
        else:
            yield {**fields, "response": text or "", "stopped": stopped}


def _is_answered(record: Mapping) -> bool:
    """Return whether a record is a line of a batch's results: with a custom_id, or a key as Gemini has it."""
    if "custom_id" in record:
        return not record.keys().isdisjoint(("response", "error", "result"))
    is_keyed = "name" not in record and (
        "key" in record or _at(record, "metadata", "key") is not None
    )
    return is_keyed and ("error" in record or isinstance(record.get("response"), dict))


def _read_batch(line: Mapping) -> tuple[list, dict[str, object]]:
    """Read a line of results, as choices: OpenAI's completions or responses, Anthropic's, Gemini's.

    What the provider's filter has blocked, prompt or answer, is a refusal: an empty answer, which is wrong.
    """
    response, result = _mapping(line.get("response")), _mapping(line.get("result"))
    body = _mapping(response.get("body") or result.get("message")) or (
        {} if "body" in response else response
    )
    key = _first(line, "custom_id", "key") or _at(line, "metadata", "key")
    error = line.get("error") or body.get("error")
    is_done = (
        response.get("status_code", 200) == 200 and result.get("type", "succeeded") == "succeeded"
    )
    choices = _list(body.get("choices"))
    if items := list(map(_mapping, _list(body.get("output")))):
        parts = [{**_mapping(part), "thought": item.get("type") == "reasoning"} for item in items
                 for part in _list(item.get("summary")) + _list(item.get("content"))]  # fmt: skip
        reason = _at(body, "incomplete_details", "reason") or body.get("status")
        choices = [{"message": {"content": parts}, "finish_reason": reason}]
    elif "content" in body:
        choices = [{**body, "message": body}]
    for candidate in map(_mapping, _list(body.get("candidates"))):
        choices.append(
            {**candidate, "message": {"content": _list(_at(candidate, "content", "parts"))}}
        )
    if error or not is_done or not choices:
        detail = json.dumps(error or line.get("result") or line.get("response"))
        if not _BLOCKED.search(detail):
            raise RowError(FAILED, f"{key}: {detail[:200]}")
        choices = [{"finish_reason": "refusal"}]
    version = _first(body, "model", "model_version")
    asked, slash, name = str(key).rpartition(
        "/"
    )  # perhaps the model that was asked stands before the puzzle
    return choices, {
        "max_tokens": body.get("max_output_tokens"),
        "name": name,
        **_read_tokens(_first(body, "usage", "usage_metadata")),
        "model": asked if slash else version,
        "version": version,
        "date": _first(body, "created", "created_at", "create_time"),
    }


def _read_harness(sample: Mapping) -> tuple[list, dict[str, object]]:
    """Read a harness sample: the raw responses, not what its filters made of them; tokens and stops are not logged."""
    doc = _mapping(sample["doc"])
    repeated = (one if isinstance(one, list) else [one] for one in _list(sample["resps"]))
    return [{"message": {"content": text}} for texts in repeated for text in texts], {
        "max_tokens": _at(sample, "arguments", "gen_args_0", "arg_1", "max_gen_toks"),
        "name": _find_name(doc.values()),
        "perturbation": doc.get("perturbation") or None,
    }


def _read_inspect(sample: Mapping, model: object) -> tuple[list, dict[str, object]]:
    """Read an Inspect sample: what the model was thinking and what it answered."""
    output, metadata = _mapping(sample["output"]), _mapping(sample.get("metadata"))
    choices = list(map(_mapping, _list(output.get("choices"))))
    if sample.get("error") or not choices:
        error = _at(sample, "error", "message") or "there is no output"
        raise RowError(FAILED, f"{sample.get('id')}: {error}"[:200])
    for fallback in [output.get("fallback"), *_list(sample.get("model_fallbacks"))]:
        if other := _at(fallback, "fallback_model"):
            raise RowError(
                ANOTHER_MODEL, f"{sample.get('id')}: {other} answered in place of {model}"
            )
    if limit := _at(
        sample, "limit", "type"
    ):  # the harness stopped it, whatever the model's last word was
        choices = [{**choice, "finish_reason": f"{limit}_limit"} for choice in choices]
    return choices, {
        "model": model,
        "version": output.get("model"),
        "max_tokens": metadata.get(
            "max_tokens"
        ),  # a solver may give each request a limit of its own
        **_read_tokens(output.get("usage")),
        "perturbation": metadata.get("perturbation") or None,
        "name": _find_name([sample.get("id"), *metadata.values()]),
    }


def _find_name(texts: Iterable) -> str | None:
    """Return the first text that is a puzzle's name."""
    names = (text.removesuffix(".txt") for text in texts if isinstance(text, str))
    return next((name for name in names if parse_name(name)), None)


def _read_choice(choice: object) -> tuple[str | None, object]:
    """Return the text of a choice, None without one, and why the model stopped, in the source's word."""
    message = _at(choice, "message")
    refused = _at(message, "refusal") or any(
        _at(one, "type") == "refusal" for one in _list(_at(message, "content"))
    )
    return _read_text(message), "refusal" if refused else _first(
        _mapping(choice), "finish_reason", "stop_reason"
    )


def _read_text(message: object) -> str | None:
    """Return a chat message's readable reasoning and content; None without any text."""
    content = _at(message, "content")
    kinds: list[tuple[bool, object]]
    if isinstance(content, list):
        parts = list(map(_mapping, content))
        traces = [bool(part.get("thought")) or part.get("type") in _REASONING for part in parts]
        last = max((place for place, is_trace in enumerate(traces) if is_trace), default=-1)
        # texts between two traces are part of the reasoning
        kinds = [(place <= last, _part_text(part)) for place, part in enumerate(parts)]
    else:
        reasoning = _at(message, "reasoning_content") or _at(message, "reasoning")
        kinds = [(True, reasoning), (False, content or _at(message, "refusal") or content)]
    texts = [(is_trace, text) for is_trace, text in kinds if isinstance(text, str)]
    reasoning, answer = (
        "\n\n".join(t for trace, t in texts if trace is kind and t) for kind in (True, False)
    )
    return join_reasoning(reasoning, answer) if texts else None


def _part_text(part: Mapping) -> object:
    """Return the text of one part of a content; reasoning that is encrypted has at most a summary."""
    if part.get("type") == "reasoning":
        return (not part.get("redacted") and part.get("reasoning")) or part.get("summary")
    return _first(part, "text", "thinking", "refusal")


def _read_tokens(usage: object) -> dict[str, object]:
    """Return the tokens of prompt and response, with what is counted apart where the rest is a number."""
    counted, found = _mapping(usage), {}
    for column, ways in _TOKENS.items():
        names = next((names for way in ways if (names := way.split())[0] in counted), ["none"])
        whole = [counted[name] for name in names if type(counted.get(name)) is int]
        found[column] = sum(whole) if type(counted.get(names[0])) is int else counted.get(names[0])
    return found


def _to_snake_case(value: Any) -> Any:
    """Return a JSON value with its keys in snake case: Google's programs write them in either."""
    if isinstance(value, dict):
        return {
            _HUMP.sub(lambda hump: f"_{hump[0].lower()}", key): _to_snake_case(one)
            for key, one in value.items()
        }
    return [_to_snake_case(one) for one in value] if isinstance(value, list) else value


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
