"""The task in Inspect itself, asked of its mock model; skipped where Inspect is not installed."""

import math
import random
import shutil

import pandas as pd
import pyarrow.parquet as pq
import pytest

pytest.importorskip(
    "inspect_ai", reason="Inspect is not installed; `make test-evaluate` has it"
)

from converted import convert_logs
from harness import score_outputs
from inspect_ai import eval as evaluate
from inspect_ai.model import (
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
    get_model,
)
from samples import PROMPT_TOKENS

from cogniload_repro.asking.protocol import write_queries
from cogniload_repro.asking.tasks import answer_budget, cogniload
from cogniload_repro.grid import grid_cells
from cogniload_repro.importing.imports import import_source
from cogniload_repro.puzzles.parse import parse_puzzle
from cogniload_repro.puzzles.rows import draw_named
from cogniload_repro.puzzles.sets import PuzzleSet, draw_rows
from cogniload_repro.scoring.cells import write_cells
from cogniload_repro.scoring.reasoning import CONTEXT_TOKENS, RESERVED_TOKENS

ASKED = []
#: A sentence with every category's word has the answer in all windows.
VERBS = "is wearing, in, at, eats, watches, listens to, reads, has hair"


def answer(messages, tools, tool_choice, config):
    """Solve a puzzle, wrongly the more often the harder it is.

    Think in a part of its own; say what was used.
    """
    (message,) = messages
    puzzle = parse_puzzle(message.text)
    others = [
        value for value in puzzle.domains[puzzle.category] if value != puzzle.solution
    ]
    rate = 1 / (1 + math.exp(0.3 * puzzle.d + 0.01 * puzzle.N - 3))
    value = (
        puzzle.solution if random.Random(message.text).random() < rate else others[0]
    )
    sentence = f"{puzzle.poi} {VERBS} {value}."
    output = ModelOutput.from_content("mock", "")
    output.choices[0].message.content = [
        ContentReasoning(reasoning="One by one."),
        ContentText(text=sentence),
    ]
    output.usage = ModelUsage(input_tokens=500, output_tokens=900, total_tokens=1400)
    ASKED.append(
        (message.role, message.text, config.max_tokens, config.reasoning_effort)
    )
    return output


def run(folder, *, outputs=answer, **options):
    """Evaluate the mock model, and return the log."""
    ASKED.clear()
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    keywords = {
        name: options.pop(name) for name in ("epochs", "limit") if name in options
    }
    return evaluate(
        cogniload(**options),
        model=model,
        log_dir=str(folder),
        display="none",
        **keywords,
    )[0]


def metrics(log):
    """Numbers of a log by their names."""
    return {
        name: value.value
        for score in log.results.scores
        for name, value in score.metrics.items()
    }


def cut(messages, tools, tool_choice, config):
    """Answer, and be cut off by one of two limits half of the time, which changes no outcome."""
    output = answer(messages, tools, tool_choice, config)
    output.choices[0].stop_reason = ("stop", "max_tokens", "model_length", "stop")[
        len(ASKED) % 4
    ]
    return output


@pytest.fixture(scope="module")
def mini(tmp_path_factory):
    """A log of the mini grid, two puzzles a cell."""
    return run(tmp_path_factory.mktemp("logs"), outputs=cut, grid="mini", per_cell=2)


def test_each_puzzle_is_asked_once_with_the_paper_s_prompt_budget_and_an_effort(mini):
    """The text is the only message.

    The budget is what the context leaves; the version says what compares.
    """
    assert mini.status == "success"
    assert mini.eval.task_version == "1-E"
    assert len({text for _, text, _, _ in ASKED}) == len(ASKED) == 36
    assert {(role, effort) for role, _, _, effort in ASKED} == {("user", "medium")}
    assert all(budget == answer_budget(text) for _, text, budget, _ in ASKED)
    puzzles = draw_rows(PuzzleSet(grid_cells("mini"), 2))
    assert {sample.id: sample.input for sample in mini.samples} == {
        row["name"]: row["text"] for row in puzzles
    }


def test_the_log_imported_has_the_outcomes_of_the_log(mini, tmp_path):
    """Bucket, window and answer of each sample are those of the chain.

    What was evaluated is what the book shows.
    """
    source = shutil.copy(mini.location, tmp_path / "x.eval")
    report = import_source(convert_logs(source), tmp_path, tmp_path)
    assert (dict(report.responses), dict(report.rejected)) == (
        {"mockllm/model": 36},
        {},
    )
    (scores_path,) = score_outputs(tmp_path)
    scored = {row["name"]: row for row in pq.read_table(scores_path).to_pylist()}
    for sample in mini.samples:
        score = sample.scores["outcome"]
        row = scored[sample.id]
        assert (score.reason, score.answer) == (row["bucket"], row["answer"])
        assert (score.value == "C") == row["correct"]
    right = sum(row["correct"] for row in scored.values())
    assert (metrics(mini)["accuracy"], metrics(mini)["cut_off"]) == (right / 36, 0.5)
    buckets = pd.Series([row["bucket"] for row in scored.values()]).value_counts(
        normalize=True
    )
    assert {name: metrics(mini)[name] for name in buckets.index} == pytest.approx(
        buckets.to_dict()
    )
    assert "boxed" not in metrics(mini)


