"""What a source holds, counted before a long run."""

import numpy as np
from harness import check_source, run, write_lines

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.importing.check import find_difference, summarise_responses
from cogniload_repro.puzzles.rows import KnownPuzzles
from cogniload_repro.scoring.reasoning import STOPS

COVERAGE = ["responses", "cells", "tokens"]


def puzzles_table(cells, per_cell):
    """Puzzles with empty texts, some in each cell, by name."""
    puzzles = KnownPuzzles()
    for cell in cells:
        for number in range(per_cell):
            name = f"{cell.N}_{cell.d}_{cell.needles}_{100_000 + number}_red"
            loads = {"N": cell.N, "d": cell.d, "ratio_pct": cell.ratio_pct}
            puzzles.add({"name": name, "text": "", **loads})
    return puzzles


def row_of(model, name, tokens):
    """An empty answer that the model ended."""
    row = {"model": model, "name": name, "response": "", "finish_reason": "stop"}
    return row | {"prompt_tokens": tokens, "response_tokens": tokens}


def test_cells_and_answers_in_them_are_counted(tmp_path):
    """The paper's models stand first; a second answer is a rejected row."""
    puzzles = puzzles_table(PAPER_GRID[:3], 4)
    names = list(puzzles.added)
    rows = [row_of("mine", name, 5) for name in [*names[0:3], *names[4:6]]]
    rows += [row_of("mine", names[0], None), row_of("o3-2025-04-16", names[0], None)]
    report = check_source(write_lines(tmp_path / "o.jsonl", rows), puzzles)
    summary = summarise_responses(report)
    assert summary.index.tolist() == ["o3-2025-04-16", "mine"]
    assert summary[COVERAGE].to_numpy().tolist() == [[1, 1, 0], [5, 2, 5]]
    assert [row.reason for row in report.rejected] == ["duplicate"]


def test_why_models_stopped_is_counted(tmp_path):
    """Also where the word is missing or not known."""
    puzzles = puzzles_table(PAPER_GRID[:1], 5)
    answers = [
        ("stop", "<think>red</think>red"),
        ("length", "<think>red"),
        ("model_length", "red"),
        ("shrug", "red"),
        (None, "red"),
    ]
    rows = []
    for name, (word, response) in zip(puzzles.added, answers, strict=True):
        rows.append(
            {"model": "m", "name": name, "response": response, "done_reason": word}
        )
    report = check_source(write_lines(tmp_path / "o.jsonl", rows), puzzles)
    summary = summarise_responses(report)
    assert summary.loc["m", list(STOPS)].tolist() == [1, 1, 1, 0, 0, 2]


def test_check_imports_into_a_folder_that_is_thrown_away(tmp_path):
    """It prints the table, its legend and the report, and leaves the build alone."""
    name = "20_1_1_770487_red"
    path = write_lines(tmp_path / "o.jsonl", [row_of("mine", name, 5)])
    done = run("check", path, "--build", tmp_path / "build")
    assert done.exit_code == 0
    assert "80% power" in done.output
    assert "responses: 1, models: 1, rejected rows: 0" in done.output
    assert not (tmp_path / "build").exists()


def test_a_difference_of_the_stated_size_is_found_with_the_stated_power():
    """Simulated: two models, one twice as far from the other as the paper's; unpaired."""
    rng = np.random.default_rng(1)
    answers = np.array([1_400, 14_000])
    difference = find_difference(*answers)
    assert 3.9 < difference < 4.0
    share = 0.5 + np.array([[0.5], [-0.5]]) * difference / 100
    first, second = (
        rng.binomial(answers[:, None], share, (2, 40_000)) / answers[:, None]
    )
    error = np.sqrt(0.25 / answers[0] + 0.25 / answers[1])
    found = np.mean(abs(first - second) / error > 1.96)
    assert abs(found - 0.8) < 0.01


def test_check_says_what_the_number_of_puzzles_can_find(tmp_path):
    """From a model of the paper, and from another own model."""
    puzzles = puzzles_table(PAPER_GRID, 10)
    rows = [row_of("mine", name, None) for name in puzzles.added]
    report = check_source(write_lines(tmp_path / "o.jsonl", rows), puzzles)
    differences = summarise_responses(report).loc["mine", ["paper", "own"]]
    assert differences.round(1).tolist() == [3.9, 5.3]
    text = report.summary()
    assert "1,400 responses lack a number of tokens" in text
    assert "cannot be tested" in text
