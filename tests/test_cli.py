"""The command line as a user meets it: exit codes, one clear sentence, and real processes where these matter."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from harness import run as invoke

ROOT = Path(__file__).resolve().parents[1]


def run(*arguments, root: Path = ROOT) -> subprocess.CompletedProcess:
    """Run the command with the package and the data of a checkout."""
    return subprocess.run(
        [sys.executable, "-m", "cogniload_repro", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(root / "src")},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def ask(*arguments) -> subprocess.CompletedProcess:
    """Run the command in this process, which has the libraries already."""
    done = invoke(*arguments)
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


def assert_refused(done: subprocess.CompletedProcess, *words: str) -> None:
    """Exit code 2 and one line on standard error that holds these words."""
    assert done.returncode == 2, done.stdout + done.stderr
    message = done.stderr.strip().splitlines()[-1]
    assert message.startswith("Error: ")
    for word in words:
        assert word in message, message
    assert "Traceback" not in done.stderr


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A copy of the package and its data that a test may damage."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("published", "reconstructed"):
        shutil.copytree(ROOT / "data" / folder, tmp_path / "data" / folder, copy_function=shutil.copyfile)
    shutil.copyfile(ROOT / "data" / "puzzle_ids.csv", tmp_path / "data" / "puzzle_ids.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("download-outputs", "--grid", "N=21 ratio=5 d=1"), ("21", "reconstructed")),
        (("reconstruct", "--model", "gpt-6", "--out", os.devnull), ("gpt-6", "QwQ-32B")),
        (("reconstruct", "--seed", "1"), ("--out",)),
        (("score",), ("make download-outputs",)),
        (("compare",), ("make",)),
    ],
)
def test_what_is_not_possible_is_a_sentence(tmp_path, arguments, words):
    """It names the value or the remedy, and nothing but the lock and the choices is in the build."""
    build = [] if arguments[0] == "reconstruct" else ["--build", tmp_path]
    assert_refused(ask(*arguments, *build), *words)
    assert {file.name for file in tmp_path.iterdir()} <= {".lock", "choices.json"}


def test_a_damaged_published_table_is_named(checkout):
    """The row and the value are named; of a missing table the file and the remedy."""
    path = checkout / "data/published/iclr2026/table4_errors_by_d.csv"
    path.write_text(path.read_text("utf-8").replace("DeepSeek-R1-0528,3,280", "DeepSeek-R1-0528,3,many"), "utf-8")
    command = ("reconstruct", "--model", "QwQ-32B", "--out", checkout / "cells.csv")
    assert_refused(run(*command, root=checkout), "table4_errors_by_d.csv", "row 2", "'many'", "samples")
    path.unlink()
    assert_refused(run(*command, root=checkout), "table4_errors_by_d.csv", "missing", "git checkout")
    assert not (checkout / "cells.csv").exists()


def test_a_damaged_reconstruction_is_named(checkout):
    """A cell whose answers do not add up is found before anything is made from it."""
    path = checkout / "data/reconstructed/cells.csv"
    cells = pd.read_csv(path)
    cells.loc[4, "correct"] += 1
    cells.to_csv(path, index=False)
    done = run("download-outputs", "--grid", "mini", "--build", checkout / "build", root=checkout)
    assert_refused(done, "cells.csv", "row 5", "reconstruct")
    assert not (checkout / "build" / "outputs").exists()


@pytest.fixture
def fitted(tmp_path) -> Path:
    """A build with the reconstructed cells of two models."""
    from cogniload_repro.storage import write_table

    cells = pd.read_csv(ROOT / "data/reconstructed/cells.csv").query("model in ['QwQ-32B', 'gemini-2.5-pro']")
    write_table(tmp_path / "cells.parquet", cells, {"provenance": "reconstructed"})
    return tmp_path


def test_a_formula_that_cannot_be_read_is_refused(fitted):
    """The formula and the known names are in the sentence, and nothing is written."""
    assert_refused(ask("fit", "--build", fitted, "--formula", "correct ~ d + length"), "length", "log10_N")
    assert_refused(ask("fit", "--build", fitted, "--family", "normal"), "normal", "probit")
    assert_refused(ask("fit", "--build", fitted, "--model", "gpt-6"), "gpt-6", "QwQ-32B")
    assert_refused(ask("fit", "--build", fitted, "--data", "nowhere.csv"), "nowhere.csv")
    assert [path.name for path in fitted.iterdir()] == ["cells.parquet"]


def test_another_regression_is_printed_and_kept(fitted):
    """Every fit is shown with its provenance, a failed one with its status, and all are where --out says."""
    done = ask("fit", "--build", fitted, "--formula", "correct ~ d + log10_N + I(2 * d)")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "Reconstructed from the paper's tables, not raw outputs"
    assert "QwQ-32B: not identified" in done.stdout
    done = ask("fit", "--build", fitted, "--formula", "correct ~ d", "--family", "cloglog", "--model", "QwQ-32B",
               "--out", fitted / "mine.csv")  # fmt: skip
    assert "gemini" not in done.stdout
    kept = pd.read_csv(fitted / "mine.csv")
    assert kept[["model", "term", "family"]].to_numpy().tolist() == [
        ["QwQ-32B", "Intercept", "cloglog"], ["QwQ-32B", "d", "cloglog"],
    ]  # fmt: skip


def test_another_regression_is_compared(fitted, tmp_path):
    """--compare prints criteria and changes in 100 columns; one's own table is named and leaves the build alone."""
    before = (fitted / "cells.parquet").read_bytes()
    pd.read_parquet(fitted / "cells.parquet").head(140).to_csv(tmp_path / "own.csv", index=False)
    done = ask("fit", "--build", fitted, "--compare", "--data", tmp_path / "own.csv", "--formula", "correct ~ d * rho")
    assert done.returncode == 0, done.stderr
    assert "Counts of own.csv, whose origin is not recorded" in done.stdout
    assert all(word in done.stdout for word in ("logLik", "AIC", "BIC", "difference", "yours", "paper"))
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert (fitted / "cells.parquet").read_bytes() == before


def test_no_text_of_a_source_reaches_the_terminal_as_a_command(tmp_path):
    """A heading and the name of a request are shown letter by letter, on both streams."""
    title = "\x1b]0;OWNED\x07\x1b[2J"
    (tmp_path / "a.csv").write_text(f"name,{title}\n1,2\n", encoding="utf-8")
    request = {"custom_id": title, "response": None, "error": {"message": title}}
    (tmp_path / "b.jsonl").write_text(json.dumps(request) + "\n", encoding="utf-8")
    for source in (tmp_path, tmp_path / title):
        done = ask("download-outputs", "--source", source, "--build", tmp_path / "build")
        assert done.returncode == 2
        shown = done.stdout + done.stderr
        assert "OWNED" in shown
        assert not set(shown) & {"\x1b", "\x07"}


def test_commands_print_through_one_door():
    """Nothing but `options.say` writes to the terminal."""
    for path in (ROOT / "src/cogniload_repro/commands").glob("*.py"):
        bare = {"click.echo(", "print("} & set(
            re.findall(r"(?<![\w.])(?:click\.echo|print)\(", path.read_text("utf-8"))
        )
        assert not bare or path.name == "options.py", path.name
