"""Sets of puzzles on the command line."""

import pandas as pd
import pytest
from harness import ask, run

from cogniload_repro.paths import DATA
from cogniload_repro.puzzles import sets

CELL = ("--grid", "N=20 ratio=50 d=1", "--jobs", "1")


def test_without_options_the_papers_default_set_is_drawn(tmp_path):
    """A cell has the committed ids of the set with which the paper's numbers are compared."""
    done = run("puzzles", *CELL, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    drawn = pd.read_parquet(tmp_path / "puzzles.parquet")
    committed = pd.read_csv(DATA / "puzzle_ids.csv")
    of_cell = committed.query("N == 20 and ratio_pct == 50 and d == 1")
    ids = of_cell.iloc[0, -1].split()
    assert drawn["puzzle_id"].astype(str).tolist() == ids


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("--grid", "N=20,ratio=50"),
            "grid 'N=20,ratio=50' must have the axes N, ratio and d",
        ),
        (("--per-cell", "0"), "0 is not in the range"),
        (("--out", __file__), "is a file"),
        (("--perturb", "TYPO"), "unknown perturbation 'TYPO'"),
    ],
)
def test_bad_arguments_end_in_one_sentence(tmp_path, arguments, words):
    """The exit code is 2, the sentence names the value, and nothing is made."""
    done = run("puzzles", "--out", tmp_path / "set", *arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    message = done.stderr.splitlines()[-1]
    assert message.startswith("Error: ")
    assert words in message
    assert not (tmp_path / "set").exists()


def test_a_stop_by_hand_is_one_sentence(tmp_path, monkeypatch):
    """Ctrl-C ends in exit code 130."""

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(sets, "write_set", stop)
    code, output = ask("puzzles", *CELL, "--out", tmp_path)
    assert code == 130
    assert output.splitlines()[-1].startswith("Error: interrupted;")
