"""Data for scripts: what stands in them as JSON, counts to fit, puzzles and judged answers."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.book import page_data
from cogniload_repro.grid import MINI_GRID, PAPER_GRID
from cogniload_repro.models import NAMES
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.rows import puzzle_row
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.scoring.outcome import BUCKETS
from cogniload_repro.scoring.response import score_response
from cogniload_repro.storage import PUZZLES, write_table

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(_VALUES)
def test_a_script_leaves_the_very_value(value):
    """What follows the name is the value as JSON on one line of letters that any encoding has."""
    text = page_data.write_script("name", value)
    assert text.isascii()
    *_, last = text.rstrip(";\n").splitlines()
    assert json.loads(last.removeprefix("cogniload.data.name = ")) == value


@pytest.fixture
def own_build(tmp_path):
    """A build in which one of the paper's models was scored, and a model of somebody else."""
    cells = load_cells(models=["QwQ-32B", "o3-2025-04-16"]).drop(columns="log10_N")
    cells = cells.replace({"model": {"o3-2025-04-16": "server/</b>/mine"}})
    write_table(tmp_path / "cells.parquet", cells.assign(provenance="scored"))
    return tmp_path


def test_scored_models_stand_beside_the_papers(own_build):
    """Scored answers take the place of a model's committed counts; all other models keep theirs."""
    cells = page_data.cells_to_show(own_build)
    provenance = cells.groupby("model")["provenance"].unique().str.join("")
    assert set(provenance.index) == {*NAMES, "server/</b>/mine"}
    scored = provenance[provenance == "scored"]
    assert set(scored.index) == {"QwQ-32B", "server/</b>/mine"}


def test_counts_of_reconstructed_models_are_ranges(own_build):
    """Least and most differ for some reconstructed models only.

    Overflows of none are known by cell.
    """
    counts = page_data.count_rows(page_data.cells_to_show(own_build))
    assert len(counts.drop_duplicates(["N", "d", "ratio_pct"])) == len(PAPER_GRID)
    ranged = set(counts.loc[counts["least"] < counts["most"], "model"])
    assert "Qwen3-32B" in ranged
    assert not ranged & {"QwQ-32B", "server/</b>/mine"}
    assert counts["overflows"].isna().all()


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A build of imported outputs with three puzzles a cell, one of a text that nobody can read."""
    folder = tmp_path_factory.mktemp("build")
    drawn = [
        draw_puzzle(c.N, c.d, c.needles, 100_000 + number)
        for c in MINI_GRID
        for number in range(3)
    ]
    rows = [puzzle_row(puzzle) for puzzle in drawn]
    rows[0]["text"] = "no puzzle"
    write_table(folder / "puzzles.parquet", pa.Table.from_pylist(rows, schema=PUZZLES))
    cells = load_cells(models=["QwQ-32B"]).drop(columns="log10_N")
    write_table(folder / "cells.parquet", cells.assign(provenance="scored"))
    return folder


def test_a_few_puzzles_of_each_cell(build):
    """Two of each cell as far as they can be read."""
    assert len(page_data.explorer_data(build)["puzzles"]) == 2 * len(MINI_GRID) - 1


@pytest.mark.parametrize("d", [1, 3, 10])
def test_a_puzzle_in_numbers_replays_to_its_solution(d):
    """Replayed as the page does, every statement and the end are as in the package."""
    puzzle = draw_puzzle(50, d, 25, 123_456)
    numbers = page_data.describe_puzzle(puzzle)
    rows = [list(row) for row in numbers["start"]]
    needles = 0
    for move in numbers["moves"]:
        conditions, updates = map(dict, move)
        persons = [
            row for row in rows if conditions.items() <= dict(enumerate(row)).items()
        ]
        needles += any(row is rows[numbers["poi"]] for row in persons)
        for row in persons:
            for category, value in updates.items():
                row[category] = value
    place = list(numbers["domains"]).index(numbers["category"])
    value = rows[numbers["poi"]][place]
    assert numbers["domains"][numbers["category"]][value] == puzzle.solution
    assert needles == puzzle.needles


def test_prepared_answers_are_judged_by_the_scorer():
    """Each has the scorer's bucket, deciding window and values.

    Together they show five of the eight buckets.
    """
    puzzle = draw_puzzle(20, 5, 10, 654_321)
    question = {"poi": puzzle.poi, "gold": puzzle.solution, "category": puzzle.category}
    question["domain"] = puzzle.domains[puzzle.category]
    buckets = {}
    for text, more in page_data.prepare_answers(puzzle, question):
        judged = page_data.judge_answer(text, question, **more)
        tokens = {name: value for name, value in more.items() if name != "title"}
        assert judged["bucket"] == score_response(text, **question, **tokens)
        for window, values in judged["windows"]:
            assert all(value in window for value in values)
        buckets[judged["title"]] = judged["bucket"]
    assert (
        buckets["correct"]
        == buckets["unsure after correct reasoning"]
        == buckets["bold"]
        == "correct_valid"
    )
    assert buckets["wrong"] == "wrong_logic"
    assert len(set(buckets.values()) & set(BUCKETS)) >= 5
