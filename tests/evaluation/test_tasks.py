"""The tasks in Inspect itself, asked of its mock model; skipped where Inspect is not installed."""

import math
import random
import re
import shutil
from functools import cache

import pandas as pd
import pyarrow.parquet as pq
import pytest
from harness import ask as command

pytest.importorskip("inspect_ai", reason="Inspect is not installed; `make test-evaluate` has it")

from inspect_ai import eval as evaluate
from inspect_ai.model import ContentReasoning, ContentText, ModelOutput, ModelUsage, get_model

from cogniload_repro.companions.protocol import split_perturbations
from cogniload_repro.companions.scap import draw_probe, estimate_capacity, next_sizes, read_counts
from cogniload_repro.evaluation.forms import draw_queries, estimate_tokens
from cogniload_repro.evaluation.tasks import cogniload, scap
from cogniload_repro.grid import Cell
from cogniload_repro.outputs.imports import import_outputs
from cogniload_repro.presentation.figures import FIGURES, panel_accuracy
from cogniload_repro.puzzles.puzzle import parse_puzzle
from cogniload_repro.robustness.comparisons import compare_models
from cogniload_repro.scoring.cells import write_cells
from cogniload_repro.scoring.scores import score_dataset
from cogniload_repro.statistics.accuracy import accuracy_by
from cogniload_repro.statistics.cell_tables import load_cells

ASKED = []


def answer(messages, tools, tool_choice, config):
    """Solve a puzzle, wrongly the more often the harder it is; think in a part of its own; say what was used."""
    (message,) = messages
    puzzle = parse_puzzle(message.text)
    others = [value for value in puzzle.domains[puzzle.category] if value != puzzle.solution]
    rate = 1 / (1 + math.exp(0.3 * puzzle.d + 0.01 * puzzle.N - 3))
    value = puzzle.solution if random.Random(message.text).random() < rate else others[0]
    said = f"{puzzle.poi} is wearing, in, at, eats, watches, listens to, reads, has hair {value}."
    output = ModelOutput.from_content("mock", "")
    output.choices[0].message.content = [ContentReasoning(reasoning="One by one."), ContentText(text=said)]
    output.usage = ModelUsage(input_tokens=500, output_tokens=900, total_tokens=1400)
    ASKED.append((message.role, message.text, config.max_tokens, config.reasoning_effort))
    return output


def run(folder, task=cogniload, *, outputs=answer, **options):
    """Evaluate the mock model, and return the log."""
    ASKED.clear()
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    keywords = {name: options.pop(name) for name in ("epochs", "limit") if name in options}
    return evaluate(task(**options), model=model, log_dir=str(folder), display="none", **keywords)[0]


def metrics(log):
    """Numbers of a log by their names."""
    return {name: one.value for score in log.results.scores for name, one in score.metrics.items()}


def cut(messages, tools, tool_choice, config):
    """Answer, and be cut off by one of two limits half of the time, which changes no verdict."""
    output = answer(messages, tools, tool_choice, config)
    output.choices[0].stop_reason = ("stop", "max_tokens", "model_length", "stop")[len(ASKED) % 4]
    return output


@pytest.fixture(scope="module")
def mini(tmp_path_factory):
    """A log of the mini form, two puzzles a cell."""
    return run(tmp_path_factory.mktemp("logs"), outputs=cut, form="mini", per_cell=2)


def test_each_puzzle_is_asked_once_with_the_paper_s_prompt_budget_and_an_effort(mini):
    """The text is the only message; the budget is what the context leaves; the version says what compares."""
    assert mini.status == "success"
    assert mini.eval.task_version == "1-C"
    assert len({text for _, text, _, _ in ASKED}) == len(ASKED) == 36
    assert {(role, effort) for role, _, _, effort in ASKED} == {("user", "medium")}
    assert all(budget == 32_748 - estimate_tokens(text) for _, text, budget, _ in ASKED)
    texts = {sample.input: sample.id for sample in mini.samples}
    assert all(texts[text] for _, text, _, _ in ASKED)


def test_the_log_imported_has_the_verdicts_of_the_log(mini, tmp_path):
    """Bucket, window and answer of each sample are those of the chain: what was evaluated is what the book shows."""
    source = shutil.copy(mini.location, tmp_path / "x.eval")
    report = import_outputs(source, tmp_path)
    assert (dict(report.responses), dict(report.rejected)) == ({"mockllm/model": 36}, {})
    (scores_path,) = score_dataset(tmp_path / "outputs", tmp_path / "puzzles.parquet", tmp_path / "scores")
    scored = {row["name"]: row for row in pq.read_table(scores_path).to_pylist()}
    for sample in mini.samples:
        own, row = sample.scores["verdict"], scored[sample.id]
        assert (own.reason, own.explanation, own.answer) == (row["bucket"], row["window"], row["answer"])
        assert (own.value == "C") == row["correct"]
    right = sum(row["correct"] for row in scored.values())
    assert (metrics(mini)["accuracy"], metrics(mini)["cut_off"]) == (right / 36, 0.5)
    assert {"d=5", "N=50", "rho=95%", "wrong_logic", "accuracy_low"} <= set(metrics(mini))


