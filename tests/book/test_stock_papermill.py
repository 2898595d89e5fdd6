"""Every chapter also runs by papermill's own engine, with a kernel."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILDS = [ROOT / "data/build", ROOT / "data/build-mini"]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
#: Chapters for every run of the tests, with a figure, tables and verdicts.
QUICK = ("07_aic", "11_comparison")


def _mark(source):
    marks = [] if source.stem in QUICK else [pytest.mark.slow]
    return pytest.param(source, id=source.stem, marks=marks)


@pytest.mark.parametrize("source", [_mark(source) for source in NOTEBOOKS])
def test_a_chapter_runs_by_papermill_alone(source, tmp_path):
    """In its own folder, over a build; no file of the build is touched."""
    built = [build for build in BUILDS if (build / "fidelity.csv").exists()]
    if not built:
        pytest.skip("needs a build; make smoke")
    before = {file: file.stat().st_mtime_ns for file in built[0].glob("*/*.*")}
    command = [sys.executable, "-m", "papermill", "--cwd", "notebooks", "-k", "python3"]
    build = ["-p", "build", os.path.relpath(built[0], ROOT / "notebooks")]
    done = subprocess.run(
        [*command, *build, f"notebooks/{source.name}", tmp_path / source.name],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert before == {file: file.stat().st_mtime_ns for file in built[0].glob("*/*.*")}
