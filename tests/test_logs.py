"""Logs that are not as they should be, made by Inspect itself.

A sentence each, and what is usable is kept.
"""

from collections import Counter

import pyarrow.parquet as pq
import pytest

pytest.importorskip(
    "inspect_ai", reason="Inspect is not installed; `make test-evaluate` has it"
)

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelFallback, ModelOutput, ModelUsage, get_model

from cogniload_repro.asking.tasks import cogniload
from cogniload_repro.outputs.imports import import_outputs
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.parse import parse_puzzle

GRID = {"grid": "N=20,ratio=50,d=1:3", "per_cell": 3}


def answer(text="I do not know.", **fields):
    """What the mock model says."""
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=500, output_tokens=90, total_tokens=590)
    return output.model_copy(update=fields)


def ask(folder, task=None, say=lambda messages: answer(), **options):
    """Evaluate the mock model, and return the log."""

    def outputs(messages, tools, tool_choice, config):
        return say(messages)

    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    return evaluate(
        task or cogniload(**GRID),
        model=model,
        log_dir=str(folder),
        display="none",
        max_connections=1,
        **options,
    )[0]


def read(source, folder):
    """Import a log; return responses by model and the rejected rows as reason and sentence."""
    report = import_outputs(source, folder)
    rejected = pq.read_table(folder / "rejected.parquet").to_pylist()
    return dict(report.responses), [
        (row["row"], row["reason"], row["detail"]) for row in rejected
    ]


def test_a_run_that_ended_with_an_error(tmp_path):
    """What was answered is kept, what failed is told, and so is that the rest is missing."""
    queries = []

    def fail_at_last(messages):
        queries.append(messages)
        if len(queries) > 3:
            raise RuntimeError("the server has gone")
        return answer()

    log = ask(tmp_path / "logs", say=fail_at_last)
    assert log.status == "error"
    responses, rejected = read(log.location, tmp_path)
    assert responses == {"mockllm/model": 3}
    (row, reason, detail), *failed = rejected
    assert (row, reason) == (0, "unfinished log")
    assert "samples; continue it with `inspect eval-retry`" in detail
    assert {failure[1] for failure in failed} == {"failed request"}
    assert ask(tmp_path / "logs").status == "success"
    responses, rejected = read(tmp_path / "logs", tmp_path / "again")
    assert responses == {"mockllm/model": 6}
    reasons = Counter(reason for _, reason, _ in rejected)
    assert reasons == {
        "duplicate": 3,
        "answered elsewhere": len(failed),
        "unfinished log": 1,
    }


def test_a_log_in_json_is_read_and_one_without_samples_says_so(tmp_path):
    """Whatever format Inspect was told to write, the answers are those of the archive."""
    log = ask(tmp_path / "logs", log_format="json")
    assert log.location.endswith(".json")
    assert read(log.location, tmp_path) == ({"mockllm/model": 6}, [])
    log = ask(tmp_path / "logs", log_samples=False)
    ((row, reason, detail),) = read(log.location, tmp_path / "none")[1]
    assert (row, reason, "--no-log-samples" in detail) == (
        0,
        "log without samples",
        True,
    )


def test_logs_of_another_task_beside_one_of_ours(tmp_path):
    """Their samples are named, one by one; ours are read, an answer to a puzzle once."""
    ask(tmp_path / "logs")
    ask(
        tmp_path / "logs",
        Task(
            dataset=MemoryDataset(
                [Sample(id="sum", input="What is 2 + 2?", target="4")]
            )
        ),
    )
    drawn = [draw_puzzle(20, 5, 10, number) for number in (1, 2)]
    puzzles = [Sample(id=puzzle.name, input=puzzle.text) for puzzle in drawn]
    assert (
        ask(tmp_path / "logs", Task(dataset=MemoryDataset(puzzles)), epochs=2).status
        == "success"
    )
    responses, rejected = read(tmp_path / "logs", tmp_path)
    assert responses == {"mockllm/model": 8}
    assert Counter(reason for _, reason, _ in rejected) == {
        "missing field": 1,
        "duplicate": 2,
    }


def test_another_model_that_answered(tmp_path):
    """A provider that hands a request on to another model: its answers are not this model's."""

    def hand_on(messages):
        other = ModelFallback(model="mockllm/model", fallback_model="mockllm/small")
        return answer(fallback=other if parse_puzzle(messages[0].text).d == 3 else None)

    log = ask(tmp_path / "logs", say=hand_on)
    assert log.status == "success"
    responses, rejected = read(log.location, tmp_path)
    assert responses == {"mockllm/model": 3}
    assert [reason for _, reason, _ in rejected] == ["another model"] * 3
    assert rejected[0][2].endswith(": mockllm/small answered in place of mockllm/model")
    assert (
        sum(sample.scores["verdict"].reason == "no_response" for sample in log.samples)
        == 3
    )
