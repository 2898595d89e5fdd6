"""The chain as make runs it: what has changed is made again and nothing else; what is given holds for one call."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from harness import write_lines

from cogniload_repro.puzzles.generate import draw_puzzle

ROOT = Path(__file__).parents[1]
PUZZLES = [draw_puzzle(20, d, 10, number) for d in (1, 5) for number in (7, 8)]
STEPS = ["download-outputs", "score", "fit", "render"]
GIVEN = ("SOURCE", "ADD", "MAX_REJECTED", "SCORER", "FORMULA", "FAMILY", "MODELS")


def write_answers(path, *models, right=True):
    """Write one answer of each model to each puzzle: a source with which every step takes as long as its imports."""
    rows = [
        {
            "model": model,
            "name": puzzle.name,
            "response": f"{puzzle.poi}: {puzzle.solution if right else 'nothing'}",
        }
        for model in models
        for puzzle in PUZZLES
    ]
    return write_lines(path, rows)


@pytest.fixture
def checkout(tmp_path):
    """A checkout in which make finds the package, and has nothing built; its name is not easy."""
    return make_checkout(tmp_path / "a b é'c")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A checkout in which all is made, with an added source, and a copy of it."""
    folder = make_checkout(tmp_path_factory.mktemp("made") / "a b é'c")
    (folder / "main.jsonl").rename(folder.parent / "main.jsonl")  # a copy would be another source
    write_answers(folder.parent / "a.jsonl", "mine")
    (folder / "params.yaml").write_text("source: ../main.jsonl\nadd: [../a.jsonl]\n")
    assert steps(said(make(folder, "reproduce"))) == STEPS
    return folder, shutil.copytree(folder, folder.with_name("copy"), symlinks=True)


@pytest.fixture
def made(whole):
    """The same for every test, at the same place, which its parameters name."""
    folder, copy = whole
    shutil.rmtree(folder)
    return shutil.copytree(copy, folder, symlinks=True)


