"""`cogniload compare-models`."""

import numpy as np
import pytest
from harness import run, write_lines

from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.generate import draw_grid


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A build with real answers of two models to the same puzzles; the second is right where the first is, and more."""
    folder = tmp_path_factory.mktemp("compared")
    rng, rows = np.random.default_rng(3), []
    for puzzle in draw_grid(grid_cells("N=20,50 ratio=25,75 d=1,3"), 10, 5):
        luck = rng.random()
        for name, share in (("weak", 0.4), ("strong", 0.8)):
            answer = f"{puzzle.poi}: {puzzle.solution}." if luck < share else "I do not know."
            rows.append({"model": name, "name": puzzle.name, "response": answer})
    answers = write_lines(folder / "answers.jsonl", rows)
    for step in (["download-outputs", "--source", answers], ["score", "--jobs", "1"]):
        assert run(*step, "--build", folder / "build").exit_code == 0
    return folder / "build"


def test_models_with_answers_to_the_same_puzzles_are_paired(build):
    """Differences have the sign of first minus second; no puzzle is right for the weaker model alone."""
    done = run("compare-models", "strong", "weak", "--by", "cell", "--build", build)
    assert done.exit_code == 0, done.output
    assert "80 puzzles answered by both" in done.output
    assert " 0 second alone" in done.output
    assert "McNemar p =" in done.output
    overall = done.output.splitlines()[2]
    assert "+" in overall
    assert overall.endswith("different")


def test_reconstructed_answers_are_not_paired(tmp_path):
    """Without a build the committed counts are compared, under their label, and no answers are paired."""
    done = run("compare-models", "gpt-5", "O3", "--build", tmp_path / "none")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("gpt-5-2025-08-07 minus o3-2025-04-16")
    assert "Reconstructed from the paper's tables" in done.output
    assert "McNemar" not in done.output


def test_what_is_not_identified_has_a_range_and_no_verdict(tmp_path):
    """Rows by N have p and verdict; rows by rho and single cells have neither, and a note says why."""
    verdicts = ("different", "equivalent", "inconclusive")
    for by, identified in (("N", True), ("rho", False), ("cell", False)):
        done = run("compare-models", "QwQ-32B", "Qwen3-32B", "--by", by, "--build", tmp_path / "none")
        rows = done.output.split("\n\n")[1].splitlines()
        assert all(any(word in row for word in verdicts) == identified for row in rows[1:]), rows
        assert ("p (Holm)" in rows[0]) == identified
        assert ("median and range over the reconstructions" in done.output) != identified


def test_levels_with_many_overflows_are_marked(tmp_path):
    """At N = 250 gemini-2.5-pro has a star that is explained; two models without overflows have neither."""
    done = run("compare-models", "o3", "gemini-2.5-pro", "--by", "N", "--build", tmp_path / "none")
    assert "20.6%*" in done.output
    assert "ran out of context and count as wrong" in done.output
    assert "*" not in run("compare-models", "Qwen3-32B", "Qwen3-8B", "--build", tmp_path / "none").output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("strong", "other"), "no model other"),
        (("strnog", "weak"), "did you mean strong?"),
        (("weak", "weak"), "not two models"),
        (("strong", "weak", "--margin", "2"), "margin"),
    ],
)
def test_what_cannot_be_compared_is_a_sentence(build, arguments, words):
    """Unknown models, a model and itself, a margin beyond any difference."""
    done = run("compare-models", *arguments, "--build", build)
    assert done.exit_code == 2
    assert words in done.output
