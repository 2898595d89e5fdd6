"""A contributor's first hour: the ten commands of CONTRIBUTING.md, in a clone."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path("data/build-mini")


def read_commands():
    """The commands of the first hour, in order."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (block,) = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return [line for line in block.splitlines() if not line.startswith("#")]


@pytest.fixture
def clone(tmp_path):
    """A clone with the files as they are here, and this Python in the place of its own."""
    folder = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", ROOT, folder], check=True)
    listing = ["git", "-C", ROOT, "ls-files", "-z"]
    for name in subprocess.check_output(listing, text=True).split("\0"):
        if name and (ROOT / name).is_file():
            shutil.copy2(ROOT / name, folder / name)
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    programs = {
        ".venv/bin/python": sys.executable,
        "bin/make": f'{shutil.which("make")} VENV= PYTHON="{sys.executable}" JOBS=2',
    }
    for name, command in programs.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def walk(clone):
    """Run a command there, and return what it prints."""
    outer = ("MAKE", "MFLAGS", "COGNILOAD_")
    inner = {
        name: os.environ[name] for name in os.environ if not name.startswith(outer)
    }
    inner |= {
        "PATH": f"{clone / 'bin'}:{inner['PATH']}",
        "PYTHONPATH": str(clone / "src"),
    }

    def run(command):
        done = subprocess.run(
            command,
            shell=True,
            cwd=clone,
            env=inner,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    return run


def count_differing(clone):
    """How many lengths of prompts are the changed one, and differ from the counted prompts."""
    ledger = pd.read_csv(
        clone / BUILD / "fidelity.csv", dtype=str, keep_default_na=False
    )
    return (ledger["published"].eq("19265") & ledger["verdict"].eq("differs")).sum()


@pytest.mark.slow
def test_the_first_hour(clone, walk):
    """One test, one number, one regression and one chapter, each seen where the page says."""
    env, one_test, book, edit, again, undo, regression, chapter, toc, last = (
        read_commands()
    )
    walk(env)
    assert "passed" in walk(one_test)
    assert "The book:" in walk(book)
    assert count_differing(clone) == 0
    walk(edit)
    walk(again)
    assert count_differing(clone) == 1
    for command in (undo, regression, chapter, toc, last):
        walk(command)
    assert count_differing(clone) == 0
    data = (clone / BUILD / "pages" / "compare-data.js").read_text("utf-8")
    assert "cube root of N" in data
    page = clone / BUILD / "book/_build/html/notebooks/mine.html"
    assert "Does length matter?" in page.read_text("utf-8")
