"""Read logs of Inspect (``.eval`` archives or ``.json``): their samples and their header."""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import pyarrow as pa

from cogniload_repro.outputs.batches import read_tokens
from cogniload_repro.outputs.harness import find_name
from cogniload_repro.outputs.records import (
    DAMAGE,
    NO_OBJECT,
    ROW_BYTES,
    UNREADABLE,
    Refusal,
    Row,
    at,
    check_size,
    listed,
    read_json,
)
from cogniload_repro.outputs.responses import (
    FAILED,
    read_choice,
    read_choices,
    take_beside,
)

ANOTHER_MODEL = "another model"
INVALIDATED = "invalidated sample"
#: Reason for a log that lacks samples; the samples that it has are read.
UNFINISHED_LOG = "unfinished log"
NO_SAMPLES = "log without samples"
#: Reason for an unfinished log whose task another log finished; it does not count as rejected.
CONTINUED = "continued log"
_CONVERT = "`inspect log convert --to eval --output-dir FOLDER FILE`"
# compression method of zip members that Python before 3.14 does not support
_ZSTANDARD = 93
# local header of a zip member: the lengths of its name and its extra field
_LOCAL_HEADER = struct.Struct("<26xHH")
# beginning of a log in a single JSON file
_JSON_LOG = re.compile(rb'(\xef\xbb\xbf)?\s*\{.*"eval":\s*\{', re.DOTALL)
_HEAD_BYTES = 1 << 20
#: Largest log in a single JSON file, in bytes.
JSON_BYTES = 1 << 30


def is_json_log(path: Path) -> bool:
    """Return whether a file begins like a log of Inspect in a single JSON file."""
    try:
        with path.open("rb") as file:
            return _JSON_LOG.match(file.read(_HEAD_BYTES)) is not None
    except OSError:
        return False


def is_log(path: Path) -> bool:
    """Return whether a file is a log, by its ending (other JSON files were sorted out before)."""
    return path.suffix in (".eval", ".json")


def read_log(path: Path, finished: Mapping[str, str] = {}) -> Iterator[Row]:
    """Yield the samples of a log as rows, one in memory at a time; a last row says what is missing.

    `finished` has the finished log of each task: an unfinished log of such a task was continued.
    """
    records = _read_records(path)
    header = next(records).fields
    if "eval" not in header:
        raise ValueError("not a log of Inspect: it does not say what was evaluated")
    settings = _read_settings(header)
    count = 0
    for record in records:
        count += 1
        if record.refusal:
            yield record
            continue
        yield from read_log_sample(record, settings)
    is_done = header.get("status") == "success"
    log = finished.get(str(at(header, "eval", "task_id")))
    if log and not is_done:
        yield Row(0, {}, (CONTINUED, f"it was continued in {log!r}, which is read too"))
    elif not count:
        detail = "it was run with --no-log-samples, or ended before the first answer"
        yield Row(0, {}, (NO_SAMPLES, detail))
    elif not is_done:
        remedy = "continue it with `inspect eval-retry`, or accept rejected rows to use these"
        yield Row(0, {}, (UNFINISHED_LOG, f"it has only {count:,} samples; {remedy}"))


def find_finished(labels: Mapping[Path, str]) -> dict[str, str]:
    """Return the labels of finished logs by task id, which a log shares with its retries."""
    finished = {}
    for path, label in labels.items():
        if not is_log(path):
            continue
        try:
            header = next(_read_records(path)).fields
        except DAMAGE:
            continue  # reported when its samples are read
        task = at(header, "eval", "task_id")
        if task and header.get("status") == "success":
            finished[str(task)] = label
    return finished


def read_log_sample(record: Row, settings: Mapping[str, object]) -> list[Row]:
    """Return the rows of a sample: the model's reasoning and answer, or why it cannot be used."""
    sample = record.fields
    output = sample.get("output")
    metadata = sample["metadata"] if isinstance(sample.get("metadata"), dict) else {}
    fields = {
        **settings,
        "name": find_name([sample.get("id"), *metadata.values()]),
        "version": at(output, "model"),
        "perturbation": metadata.get("perturbation"),
        "uuid": sample.get("uuid"),
        **read_tokens(at(output, "usage")),
    }
    if metadata.get("max_tokens") is not None:
        # a solver may set the limit of each request
        fields["max_tokens"] = metadata["max_tokens"]
    choices = [read_choice(choice) for choice in listed(at(output, "choices"))]
    if refusal := _refuse_sample(sample, settings["model"]):
        return [Row(record.number, fields, refusal)]
    if limit := at(sample, "limit", "type"):
        # Inspect ended the sample, whatever the model reported
        choices = [(message, f"{limit}_limit") for message, _ in choices]
    beside = take_beside(output, "choices")
    return read_choices(record.number, fields, choices, beside)


