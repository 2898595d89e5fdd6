"""Every chapter also runs by papermill's own engine, with a kernel."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("source", NOTEBOOKS, ids=lambda source: source.stem)
def test_a_chapter_runs_by_papermill_alone(source, tmp_path):
    """In its own folder, over the build of the paper's grid; no file of the build is touched."""
    build = ROOT / "data/build"
    if not (build / "fidelity.csv").exists():
        pytest.skip("needs a build; make reproduce")
    before = {file: file.stat().st_mtime_ns for file in build.glob("*/*.*")}
    target = tmp_path / source.name
    command = [sys.executable, "-m", "papermill", "--cwd", "notebooks", "-k", "python3"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [*command, f"notebooks/{source.name}", target],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert before == {file: file.stat().st_mtime_ns for file in build.glob("*/*.*")}
