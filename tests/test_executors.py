"""Local processes and a real Dask cluster on this machine."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

from cogniload_repro.executors import open_executor
from cogniload_repro.puzzles.catalog import draw_named, rows_table
from cogniload_repro.schemas import OUTPUTS
from cogniload_repro.scoring.cells import write_cells
from cogniload_repro.scoring.scores import score_dataset
from cogniload_repro.storage import write_table

NAMES = ["20_1_1_770487_red", "20_1_1_586907_purple"]
LABEL = {"provenance": "imported"}
ROWS = 8_000
MODELS = "abcdef"


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A folder with puzzles and outputs of six models, of which a worker scores one in half a second."""
    folder = tmp_path_factory.mktemp("build")
    write_table(folder / "puzzles.parquet", rows_table(map(draw_named, NAMES)), LABEL)
    for model in MODELS:
        answers = [f"Step {row}.\nRaymond is wearing {model} red underwear." for row in range(ROWS)]
        columns = [[model] * ROWS, [NAMES[row % 2] for row in range(ROWS)], answers, [500] * ROWS, [None] * ROWS]
        table = pa.table(dict(zip(OUTPUTS.names, columns, strict=True)), schema=OUTPUTS)
        write_table(folder / f"outputs/{model}.parquet", table, LABEL)
    return folder


def score(build, scores, executor):
    """Score the folder; return the bytes of the files that are there then, by name."""
    score_dataset(build / "outputs", build / "puzzles.parquet", scores, executor)
    return {path.name: path.read_bytes() for path in Path(str(scores).removeprefix("file://")).iterdir()}


@pytest.fixture(scope="module")
def local(build, tmp_path_factory):
    """The scores that local processes make."""
    with open_executor(2) as executor:
        return score(build, tmp_path_factory.mktemp("local"), executor)


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """Start a Dask program as a process, to be stopped at the end."""
    pytest.importorskip("distributed", reason="needs the extra `cluster`: pip install distributed universal-pathlib")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    running, folder = [], tmp_path_factory.mktemp("dask")

    def start(*arguments):
        command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
        with (folder / "dask.log").open("ab") as log:
            running.append(subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def cluster(start, tmp_path_factory):
    """A scheduler and two workers of one thread: the address, and the workers by name."""
    from distributed import Client

    file = tmp_path_factory.mktemp("scheduler") / "scheduler.json"
    start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
    options = ("--scheduler-file", str(file), "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1")
    workers = {name: start("worker", *options, "--name", name) for name in ("one", "two")}
    while not file.exists():
        time.sleep(0.05)
    with Client(scheduler_file=str(file), set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        yield client, workers


def kill_busy_worker(client, workers, scores, killed):
    """Stop the first worker that is seen at work, make sure that it is in the middle, and kill it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for address, tasks in client.processing().items():
            parts = list(scores.glob(".*.part"))
            if tasks and parts:
                process = workers[client.scheduler_info(n_workers=-1)["workers"][address]["name"]]
                process.send_signal(signal.SIGSTOP)
                time.sleep(0.2)
                if client.processing()[address]:
                    process.kill()
                    killed.append(process)
                    return
                process.send_signal(signal.SIGCONT)
        time.sleep(0.02)


def test_a_cluster_reads_and_writes_addresses(cluster, build, local):
    """Outputs, scores and cells may lie in any store that fsspec knows, here that of files."""
    pytest.importorskip("upath", reason="needs the extra `cluster`: pip install universal-pathlib")
    client, _ = cluster
    outputs, puzzles, scores = (f"file://{build / name}" for name in ("outputs", "puzzles.parquet", "there"))
    with open_executor(1, client.scheduler.address) as executor:
        paths = score_dataset(outputs, puzzles, scores, executor)
    assert {path.name: path.read_bytes() for path in paths} == local
    assert write_cells(scores, f"file://{build / 'cells.parquet'}")["n"].sum() == ROWS * len(MODELS)
    made = [path.stat().st_mtime_ns for path in paths]
    score_dataset(outputs, puzzles, scores)
    assert [path.stat().st_mtime_ns for path in paths] == made


def test_a_cluster_that_loses_a_worker_gives_the_same_bytes(cluster, build, local, tmp_path):
    """Six partitions on two workers, one killed at work: nothing is lost, doubled or left behind."""
    client, workers = cluster
    (tmp_path / "scores").mkdir()
    killed = []
    thread = threading.Thread(target=kill_busy_worker, args=(client, workers, tmp_path / "scores", killed))
    thread.start()
    with open_executor(1, client.scheduler.address) as executor:
        scores = score(build, tmp_path / "scores", executor)
    thread.join()
    assert [process.wait() for process in killed] == [-signal.SIGKILL]
    assert sorted(scores) == [f"{model}.parquet" for model in MODELS]
    assert scores == local


def test_a_cluster_without_workers_is_refused(start, tmp_path):
    """Tasks would wait there for ever; the message says how to start workers."""
    start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(tmp_path / "s.json"))
    from distributed import Client

    while not (tmp_path / "s.json").exists():
        time.sleep(0.05)
    with Client(scheduler_file=str(tmp_path / "s.json"), set_as_default=False) as client:
        address = client.scheduler.address
    with pytest.raises(ValueError, match="has no workers; start some with `dask worker"), open_executor(1, address):
        pass


def test_a_cluster_needs_its_extra(monkeypatch):
    """Without Dask the message says what to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ValueError, match=r"install cogniload-repro\[cluster\]"),
        open_executor(1, "tcp://127.0.0.1:1"),
    ):
        pass


def test_a_killed_process_is_explained(build, tmp_path):
    """A worker process that dies, as for lack of memory, ends the run with a sentence."""
    with pytest.raises(ValueError, match="a process was killed"), open_executor(1) as executor:
        executor.submit(os._exit, 1).result()
