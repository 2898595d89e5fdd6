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
from click.testing import CliRunner

from cogniload_repro.cli import main
from cogniload_repro.commands.choices import read_choices

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
    words = [str(argument) for argument in arguments]
    done = CliRunner().invoke(main, words)
    return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)


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


def test_help_teaches():
    """Every command explains itself."""
    commands = run("--help").stdout.partition("Commands:")[2].split("\n")
    names = [line.split()[0] for line in commands if line.startswith("  ") and line.strip()]
    assert {"download-outputs", "score", "fit", "compare", "reconstruct", "puzzles", "verify", "check"} <= set(names)
    for name in ("fit", "puzzles"):
        assert len(run(name, "--help").stdout) > 300


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ("N=20 ratio=5 d=13", ("d", "13")),
        ("N=0 ratio=5 d=1", ("N", "0")),
        ("N=20 ratio=101 d=1", ("ratio", "101")),
        ("N=20 ratio=-1 d=1", ("ratio", "-1")),
        ("nonsense", ("nonsense",)),
    ],
)
def test_impossible_cells_are_refused(tmp_path, grid, words):
    """A cell that cannot exist ends with exit code 2 and leaves nothing behind."""
    assert_refused(run("puzzles", "--grid", grid, "--out", tmp_path / "set"), *words)
    assert not any((tmp_path / "set").glob("*")) if (tmp_path / "set").exists() else True


def test_a_foreign_cell_cannot_be_reconstructed(tmp_path):
    """Cells that the paper lacks are possible puzzles, but not reconstructable outputs."""
    done = ask("download-outputs", "--grid", "N=21 ratio=5 d=1", "--build", tmp_path)
    assert_refused(done, "21", "reconstructed")
    assert {file.name for file in tmp_path.iterdir()} <= {".lock", "choices.json"}


def test_an_unknown_model_is_refused():
    """The message lists the models there are."""
    assert_refused(ask("reconstruct", "--model", "gpt-6", "--out", os.devnull), "gpt-6", "QwQ-32B")


def test_reconstruct_never_overwrites_the_committed_table_by_accident():
    """Part of the models, or another seed, need a place of their own."""
    assert_refused(ask("reconstruct", "--seed", "1"), "--out")


def test_a_missing_published_table_is_named(checkout):
    """The file and the remedy are named."""
    (checkout / "data/published/iclr2026/table6_aic.csv").unlink()
    out = checkout / "cells.csv"
    done = run("reconstruct", "--model", "QwQ-32B", "--out", out, root=checkout)
    assert_refused(done, "table6_aic.csv", "missing", "git checkout")
    assert not out.exists()


def test_a_malformed_published_table_is_named(checkout):
    """The row and the value are named."""
    path = checkout / "data/published/iclr2026/table4_errors_by_d.csv"
    path.write_text(path.read_text("utf-8").replace("DeepSeek-R1-0528,3,280", "DeepSeek-R1-0528,3,many"), "utf-8")
    done = run("reconstruct", "--model", "QwQ-32B", "--out", checkout / "cells.csv", root=checkout)
    assert_refused(done, "table4_errors_by_d.csv", "row 2", "'many'", "samples")


def test_a_damaged_reconstruction_is_named(checkout):
    """A cell whose answers do not add up is found before anything is made from it."""
    path = checkout / "data/reconstructed/cells.csv"
    cells = pd.read_csv(path)
    cells.loc[4, "correct"] += 1
    cells.to_csv(path, index=False)
    done = run("download-outputs", "--grid", "mini", "--build", checkout / "build", root=checkout)
    assert_refused(done, "cells.csv", "row 5", "reconstruct")
    assert not (checkout / "build" / "outputs").exists()


def test_malformed_rows_are_listed_and_the_rest_kept(tmp_path):
    """Bad rows are counted by reason and end strict runs with exit code 2; the good rows are written."""
    assert ask("puzzles", "--grid", "N=20 ratio=50 d=1", "--per-cell", "2", "--format", "jsonl",
               "--out", tmp_path).returncode == 0  # fmt: skip
    name = pd.read_json(tmp_path / "puzzles.jsonl", lines=True)["name"][0]
    source = tmp_path / "answers.jsonl"
    source.write_text(
        f'{{"model": "mine", "name": "{name}", "response": "?"}}\n'
        f'{{"model": "mine", "name": "{name}", "response": 7}}\n{{broken\n',
        "utf-8",
    )
    build = tmp_path / "build"
    done = ask("download-outputs", "--source", source, "--build", build)
    assert_refused(done, "2 rows were rejected", "--max-rejected")
    assert len(pd.read_parquet(build / "rejected.parquet")) == 2
    assert not (build / "outputs").exists()
    assert ask("download-outputs", "--source", source, "--build", build, "--max-rejected", 2).returncode == 0
    assert len(pd.read_parquet(build / "outputs" / "mine.parquet")) == 1


