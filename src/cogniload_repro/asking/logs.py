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
    settings: dict[str, Any] = run.model_generate_config.model_dump(exclude_none=True)
    settings |= {"provider": run.model.partition("/")[0], "date": run.created}
    settings |= {"effort": (run.metadata or {}).get("effort")}
    for sample in read_eval_log_samples(path, all_samples_required=False):
        yield settings | describe_sample(sample, run.model)


def describe_sample(sample: EvalSample, model: str) -> dict:
    """Return a sample as a row: the puzzle is its id, or a value of its metadata."""
    names = [str(value) for value in (sample.id, *sample.metadata.values())]
    faults = [sample.error, sample.invalidation, sample.limit and sample.limit.type]
    condition = sample.metadata.get("perturbation")
    facts = {
        "model": f"{model} ({condition})" if condition else model,
        "name": next(filter(parse_name, names), sample.id),
        "max_tokens": sample.metadata.get("max_tokens"),
        "error": " ".join(str(fault) for fault in faults if fault),
    }
    return facts | describe_output(sample.output)


def describe_output(output: ModelOutput) -> dict:
    """Return the text, the reasoning, the tokens and the reason for stopping of an output."""
    row: dict[str, Any] = {"version": output.model, "finish_reason": output.stop_reason}
    if not output.choices:
        return row | {"response": "", "finish_reason": "error"}
    content = output.message.content
    parts = content if isinstance(content, list) else []
    traces = [part.text for part in parts if isinstance(part, ContentReasoning)]
    row["response"] = output.message.text
    row["reasoning"] = "\n\n".join(traces)
    if output.usage is not None:
        usage = output.usage
        cached = (usage.input_tokens_cache_read, usage.input_tokens_cache_write)
        row["prompt_tokens"] = usage.input_tokens + sum(filter(None, cached))
        row["response_tokens"] = usage.output_tokens
        row["total_tokens"] = usage.total_tokens
    return row


if __name__ == "__main__":
    for log in sys.argv[1:]:
        for line in read_log_rows(log):
            print(json.dumps(line))