@pytest.mark.parametrize(("bad", "status"), [(1, "success"), (18, "error")])
def test_one_failed_sample_does_not_end_a_run_and_a_dead_server_does(
    tmp_path, bad, status
):
    """A sample whose request fails is left out of the numbers.

    Half of them failing ends the run.
    """

    def fail(messages, tools, tool_choice, config):
        if len(ASKED) < bad:
            ASKED.append(None)
            raise RuntimeError("a page of HTML")
        return answer(messages, tools, tool_choice, config)

    log = run(tmp_path, outputs=fail, grid="mini", per_cell=1)
    assert log.status == status
    if status == "success":
        assert sum(sample.error is not None for sample in log.samples) == 1
        assert metrics(log)["accuracy"] > 0


def know(perturbation=None):
    """A model that knows the puzzle behind each query of two cells."""
    drawn = {
        row["name"]: row
        for row in draw_rows(PuzzleSet(grid_cells("N=20 ratio=50 d=1,3"), 3))
    }
    pairs = [(name, row["text"]) for name, row in drawn.items()]
    known = {
        query.prompt: drawn[query.name] for query in write_queries(pairs, perturbation)
    }

    def answers(messages, tools, tool_choice, config):
        (message,) = messages
        row = known[message.text]
        sentence = f"{row['poi']} {VERBS} {row['gold']}."
        output = ModelOutput.from_content("mock", sentence)
        output.usage = ModelUsage(input_tokens=500, output_tokens=90, total_tokens=590)
        return output

    return answers


def test_a_condition_is_asked_kept_and_imported(tmp_path):
    """Puzzles asked as they are and perturbed are two models of one import.

    Their names have the condition.
    """
    options = {"grid": "N=20,ratio=50,d=1:3", "per_cell": 3}
    for condition in ("", "rail_fence"):
        perturb = condition or None
        log = run(tmp_path / "logs", outputs=know(perturb), perturb=perturb, **options)
        assert log.status == "success", log.error and log.error.traceback
        assert log.eval.metadata["perturbation"] == condition
        assert {sample.metadata.get("perturbation", "") for sample in log.samples} == {
            condition
        }
    report = import_source(convert_logs(tmp_path / "logs"), tmp_path, tmp_path)
    models = {"mockllm/model", "mockllm/model (rail_fence)"}
    assert (dict(report.responses), dict(report.rejected)) == (
        dict.fromkeys(models, 6),
        {},
    )
    score_outputs(tmp_path)
    right = write_cells(tmp_path, {}).groupby("model")["correct"].sum().to_dict()
    assert right == dict.fromkeys(models, 6)


def fill(messages, tools, tool_choice, config):
    """Answer, and use what the paper's context holds."""
    output = answer(messages, tools, tool_choice, config)
    output.usage = ModelUsage(
        input_tokens=2_000, output_tokens=30_748, total_tokens=32_748
    )
    return output


def test_a_lower_limit_and_no_effort_are_taken_as_they_are_and_a_second_epoch_is_refused(
    tmp_path,
):
    """For models that allow fewer tokens, or know no effort.

    A puzzle that is answered twice would count twice.
    """
    run(
        tmp_path,
        grid=["N=20", "ratio=50", "d=1"],
        per_cell=2,
        max_tokens=100,
        effort="unset",
    )
    assert [(budget, effort) for _, _, budget, effort in ASKED] == [(100, None)] * 2
    higher = run(
        tmp_path, outputs=fill, grid="N=20,ratio=50,d=1", per_cell=2, max_tokens=10**6
    )
    assert all(budget == answer_budget(text) for _, text, budget, _ in ASKED)
    assert metrics(higher)["wrong_max_context"] == 1
    log = run(tmp_path, grid="N=20,ratio=50,d=1", per_cell=2, epochs=2)
    assert (log.status, "each puzzle is asked once" in log.error.message) == (
        "error",
        True,
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": "long"}, "grid 'long' must have the axes N, ratio and d"),
        ({"per_cell": 0}, "puzzles_per_cell is 0"),
        ({"grid": "N=2500,ratio=50,d=10", "per_cell": 1}, "fills the paper's context"),
        ({"max_tokens": 0}, "max_tokens is 0"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_paid(options, message):
    """A sentence when the task is made."""
    with pytest.raises(ValueError, match=message):
        cogniload(**options)


def test_a_budget_cuts_no_answer_that_the_paper_would_have_counted():
    """The budget is at least what any tokenizer's count of the prompt leaves.

    It is larger by less than a fifth of the prompt.
    """
    counts = pd.read_parquet(PROMPT_TOKENS)
    counts = counts.set_index("name").drop(columns=["N", "d", "ratio_pct"])
    for name in counts.index[::97]:
        estimate = (
            CONTEXT_TOKENS - RESERVED_TOKENS - answer_budget(draw_named(name)["text"])
        )
        assert 0.8 * counts.loc[name].median() < estimate <= counts.loc[name].min(), (
            name
        )