def test_steps_name_the_step_before_them(tmp_path):
    """A step without its input says what makes it."""
    assert_refused(ask("score", "--build", tmp_path), "make download-outputs")
    assert_refused(ask("fit", "--build", tmp_path), "make score")
    assert_refused(ask("compare", "--build", tmp_path), "make")


def test_verify_finds_a_damaged_puzzle(tmp_path):
    """A whole set is right; one changed answer is named, with exit code 1."""
    assert ask("puzzles", "--grid", "N=20 ratio=50 d=3", "--per-cell", "3", "--format", "jsonl",
               "--out", tmp_path).returncode == 0  # fmt: skip
    whole = ask("verify", tmp_path / "puzzles.jsonl")
    assert whole.returncode == 0
    assert "3 right" in whole.stdout
    first, *rest = (tmp_path / "puzzles.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "damaged.jsonl").write_text("\n".join([first.replace("\\n7. ", "\\n9. "), *rest]), "utf-8")
    damaged = ask("verify", tmp_path / "damaged.jsonl")
    assert damaged.returncode == 1
    assert "2 right" in damaged.stdout


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


def test_choices_are_checked_and_shown(tmp_path):
    """A choice is kept and named; an impossible one is refused, and the kept one stays."""
    assert ask("choose", "--build", tmp_path, "FAMILY=probit").stdout == "outputs: reconstructed; family: probit\n"
    assert_refused(ask("choose", "--build", tmp_path, "FAMILY=probits"), "probits", "cloglog")
    assert read_choices(tmp_path).family == "probit"


@pytest.mark.slow
def test_fits_that_failed_are_reported(tmp_path):
    """Table 2, Table 3 and Table 6 each name the models that have no fit, with the reason."""
    assert run("download-outputs", "--build", tmp_path, "--grid", "N=20,50 ratio=50 d=1,3", "--jobs", 1).returncode == 0
    assert run("score", "--build", tmp_path, "--jobs", 1).returncode == 0
    said = run("fit", "--build", tmp_path).stdout
    for what in ("Table 2", "interactions (Table 3)", "Table 6"):
        assert f"no fit of {what} for QwQ-32B: not identified" in said


def test_make_evaluates_nothing_in_a_readers_text(tmp_path):
    """A formula on make's command line is checked as it stands: no function of make or of the shell in it is run."""
    trap = tmp_path / "trap"
    done = subprocess.run(
        ["make", "choices", "VENV=", f"PYTHON={sys.executable}", f"BUILD={tmp_path / 'build'}",
         f"FORMULA=correct ~ d $(shell touch {trap}) `touch {trap}`", f"DATA=$(shell touch {trap})"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "Error:" in done.stderr
    assert not trap.exists()


def test_no_text_of_a_source_reaches_the_terminal_as_a_command(tmp_path):
    """A heading and the name of a request are shown letter by letter, on both streams."""
    title = "\x1b]0;OWNED\x07\x1b[2J"
    (tmp_path / "a.csv").write_text(f"name,{title}\n1,2\n", encoding="utf-8")
    request = {"custom_id": title, "response": None, "error": {"message": title}}
    (tmp_path / "b.jsonl").write_text(json.dumps(request) + "\n", encoding="utf-8")
    for source in (tmp_path, tmp_path / title):
        done = run("download-outputs", "--source", source, "--build", tmp_path / "build")
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


HOLDER = """
import sys, time
from cogniload_repro.files import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_two_processes_do_not_score_into_one_build(tmp_path):
    """The second is told of the first, and does nothing; when that has ended, in whatever way, it may."""
    rows = [{"model": "m", "name": "20_1_1_770487_red", "response": "Raymond is wearing red underwear."}]
    (tmp_path / "o.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    build = tmp_path / "build"
    assert run("download-outputs", "--source", tmp_path / "o.jsonl", "--build", build).returncode == 0
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, build], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        assert_refused(run("score", "--build", build, "--jobs", 1), f"process {holder.pid} is at work in {build}")
        assert not (build / "scores").exists()
    finally:
        holder.kill()
        holder.wait()
    assert run("score", "--build", build, "--jobs", 1).returncode == 0
