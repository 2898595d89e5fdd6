"""Sources of outputs on the command line: exit codes, counts and names."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pytest
from harness import run as invoke
from harness import write_lines

from cogniload_repro.commands import outputs as commands
from cogniload_repro.grid import grid_cells
from cogniload_repro.models import NAMES
from cogniload_repro.puzzles.sets import PuzzleSet, draw_rows


def run(*arguments):
    """Run a command in this process.

    Return its exit code, what it prints, and what it says on standard error.
    """
    result = invoke(*arguments)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize(
    ("name", "code"), [("8_2_4_770487_red", 0), ("nothing of ours", 1)]
)
def test_check_tells_programs_whether_there_is_anything(tmp_path, name, code):
    """A source of which no row can be used ends with 1."""
    source = write_lines(
        tmp_path / "answers.jsonl", [{"model": "mine", "name": name, "response": "?"}]
    )
    assert run("check", source, "--build", tmp_path / "build")[0] == code


def test_rejected_rows_are_written_beside_a_build_and_their_path_is_printed(tmp_path):
    """As CSV for a reader, of a source that is refused and of one that is accepted."""
    rows = [
        {"model": "m", "name": name, "response": "x"}
        for name in ("8_2_4_770487_red", "none")
    ]
    source = write_lines(tmp_path / "answers.jsonl", rows)
    build = tmp_path / "build"
    command = (
        "download-outputs",
        "--source",
        source,
        "--build",
        build,
        "--max-rejected",
    )
    for allowed, code in ((0, 2), (1, 0)):
        exit_code, printed, _ = run(*command, allowed)
        assert exit_code == code
        assert f"Rejected rows: {build / 'rejected.csv'}" in printed
        assert "unknown puzzle" in (build / "rejected.csv").read_text()


ROW = {"name": "20_1_1_770487_red", "response": "x"}


@pytest.mark.parametrize(
    "name", ["Bob's answers.jsonl", "my answers.jsonl", "a#b.jsonl"]
)
def test_a_path_is_added_as_it_stands(tmp_path, monkeypatch, name):
    """With quotes and blanks in it."""
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / name, [ROW | {"model": "added"}])
    source = write_lines(tmp_path / "first.jsonl", [ROW | {"model": "first"}])
    monkeypatch.setenv("COGNILOAD_ADD", name)
    code, printed, _ = run(
        "download-outputs", "--source", source, "--build", tmp_path / "build"
    )
    assert (code, f"{name}: responses: 1, models: 1" in printed) == (0, True)


def test_a_build_is_given_by_a_relative_path(tmp_path, monkeypatch):
    """Temporary folders have an absolute path since Python 3.12, before that a relative one."""

    def absolute(prefix, dir):
        return TemporaryDirectory(prefix=prefix, dir=Path(dir).absolute())

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commands, "TemporaryDirectory", absolute)
    write_lines(tmp_path / "answers.jsonl", [ROW | {"model": "mine"}])
    code, printed, errors = run(
        "download-outputs", "--source", "answers.jsonl", "--build", "build"
    )
    assert code == 0, errors
    assert "responses: 1, models: 1" in printed


def test_model_names_the_one_source_of_the_reader(tmp_path):
    """An added one too, if it is the only one; rows without a model are refused otherwise."""
    added = write_lines(tmp_path / "added.jsonl", [ROW])
    source = write_lines(tmp_path / "first.jsonl", [ROW | {"model": "first"}])
    command = (
        "download-outputs",
        "--add",
        added,
        "--build",
        tmp_path / "build",
        "--source",
    )
    code, printed, _ = run(*command, source)
    assert (code, "model; if the source has one model" in printed) == (2, True)
    code, _, errors = run(*command, source, "--model", "mine")
    assert (code, "mine is in two sources" in errors) == (2, True)
    small = ("--grid", "N=20 ratio=5 d=1", "--jobs", 1)
    code, printed, _ = run(*command, "reconstructed", "--model", "mine", *small)
    assert (code, "added.jsonl: responses: 1" in printed) == (0, True)
    assert (tmp_path / "build/outputs/mine.parquet").is_file()


#: One cell of the paper, and one of another length.
CELL = "N=20 ratio=50 d=1"
OTHER = "N=50 ratio=50 d=1"


def answers_to(path, model, *grids):
    """Write a right answer of a model to two puzzles of the default set in each cell."""
    rows = []
    for grid in grids:
        for puzzle in draw_rows(PuzzleSet(grid_cells(grid), 2)):
            response = f"{puzzle['poi']}: {puzzle['gold']}."
            rows.append({"model": model, "name": puzzle["name"], "response": response})
    return write_lines(path, rows)


@pytest.fixture
def committed(one_process, tmp_path, monkeypatch):
    """A folder of real answers that come with the package, to two cells.

    And what is no answers beside them.
    """
    folder = tmp_path / "committed"
    answers_to(folder / "small.jsonl", "small", CELL, OTHER)
    (folder / "README.md").write_text("How they were asked.")
    monkeypatch.setattr(commands, "ANSWERS", folder)
    return folder


def build_of(folder, *options):
    """Stage and score a build of one cell; return its folder and what the two steps say."""
    build = folder / "build"
    code, staged, errors = run(
        "download-outputs", "--grid", CELL, *options, "--build", build
    )
    assert code == 0, errors
    code, scored, errors = run("score", "--jobs", "1", "--build", build)
    assert code == 0, errors
    return build, staged + scored


def test_a_build_has_the_papers_counts_and_the_committed_answers(committed, tmp_path):
    """Counts are counts and answers are scored, on the grid of the build.

    Each kind is named.
    """
    build, output = build_of(tmp_path)
    assert "small.jsonl: responses: 2, models: 1" in output
    cells = pd.read_parquet(build / "cells.parquet").set_index("model")
    assert cells.loc[list(NAMES), "provenance"].unique().tolist() == ["reconstructed"]
    assert cells.loc["small", ["provenance", "total", "correct"]].tolist() == [
        "scored",
        2,
        2,
    ]
    assert [path.name for path in (build / "outputs").glob("*.parquet")] == [
        "small.parquet"
    ]
    assert len(pd.read_parquet(build / "puzzles.parquet")) == 100
    assert len(pd.read_csv(build / "rejected.csv")) == 0


def test_other_answers_stand_beside_those_or_alone(committed, tmp_path):
    """ADD= puts a model beside the counts and the committed answers.

    SOURCE= takes its models alone.
    """
    mine = answers_to(tmp_path / "mine.jsonl", "mine", CELL)
    build, output = build_of(tmp_path, "--add", mine)
    assert "mine.jsonl: responses: 2, models: 1" in output
    assert pd.read_parquet(build / "cells.parquet")["model"].nunique() == len(NAMES) + 2
    build, output = build_of(tmp_path, "--source", mine)
    assert "counts" not in output
    assert pd.read_parquet(build / "cells.parquet")["model"].tolist() == ["mine"]
    assert sorted(path.name for path in build.glob("*.parquet")) == [
        "baselines.parquet",
        "cells.parquet",
        "puzzles.parquet",
        "tokens.parquet",
    ]
    assert [path.name for path in (build / "outputs").glob("*.parquet")] == [
        "mine.parquet"
    ]


def test_counts_need_no_answers(committed, tmp_path):
    """Without any real answer the build holds the paper's models, and says nothing of scores."""
    (committed / "small.jsonl").unlink()
    build, output = build_of(tmp_path)
    assert "scored" not in output
    assert pd.read_parquet(build / "cells.parquet")["model"].tolist() == list(NAMES)


def test_a_model_has_counts_or_answers_but_not_both(committed, tmp_path):
    """Answers of a model of the paper beside its counts are refused with the remedy.

    As the source they are scored.
    """
    theirs = answers_to(tmp_path / "theirs.jsonl", "QwQ-32B", CELL)
    code, _, errors = run(
        "download-outputs",
        "--grid",
        CELL,
        "--add",
        theirs,
        "--build",
        tmp_path / "build",
    )
    assert code == 2
    assert "QwQ-32B is in two sources; change its column model" in errors
    assert "give its answers as the source" in errors
    build, _ = build_of(tmp_path, "--source", theirs)
    assert pd.read_parquet(build / "cells.parquet")["provenance"].tolist() == ["scored"]
