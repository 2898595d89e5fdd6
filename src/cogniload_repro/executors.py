"""Parallel work: processes on this machine, or the workers of a Dask cluster."""

import importlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import Any


@contextmanager
def open_executor(
    jobs: int, scheduler: str | None = None, libraries: Sequence[str] = ()
) -> Iterator[Executor]:
    """Open an executor with ``jobs`` processes here, or with the workers of a Dask scheduler.

    Results do not depend on the choice. Processes here share the imports of the ``libraries``; the
    workers of a scheduler (given by its address) need this package, one thread each, and the same
    folders. After an error, no other task is started here.
    """
    if scheduler:
        from distributed import Client

        with Client(scheduler, timeout=10, set_as_default=False) as client:
            yield client.get_executor(pure=False)
        return
    executor = _start_processes(jobs, libraries)
    try:
        yield executor
    except BrokenExecutor:
        cause = "a process was killed, perhaps for lack of memory"
        raise ValueError(f"{cause}; run again, with fewer --jobs") from None
    finally:
        executor.shutdown(cancel_futures=True)


def _start_processes(jobs: int, libraries: Sequence[str]) -> Executor:
    for library in libraries:
        importlib.import_module(library)
    # a fork has all imports of its parent; elsewhere than on Linux it is not safe
    method = "fork" if sys.platform == "linux" else "spawn"
    context: Any = multiprocessing.get_context(method)
    return ProcessPoolExecutor(jobs, context, _follow_parent)


def _follow_parent() -> None:
    """End this process with its parent, even by force, so that two never write one build."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent: Any = multiprocessing.parent_process()

    def follow() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