def _refuse_sample(sample: Mapping, model: object) -> Refusal | None:
    """Return why a sample has no valid answer of this model, None if it has one."""
    if invalidation := sample.get("invalidation"):
        author = at(invalidation, "author") or "an unnamed author"
        return (
            INVALIDATED,
            f"by {author}: {at(invalidation, 'reason') or 'no reason given'}",
        )
    if sample.get("error") or not listed(at(sample, "output", "choices")):
        return FAILED, str(at(sample, "error", "message") or "there is no output")[:200]
    fallbacks = [
        at(sample, "output", "fallback"),
        *listed(sample.get("model_fallbacks")),
    ]
    for fallback in fallbacks:
        if other := at(fallback, "fallback_model"):
            return ANOTHER_MODEL, f"{other} answered in place of {model}"
    return None


def _read_settings(header: Mapping) -> dict[str, object]:
    """Return a log's model and settings; those of the plan override those of the model."""
    model = str(at(header, "eval", "model"))
    settings = {"model": model, "provider": model.partition("/")[0]}
    for key in (
        "temperature",
        "top_p",
        "max_tokens",
        "reasoning_effort",
        "reasoning_tokens",
    ):
        planned = at(header, "plan", "config", key)
        by_model = at(header, "eval", "model_generate_config", key)
        settings[key] = by_model if planned is None else planned
    budget = settings.pop("reasoning_tokens")
    effort = (
        settings.pop("reasoning_effort")
        or at(header, "eval", "metadata", "effort")
        or budget
    )
    return settings | {"effort": effort, "date": at(header, "eval", "created")}


def _read_records(path: Path) -> Iterator[Row]:
    """Yield the header of a log as row 0, then its samples."""
    if not is_json_log(path):
        yield from _read_archive(path)
        return
    if path.stat().st_size > JSON_BYTES:
        raise ValueError(
            f"it has more than {JSON_BYTES:,} bytes; convert it: {_CONVERT}"
        )
    log = read_json(0, path.read_bytes())
    if log.refusal:
        raise ValueError(log.refusal[1])
    yield log
    for number, sample in enumerate(listed(log.fields.get("samples")), start=1):
        is_object = isinstance(sample, dict)
        yield Row(number, sample) if is_object else Row(number, {}, NO_OBJECT)


def _read_archive(path: Path) -> Iterator[Row]:
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        # a resumed run has samples of both attempts under one name; the last one counts
        members = {info.filename: info for info in archive.infolist()}
        check_size(path.name, sum(info.file_size for info in members.values()))
        header = members.get("header.json") or members.get("_journal/start.json")
        content = _read_member(file, archive, header) if header else b"{}"
        yield read_json(0, content)
        samples = [name for name in members if re.fullmatch(r"samples/.*\.json", name)]
        for number, name in enumerate(samples, start=1):
            try:
                yield read_json(number, _read_member(file, archive, members[name]))
            except DAMAGE as error:
                yield Row(number, {}, (UNREADABLE, f"{name}: {error}"))


def _read_member(
    file: IO[bytes], archive: zipfile.ZipFile, info: zipfile.ZipInfo
) -> bytes:
    """Return the content of a zip member; ValueError if it is damaged or longer than a row."""
    if max(info.file_size, info.compress_size) > ROW_BYTES:
        raise ValueError(f"it is longer than {ROW_BYTES:,} bytes")
    if info.compress_type != _ZSTANDARD:
        return archive.read(info)
    file.seek(info.header_offset)
    lengths = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    file.seek(sum(lengths), 1)
    compressed = pa.BufferReader(file.read(info.compress_size))
    with pa.input_stream(compressed, compression="zstd") as stream:
        content = stream.read(info.file_size + 1)
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise ValueError("the content does not match its checksum")
    return content
