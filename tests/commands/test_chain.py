"""The commands as a chain: what they say when one is left out, and what all of them do alike."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ask as run

ROOT = Path(__file__).parents[2]


def test_every_step_names_the_one_before_it(tmp_path, monkeypatch):
    """A book that lacks something names the step that makes it; outside a checkout it is refused at once."""
    monkeypatch.chdir(ROOT)
    for missing, step in (("outputs", "download-outputs"), ("cells.parquet", "score"), ("fidelity.csv", "fit")):
        sentence = f"Error: {tmp_path / missing} is missing; run `cogniload {step} --build {tmp_path}` first\n"
        for command in ("render", "build-book"):
            assert run(command, "--build", tmp_path) == (2, sentence)
        if step != "download-outputs":
            code, said = run(step, "--build", tmp_path / "elsewhere")
            assert (code, "cogniload " in said) == (2, True)
        (tmp_path / missing).touch()
    monkeypatch.chdir(tmp_path)
    code, said = run("render")
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


@pytest.mark.parametrize("command", ["check", "verify", "download-outputs"])
def test_every_command_takes_its_source_alike(tmp_path, command):
    """As an option or by itself, and not two of them."""
    one, two = tmp_path / "one.xyz", tmp_path / "two.xyz"
    one.touch()
    two.touch()
    build = [] if command == "verify" else ["--build", tmp_path / "build"]
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


@pytest.mark.parametrize("variable", ["GRID=small", "GRID=", "formula=correct ~ d"])
def test_make_refuses_an_unknown_grid_and_names_in_small_letters(variable):
    """Both would build something else than what is meant."""
    done = subprocess.run(["make", variable, "help"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, variable.partition("=")[0] in done.stderr) == (2, True)
