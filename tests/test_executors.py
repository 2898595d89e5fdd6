"""Local processes, tasks side by side, and a real Dask cluster on this machine."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

from cogniload_repro.executors import open_executor
from cogniload_repro.puzzles.rows import draw_named
from cogniload_repro.scoring.scores import score_dataset
from cogniload_repro.storage import OUTPUTS, PUZZLES, write_table

NAMES = ["20_1_1_770487_red", "20_1_1_586907_purple"]
ROWS = 400
PARENT = """
import os, time
from cogniload_repro.executors import open_executor
if __name__ == "__main__":
    with open_executor(1) as executor:
        print(executor.submit(os.getpid).result(), flush=True)
        executor.submit(time.sleep, 600).result()
"""


@pytest.fixture
def build(tmp_path):
    """A folder with two puzzles and the outputs of six models."""
    puzzles = pa.Table.from_pylist([draw_named(name) for name in NAMES], PUZZLES)
    write_table(tmp_path / "puzzles.parquet", puzzles)
    for model in "abcdef":
        rows = [
            {
                "model": model,
                "name": NAMES[number % 2],
                "response": f"Step {number}.\nRaymond is wearing {model} red underwear.",
            }
            for number in range(ROWS)
        ]
        outputs = pa.Table.from_pylist(rows, OUTPUTS)
        write_table(tmp_path / f"outputs/{model}.parquet", outputs)
    return tmp_path


def score(build, folder, executor):
    """Score all outputs; return the bytes of the files that are there then, by name."""
    score_dataset(
        build / "outputs", build / "puzzles.parquet", build / folder, executor
    )
    return {path.name: path.read_bytes() for path in (build / folder).iterdir()}


@pytest.mark.slow
def test_a_cluster_gives_the_same_bytes_as_this_machine(build):
    """Six models are scored by two workers of Dask and by two processes here."""
    need = "needs the extra `cluster`: pip install distributed"
    distributed = pytest.importorskip("distributed", reason=need)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster:
        with open_executor(1, cluster.scheduler_address) as executor:
            far = score(build, "far", executor)
        with open_executor(2) as executor:
            near = score(build, "near", executor)
    assert len(near) == 6
    assert far == near


def test_a_worker_ends_with_its_parent(tmp_path):
    """A parent that is killed leaves nobody asleep."""
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, script]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        number = int(parent.stdout.readline())
        parent.kill()
    worker = Path(f"/proc/{number}/stat")
    deadline = time.monotonic() + 60
    while worker.exists() and " Z " not in worker.read_text():
        assert time.monotonic() < deadline, "the worker outlives its parent"


def test_a_worker_that_is_killed_ends_in_a_sentence():
    """The system kills a process that needs more memory than there is."""
    refused = pytest.raises(ValueError, match="a process was killed")
    with refused, open_executor(1) as executor:
        executor.submit(os._exit, 1).result()


def fail(text):
    """Work that fails."""
    raise ValueError(text)


def test_after_a_failure_no_other_work_is_started(tmp_path):
    """What runs beside it is finished; the error is that of the work."""
    later = [tmp_path / f"later{number}" for number in range(9)]

    def work():
        with open_executor(1) as executor:
            first = executor.submit(fail, "no data")
            for path in later:
                executor.submit(time.sleep, 0.5)
                executor.submit(path.touch)
            first.result()

    with pytest.raises(ValueError, match=r"^no data$"):
        work()
    assert not later[-1].exists()