def test_an_adaptive_sample_is_fitted_and_never_averaged(tmp_path):
    """It stops at the number of puzzles, none twice; no accuracy is printed by the task, the scores or the fits."""
    log = run(tmp_path, form="adaptive", puzzles=50, batch=20)
    assert log.status == "success"
    assert len({sample.id for sample in log.samples}) == len(log.samples) == 50
    assert not [name for name in metrics(log) if name.startswith("accuracy")]
    build = ["--build", str(tmp_path / "build")]
    for step in (["download-outputs", "--source", log.location], ["score", "--jobs", "1"], ["fit"]):
        code, told = command(*step, *build)
        assert (code, "%" in told) == (0, False), told
    assert "mockllm/model: 50 answers, puzzles were chosen" in told
    cells = load_cells(tmp_path / "build")
    assert (cells["total"].sum(), accuracy_by(cells, "model").empty) == (50, True)
    assert panel_accuracy(FIGURES["figure1"][0], cells).empty
    with pytest.raises(ValueError, match="were selected by an adaptive form"):
        compare_models(pd.concat([cells, load_cells()]), "mockllm/model", "QwQ-32B")


def test_an_adaptive_run_stops_when_enough_is_known_or_spent(tmp_path):
    """At a wide target after few batches; at a token budget after the batch that reaches it."""
    assert len(run(tmp_path, form="adaptive", width=30.0, batch=35).samples) < 200
    assert len(run(tmp_path, form="adaptive", tokens=900 * 21, batch=20).samples) == 40


def test_of_several_choices_the_first_is_scored(tmp_path):
    """As the import does; the others are rejected there as duplicates."""

    def twice(messages, tools, tool_choice, config):
        output = answer(messages, tools, tool_choice, config)
        output.choices.append(output.choices[0].model_copy(deep=True))
        output.choices[1].message.content = "I do not know."
        return output

    log = run(tmp_path, outputs=twice, grid=["N=20", "ratio=50", "d=1"], per_cell=4)
    assert log.status == "success", log.error
    report = import_outputs(log.location, tmp_path)
    assert sum(report.responses.values()) == 4
    assert metrics(log)["accuracy"] > 0.5


@pytest.mark.parametrize(("bad", "status"), [(1, "success"), (18, "error")])
def test_one_failed_sample_does_not_end_a_run_and_a_dead_server_does(tmp_path, bad, status):
    """A sample whose request fails is left out of the numbers; half of them failing ends the run."""

    def fail(messages, tools, tool_choice, config):
        if len(ASKED) < bad:
            ASKED.append(None)
            raise RuntimeError("a page of HTML")
        return answer(messages, tools, tool_choice, config)

    log = run(tmp_path, outputs=fail, form="mini", per_cell=1)
    assert log.status == status
    if status == "success":
        assert sum(sample.error is not None for sample in log.samples) == 1
        assert metrics(log)["accuracy"] > 0


def know(perturbation=None, overload=1):
    """A model that knows the puzzle behind each query of two cells; it answers in a box, and takes it back at last."""
    known = {
        query: row
        for cell in (Cell(20, 50, 1), Cell(20, 50, 3))
        for row, query in draw_queries(cell, 0, 3, perturbation=perturbation, overload=overload)
    }

    def answers(messages, tools, tool_choice, config):
        (message,) = messages
        row = known[message.text]
        other = next(value for value in row["domain"] if value != row["gold"])
        said = "{} is wearing, in, at, eats, watches, listens to, reads, has hair {}."
        right, wrong = (said.format(row["poi"], value) for value in (row["gold"], other))
        output = ModelOutput.from_content("mock", f"\\boxed{{{right}}}\n{wrong}" if overload > 1 else right)
        output.usage = ModelUsage(input_tokens=500, output_tokens=90, total_tokens=590)
        return output

    return answers


