"""Where work is done: processes on this machine, or the workers of a Dask cluster."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import Any

from tqdm import tqdm

#: Whether processes are forked safely on this system.
CAN_FORK = sys.platform == "linux"
#: Seconds for a Dask scheduler to answer.
CONNECT_S = 10

tqdm.monitor_interval = 0  # its thread would keep `open_executor` from forking


@contextmanager
def open_executor(jobs: int, scheduler: str | None = None) -> Iterator[Executor]:
    """Open an executor; what is computed does not depend on which.

    With the address of a Dask scheduler, its workers are used in place of processes here. They need
    this package, one thread each, and the same folders. A ValueError says what is missing, or that
    a task has killed its worker.
    """
    if scheduler:
        with _open_cluster(scheduler) as executor:
            yield executor
        return
    # forking saves all imports, but a process with other threads may deadlock when it is forked
    alone = threading.active_count() == 1
    context: Any = multiprocessing.get_context("fork" if CAN_FORK and alone else "spawn")
    with ProcessPoolExecutor(jobs, context, _follow_parent) as pool:
        try:
            yield pool
        except BrokenExecutor:
            cause = "a process was killed, perhaps for lack of memory"
            raise ValueError(f"{cause}; run again, with fewer --jobs") from None
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _follow_parent() -> None:
    """End this worker when its parent ends, even by force."""
    # Ctrl-C reaches every process: workers end at once and leave the traceback to the first
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@contextmanager
def _open_cluster(scheduler: str) -> Iterator[Executor]:
    try:
        from distributed import Client, KilledWorker

        client = Client(scheduler, timeout=CONNECT_S, set_as_default=False)
    except ImportError:
        raise ValueError(f"{scheduler} needs Dask; install cogniload-repro[cluster]") from None
    except (OSError, ValueError) as error:
        remedy = "start one with `dask scheduler`"
        raise ValueError(f"no scheduler answers at {scheduler} ({error}); {remedy}") from None
    with client:
        if not client.nthreads():
            remedy = f"start some with `dask worker {scheduler} --nthreads 1`"
            raise ValueError(f"{scheduler} has no workers; {remedy}")
        try:
            yield client.get_executor(pure=False)
        except KilledWorker as error:
            raise ValueError(f"{error}; give the workers more memory and run again") from None
        except CancelledError:
            remedy = "start it and run again"
            raise ValueError(f"the scheduler at {scheduler} has ended; {remedy}") from None
