"""Puzzles and judged answers for the page that steps through them."""

import json
import re

import pandas as pd
import pytest

from cogniload_repro.grid import MINI_GRID
from cogniload_repro.presentation.page_data import (
    describe_puzzle,
    explorer_data,
    judge_answer,
    prepare_answers,
    write_json,
)
from cogniload_repro.puzzles.catalog import puzzle_row
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.schemas import PUZZLES
from cogniload_repro.scoring.verdict import BUCKETS, score_response
from cogniload_repro.statistics.cell_tables import load_cells
from cogniload_repro.storage import write_table

_HOSTILE = "</script><img src=x onerror=alert(1)>\u2028"


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A build of imported outputs with three puzzles a cell, one of a text that nobody can read."""
    import pyarrow as pa

    folder = tmp_path_factory.mktemp("build")
    drawn = [draw_puzzle(c.N, c.d, c.needles, 100_000 + one) for c in MINI_GRID for one in range(3)]
    rows = [puzzle_row(puzzle) for puzzle in drawn]
    rows[0]["text"] = "no puzzle"
    write_table(folder / "puzzles.parquet", pa.Table.from_pylist(rows, schema=PUZZLES), {"provenance": "imported"})
    outputs = pd.DataFrame(
        {"model": _HOSTILE, "name": row["name"], "response": f"{row['poi']}: {row['gold']}. {_HOSTILE}"} for row in rows
    )
    write_table(folder / "outputs" / "own.parquet", outputs, {"provenance": "imported"})
    cells = load_cells(models=["QwQ-32B"]).drop(columns="log10_N")
    write_table(folder / "cells.parquet", cells, {"provenance": "imported"})
    return folder


def test_a_few_puzzles_of_each_cell_with_answers_and_responses(build):
    """Two of each cell as far as they can be read, each with its responses; the page's data hold no markup."""
    data = explorer_data(build)
    assert len(data["puzzles"]) == 2 * len(MINI_GRID) - 1
    assert all(len(puzzle["responses"]) == 1 for puzzle in data["puzzles"])
    text = write_json(data)
    assert "<" not in text
    assert json.loads(text)["puzzles"][0]["responses"][0]["text"].endswith(_HOSTILE)


def test_a_puzzle_in_numbers_replays_to_its_solution():
    """Replayed from the letters alone, as the page does, every statement and the end are as in the package."""
    for d in (1, 3, 10):
        puzzle = draw_puzzle(50, d, 25, 123_456)
        told = describe_puzzle(puzzle)
        rows, needles = [list(row) for row in told["start"]], 0
        for move in told["moves"]:
            conditions, updates = ([(int(a, 36), int(b, 36)) for a, b in re.findall("(.)(.)", side)]
                                   for side in move.split("|"))  # fmt: skip
            met = [all(row[category] == value for category, value in conditions) for row in rows]
            needles += met[told["poi"]]
            for row in (row for row, meets in zip(rows, met, strict=True) if meets):
                for category, value in updates:
                    row[category] = value
        names = list(told["domains"])
        end = told["domains"][told["category"]][rows[told["poi"]][names.index(told["category"])]]
        assert (end, needles) == (puzzle.solution, puzzle.needles)


def test_prepared_answers_are_judged_by_the_scorer():
    """Each has the scorer's bucket, deciding window and values; together they show five of the eight buckets."""
    puzzle = draw_puzzle(20, 5, 10, 654_321)
    asked = {"poi": puzzle.poi, "gold": puzzle.solution, "category": puzzle.category}
    asked["domain"] = puzzle.domains[puzzle.category]
    found = {}
    for text, more in prepare_answers(puzzle, asked):
        judged = judge_answer(text, asked, **more)
        tokens = {name: value for name, value in more.items() if name != "title"}
        assert judged["bucket"] == score_response(text, **asked, **tokens)
        for place, values in judged["windows"]:
            window = place if isinstance(place, str) else judged["text"].lower()[slice(*place)]
            assert all(value in window for value in values)
        found[judged["title"]] = judged["bucket"]
    assert found["correct"] == found["unsure after correct reasoning"] == found["bold"] == "correct_valid"
    assert found["wrong"] == "wrong_logic"
    assert len(set(found.values()) & set(BUCKETS)) >= 5
