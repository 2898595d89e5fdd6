"""Where the work is done: processes on this machine, which end with their parent, or the workers of a Dask cluster."""

import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from typing import Any, TypeVar
from urllib.parse import urlsplit

from tqdm import tqdm

from cogniload_repro import __version__

#: Whether processes are forked safely on this system.
CAN_FORK = sys.platform == "linux"
#: Seconds without a scheduler that answers, or without a worker that works, after which a cluster is given up.
PATIENCE_S = 60.0
_ANSWER_S, _LOOK_S = 10.0, 1.0
_ASK_VERSION = "__import__('cogniload_repro').__version__"  # a function of ours could not be sent where it is missing

tqdm.monitor_interval = 0  # its thread would keep `open_executor` from forking
T = TypeVar("T")


@contextmanager
def open_executor(jobs: int, scheduler: str | None = None) -> Iterator[Executor]:
    """Open an executor; what is computed does not depend on which.

    With the address of a Dask scheduler, its workers are used in place of processes here. They need this package, one
    thread each, and the same paths or addresses for the data. A ValueError says what is missing, that they have stopped
    working for `PATIENCE_S`, or that a task has killed its worker.
    """
    try:
        # a fork has what this process has imported; beside other threads it might never start
        alone = threading.active_count() == 1
        context: Any = multiprocessing.get_context("fork" if CAN_FORK and alone else "spawn")
        processes = ProcessPoolExecutor(jobs, context, _follow_parent) if not scheduler else None
        with processes or _open_cluster(str(scheduler)) as executor:
            yield executor
    except BrokenExecutor:
        raise ValueError("a process was killed, perhaps for lack of memory; run again, with fewer --jobs") from None


def within(seconds: float, function: Callable[[], T]) -> T:
    """Return what a function returns if it does so in time, else a TimeoutError; its thread is left behind then."""
    future: Future = Future()

    def run() -> None:
        try:
            future.set_result(function())
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    if not wait_for([future], seconds).done:
        raise TimeoutError(f"timed out after {seconds:g} s")
    return future.result()


def _follow_parent() -> None:
    """End this worker when its parent ends, however that does."""
    # Ctrl-C reaches every process: workers end at once and leave the traceback to the first
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (wait([parent.sentinel]), os._exit(1)), daemon=True).start()


@contextmanager
def _open_cluster(scheduler: str) -> Iterator[Executor]:
    client = _connect(scheduler)
    from distributed.scheduler import KilledWorker

    try:
        _check_workers(scheduler, client)
        cluster = _Cluster(scheduler, client)
        try:
            yield cluster
        except KilledWorker as error:
            raise ValueError(f"{error}; give the workers more memory and run again") from None
        except CancelledError:
            trouble = cluster.trouble or f"the scheduler at {scheduler} has ended"
            raise ValueError(f"{trouble}; run again when it is mended, what is done is kept") from None
        finally:
            cluster.end.set()
    finally:
        with suppress(OSError, TimeoutError):
            within(_ANSWER_S, lambda: client.close(timeout=_ANSWER_S))


def _connect(scheduler: str):
    """Return a client of a scheduler; a ValueError where there is none."""
    try:
        found = urlsplit(scheduler)
        host, port = found.hostname, found.port
    except ValueError:  # half an address of IPv6, or a port that is no number
        host = port = None
    if not (host and port and found.scheme in ("tcp", "tls", "ws", "wss") and found.path in ("", "/")):
        raise ValueError(f"{scheduler!r} is no address of a Dask scheduler; write one such as tcp://host:8786")
    try:
        import distributed
    except ImportError:
        raise ValueError(f"{scheduler} needs Dask; install cogniload-repro[cluster]") from None

    try:
        socket.create_connection((host, port), _ANSWER_S).close()  # a client would ask again and again
        options = {"timeout": f"{_ANSWER_S}s", "set_as_default": False}  # whoever listens there may be silent
        return within(2 * _ANSWER_S, lambda: distributed.Client(scheduler, **options))
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"no scheduler answers at {scheduler} ({error}); start one with `dask scheduler`") from None


def _check_workers(scheduler: str, client) -> None:
    """Refuse a cluster without workers, or with one that lacks this package or has another version of it."""
    if not client.nthreads():
        raise ValueError(f"{scheduler} has no workers; start some with `dask worker {scheduler} --nthreads 1`")
    try:
        versions = within(PATIENCE_S, lambda: client.run(eval, _ASK_VERSION, on_error="return"))
    except TimeoutError:
        raise ValueError(f"workers of {scheduler} do not answer; stop those that hang, or start others") from None
    for worker, version in versions.items():
        if version != __version__:
            raise ValueError(f"worker {worker} has not cogniload-repro {__version__} ({version}); install it there")


class _Cluster(Executor):
    """Dask's executor, whose tasks are called off when nobody is left to work on them; ``trouble`` then says why."""

    def __init__(self, scheduler: str, client):
        self.trouble, self.end = "", threading.Event()
        self._scheduler, self._client, self._executor = scheduler, client, client.get_executor(pure=False)
        self._waiting: set[Future] = set()
        threading.Thread(target=self._look, daemon=True).start()

    def submit(self, function, /, *args, **kwargs) -> Future:
        future = self._executor.submit(function, *args, **kwargs)
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        if self.trouble:
            future.cancel()
        return future

    def _look(self) -> None:
        """Look after scheduler and workers, until the end or until it has come to nothing."""
        good = time.monotonic()
        while not self.trouble and not self.end.wait(_LOOK_S):
            trouble = self._find_trouble()
            if not trouble:
                good = time.monotonic()
            elif time.monotonic() - good > PATIENCE_S:
                self.trouble = f"{trouble} for {PATIENCE_S:g} s"
                for future in list(self._waiting):
                    future.cancel()

    def _find_trouble(self) -> str:
        try:
            workers = within(_ANSWER_S, lambda: self._client.scheduler_info(n_workers=-1))["workers"].values()
        except Exception:  # whatever a broken connection raises
            return f"the scheduler at {self._scheduler} has not answered"
        if not workers:
            return f"{self._scheduler} has had no workers"
        if not any(worker.get("status") == "running" for worker in workers):
            return f"no worker of {self._scheduler} has worked: all are paused, perhaps for lack of memory,"
        return ""
