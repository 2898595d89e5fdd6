"""Inspect logs as the framework writes them (format version 2), for tests."""

import json
import zipfile
import zlib

import pyarrow as pa


def make_header(model="openai/gpt-5-2025-08-07"):
    """What a log says of the whole run."""
    run = {
        "eval_id": "e",
        "run_id": "r",
        "created": "2026-01-01T00:00:00+00:00",
        "task": "cogniload",
        "model": model,
    }
    return {
        "version": 2,
        "status": "success",
        "eval": run,
        "plan": {},
        "results": {},
        "stats": {},
    }


def make_sample(
    identifier="20_1_1_770487_red", content="Sue wears red.", epoch=1, **fields
):
    """One sample with its messages, output and usage."""
    message = {"id": "m", "content": content, "source": "generate", "role": "assistant"}
    usage = {
        "input_tokens": 500,
        "output_tokens": 900,
        "total_tokens": 1400,
        "reasoning_tokens": 800,
    }
    return {
        "id": identifier,
        "epoch": epoch,
        "input": "Solve this logic puzzle.",
        "target": "red",
        "messages": [{"role": "user", "content": "Solve this logic puzzle."}, message],
        "output": {
            "model": "gpt-5-2025-08-07",
            "choices": [{"message": message, "stop_reason": "stop"}],
            "completion": "Sue wears red.",
            "usage": usage,
        },
        "scores": {"includes": {"value": "C"}},
        "metadata": {"N": 20},
        "events": [{"event": "model", "input": ["attachment://0a1b"]}],
        "attachments": {"0a1b": "Solve this logic puzzle."},
        **fields,
    }


def write_json(path, samples, header=None):
    """Write a plain log."""
    path.write_text(
        json.dumps({**(header or make_header()), "samples": samples}, indent=2)
    )
    return path


def write_archive(path, samples, header=None, *, zstandard=True):
    """Write an archive, deflated as in older logs or in Zstandard as in present ones."""
    members = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}
    members |= {"summaries.json": [], "header.json": header or make_header()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            content = json.dumps(member).encode()
            if zstandard:
                _write_zstandard(archive, name, content)
            else:
                archive.writestr(name, content)
    return path


def _write_zstandard(archive, name, content):
    """Write a member as stored bytes, then tell the directory what it really is."""
    compressed = pa.compress(content, codec="zstd", asbytes=True)
    info = zipfile.ZipInfo(name)
    archive.writestr(info, compressed, zipfile.ZIP_STORED)
    info.compress_type = 93
    info.file_size = len(content)
    info.CRC = zlib.crc32(content)
