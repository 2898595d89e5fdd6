"""The probes of critical load in Inspect itself, asked of its mock model; skipped where Inspect is not installed."""

import re
from functools import cache

import pytest
from click.testing import CliRunner

pytest.importorskip("inspect_ai", reason="Inspect is not installed; `make test-evaluate` has it")

from inspect_ai import eval as evaluate
from inspect_ai.model import ContentReasoning, ContentText, ModelOutput, ModelUsage, get_model

from cogniload_repro.cli import main
from cogniload_repro.companions.probes import draw_probe
from cogniload_repro.companions.scap import estimate_capacity, next_sizes, read_counts
from cogniload_repro.evaluation.probing import scap
from cogniload_repro.evaluation.tasks import cogniload

#: What the made-up model holds, and how many probes a size it is asked.
CAPACITY, REPEATS = {"state": 6, "rules": 2, "path": 9}, 4
WORDS = {"registers": "state", "rules": "rules", "operations": "path"}


@cache
def answers_to(kind, size):
    """Right answers by prompt."""
    probes = [draw_probe(kind, size, number, 7) for number in range(REPEATS)]
    return {probe.prompt: probe.answer for probe in probes}


def answer(messages, tools, tool_choice, config):
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


def run(task, folder, outputs=answer):
    """Evaluate the mock model, and return the log."""
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    return evaluate(task, model=model, log_dir=str(folder), display="none", fail_on_error=False)[0]


def test_the_search_finds_what_a_model_holds_and_the_command_reads_its_log(tmp_path):
    """Capacities are exact, reasoning is not judged, metrics are those of the log read again."""
    log = run(scap(repeats=REPEATS, seed=7), tmp_path)
    assert log.status == "success", log.error
    counts = read_counts(log.location)
    found = estimate_capacity(counts).set_index("probe")
    assert found["n_max"].dropna().to_dict() == CAPACITY
    assert set(next_sizes(counts).values()) == {None}
    assert counts["asked"].sum() == len(log.samples) == len({sample.id for sample in log.samples})
    metrics = {name: one.value for score in log.results.scores for name, one in score.metrics.items()}
    assert metrics["state_n_max"] == 6
    assert metrics["critical_load"] == pytest.approx(found.loc["critical", "load"])
    told = CliRunner().invoke(main, ["scap", log.location, "--out", str(tmp_path / "next.jsonl")])
    assert (told.exit_code, told.output.splitlines()[-1]) == (0, "Nothing is left to ask")


def test_a_model_that_fails_ends_the_search(tmp_path):
    """Requests that all fail are not sent again and again."""

    def fail(messages, tools, tool_choice, config):
        raise RuntimeError("no such model")

    log = run(scap(repeats=2), tmp_path, fail)
    assert len(log.samples) == 6


def test_a_log_of_another_task_is_refused(tmp_path):
    """Puzzles are no probes: a sentence."""

    def know_nothing(messages, tools, tool_choice, config):
        output = ModelOutput.from_content("mock", "I do not know.")
        output.usage = ModelUsage(input_tokens=50, output_tokens=90, total_tokens=140)
        return output

    log = run(cogniload(grid="N=20,ratio=50,d=1", per_cell=1), tmp_path, know_nothing)
    told = CliRunner().invoke(main, ["scap", log.location])
    assert told.exit_code == 2
    assert "a log of another task than cogniload_repro/scap" in told.output
