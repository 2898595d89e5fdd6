"""The command that asks a model on this machine, as make calls it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path):
    """A folder in which make finds the package."""
    for name in ("src", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "Makefile", tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["GRID", "PER_CELL", "MODEL", "ADD"])
def test_nothing_that_is_given_reaches_a_shell(checkout, name):
    """Quotes, dollars and backticks are text, and a bad value ends make with one sentence."""
    variable = (
        f"{name}=a;touch OWNED $(shell touch OWNED) `touch OWNED` $$(touch OWNED)'\""
    )
    outer = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "GRID", "PER_CELL", "MODEL", "ADD")
    environment = {
        name: value for name, value in os.environ.items() if name not in outer
    }
    program = f"PYTHON={sys.executable}"
    command = ["make", "VENV=", program, "MODEL=no.gguf", variable, "evaluate-local"]
    done = subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.count("Error: ")) == (2, 1), done.stderr
    assert not list(checkout.rglob("OWNED"))
