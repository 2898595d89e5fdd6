"""The commands one after the other, as `cogniload --help` names them, and what they say when one is left out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ask as run

ROOT = Path(__file__).parents[2]


def test_every_step_names_the_one_before_it(tmp_path, monkeypatch):
    """From an empty folder, following the remedies leads to all that a book needs; models without a fit are named."""
    monkeypatch.chdir(ROOT)
    build = tmp_path / "build"
    for missing, step in (("outputs", "download-outputs"), ("cells.parquet", "score"), ("fidelity.parquet", "fit")):
        code, said = run("render", "--grid", "mini", "--build", build)
        assert (code, said) == (
            2,
            f"Error: {build / missing} is missing; run `cogniload {step} --build {build}` first\n",
        )
        if step != "score":
            code, said = run("fit" if step == "download-outputs" else "score", "--build", build / "elsewhere")
            assert (code, "cogniload " in said) == (2, True)
        grid = ["reconstructed", "--grid", "N=20 ratio=5,50 d=1,3"] if step == "download-outputs" else []
        jobs = [] if step == "fit" else ["--jobs", 1]
        code, said = run(step, *grid, *jobs, "--build", build)
        assert code == 0, said
    for what in ("Table 2", "interactions (Table 3)", "Table 6"):
        assert f"no fit of {what} for QwQ-32B: not identified" in said
    assert (build / "fidelity.csv").is_file()


def test_the_book_is_refused_outside_a_checkout(tmp_path, monkeypatch):
    """At once, and by what is missing."""
    monkeypatch.chdir(tmp_path)
    for command in ("render", "build-book"):
        code, said = run(command)
        assert (code, "in a checkout of the repository" in said) == (2, True)


def test_a_command_that_is_nearly_meant_is_named():
    """A slip of the hand gets a suggestion, nonsense gets none."""
    assert "No such command 'scroe'. Did you mean 'score'?" in run("scroe")[1]
    assert "Did you mean" not in run("xyz")[1]


def test_a_reader_that_has_enough_ends_a_command():
    """`cogniload ... | head` says nothing of a pipe."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "cogniload_repro", "reconstruct", "--help"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, env=environment, text=True, check=False)
    os.close(write)
    assert "rror" not in done.stderr


@pytest.mark.parametrize("command", ["check", "verify", "add", "download-outputs"])
def test_every_command_takes_its_source_alike(tmp_path, command):
    """As an option or by itself, and not two of them."""
    one, two = tmp_path / "one.xyz", tmp_path / "two.xyz"
    one.touch()
    two.touch()
    build = [] if command == "verify" else ["--build", tmp_path / "build"]
    if command != "add":  # which makes the main source's outputs first
        first, second = (run(command, *given, *build) for given in ([one], ["--source", one]))
        assert first == second
        assert first[0] == 2
    assert "two sources are given" in run(command, two, "--source", one, *build)[1]


def test_a_score_is_explained_on_the_command_line(tmp_path):
    """From standard input or a file."""
    (tmp_path / "answer.txt").write_text("Raymond: red\n", encoding="utf-8")
    name = "20_1_1_770487_red"
    code, said = run("explain", name, text="Raymond: red\n")
    assert (code, said.splitlines()[-1]) == (0, "correct_poi: window 2 has 'red'")
    assert run("explain", name, tmp_path / "answer.txt") == (code, said)
    assert run("explain", "20_1_1_770487_blue", text="")[0] == 2


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        ("JOBS=1; touch OWNED", "JOBS is '1; touch OWNED'"),
        ("JOBS=$(shell touch OWNED)", "JOBS is "),
        ("JOBS=2 --build x", "JOBS is "),
        ("JOBS=", "JOBS is ''"),
        ("GRID=$(shell touch OWNED)", "GRID is "),
        ("VENV=a b", "VENV is 'a b'"),
        ("VENV=$(shell touch OWNED)", "VENV is "),
        ("VENV=a;touch${IFS}OWNED", "VENV is "),
        ("formula=correct ~ d", "names of variables are in capitals"),
    ],
)
def test_make_refuses_a_variable_as_it_stands(tmp_path, variable, words):
    """Before it expands it, and before a shell reads it."""
    (tmp_path / "Makefile").write_bytes((ROOT / "Makefile").read_bytes())
    done = subprocess.run(["make", variable, "help"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert words in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]
