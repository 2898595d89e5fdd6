"""Prompts as lines, as requests of a batch, or as a task of lm-evaluation-harness.

The paper gives prompt and response 32,768 tokens together (Appendix D.3). A request can limit the
response alone; the scorer applies the budget later, from the token counts of the answers. So the
limit of a request must be at least what the prompt leaves of the budget, and may be all of it.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from cogniload_repro.asking.protocol import Query
from cogniload_repro.files import write_whole
from cogniload_repro.importing.responses import is_safe
from cogniload_repro.puzzles.sets import cut, write_jsonl

#: Numbers of requests and of bytes at which a batch file is full. The endpoint allows 200 MB; the
#: rest is for the last line.
_MAX_REQUESTS = 50_000
_FULL_BYTES = 180_000_000
#: Names of the settings at OpenAI's endpoint.
_OPENAI_NAMES = {
    "max_tokens": "max_completion_tokens",
    "effort": "reasoning_effort",
    "temperature": "temperature",
}

#: Settings of requests, under the names of the columns that an import reads: max_tokens, and, if
#: not left to the server, effort and temperature.
Sampling = Mapping[str, Any]


def batch_request(query: Query, model: str, sampling: Sampling) -> dict:
    """Return one query as a request of a batch.

    If the query has a condition, the request's id begins with ``MODEL (CONDITION)/``.
    """
    body = {"model": model, "messages": [{"role": "user", "content": query.text}]}
    for setting, name in _OPENAI_NAMES.items():
        if setting in sampling:
            body[name] = sampling[setting]
    custom_id = query.name
    if query.condition:
        custom_id = f"{model} ({query.condition})/{query.name}"
    return {
        "custom_id": custom_id,
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": body,
    }


def write_batches(
    folder: str | Path, queries: Iterable[Query], model: str, sampling: Sampling
) -> list[Path]:
    """Write requests into as many files as the endpoint requires, and return their paths.

    Files of an earlier batch are replaced or removed.
    """
    if not is_safe(f"{model} (rectangle_perimeter)"):
        raise ValueError(
            f"answers of a model named {model[:200]!r} could not be imported; use the "
            "endpoint's own name"
        )
    folder = Path(folder)
    earlier = set(folder.glob("requests-*.jsonl"))
    requests = (batch_request(query, model, sampling) for query in queries)
    lines = (json.dumps(request) + "\n" for request in requests)
    paths = []
    for number, part in enumerate(cut(lines, _MAX_REQUESTS, len, _FULL_BYTES), 1):
        path = folder / f"requests-{number}.jsonl"
        paths.append(write_whole(path, "".join(part)))
    for path in earlier.difference(paths):
        path.unlink()
    return paths


def write_prompts(folder: str | Path, queries: Iterable[Query]) -> Path:
    """Write ``prompts.jsonl`` (per line: name, perturbation, prompt) and return its path."""
    path = Path(folder) / "prompts.jsonl"
    rows = (
        {"name": query.name, "perturbation": query.condition, "prompt": query.text}
        for query in queries
    )
    write_jsonl(path, rows)
    return path


_TASK = "cogniload"
_MODULE = '''\
"""The functions that the task's YAML names.

The outcomes are those of the package cogniload_repro.
"""

from pathlib import Path

try:
    from cogniload_repro import score_response
except ModuleNotFoundError:
    raise SystemExit(
        "The task cogniload needs the package cogniload-repro beside the harness: "
        "pip install PATH-OF-CHECKOUT"
    ) from None


def load_puzzles(**_):
    """Return the puzzles beside this file as the split "test"."""
    from datasets import load_dataset

    return load_dataset("json", data_files={"test": str(Path(__file__).with_name("puzzles.jsonl"))})


def judge(doc, results):
    """Score one response by the rules of the paper's Appendix D, without its token budget."""
    asked = {key: doc[key] for key in ("poi", "gold", "domain", "category")}
    return {"correct": float(score_response(results[0], **asked).is_correct)}
'''


def write_harness(
    folder: str | Path, queries: Iterable[Query], sampling: Sampling
) -> Path:
    """Write a task for lm-evaluation-harness (``--include_path``) beside ``puzzles.parquet``.

    The temperature is always written, so that the harness's logs record it; if none is given, it is
    0, the default of the harness's clients.
    """
    columns = ["name", "poi", "category", "gold", "domain"]
    puzzles = {
        row["name"]: row
        for row in pq.read_table(
            Path(folder) / "puzzles.parquet", columns=columns
        ).to_pylist()
    }
    temperature = round(
        sampling.get("temperature") or 0.0, 4
    )  # YAML would read 1e-05 as a word
    settings = {
        "max_gen_toks": sampling["max_tokens"],
        "temperature": temperature,
        "do_sample": temperature > 0,
    }
    settings |= {"reasoning_effort": sampling["effort"]} if "effort" in sampling else {}
    written = "\n".join(
        f"  {name}: {json.dumps(value)}" for name, value in settings.items()
    )
    task = Path(folder) / _TASK
    lines = (
        puzzles[query.name] | {"perturbation": query.condition, "query": query.text}
        for query in queries
    )
    write_jsonl(task / "puzzles.jsonl", lines)
    write_whole(
        task / f"{_TASK}.yaml",
        Path(__file__).with_name(f"{_TASK}.yaml").read_text(encoding="utf-8") % written,
    )
    write_whole(task / f"{_TASK}_task.py", _MODULE)
    return task
