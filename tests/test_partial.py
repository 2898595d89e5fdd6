"""The whole chain on parts of the grid: what is missing is said, and no number stands for something else."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
from click.testing import CliRunner

from cogniload_repro.cli import main
from cogniload_repro.fidelity.results import load_results
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.presentation import tables
from cogniload_repro.published import load_table
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.statistics.cell_tables import source_note
from cogniload_repro.statistics.fits import capacity_points, fit
from cogniload_repro.storage import read_metadata

O3 = "o3-2025-04-16"
#: Capacity points and coefficients: numbers that exist only with a fit.
FITTED = ("beta_", "se_", "p_", "ecl50", "nt50", "id50", "aic", "loglik")


def answers(model, cells, puzzles, *, right=0.5, tokens=True):
    """Responses of one model to so many new puzzles of each cell, a share of them right; by chance, but always so."""
    rng = np.random.default_rng(1)
    for cell in cells:
        for puzzle_id in range(100_000, 100_000 + (puzzles(cell) if callable(puzzles) else puzzles)):
            puzzle = draw_puzzle(cell.N, cell.d, cell.needles, puzzle_id)
            text = f"The final value is {puzzle.solution}" if rng.random() < right else "I do not know."
            counts = {"prompt_tokens": 900, "response_tokens": 4000} if tokens else {}
            yield {"model": model, "name": puzzle.name, "response": text, **counts}


def cells_of(N, d, ratio_pct):
    """The paper's cells with these levels."""
    return [cell for cell in PAPER_GRID if cell.N in N and cell.d in d and cell.ratio_pct in ratio_pct]


