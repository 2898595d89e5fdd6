"""Local processes, tasks side by side, and a real Dask cluster on this machine."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

from cogniload_repro import executors
from cogniload_repro.executors import Task, open_executor, run_in_parallel
from cogniload_repro.puzzles.catalog import draw_named
from cogniload_repro.schemas import OUTPUTS, PUZZLES
from cogniload_repro.scoring.scores import score_dataset
from cogniload_repro.storage import write_table

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


@pytest.mark.slow
def test_a_scheduler_without_workers_is_refused():
    """The sentence says how to start one."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        refused = pytest.raises(ValueError, match="has no workers; start some")
        with refused, open_executor(1, address):
            pass


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1:1", "tcp://[::1"])
def test_an_address_without_a_scheduler_is_refused(address, monkeypatch):
    """The sentence names the address and how to start one."""
    monkeypatch.setattr(executors, "CONNECT_S", 1)
    refused = pytest.raises(
        ValueError, match=r"no scheduler answers at .*dask scheduler"
    )
    with refused, open_executor(1, address):
        pass


def test_a_cluster_needs_dask(monkeypatch):
    """The sentence names the extra to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    refused = pytest.raises(ValueError, match=r"install cogniload-repro\[cluster\]")
    with refused, open_executor(1, "tcp://127.0.0.1:1"):
        pass


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
    """What runs beside it is finished; the refusal has its name."""
    done = [tmp_path / name for name in ("beside", "later")]
    tasks = [
        Task("first", fail, ("no data",)),
        *(Task(path.name, path.touch) for path in done),
    ]
    with pytest.raises(ValueError, match=r"^first: no data$"):
        list(run_in_parallel(tasks, 2))
    assert [path.exists() for path in done] == [True, False]


def test_a_process_that_dies_is_one_sentence():
    """A task whose process is killed ends the others with its name, and without a traceback."""
    with pytest.raises(ValueError, match=r"page\.ipynb: its process ended"):
        list(run_in_parallel([Task("page.ipynb", kill_this_process)]))


def kill_this_process():
    """End by force."""
    os.kill(os.getpid(), signal.SIGKILL)


def start_a_thread():
    """Leave a thread behind that is no daemon."""
    threading.Thread(target=time.sleep, args=(600,)).start()


def test_a_thread_that_a_chapter_has_started_does_not_stop_the_book():
    """Its process ends with the task."""
    assert [
        name for name, _ in run_in_parallel([Task("page.ipynb", start_a_thread)])
    ] == ["page.ipynb"]


def test_an_interrupted_book_leaves_no_chapter_behind():
    """After Ctrl-C nothing goes on, not even a chapter that does not heed it."""
    endless = Task("endless.ipynb", time.sleep, (600,))
    tasks = run_in_parallel([Task("page.ipynb", os.getpid), endless], 2)
    assert next(tasks)[0] == "page.ipynb"
    tasks.close()
    for child in multiprocessing.active_children():
        child.join(60)
    assert multiprocessing.active_children() == []
