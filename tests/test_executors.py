"""Local processes and a real Dask cluster on this machine."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cogniload_repro import executors
from cogniload_repro.executors import open_executor
from cogniload_repro.puzzles.catalog import draw_named
from cogniload_repro.schemas import OUTPUTS, PUZZLES
from cogniload_repro.scoring import scores as scoring
from cogniload_repro.scoring.scores import score_dataset
from cogniload_repro.storage import read_metadata, write_table

NAMES = ["20_1_1_770487_red", "20_1_1_586907_purple"]
LABEL = {"provenance": "imported"}
ROWS = 8_000
MODELS = "abcdef"


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A folder with puzzles and outputs of six models, of which a worker scores one in half a second."""
    folder = tmp_path_factory.mktemp("build")
    write_table(folder / "puzzles.parquet", pa.Table.from_pylist(list(map(draw_named, NAMES)), PUZZLES), LABEL)
    for model in MODELS:
        answers = [f"Step {row}.\nRaymond is wearing {model} red underwear." for row in range(ROWS)]
        columns = [[model] * ROWS, [NAMES[row % 2] for row in range(ROWS)], answers, [500] * ROWS]
        columns += [[None] * ROWS] * 2
        table = pa.table(dict(zip(OUTPUTS.names, columns, strict=True)), schema=OUTPUTS)
        write_table(folder / f"outputs/{model}.parquet", table, LABEL)
    return folder


def score(build, scores, executor):
    """Score the folder; return the bytes of the files that are there then, by name."""
    score_dataset(build / "outputs", build / "puzzles.parquet", scores, executor)
    return {path.name: path.read_bytes() for path in Path(scores).iterdir()}


@pytest.fixture(scope="module")
def local(build, tmp_path_factory):
    """The scores that local processes make."""
    with open_executor(2) as executor:
        return score(build, tmp_path_factory.mktemp("local"), executor)


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """Start a scheduler and so many workers of one thread: a client, the scheduler and the workers by name."""
    distributed = pytest.importorskip("distributed", reason="needs the extra `cluster`: pip install distributed")
    running, folder, clients = [], tmp_path_factory.mktemp("dask"), []

    def run(*arguments, path=()):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([*path, *sys.path])}
        command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard", "--host", "127.0.0.1"]
        with (folder / "dask.log").open("ab") as log:
            running.append(subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log))
        return running[-1]

    def start(workers, *options, path=()):
        file = folder / f"{len(running)}.json"
        scheduler = run("scheduler", "--port", "0", "--scheduler-file", str(file))
        options = ("--scheduler-file", str(file), "--nthreads", "1", "--no-nanny", *options)
        found = {name: run("worker", *options, "--name", name, path=path) for name in ("one", "two")[:workers]}
        while not file.exists():
            time.sleep(0.05)
        clients.append(distributed.Client(scheduler_file=str(file), set_as_default=False))
        clients[-1].wait_for_workers(workers, timeout=60) if workers else None
        return clients[-1], scheduler, found

    yield start
    for client in clients:
        client.close(timeout=1)
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def cluster(start):
    """A client of a scheduler with two workers, and these by name."""
    client, _, workers = start(2)
    return client, workers


def kill_busy_worker(client, workers, scores, killed):
    """Stop the first worker that is seen at work, make sure that it is in the middle, and kill it."""
    deadline = time.monotonic() + 120
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


def test_a_cluster_without_workers_is_refused(start):
    """Tasks would wait there for ever; the message says how to start workers."""
    address = start(0)[0].scheduler.address
    with pytest.raises(ValueError, match="has no workers; start some with `dask worker"), open_executor(1, address):
        pass


