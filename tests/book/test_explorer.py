"""The data of the explorer: puzzles in numbers, and counts of models."""

import pyarrow as pa
import pytest

from cogniload_repro.book import assembly, compare_rows, explorer
from cogniload_repro.book.page_data import cells_to_show
from cogniload_repro.grid import MINI_GRID, PAPER_GRID
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.rows import puzzle_row
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.storage import PUZZLES, write_table


def test_counts_of_reconstructed_models_are_ranges(tmp_path):
    """Low and high differ for some reconstructed models only.

    Overflows of none are known by cell.
    """
    cells = load_cells(models=["QwQ-32B"]).drop(columns="log10_N")
    scored = cells.assign(provenance="scored", ctx=None)  # no token counts
    write_table(tmp_path / "cells.parquet", scored)
    counts = explorer.count_rows(cells_to_show(tmp_path))
    assert len(counts.drop_duplicates(["N", "d", "ratio_pct"])) == len(PAPER_GRID)
    ranged = set(counts.loc[counts["low"] < counts["high"], "model"])
    assert "Qwen3-32B" in ranged
    assert "QwQ-32B" not in ranged
    assert counts["overflows"].isna().all()


def test_a_cell_without_answers_has_no_count(tmp_path):
    """Nothing was asked there, so there is no accuracy to show."""
    cells = load_cells(models=["QwQ-32B"]).drop(columns="log10_N")
    cells.loc[3, ["total", "correct"]] = 0
    write_table(tmp_path / "cells.parquet", cells.assign(provenance="scored"))
    counts = explorer.count_rows(cells_to_show(tmp_path))
    own = counts[counts["model"] == "QwQ-32B"]
    assert len(own) == len(PAPER_GRID) - 1
    assert own["answers"].min() > 0


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
    """All of each cell, up to ten, as far as they can be read."""
    puzzles = explorer.read_puzzles(build)
    assert sum(map(len, puzzles.values())) == 3 * len(MINI_GRID) - 1
    configurations = explorer.explorer_data(build, puzzles)["configurations"]
    assert len(configurations["N"]) == len(puzzles) == len(MINI_GRID)


def test_scripts_of_other_puzzles_do_not_stay(build, monkeypatch):
    """The data of pages are those of the build's own configurations."""
    monkeypatch.setattr(compare_rows, "compare_data", lambda _: {})
    (build / "pages").mkdir()
    (build / "pages/puzzles999-data.js").write_text("old")
    assembly.write_data(build)
    scripts = {path.name for path in (build / "pages").glob("puzzles?*-data.js")}
    names = {f"puzzles{number}-data.js" for number in range(len(MINI_GRID))}
    assert scripts == names


@pytest.mark.parametrize("d", [1, 3, 10])
def test_a_puzzle_in_numbers_replays_to_its_solution(d):
    """Replayed as the page does, every statement and the end are as in the package."""
    puzzle = draw_puzzle(50, d, 25, 123_456)
    numbers = explorer.describe_puzzle(puzzle)
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
