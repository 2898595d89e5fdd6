"""Run tasks in processes on this machine, or on the workers of a Dask cluster."""

import gc
import importlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    ProcessPoolExecutor,
)
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from tqdm import tqdm

from cogniload_repro.files import describe_error

#: Whether processes can safely be forked on this system.
CAN_FORK = sys.platform == "linux"
#: Seconds to wait for a Dask scheduler to answer.
CONNECT_S = 10

tqdm.monitor_interval = 0  # its thread would keep `open_executor` from forking


@contextmanager
def open_executor(jobs: int, scheduler: str | None = None) -> Iterator[Executor]:
    """Open an executor with ``jobs`` processes here, or with the workers of a Dask scheduler.

    Results do not depend on the choice. The workers of a scheduler (given by its address) need this
    package, one thread each, and the same folders. ValueError says what is missing, or that a task
    has killed its worker.
    """
    if scheduler:
        with _open_cluster(scheduler) as executor:
            yield executor
        return
    # forking saves all imports, but a process with other threads may deadlock when it is forked
    alone = threading.active_count() == 1
    context: Any = multiprocessing.get_context(
        "fork" if CAN_FORK and alone else "spawn"
    )
    with ProcessPoolExecutor(jobs, context, follow_parent) as pool:
        try:
            yield pool
        except BrokenExecutor:
            cause = "a process was killed, perhaps for lack of memory"
            raise ValueError(f"{cause}; run again, with fewer --jobs") from None
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def follow_parent() -> None:
    """End this worker when its parent ends, even by force."""
    # Ctrl-C reaches every process: workers end at once and leave the message to their parent
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
        raise ValueError(
            f"{scheduler} needs Dask; install cogniload-repro[cluster]"
        ) from None
    except (OSError, ValueError) as error:
        remedy = "start one with `dask scheduler`"
        raise ValueError(
            f"no scheduler answers at {scheduler} ({error}); {remedy}"
        ) from None
    with client:
        if not client.nthreads():
            remedy = f"start some with `dask worker {scheduler} --nthreads 1`"
            raise ValueError(f"{scheduler} has no workers; {remedy}")
        try:
            yield client.get_executor(pure=False)
        except KilledWorker as error:
            raise ValueError(
                f"{error}; give the workers more memory and run again"
            ) from None
        except CancelledError:
            remedy = "start it and run again"
            raise ValueError(
                f"the scheduler at {scheduler} has ended; {remedy}"
            ) from None


@dataclass(frozen=True)
class Task:
    """A task to be run in a process of its own."""

    name: str
    function: Callable[..., object]
    arguments: tuple = ()


def run_in_parallel(
    tasks: Sequence[Task], jobs: int = 1, libraries: Sequence[str] = ()
) -> Iterator[tuple[str, float]]:
    """Run tasks in parallel, at most ``jobs`` at a time, each in a process of its own.

    If processes are forked, the libraries are imported once for all of them. Yields the name of
    each task when it is done, with the seconds it took. After a failure no task is started; when
    the running ones have ended, ValueError has the messages of all that failed.
    """
    if CAN_FORK and tasks:
        _import_for_forks(libraries)
    context: Any = multiprocessing.get_context("fork" if CAN_FORK else "spawn")
    waiting = list(reversed(tasks))
    running: dict[Any, tuple] = {}
    failures: list[str] = []
    try:
        while running or (waiting and not failures):
            while waiting and len(running) < jobs and not failures:
                task = waiting.pop()
                receiver, process = _start_process(task, context)
                running[receiver] = (task.name, process, time.monotonic())
            for receiver in wait(list(running)):
                name, process, start = running.pop(receiver)
                failure = _await_end(name, receiver, process)
                if failure:
                    failures.append(failure)
                else:
                    yield name, time.monotonic() - start
    finally:
        for _, process, _ in running.values():  # after Ctrl-C, which they may ignore
            process.kill()
    if failures:
        raise ValueError("\n".join(failures))


def _import_for_forks(libraries: Sequence[str]) -> None:
    """Import libraries, which forks of this process then share."""
    for library in libraries:
        importlib.import_module(library)
    gc.freeze()  # the garbage collector of forks skips shared objects


def _start_process(task: Task, context: Any) -> tuple[Any, Any]:
    """Start a process that runs a task; return the pipe for its failure, and the process."""
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run_task, args=(task, sender))
    process.start()
    sender.close()
    return receiver, process


def _await_end(name: str, receiver: Any, process: Any) -> str:
    """Wait until a task has ended; return what went wrong, or an empty text."""
    try:
        failure = receiver.recv()
    except EOFError:
        failure = None
    process.join()
    if failure is not None:
        return failure
    return (
        f"{name}: its process ended before it was done, with status {process.exitcode}; if "
        "memory is short, run again with fewer --jobs"
    )


def _run_task(task: Task, sender: Connection) -> None:
    """Run a task in this process, and send what went wrong, or an empty text."""
    follow_parent()
    failure = ""
    try:
        task.function(*task.arguments)
    except Exception as error:  # code of a chapter may raise anything
        text = describe_error(error)
        if not isinstance(error, ValueError | OSError | MemoryError):
            text = f"{type(error).__name__}: {text}"
        failure = text if task.name in text else f"{task.name}: {text}"
    sender.send(failure)
    os._exit(0)  # threads that a chapter has started would keep the process alive