def write(folder, rows):
    """Write a source."""
    (folder / "source.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "source.jsonl"


def run(*arguments):
    """Run a command; return what it says."""
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    return result.output


def rebuild(folder, rows):
    """Import, score and fit a source; return the results and the comparison with the paper."""
    source, build = write(folder, rows), folder / "build"
    run("download-outputs", "--source", source, "--build", build)
    run("score", "--build", build, "--jobs", 1)
    run("fit", "--build", build)
    return load_results(build), pd.read_parquet(build / "fidelity.parquet")


def has_numbers(frame):
    """Tell whether any fitted number is in a frame."""
    return frame.filter(regex="|".join(f"^{name}" for name in FITTED)).notna().any(axis=None)


def compared(checks, *names):
    """The printed numbers of these tables that were held against a recomputed one."""
    return checks[checks["table"].isin(names) & (checks["verdict"] != "not_computable")]


def test_one_own_model_on_two_cells(tmp_path):
    """Counts are shown, every fit says why there is none, and nothing is compared with the paper."""
    results, checks = rebuild(tmp_path, answers("me/mine", cells_of([20], [1, 3], [50]), 4, tokens=False))
    assert results.cells["total"].tolist() == [4, 4]
    for frame in (results.glm, results.aic, results.interactions):
        assert frame["status"].tolist() == ["not identified"]
        assert not has_numbers(frame.drop(columns="total", errors="ignore"))
    fits = fit(results.cells)
    shown = tables.table2(fits, capacity_points(fits, results.cells)).frame
    assert shown.iloc[0].tolist() == ["me/mine", "not identified", *[""] * 7]
    assert tables.table4(results.cells).frame["samples"].tolist() == ["4", "4"]
    assert tables.token_table(results.tokens, 20).frame.iloc[0].tolist() == ["me/mine", "--", "--"]
    absent = tables.token_table(results.tokens, 250)
    assert (absent.frame.empty, absent.caption.endswith("There are no answers at this length.")) == (True, True)
    assert source_note(results.cells, results.provenance) == "Partial grid: 2 of the paper's 140 cells"
    assert compared(checks, *(f"table{number}" for number in range(2, 11))).empty


def test_a_model_of_the_paper_on_half_of_the_grid(tmp_path):
    """Its fits are its own, and no number over the whole grid is compared with the paper's."""
    rows = answers(O3, cells_of([20, 50], [1, 3, 5, 7, 10], [5, 10, 25, 50, 75, 90, 95]), 2)
    results, checks = rebuild(tmp_path, rows)
    assert results.glm["status"].tolist() == ["ok"]
    assert results.glm["total"].tolist() == [140]
    assert source_note(results.cells, results.provenance) == "Partial grid: 70 of the paper's 140 cells"
    assert compared(checks, "table2", "table3", "table4", "table6", "table9", "table10").empty
    assert set(compared(checks, "table5", "table7", "table8")["model"]) <= {O3}
    assert tables.table5(results.cells).frame["N"].tolist() == ["20", "50"]


def test_a_model_that_is_always_right_has_no_fit(tmp_path):
    """Perfect separation is a status, not coefficients in the hundreds."""
    cells = [cell for cell in PAPER_GRID if cell.N < 100 or cell.ratio_pct == 50]
    results, _ = rebuild(tmp_path, answers("perfect", cells, 1, right=2))
    assert results.glm["status"].tolist() == ["separation"]
    assert not has_numbers(results.glm)
    assert set(tables.table5(results.cells).frame["acc_pct"]) == {"100"}


def test_unequal_counts_are_weighed_as_they_are(tmp_path):
    """A cell counts with its own number of answers, not as one point among others."""
    cells = cells_of([20, 50], [1, 3, 5], [5, 50, 95])
    results, _ = rebuild(tmp_path, answers("mine", cells, lambda cell: 1 + cell.d))
    assert results.cells["total"].tolist() == [1 + d for d in results.cells["d"]]
    assert results.glm[["total", "status"]].values.tolist() == [[6 * (2 + 4 + 6), "ok"]]
    assert tables.table4(results.cells).frame["samples"].tolist() == ["12", "24", "36"]


def test_an_own_model_beside_the_papers(tmp_path):
    """All are there, the own one last, each partition with its own provenance and the tables with the weakest."""
    build = tmp_path / "build"
    run("download-outputs", "--build", build, "--grid", "N=20,50 ratio=50 d=1,3", "--jobs", 1)
    source = write(tmp_path, answers("me/mine", cells_of([20], [1, 3], [50]), 3))
    command = ["-m", "cogniload_repro", "download-outputs", "--source", source, "--build", build, "--add"]
    added = subprocess.run([sys.executable, *command], capture_output=True, text=True)
    assert added.returncode == 0, added.stderr
    assert "6 responses of 1 model, 0 rows rejected" in added.stdout.splitlines()
    run("score", "--build", build, "--jobs", 1)
    run("fit", "--build", build)
    results, checks = load_results(build), pd.read_parquet(build / "fidelity.parquet")
    assert list(results.glm["model"])[-2:] == ["o4-mini-2025-04-16", "me/mine"]
    assert len(results.glm) == len(load_table("table2")) + 1
    assert read_metadata(build / "outputs/me%2Fmine.parquet")["provenance"] == "imported"
    assert results.provenance == "reconstructed"
    note = source_note(results.cells, results.provenance)
    assert note.startswith("The paper's models: reconstructed from its tables")
    assert note.endswith("Partial grid: 2 to 4 of the paper's 140 cells")
    assert "me/mine" not in set(checks["model"])
    assert compared(checks, *(f"table{number}" for number in range(2, 7))).empty


def test_an_own_model_can_be_added_again(tmp_path):
    """Another content of the same file takes the place of the first, and leaves the others and the puzzles alone."""
    build, cells = tmp_path / "build", cells_of([20], [1], [50])
    other = write(tmp_path, answers("other", cells, 4)).rename(tmp_path / "other.jsonl")
    run("download-outputs", "--source", other, "--build", build)
    names = ("outputs/other.parquet", "puzzles.parquet")
    before = [(build / name).read_bytes() for name in names]
    for count in (4, 2):
        mine = write(tmp_path, answers("me/mine", cells, count))
        run("download-outputs", "--source", mine, "--build", build, "--add")
        assert len(pd.read_parquet(build / "outputs/me%2Fmine.parquet")) == count
        assert [(build / name).read_bytes() for name in names] == before