def test_scores_that_are_written_elsewhere_are_missed(build, tmp_path):
    """A worker that does not see the folder cannot make models vanish."""

    class Elsewhere(ThreadPoolExecutor):
        def submit(self, function, outputs, puzzles, scores, *more):
            lost = tmp_path / "lost" if scores.stem == "c" else scores.parent
            return super().submit(function, outputs, puzzles, lost / scores.name, *more)

    with Elsewhere(1) as executor, pytest.raises(ValueError, match=r"c\.parquet has 0 of 8,000 rows"):
        score(build, tmp_path / "scores", executor)


def test_a_worker_with_another_scorer_is_refused(build, tmp_path):
    """The version's number alone does not say what a checkout has."""

    class Older(ThreadPoolExecutor):
        def submit(self, function, outputs, puzzles, scores, rules, made_from, *more):
            return super().submit(function, outputs, puzzles, scores, rules, made_from | {"code": "older"}, *more)

    with Older(1) as executor, pytest.raises(ValueError, match="a worker has another scorer; give all workers the"):
        score(build, tmp_path / "scores", executor)
    assert not list((tmp_path / "scores").glob("*.parquet"))


def test_scores_that_lack_rows_are_refused(build, tmp_path, monkeypatch):
    """What is there has as many rows as its outputs."""
    whole = scoring._score

    def score_half(outputs, puzzles, scores, *more):
        whole(outputs, puzzles, scores, *more)
        write_table(scores, pq.read_table(scores).slice(0, ROWS // 2), read_metadata(scores))

    monkeypatch.setattr(scoring, "_score", score_half)
    with pytest.raises(ValueError, match=r"a\.parquet has 4,000 of 8,000 rows"):
        score(build, tmp_path / "scores", None)


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1:1", "tcp://[::1"])
def test_an_address_of_no_scheduler_is_refused(address, monkeypatch):
    """The sentence names the address and how to start one."""
    pytest.importorskip("distributed", reason="needs the extra `cluster`: pip install distributed")
    monkeypatch.setattr(executors, "CONNECT_S", 1)
    with pytest.raises(ValueError, match=r"no scheduler answers at .*dask scheduler"), open_executor(1, address):
        pass


def test_a_cluster_whose_scheduler_ends_ends_in_a_sentence(start):
    """Whoever waits for a result learns why there is none."""
    client, scheduler, _ = start(1)
    address = client.scheduler.address
    client.close()

    def work():
        with open_executor(1, address) as executor:
            future = executor.submit(time.sleep, 600)
            time.sleep(0.5)
            scheduler.kill()
            future.result(120)

    with pytest.raises(ValueError, match=r"the scheduler at .* has ended; start it and run again"):
        work()


PARENT = """
import os, sys, time
from cogniload_repro.executors import open_executor
if __name__ == "__main__":
    with open_executor(1) as executor:
        print(executor.submit(os.getpid).result(), flush=True)
        executor.submit(time.sleep, 600)
        time.sleep(600)
"""


def test_workers_end_with_their_parent(tmp_path):
    """A parent that is killed leaves nobody asleep."""
    (tmp_path / "parent.py").write_text(PARENT)
    parent = subprocess.Popen([sys.executable, tmp_path / "parent.py"], stdout=subprocess.PIPE, text=True,
                              env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 120
    while is_running(worker):
        assert time.monotonic() < deadline, "the worker outlives its parent"
        time.sleep(0.05)


def is_running(number):
    """Whether there is such a process, and it has not ended."""
    try:
        return " Z " not in Path(f"/proc/{number}/stat").read_text()
    except FileNotFoundError:
        return False


def test_a_cluster_needs_its_extra(monkeypatch):
    """Without Dask the message says what to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    named = pytest.raises(ValueError, match=r"install cogniload-repro\[cluster\]")
    with named, open_executor(1, "tcp://127.0.0.1:1"):
        pass


def test_a_killed_process_is_explained(build, tmp_path):
    """A worker process that dies, as for lack of memory, ends the run with a sentence."""
    with pytest.raises(ValueError, match="a process was killed"), open_executor(1) as executor:
        executor.submit(os._exit, 1).result()