def make_checkout(folder):
    """Make one, with a notebook and a book of its own."""
    (folder / "data").mkdir(parents=True)
    committed = [
        place.relative_to(ROOT)
        for place in (ROOT / "data").iterdir()
        if not place.name.startswith("build")
    ]
    for name in ("src", "docs", "pyproject.toml", *committed):
        (folder / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "Makefile", folder)
    write_answers(folder / "main.jsonl", "theirs")
    (folder / "params.yaml").write_text("source: main.jsonl\n")
    shutil.copytree(
        ROOT / "book" / "_ext",
        folder / "book" / "_ext",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (folder / "book" / "_config.yml").write_text(
        "title: Small\nexecute: {execute_notebooks: 'off'}\nonly_build_toc_files: true\n"
        "sphinx: {local_extensions: {offline: _ext}}\n"
    )
    (folder / "book" / "_toc.yml").write_text(
        "format: jb-book\nroot: intro\nchapters: [{file: notebooks/page}]\n"
    )
    (folder / "book" / "intro.md").write_text("# Small\n")
    cells = [
        nbformat.v4.new_markdown_cell("# The page", id="title"),
        nbformat.v4.new_code_cell(
            'build = "../data/build"\nformula = "none"',
            id="parameters",
            metadata={"tags": ["parameters"]},
        ),
        nbformat.v4.new_code_cell("print(formula)", id="show"),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    (folder / "notebooks").mkdir()
    nbformat.write(
        nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "notebooks" / "page.ipynb"
    )
    return folder


def command(*arguments):
    """The words of a call of make with this Python."""
    return ["make", "VENV=", f"PYTHON={sys.executable}", "GRID=mini", "JOBS=2", *arguments]


def environment():
    """The environment without what an outer make has handed on."""
    outer = {
        "MAKEFLAGS",
        "MAKELEVEL",
        "MFLAGS",
        "MODEL",
        *GIVEN,
        *(f"COGNILOAD_{name}" for name in GIVEN),
    }
    return {name: value for name, value in os.environ.items() if name not in outer}


def make(folder, *arguments):
    """Run make there."""
    return subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def said(done):
    """What make has said, which has gone well."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def steps(text):
    """The commands that make has run."""
    return [
        line.split("cogniload_repro ")[1].split()[0]
        for line in text.splitlines()
        if "-m cogniload_repro" in line
    ]


def read_counts(checkout):
    """Right answers by model."""
    cells = pd.read_parquet(checkout / "data/build-mini/cells.parquet")
    return cells.groupby("model")["correct"].sum().to_dict()


def contents(build):
    """What a build holds, but for what says when it was made, and what programs keep for themselves."""
    own = {".lock", ".made", ".doctrees", "__pycache__"}
    files = [path for path in build.rglob("*") if path.is_file() and not own & set(path.parts)]
    return {path.relative_to(build).as_posix(): path.read_bytes() for path in files}


def test_nothing_that_is_given_reaches_a_shell(checkout):
    """Quotes, dollars, backticks and number signs are text, and a bad value ends make before anything is built."""
    for given in (
        ["FORMULA=correct ~ d;x $(shell touch OWNED) `touch OWNED`"],
        ["SOURCE=a$(touch OWNED);touch$${IFS}OWNED;#`touch OWNED`'é\".jsonl"],
        ["ADD=$(shell touch OWNED)"],
        ["MODELS=';touch OWNED;#", "FAMILY=`touch OWNED`"],
    ):
        done = make(checkout, "render", *given)
        assert (done.returncode, done.stderr.count("Error: ")) == (2, 1), done.stderr
    assert not list(checkout.rglob("OWNED"))
    assert contents(checkout / "data/build-mini") == {}


def test_a_folder_is_made_by_one_make_at_a_time(checkout):
    """The second is refused as long as any process of the first lives, and says which."""
    first = subprocess.Popen(command("score"), cwd=checkout, env=environment(), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
    lock = checkout / "data/build-mini/.lock"
    while not (lock.is_file() and lock.read_text()):
        time.sleep(0.02)
    done = make(checkout, "score")
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert (done.returncode, "is at work in" in done.stderr) == (2, True), done.stderr


def test_own_answers_and_what_is_given_for_one_call(made):
    """Sources are added for a call, refused ones change nothing, and a plain call goes back to params.yaml."""
    build, run, committed = (
        made / "data/build-mini",
        partial(make, made),
        (made / "params.yaml").read_text("utf-8"),
    )
    paper = contents(build)
    source = write_answers(made / "an swers #$é'.jsonl", "My Model 7B", "$$", "#1")
    given = f'ADD="{source.name}"'
    told = said(run("score", given))
    assert "Outputs: theirs + #1, $$, My Model 7B" in told
    assert read_counts(made)["My Model 7B"] == 4
    assert steps(said(run("score", given))) == []

    before = contents(build)
    bad = write_lines(made / "bad.jsonl", ["{"])
    for call in (f"ADD={bad.name}", f"SOURCE={bad.name}", "ADD=reconstructed"):
        done = run("score", call)
        assert done.returncode == 2, done.stderr
        assert "cannot be read to its end" in done.stderr or "reconstructed" in call
        rejected = dict.fromkeys(["rejected.parquet", "rejected.csv"], b"")
        assert contents(build) | rejected == before | rejected
        assert steps(said(run("score", given))) == []

    write_answers(source, "My Model 7B", "$$", "#1", right=False)
    said(run("score", given))
    assert read_counts(made)["My Model 7B"] == 0
    (made / "params.yaml").write_text(f"source: {bad.name}\nmax_rejected: 1\n")
    assert "cannot be read to its end" in run("score").stderr
    (made / "params.yaml").write_text(committed)
    said(run("score"))
    assert contents(build) == paper


def test_the_book_follows_its_notebooks_and_what_is_given(made):
    """Changed text is taken over, changed code is run, a formula holds for one call; a failing cell is named."""
    source, done = made / "notebooks/page.ipynb", made / "data/build-mini/notebooks/page.ipynb"
    page = made / "data/build-mini/book/_build/html/notebooks/page.html"
    run = partial(make, made)
    start = time.monotonic()
    told = said(run("reproduce"))
    assert (steps(told), time.monotonic() - start < 2) == ([], True)
    assert told.endswith("The book: data/build-mini/book/_build/html/index.html\n")
    committed, first = source.read_text("utf-8"), done.read_bytes()

    source.write_text(committed.replace("The page", "Another sentence"), "utf-8")
    assert "page.ipynb  " not in said(run("render"))
    assert done.read_bytes() == first.replace(b"The page", b"Another sentence")
    assert b"Another sentence" in page.read_bytes()

    told = said(run("render", "FORMULA=correct ~ d + rho", "MODELS=theirs"))
    assert steps(told) == ["render"]
    assert all(b"correct ~ d + rho" in file.read_bytes() for file in (done, page))
    assert "formula: correct ~ d + rho" in page.read_text("utf-8")  # the notice at the top

    source.write_text(committed.replace("print(formula)", "raise ValueError('x' * 9000)"), "utf-8")
    failed = run("render")
    assert (
        failed.returncode,
        "page.ipynb, cell 3 of 3 failed: ValueError: xxx" in failed.stderr,
    ) == (2, True)
    assert len(failed.stderr) < 1500
    os.utime(made / "data/build-mini/fidelity.csv")  # what every notebook reads
    assert "render --all" in re.sub(
        r" --\w+ \S+", "", said(run("-n", "data/build-mini/book/_build/html/index.html"))
    )


@pytest.mark.parametrize(
    ("step", "result", "seconds"),
    [("render", "book/_build/html/index.html", 1.5),
     pytest.param("download-outputs", "outputs/.made", 0.4, marks=pytest.mark.slow),
     pytest.param("score", "cells.parquet", 0.6, marks=pytest.mark.slow),
     pytest.param("fit", "fidelity.csv", 1.4, marks=pytest.mark.slow)],
)  # fmt: skip
def test_a_kill_changes_nothing(step, result, seconds, made):
    """Make is killed with all that it started: the next call ends as an undisturbed one does."""
    before = contents(made / "data/build-mini")
    (made / "data/build-mini" / result).unlink()
    process = subprocess.Popen(command(step), cwd=made, env=environment(), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    while "is at work in" in (done := make(made, step)).stderr:
        time.sleep(0.1)
    said(done)
    assert contents(made / "data/build-mini") == before


def test_clean_leaves_downloads_and_environments(tmp_path):
    """What is a download stays, with its folder; everything else of both builds goes."""
    for name in ("Makefile", "params.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    kept = {
        tmp_path / "data/build/downloads/outputs.zip",
        tmp_path / ".venv/bin/python",
        tmp_path / "data/models.csv",
    }
    gone = {
        tmp_path / "data/build/cells.csv",
        tmp_path / "data/build/params/a.yaml",
        tmp_path / "data/build-mini/a/b",
    }
    for path in kept | gone:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)
    committed = {tmp_path / "Makefile", tmp_path / "params.yaml"}
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == kept | committed
    assert not (tmp_path / "data/build-mini").exists()


def test_the_environment_of_another_checkout_is_refused(tmp_path):
    """Its package would be exchanged for this one's."""
    for name in ("Makefile", "params.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    ready = tmp_path / "theirs" / ".ready"
    ready.parent.mkdir()
    ready.write_text("/another/checkout\n")
    done = subprocess.run(
        ["make", "VENV=theirs", "help"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "the environment of /another/checkout" in done.stderr) == (2, True)
    ready.write_text(f"{tmp_path}\n")
    subprocess.run(
        ["make", "VENV=theirs", "help"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
