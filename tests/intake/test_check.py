"""What a source holds, told before a long run."""

import json

import pyarrow as pa
import pytest

from cogniload_repro.catalog import Catalog
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.intake.check import check_outputs
from cogniload_repro.schemas import PUZZLES


def puzzles_table(cells, per_cell):
    """Puzzles without text, some in each cell."""
    rows = [
        {
            "name": f"{cell.N}_{cell.d}_{cell.needles}_{100_000 + number}_red",
            "N": cell.N,
            "d": cell.d,
            "ratio_pct": cell.ratio_pct,
            "needles": cell.needles,
            "rho": cell.rho,
        }
        for cell in cells
        for number in range(per_cell)
    ]
    return pa.Table.from_pylist(rows, PUZZLES)


def check(folder, answers, puzzles):
    """Check a file with these (model, name, tokens) answers."""
    rows = [
        {"model": model, "name": name, "response": "", "prompt_tokens": tokens, "response_tokens": tokens}
        for model, name, tokens in answers
    ]
    (folder / "o.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return check_outputs(folder / "o.jsonl", Catalog(puzzles))


def test_cells_missing_puzzles_and_duplicates_are_counted(tmp_path):
    """A model is measured against its fullest cell; a second answer is a rejected row."""
    puzzles = puzzles_table(PAPER_GRID[:3], 4)
    names = puzzles.column("name").to_pylist()
    answers = [("mine", name, 5) for name in [*names[0:3], *names[4:6]]]
    answers += [("mine", names[0], None), ("o3-2025-04-16", names[0], None)]
    frame, report = check(tmp_path, answers, puzzles)
    assert frame.to_dict("records") == [
        {
            "model": "o3-2025-04-16",
            "responses": 1,
            "cells": 1,
            "missing": 0,
            "prompt_counts": 0,
            "response_counts": 0,
            "empty": 1,
            "tables": "4 5",
        },
        {
            "model": "mine",
            "responses": 5,
            "cells": 2,
            "missing": 1,
            "prompt_counts": 5,
            "response_counts": 5,
            "empty": 5,
            "tables": "4 5 7",
        },
    ]
    assert report.rejected == {"duplicate": 1}


@pytest.mark.parametrize(
    ("kept", "tables"),
    [
        (lambda cell: True, "2 3 4 5 6 7 8 9 10"),
        (lambda cell: cell.N in (20, 50), "2 3 4 5 6 7 8"),
        (lambda cell: cell.N == 20, "4 5 7"),
        (lambda cell: cell.ratio_pct == 50, "4 5 7 8 9 10"),
        (lambda cell: cell.d == 3 or (cell.N == 20 and cell.ratio_pct == 5), "2 4 5 6 7 8 9 10"),
    ],
)
def test_only_tables_that_the_cells_allow_are_promised(tmp_path, kept, tables):
    """A regression needs as many different cells, in the right places, as it has coefficients."""
    puzzles = puzzles_table([cell for cell in PAPER_GRID if kept(cell)], 1)
    answers = [("mine", name, 5) for name in puzzles.column("name").to_pylist()]
    frame, _ = check(tmp_path, answers, puzzles)
    assert frame["tables"].tolist() == [tables]


def test_a_source_of_rejected_rows_has_no_models(tmp_path):
    """The frame is empty, the report is not."""
    frame, report = check(tmp_path, [("mine", "hello", 5)], puzzles_table(PAPER_GRID[:1], 1))
    assert len(frame) == 0
    assert report.rejected == {"unknown puzzle": 1}
