"""Logs of the Inspect evaluation framework, sample by sample: `.eval` archives and plain `.json` files."""

import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from cogniload_repro.records import (
    ROW_BYTES,
    UNREADABLE,
    Refusal,
    check_record,
    load_json,
    open_stream,
    open_zip,
    over_limit,
    parse_json,
    unpacked_limit,
)

#: Our own task, and the number in its versions, raised when prompts, verdicts or the order of draws change: answers no
#: longer compare.
TASK, COMPARABILITY = "cogniload", 1
#: Why a log is refused beside its samples, which are read.
UNFINISHED_LOG = "unfinished log"
#: Most memory that JSON which is read whole may take, bytes.
LOG_MEMORY_BYTES = 1_500_000_000

_TABLE_START = re.compile(rb'(\xef\xbb\xbf)?\s*(\[|\{\s*"version":\s*\d+,\s*"status":)')
_ZSTANDARD = 93  # the number of a zip member's compression; Python before 3.14 does not know it


class Sample(NamedTuple):
    """One sample of a log, or why it is none, with the model that was asked, and how, as far as the log says.

    The last one of a run that has not finished is about the log: the refusal that says so.
    """

    model: str | None
    record: dict | Refusal
    asked: Mapping[str, object] = {}
    is_log: bool = False


def begins_as_table(path: Path) -> bool:
    """Return whether a JSON file begins as an array or as an Inspect log does."""
    try:
        with open_stream(path) as file:
            return bool(_TABLE_START.match(file.read(4096)))
    except Exception:  # whatever its compression raises: it is no table, and named as data that is not read
        return False


def read_archive(path: Path) -> Iterator[Sample]:
    """Yield the samples of an `.eval` archive, one in memory at a time; ValueError if it is no log."""
    try:
        with open_zip(path) as archive:
            header = _read_header(archive)
            (model, asked), left, count = _read_eval(header), unpacked_limit(), 0
            # a run that was taken up again has samples of both attempts under one name, of which the last counts
            for info in {info.filename: info for info in archive.infolist()}.values():
                left -= info.file_size
                if left < 0:
                    raise ValueError(over_limit(path.name))
                if info.filename.startswith("samples/") and info.filename.endswith(".json"):
                    count += 1
                    try:
                        record = parse_json(_read_member(archive, info))
                    except (OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
                        record = UNREADABLE, f"{info.filename}: {error}"
                    yield Sample(model, record, asked)
            yield from _judge_status(header, count)
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise ValueError(f"not a whole Inspect log: {error}") from None


def load_whole(path: Path) -> object:
    """Return the content of a JSON file, which has to fit into memory."""
    with open_stream(path) as file:
        content = file.read(LOG_MEMORY_BYTES // 3 + 1)
    if _weigh(content) > LOG_MEMORY_BYTES:
        raise ValueError(f"JSON of {len(content):,} bytes or more is not read; convert a log to .eval, others to JSONL")
    return load_json(content)


def read_log(log: object) -> Iterator[Sample]:
    """Yield the samples of a plain `.json` log."""
    (model, asked), samples = _read_eval(log), _list(_mapping(log).get("samples"))
    for sample in samples:
        yield Sample(model, check_record(sample), asked)
    yield from _judge_status(_mapping(log), len(samples))


def _weigh(content: bytes) -> int:
    """Return how much memory JSON may take at most while it is read: itself, twice its text, and its pieces."""
    width = 1 if content.isascii() else 4 if re.search(rb"[\xf0-\xff]", content) else 2
    pieces = {b",": 120, b"[": 72, b"{": 240}
    return len(content) * (1 + 2 * width) + sum(content.count(mark) * size for mark, size in pieces.items())


def _judge_status(header: Mapping, count: int) -> Iterator[Sample]:
    """Refuse a log that is not that of a whole run, beside its samples."""
    if (status := header.get("status")) != "success":
        error = _mapping(header.get("error")).get("message")
        expected = _mapping(header["eval"].get("dataset")).get("samples")
        detail = (
            f"the run did not finish (status {status or 'unknown'}{f': {str(error)[:200]}' if error else ''}): "
            f"{count:,} samples{f' of {expected:,}' if isinstance(expected, int) else ''} are in it; "
            "continue it with `inspect eval-retry`, or accept rejected rows to use what is there"
        )
        yield Sample(None, (UNFINISHED_LOG, detail), is_log=True)


def _read_header(archive: zipfile.ZipFile) -> Mapping:
    """Return the header of an archive; one that was interrupted has none yet, only a journal."""
    for name in ("header.json", "_journal/start.json"):
        if name in archive.namelist():
            return _mapping(load_json(_read_member(archive, archive.getinfo(name))))
    raise ValueError("not an Inspect log: it has neither header.json nor _journal/start.json")


def _read_eval(header: object) -> tuple[str | None, dict[str, object]]:
    """Return the model of a log, and how it was asked: what the plan says goes before the model's own settings."""
    if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
        raise ValueError("not an Inspect log: it has no eval")
    about, plan = header["eval"], _mapping(header.get("plan"))
    task, version = (str(about.get(key, "")) for key in ("task", "task_version"))
    found, is_own = re.fullmatch(r"(\d+)-[A-Z]+", version), task.rpartition("/")[2] == TASK
    if is_own and found and int(found[1]) != COMPARABILITY:
        raise ValueError(
            f"log of comparability version {found[1]} of the task {TASK}, not comparable with version {COMPARABILITY}; "
            "evaluate again or use the matching release"
        )
    configs = _mapping(about.get("model_generate_config")), _mapping(plan.get("config"))
    asked = {key: value for config in configs for key, value in config.items() if value is not None}
    model, stated = about.get("model"), _mapping(about.get("metadata"))
    return model, {
        "provider": model.partition("/")[0] if isinstance(model, str) and "/" in model else None,
        "date": about.get("created"),
        "effort": asked.get("reasoning_effort") or stated.get("effort") or asked.get("reasoning_tokens"),
        **{key: asked.get(key) for key in ("temperature", "top_p", "max_tokens")},
        "form": stated.get("form") if is_own else None,
    }


def _mapping(value: object) -> Mapping:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list:
    return value if isinstance(value, list) else []


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
    with archive.open(stored) as member:
        compressed = member.read()
    with pa.input_stream(pa.BufferReader(compressed), compression="zstd") as stream:
        content = stream.read(info.file_size + 1)
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise ValueError("the content does not have its check sum")
    return content
