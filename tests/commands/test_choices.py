"""What a reader has chosen for a build, kept for later calls of make."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cogniload_repro.commands.choices import DEFAULTS, describe_choices, keep_choices, read_choices
from cogniload_repro.storage import RECONSTRUCTED

ROOT = Path(__file__).parents[2]
TABLE = str(RECONSTRUCTED / "cells.csv")


def test_choices_are_kept_until_they_are_given_again(tmp_path):
    """A later call keeps what an earlier one chose; an empty value goes back to the default."""
    keep_choices(tmp_path, {"formula": "correct ~ d", "family": "probit"})
    assert keep_choices(tmp_path, {"source": str(tmp_path)})["formula"] == "correct ~ d"
    kept = keep_choices(tmp_path, {"family": ""})
    assert kept == {"source": str(tmp_path), "formula": "correct ~ d", "family": "", "data": ""}
    assert read_choices(tmp_path) == kept
    assert keep_choices(tmp_path, dict.fromkeys(DEFAULTS, "")) == DEFAULTS


def test_a_file_is_only_written_when_its_value_changes(tmp_path):
    """What make compares, the time of a file, stays as it is."""
    keep_choices(tmp_path, {"formula": "correct ~ d"})
    for file in tmp_path.iterdir():
        os.utime(file, (1, 1))
    keep_choices(tmp_path, {"formula": "correct ~ d", "family": "cloglog"})
    assert {file.name for file in tmp_path.iterdir() if file.stat().st_mtime > 1} == {"family.txt"}


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"source": "/nowhere/at/all"}, "no outputs at /nowhere/at/all"),
        ({"source": "s3://bucket/file"}, "s3:// is not known"),
        ({"source": "hf://datasets/x"}, "incomplete"),
        ({"formula": "d + rho"}, "must read"),
        ({"formula": "correct ~ d; import os"}, "cannot be read"),
        ({"formula": "correct ~ prompt_mean", "data": TABLE}, "names prompt_mean"),
        ({"formula": "correct ~ np.log(d - 1)", "data": TABLE}, "not finite"),
        ({"family": "normal"}, "no family 'normal'"),
        ({"data": "nowhere.csv"}, "no table of cells at nowhere.csv"),
        ({"colour": "red"}, "no choice colour"),
    ],
)
def test_what_is_not_possible_changes_nothing(tmp_path, given, complaint):
    """A bad value is refused in one sentence, and good ones beside it are not kept either."""
    keep_choices(tmp_path, {"formula": "correct ~ rho"})
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(ValueError, match=complaint):
        keep_choices(tmp_path, {"formula": "correct ~ d"} | given)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_the_description_keeps_secrets():
    """Outputs and choices are named, without the user, password or query of an address."""
    text = describe_choices(DEFAULTS | {"source": "https://me:pw@host/x.jsonl?token=1", "family": "probit"})
    assert text == "outputs: https://host/x.jsonl; family: probit"


@pytest.fixture
def checkout(tmp_path):
    """A folder in which make finds the package, and has nothing built."""
    (tmp_path / "data").mkdir()
    committed = [place.relative_to(ROOT) for place in (ROOT / "data").iterdir() if not place.name.startswith("build")]
    for name in ("src", "notebooks", "book", *committed):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text("utf-8"), "utf-8")
    return tmp_path


def make(folder, *arguments):
    """Run make there, with this Python and none of the outer make's variables."""
    outer = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "SOURCE", "FORMULA", "FAMILY", "DATA"}
    return subprocess.run(
        ["make", "VENV=", f"PYTHON={sys.executable}", "GRID=mini", *arguments],
        cwd=folder, env={name: value for name, value in os.environ.items() if name not in outer},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_make_keeps_choices(checkout):
    """Quotes and all, a choice given to make is in the build for the next call, which starts no Python for it."""
    build, formula = checkout / "data" / "build-mini", "correct ~ bs(rho, df=4, extrapolation='extend')"
    files = [f"data/build-mini/{name}.txt" for name in DEFAULTS]
    done = make(checkout, *files, f"FORMULA={formula}", "FAMILY=probit", f"SOURCE={ROOT}")
    assert done.returncode == 0, done.stderr
    assert read_choices(build) == {"source": str(ROOT), "formula": formula, "family": "probit", "data": ""}
    assert "up to date" in make(checkout, *files).stdout
    assert make(checkout, *files, "SOURCE=reconstructed", "FAMILY=").returncode == 0
    assert read_choices(build) == {"source": "reconstructed", "formula": formula, "family": "", "data": ""}


def test_make_stops_before_anything_is_removed(checkout):
    """A bad choice ends make with the sentence, and nothing has been built or taken away."""
    build = checkout / "data" / "build-mini"
    (build / "outputs").mkdir(parents=True)
    (build / "outputs" / "kept.parquet").write_bytes(b"x")
    done = make(checkout, "reproduce", "FORMULA=correct ~ d;x")
    assert done.returncode == 2
    assert "cannot be read" in done.stderr
    assert [file.name for file in build.rglob("*") if file.is_file()] == ["kept.parquet"]
