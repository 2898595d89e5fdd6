"""What a source holds, told before a long run."""

import json
import re

import pyarrow as pa
import pytest
from click.testing import CliRunner

from cogniload_repro.cli import main
from cogniload_repro.grid import PAPER_GRID, Cell
from cogniload_repro.outputs.check import check_outputs, describe_check, print_check
from cogniload_repro.puzzles.catalog import Catalog
from cogniload_repro.schemas import PUZZLES

OTHER_COLUMNS = ["tables", "obstacles", "stopped", "budget"]  # those that hold no counts


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
    counts = frame.set_index("model").drop(columns=OTHER_COLUMNS).astype("Int64")
    assert counts.loc["o3-2025-04-16"].to_dict() == {
        "unclosed_trace": 0, "duplicates": 0,
        "responses": 1, "cells": 1, "outside": 0, "fewest": 1, "most": 1, "missing": 0, "complete": 0,
        "prompt_counts": 0, "response_counts": 0, "empty": 1,
    }  # fmt: skip
    assert counts.loc["mine"].drop("complete").to_dict() == {
        "unclosed_trace": 0, "duplicates": 1,
        "responses": 5, "cells": 2, "outside": 0, "fewest": 2, "most": 3, "missing": 1,
        "prompt_counts": 5, "response_counts": 5, "empty": 5,
    }  # fmt: skip
    assert counts["complete"].isna().tolist() == [False, True]
    assert frame["tables"].tolist() == [[4, 5], [4, 5, 7]]
    assert report.rejected == {"duplicate": 1}


@pytest.mark.parametrize(
    ("kept", "tables", "lacking"),
    [
        (lambda cell: True, "2-10", ""),
        (lambda cell: cell.N in (20, 50), "2-8", "no Table 9-10 without answers at N = 100, 250: mine"),
        (lambda cell: cell.N == 20, "4-5, 7", "no Table 2-3, 6 without a second N: mine"),
        (lambda cell: cell.ratio_pct == 50, "4-5, 7-10", "no Table 2-3, 6 without three ratios: mine"),
        (
            lambda cell: cell.d == 3 or (cell.N == 20 and cell.ratio_pct == 5),
            "2, 4-10",
            "no Table 3 without cells in more places of the grid: mine",
        ),
    ],
)
def test_only_tables_that_the_cells_allow_are_promised(tmp_path, kept, tables, lacking):
    """A regression needs as many different cells, in the right places, as it has coefficients."""
    puzzles = puzzles_table([cell for cell in PAPER_GRID if kept(cell)], 1)
    answers = [("mine", name, 5) for name in puzzles.column("name").to_pylist()]
    shown = print_check(*check(tmp_path, answers, puzzles))
    assert re.search(r"all\s+\d+\s+(.*)$", shown.splitlines()[1])[1] == tables  # after tokens and empty
    assert lacking in shown
    assert ("no Table" in shown) == bool(lacking)


def test_without_known_puzzles_the_fullest_cell_is_the_measure(tmp_path):
    """A source that is checked alone tells which of its cells have fewer answers than others."""
    names = ["20_1_10_100000_white", "20_1_10_100001_orange", "20_1_1_770487_red"]
    frame, _ = check(tmp_path, [("mine", name, 5) for name in names], None)
    assert frame[["fewest", "most", "missing"]].to_numpy().tolist() == [[1, 2, 1]]


def test_the_papers_gaps_count_as_complete(tmp_path):
    """Cells whose puzzle is missing in the paper too are held against it; cells with too many are not."""
    puzzles = puzzles_table(PAPER_GRID, 11)
    names = puzzles.column("name").to_pylist()
    kept = [name for name in names if not name.split("_")[3].endswith("10")]  # ten a cell
    gap = next(name for name in kept if name.startswith("250_1_"))
    frame, _ = check(tmp_path, [("o3-2025-04-16", name, 5) for name in kept if name != gap], puzzles)
    assert frame.loc[0, ["complete", "missing"]].tolist() == [140, 1]
    other = next(name for name in kept if name.startswith("20_"))
    frame, _ = check(tmp_path, [("o3-2025-04-16", name, 5) for name in kept if name != other], puzzles)
    assert frame.loc[0, "complete"] == 139
    frame, _ = check(tmp_path, [("o3-2025-04-16", name, 5) for name in names], puzzles)
    assert frame.loc[0, "complete"] == 0


