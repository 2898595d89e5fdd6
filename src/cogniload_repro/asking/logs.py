"""Answers in logs of Inspect as rows of a table that the import reads.

``python -m cogniload_repro.asking.logs logs/*.eval > answers.jsonl``, with Inspect's own reader.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

from inspect_ai.log import EvalSample, read_eval_log, read_eval_log_samples
from inspect_ai.model import ContentReasoning, ModelOutput

from cogniload_repro.puzzles.rows import parse_name


def read_log_rows(path: str) -> Iterator[dict]:
    """Yield the samples of a log as rows of a table; one that failed has an error."""
    run = read_eval_log(path, header_only=True).eval
    settings = run.model_generate_config
    facts = {
        "model": run.model,
        "provider": run.model.partition("/")[0],
        "date": run.created,
        "effort": (run.metadata or {}).get("effort"),
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max_tokens": settings.max_tokens,
    }
    for sample in read_eval_log_samples(path, all_samples_required=False):
        yield facts | describe_sample(sample) | describe_output(sample.output)


def describe_sample(sample: EvalSample) -> dict:
    """Return what a sample was asked, and its faults; its id or metadata name the puzzle."""
    names = [str(value) for value in (sample.id, *sample.metadata.values())]
    faults = [sample.error, sample.invalidation, sample.limit and sample.limit.type]
    row = {
        "name": next(filter(parse_name, names), sample.id),
        "perturbation": sample.metadata.get("perturbation"),
        "error": " ".join(str(fault) for fault in faults if fault),
    }
    if "max_tokens" in sample.metadata:
        row["max_tokens"] = sample.metadata["max_tokens"]
    return row


def describe_output(output: ModelOutput) -> dict:
    """Return the text, the reasoning, the tokens and the reason for stopping of an output."""
    row: dict[str, Any] = {"version": output.model, "finish_reason": output.stop_reason}
    if not output.choices:
        return row | {"response": "", "finish_reason": "error"}
    content = output.message.content
    parts = content if isinstance(content, list) else []
    traces = [part.text for part in parts if isinstance(part, ContentReasoning)]
    row["response"] = output.message.text
    row["reasoning"] = "".join(traces)
    usage = output.usage
    if usage is not None:
        row["prompt_tokens"] = usage.input_tokens
        row["cache_read_tokens"] = usage.input_tokens_cache_read
        row["cache_write_tokens"] = usage.input_tokens_cache_write
        row["response_tokens"] = usage.output_tokens
        row["reasoning_tokens"] = usage.reasoning_tokens
        row["total_tokens"] = usage.total_tokens
    return row


if __name__ == "__main__":
    for log in sys.argv[1:]:
        for line in read_log_rows(log):
            print(json.dumps(line))