def test_a_condition_is_asked_kept_and_imported(tmp_path):
    """The same puzzles, asked as they are and perturbed, are two models of one import, told apart by the condition."""
    options = {"grid": "N=20,ratio=50,d=1:3", "per_cell": 3}
    for condition, asked in (("", {}), ("rail_fence", {"perturb": "rail_fence"}), ("overload_2", {"overload": 2})):
        log = run(tmp_path / "logs", outputs=know(asked.get("perturb"), asked.get("overload", 1)), **options, **asked)
        assert log.status == "success", log.error and log.error.traceback
        assert log.eval.metadata["perturbation"] == condition
        assert {sample.metadata.get("perturbation", "") for sample in log.samples} == {condition}
    assert (metrics(log)["accuracy"], metrics(log)["boxed"]) == (0, 1)
    report = import_outputs(tmp_path / "logs", tmp_path)
    models = {"mockllm/model", "mockllm/model (rail_fence)", "mockllm/model (overload_2)"}
    assert (dict(report.responses), dict(report.rejected)) == (dict.fromkeys(models, 6), {})
    score_dataset(tmp_path / "outputs", tmp_path / "puzzles.parquet", tmp_path / "scores")
    split = split_perturbations(write_cells(tmp_path / "scores", tmp_path / "cells.parquet"))
    right = split.groupby(["model", "perturbation"])["correct"].sum().to_dict()
    assert right == {("mockllm/model", ""): 6, ("mockllm/model", "rail_fence"): 6, ("mockllm/model", "overload_2"): 0}


def test_a_lower_limit_and_no_effort_are_taken_as_they_are_and_a_second_epoch_is_refused(tmp_path):
    """For models that allow fewer tokens, or know no effort; a puzzle answered twice would count twice."""
    run(tmp_path, grid=["N=20", "ratio=50", "d=1"], per_cell=2, max_tokens=100, effort="unset")
    assert [(budget, effort) for _, _, budget, effort in ASKED] == [(100, None)] * 2
    log = run(tmp_path, grid="N=20,ratio=50,d=1", per_cell=2, epochs=2)
    assert (log.status, "each puzzle is asked once" in log.error.message) == ("error", True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "long"}, "form is 'long'; choose one of"),
        ({"form": "adaptive", "rounding": "port"}, "leave rounding out"),
        ({"form": "adaptive", "width": 0}, "width is 0"),
        ({"grid": "N=3000,ratio=50,d=10", "per_cell": 1}, "fills the paper's context"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"perturb": "not_not", "overload": 2}, "choose one of both"),
        ({"form": "adaptive", "overload": 12}, "fills the paper's context"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_paid(options, message):
    """A sentence when the task is made."""
    with pytest.raises(ValueError, match=message):
        cogniload(**options)


#: What the made-up model holds, and how many probes a size it is asked.
CAPACITY, REPEATS = {"state": 6, "rules": 2, "path": 9}, 4
WORDS = {"registers": "state", "rules": "rules", "operations": "path"}


@cache
def answers_to(kind, size):
    """Right answers by prompt."""
    probes = [draw_probe(kind, size, number, 7) for number in range(REPEATS)]
    return {probe.prompt: probe.answer for probe in probes}


def answer_probe(messages, tools, tool_choice, config):
    """Answer rightly up to the capacity; the reasoning says another answer, and sometimes there is nothing else."""
    size, word = re.search(r"(\d+) (registers|rules|operations)", messages[0].text).groups()
    kind, size = WORDS[word], int(size)
    right = answers_to(kind, size)[messages[0].text]
    trace = "Answer: " + ", ".join(str(number + (size <= CAPACITY[kind])) for number in right)
    said = "Answer: " + ", ".join(map(str, right)) if size <= CAPACITY[kind] else ""
    output = ModelOutput.from_content("mock", "")
    output.choices[0].message.content = [ContentReasoning(reasoning=trace), ContentText(text=said)]
    output.usage = ModelUsage(input_tokens=50, output_tokens=90, total_tokens=140)
    return output


def test_the_search_finds_what_a_model_holds_and_the_command_reads_its_log(tmp_path):
    """Capacities are exact, reasoning is not judged, metrics are those of the log read again."""
    log = run(tmp_path, scap, outputs=answer_probe, repeats=REPEATS, seed=7)
    assert log.status == "success", log.error
    counts = read_counts(log.location)
    found = estimate_capacity(counts).set_index("probe")
    assert found["n_max"].dropna().to_dict() == CAPACITY
    assert set(next_sizes(counts).values()) == {None}
    assert counts["asked"].sum() == len(log.samples) == len({sample.id for sample in log.samples})
    assert metrics(log)["state_n_max"] == 6
    assert metrics(log)["critical_load"] == pytest.approx(found.loc["critical", "load"])
    code, told = command("scap", log.location, "--out", tmp_path / "next.jsonl")
    assert (code, told.splitlines()[-1]) == (0, "Nothing is left to ask")


def test_a_model_that_fails_ends_the_search(tmp_path):
    """Requests that all fail are not sent again and again."""

    def fail(messages, tools, tool_choice, config):
        raise RuntimeError("no such model")

    log = run(tmp_path, scap, outputs=fail, repeats=2)
    assert len(log.samples) == 6


def test_a_log_of_another_task_is_refused(tmp_path):
    """Puzzles are no probes: a sentence."""
    log = run(tmp_path, grid="N=20,ratio=50,d=1", per_cell=1)
    code, told = command("scap", log.location)
    assert (code, "a log of another task than cogniload_repro/scap" in told) == (2, True)