def test_what_is_printed_can_be_read(tmp_path):
    """Names are one line each, models that lack the same thing share a line, rejected rows come last."""
    puzzles = puzzles_table([*PAPER_GRID[:2], Cell(30, 50, 1)], 3)
    names = puzzles.column("name").to_pylist()
    answers = [(model, name, None) for model in ("a", "b", "c", "d") for name in names]
    shown = print_check(*check(tmp_path, [*answers, ("a", names[0], 1)], puzzles)).splitlines()
    heads = ["model", "responses", "cells", "a cell", "missing", "complete", "tokens", "empty", "tables"]
    assert re.fullmatch(r"\s+".join(heads), shown[0].strip())
    cells = ["a", "9", r"2 \+ 1 others", "3", "0", "not in the paper", "none", "9", "4-5"]
    assert re.fullmatch(r"\s+".join(cells), shown[1].strip())
    assert "no Table 7 without token counts: a, b, c and 1 more" in shown
    assert shown[-1].startswith("  1 duplicate, first in 'o.jsonl', row 37")


def test_a_source_of_rejected_rows_has_no_models(tmp_path):
    """The frame is empty, the report is not."""
    frame, report = check(tmp_path, [("mine", "hello", 5)], puzzles_table(PAPER_GRID[:1], 1))
    assert len(frame) == 0
    assert report.rejected == {"unknown puzzle": 1}


def test_answers_that_were_cut_off_are_counted(tmp_path):
    """Why models stopped, reasoning without an end, and limits below the paper's; programs get the same numbers."""
    names = puzzles_table(PAPER_GRID[:1], 7).column("name").to_pylist()
    answers = [
        {"finish_reason": "stop", "response": "<think>red</think>red", "prompt_tokens": 500, "response_tokens": 9},
        {"finish_reason": "length", "response": "<think>red", "prompt_tokens": 500, "response_tokens": 16_000},
        {"finish_reason": "length", "response": "red", "prompt_tokens": 500, "response_tokens": 32_248},
        {"finish_reason": "model_length", "response": "red", "prompt_tokens": 500, "response_tokens": 32_247},
        {"finish_reason": "length", "response": "red"},
        {"finish_reason": "shrug", "response": "red"},
        {"response": "red", "max_tokens": 16_000},
    ]
    rows = [{"model": "mine", "name": name, **answer} for name, answer in zip(names, answers, strict=True)]
    (tmp_path / "o.jsonl").write_text("\n".join(map(json.dumps, [*rows, rows[0]])))
    frame, report = check_outputs(tmp_path / "o.jsonl", Catalog(puzzles_table(PAPER_GRID[:1], 7)))
    assert describe_check(frame) == {
        "mine": {
            "stopped": {"stop": 1, "length": 3, "context": 1, "refusal": 0, "error": 0, "unknown": 2},
            "unclosed_trace": 1,
            "missing": 0,
            "duplicates": 1,
            "budget": {"max_tokens": [16_000, 16_000], "paper": 32_768, "cut_early": 2},
        }
    }
    shown = print_check(frame, report)
    assert re.search(r"model +stop +length +context +refusal +error +unknown +open +early +limit", shown)
    assert re.search(r"mine +1 +3 +1 +0 +0 +2 +1 +2 +16,000", shown)


def test_the_command_tells_programs_on_its_output_and_people_on_the_other(tmp_path):
    """Standard output is JSON and nothing else."""
    (tmp_path / "o.jsonl").write_text(json.dumps({"model": "mine", "name": "20_1_1_770487_red", "response": "red"}))
    told = CliRunner().invoke(main, ["check", str(tmp_path / "o.jsonl"), "--json", "--build", str(tmp_path)])
    assert (told.exit_code, "1 response of 1 model" in told.stderr) == (0, True)
    assert json.loads(told.stdout)["mine"]["stopped"]["unknown"] == 1
