"""A set of puzzles as a task of lm-evaluation-harness: a folder for its option ``--include_path``.

That harness logs the text of each response and nothing about how it came to its end: neither token counts, so that
the paper's budget (Appendix D.3) cannot be applied, nor whether the limit cut the response off.
"""

from collections.abc import Iterable
from pathlib import Path

import pyarrow.parquet as pq

from cogniload_repro.companions.protocol import Query
from cogniload_repro.files import write_whole
from cogniload_repro.puzzles.sets import write_jsonl
from cogniload_repro.scoring.verdict import CONTEXT_TOKENS

#: Name of the task, and of its folder and files.
TASK = "cogniload"

_YAML = f"""\
# CogniLoad as a task of lm-evaluation-harness: lm_eval --include_path FOLDER --tasks {TASK} --log_samples ...
# What this harness cannot tell: it logs neither token counts nor whether a response was cut off, so an answer beyond
# the paper's budget of {CONTEXT_TOKENS:,} tokens, prompt included, is judged like any other.
task: {TASK}
custom_dataset: !function {TASK}_task.load_puzzles
test_split: test
output_type: generate_until
doc_to_text: query
doc_to_target: gold
process_results: !function {TASK}_task.judge
generation_kwargs:
  until: []
  max_gen_toks: {CONTEXT_TOKENS}
metric_list:
  - metric: correct
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1.0
"""

_MODULE = '''\
"""The functions that the task's YAML names; the verdicts are those of the package cogniload_repro."""

from pathlib import Path

from cogniload_repro import score_response


def load_puzzles(**_):
    """Return the puzzles beside this file as the split "test"."""
    from datasets import load_dataset

    return load_dataset("json", data_files={"test": str(Path(__file__).with_name("puzzles.jsonl"))})


def judge(doc, results):
    """Score one response by the rules of the paper's Appendix D, its budget of tokens aside."""
    asked = {key: doc[key] for key in ("poi", "gold", "domain", "category")}
    return {"correct": float(score_response(results[0], **asked).startswith("correct"))}
'''


def write_task(folder: str | Path, queries: Iterable[Query]) -> Path:
    """Write the folder of the task beside a set of puzzles, and return it: YAML, module, and puzzles with queries.

    Parameters
    ----------
    folder : path
        Has the set as ``puzzles.parquet``.
    queries : iterable of Query
        As `list_queries` returns them for the set.
    """
    columns = ["name", "poi", "category", "gold", "domain"]
    puzzles = {row["name"]: row for row in pq.read_table(Path(folder) / "puzzles.parquet", columns=columns).to_pylist()}
    task = Path(folder) / TASK
    lines = (puzzles[query.name] | {"perturbation": query.condition, "query": query.text} for query in queries)
    write_jsonl(task / "puzzles.jsonl", lines)
    write_whole(task / f"{TASK}.yaml", _YAML)
    write_whole(task / f"{TASK}_task.py", _MODULE)
    return task
