"""Local processes, works side by side, and a real Dask cluster on this machine."""

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
from cogniload_repro.executors import Work, do_side_by_side, open_executor
from cogniload_repro.puzzles.catalog import draw_named
from cogniload_repro.schemas import OUTPUTS, PUZZLES
from cogniload_repro.scoring.scores import score_dataset
from cogniload_repro.storage import write_table

NAMES = ["20_1_1_770487_red", "20_1_1_586907_purple"]
ROWS = 4_000
PARENT = """
import os, time
from cogniload_repro.executors import open_executor
if __name__ == "__main__":
    with open_executor(1) as executor:
        print(executor.submit(os.getpid).result(), flush=True)
        executor.submit(time.sleep, 600).result()
"""


def score(folder, scores, executor):
    """Score outputs of six models; return the bytes of the files that are there then, by name."""
    if not (folder / "puzzles.parquet").exists():
        rows = [draw_named(name) for name in NAMES]
        write_table(folder / "puzzles.parquet", pa.Table.from_pylist(rows, PUZZLES))
        for model in "abcdef":
            answers = [
                f"Step {row}.\nRaymond is wearing {model} red underwear." for row in range(ROWS)
            ]
            columns = [[model] * ROWS, NAMES * (ROWS // 2), answers, *[[None] * ROWS] * 3]
            table = pa.table(dict(zip(OUTPUTS.names, columns, strict=True)), schema=OUTPUTS)
            write_table(folder / f"outputs/{model}.parquet", table)
    score_dataset(folder / "outputs", folder / "puzzles.parquet", folder / scores, executor)
    return {path.name: path.read_bytes() for path in (folder / scores).iterdir()}


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_same_bytes(tmp_path):
    """Six models on two workers of Dask, one killed at work: nothing is lost; an end of the scheduler is explained."""
    distributed = pytest.importorskip(
        "distributed", reason="needs the extra `cluster`: pip install distributed"
    )
    with distributed.LocalCluster(
        2, threads_per_worker=1, dashboard_address=None, processes=True
    ) as cluster:
        with open_executor(1, cluster.scheduler_address) as executor:
            victim = executor.submit(os.getpid).result()
            executor.submit(lambda: time.sleep(0.3) or os.kill(victim, 9))
            scores = score(tmp_path, "far", executor)
        with open_executor(2) as executor:
            assert score(tmp_path, "near", executor) == scores
        assert len(scores) == 6
        cluster.scale(0)
        with pytest.raises(ValueError, match="has no workers; start some"):
            open_until_refused(cluster.scheduler_address)


def open_until_refused(address):
    """Open an executor on a cluster again and again, until its workers are gone."""
    for _ in range(200):
        with open_executor(1, address):
            time.sleep(0.05)


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1:1", "tcp://[::1"])
def test_an_address_of_no_scheduler_is_refused(address, monkeypatch):
    """The sentence names the address and how to start one, or what to install."""
    monkeypatch.setattr(executors, "CONNECT_S", 1)
    with (
        pytest.raises(ValueError, match=r"no scheduler answers at .*dask scheduler"),
        open_executor(1, address),
    ):
        pass
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ValueError, match=r"install cogniload-repro\[cluster\]"),
        open_executor(1, address),
    ):
        pass


def test_workers_end_with_their_parent_and_a_killed_one_is_explained(tmp_path):
    """A parent that is killed leaves nobody asleep; a worker that dies, as for lack of memory, ends in a sentence."""
    (tmp_path / "parent.py").write_text(PARENT)
    path = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, tmp_path / "parent.py"], stdout=subprocess.PIPE, text=True, env=path
    ) as one:
        worker = Path(f"/proc/{int(one.stdout.readline())}/stat")
        one.kill()
    deadline = time.monotonic() + 60
    while worker.exists() and " Z " not in worker.read_text():
        assert time.monotonic() < deadline, "the worker outlives its parent"
    with pytest.raises(ValueError, match="a process was killed"), open_executor(1) as executor:
        executor.submit(os._exit, 1).result()


def fail(text):
    """Work that fails."""
    raise ValueError(text)


def test_after_a_failure_no_other_work_is_started(tmp_path):
    """What runs beside it is finished; the refusal has its name."""
    done = [tmp_path / name for name in ("beside", "later")]
    works = [Work("first", fail, ("no data",)), *(Work(path.name, path.touch) for path in done)]
    with pytest.raises(ValueError, match=r"^first: no data$"):
        list(do_side_by_side(works, 2))
    assert [path.exists() for path in done] == [True, False]


def test_a_process_that_dies_is_one_sentence():
    """A work whose process is killed ends the others with its name, and without a traceback."""
    with pytest.raises(ValueError, match=r"page\.ipynb: its process ended"):
        list(do_side_by_side([Work("page.ipynb", kill_this_process)]))


def kill_this_process():
    """End by force."""
    os.kill(os.getpid(), signal.SIGKILL)


def start_a_thread():
    """Leave a thread behind that is no daemon."""
    threading.Thread(target=time.sleep, args=(600,)).start()


def test_a_thread_that_a_chapter_has_started_does_not_stop_the_book():
    """Its process ends with the work."""
    assert [name for name, _ in do_side_by_side([Work("page.ipynb", start_a_thread)])] == [
        "page.ipynb"
    ]
