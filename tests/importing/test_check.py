"""What a source holds, counted before a long run."""

import re

from harness import write_lines

from cogniload_repro.endings import STOPS
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.outputs.check import check_outputs, format_check

COVERAGE = ["responses", "cells", "per cell", "missing", "tokens", "empty", "open"]


def puzzles_table(cells, per_cell):
    """Puzzles without text, some in each cell, by name."""
    puzzles = {}
    for cell in cells:
        for number in range(per_cell):
            name = f"{cell.N}_{cell.d}_{cell.needles}_{100_000 + number}_red"
            place = {"N": cell.N, "d": cell.d, "ratio_pct": cell.ratio_pct}
            puzzles[name] = {"name": name, **place}
    return puzzles


def check(folder, answers, puzzles):
    """Check a file with these (model, name, tokens) answers."""
    rows = [
        {
            "model": model,
            "name": name,
            "response": "",
            "finish_reason": "stop",
            "prompt_tokens": tokens,
            "response_tokens": tokens,
        }
        for model, name, tokens in answers
    ]
    source = write_lines(folder / "o.jsonl", rows)
    return check_outputs(source, puzzles, folder)


def test_cells_and_missing_puzzles_are_counted(tmp_path):
    """A model is measured against its fullest cell; a second answer is a rejected row."""
    names = list(puzzles_table(PAPER_GRID[:3], 4))
    answers = [("mine", name, 5) for name in [*names[0:3], *names[4:6]]]
    answers += [("mine", names[0], None), ("o3-2025-04-16", names[0], None)]
    frame, report = check(tmp_path, answers, puzzles_table(PAPER_GRID[:3], 4))
    assert frame.index.tolist() == ["o3-2025-04-16", "mine"]
    assert frame[COVERAGE].to_numpy().tolist() == [
        [1, 1, "1-1", 0, 0, 1, 0],
        [5, 2, "2-3", 1, 5, 5, 0],
    ]
    assert [row.reason for row in report.rejected] == ["duplicate"]


def test_truncated_answers_are_counted(tmp_path):
    """Why models stopped, reasoning without an end, and limits below the paper's."""
    names = list(puzzles_table(PAPER_GRID[:1], 7))
    answers = [
        {
            "finish_reason": "stop",
            "response": "<think>red</think>red",
            "prompt_tokens": 500,
            "response_tokens": 9,
        },
        {
            "finish_reason": "length",
            "response": "<think>red",
            "prompt_tokens": 500,
            "response_tokens": 16_000,
        },
        {
            "finish_reason": "length",
            "response": "red",
            "prompt_tokens": 500,
            "response_tokens": 32_248,
        },
        {
            "finish_reason": "model_length",
            "response": "red",
            "prompt_tokens": 500,
            "response_tokens": 32_247,
        },
        {"finish_reason": "length", "response": "red"},
        {"finish_reason": "shrug", "response": "red"},
        {"response": "red", "max_tokens": 16_000},
    ]
    rows = [
        {"model": "mine", "name": name, **answer}
        for name, answer in zip(names, answers, strict=True)
    ]
    source = write_lines(tmp_path / "o.jsonl", [*rows, rows[0]])
    puzzles = puzzles_table(PAPER_GRID[:1], 7)
    frame, report = check_outputs(source, puzzles, tmp_path)
    row = frame.loc["mine"]
    assert [row[kind] for kind in STOPS] == [1, 3, 1, 0, 0, 2]
    assert row[["open", "missing"]].tolist() == [1, 0]
    text = format_check(frame, report)
    assert re.search(
        r"model +responses +cells +per cell +missing +tokens +empty\n +mine +7 +1 +7-7 +0 +4 +0\n",
        text,
    )
    assert "1 duplicate, first in 'o.jsonl', row 8" in text


def test_what_the_cells_can_feed_is_said_before_the_build(tmp_path):
    """Ranks need cells of the paper, regressions enough levels.

    The last clause needs two answers per cell.
    """
    cells = [
        cell for cell in PAPER_GRID if cell.ratio_pct in (5, 50) and cell.d in (1, 5)
    ]
    few = puzzles_table(cells, 2)
    whole = puzzles_table(PAPER_GRID, 1)
    why = "rho takes 2 values, the formula needs 3"
    for puzzles, uses in (
        (few, ["16 of 140 cells", "yes", why, why]),
        (whole, ["140 of 140 cells", "needs 2 per cell", "yes", "yes"]),
    ):
        answers = [("x/y", name, 5) for name in puzzles]
        frame, report = check(tmp_path, answers, puzzles)
        columns = ["rank", "clause", "regression", "interactions"]
        assert frame.loc["x/y", columns].tolist() == uses
        assert re.search(f"\n +y +{' +'.join(uses)}\n", format_check(frame, report))
