"""Where the work is done: processes on this machine, or the workers of a Dask cluster."""

import signal
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context


@contextmanager
def open_executor(jobs: int, scheduler: str | None = None) -> Iterator[Executor]:
    """Open an executor; what is computed does not depend on which.

    Parameters
    ----------
    jobs : int
        Processes on this machine.
    scheduler : str, optional
        Address of a Dask scheduler, such as ``tcp://host:8786``, whose workers are used instead. They need this
        package, one thread each, and the same paths or addresses for the data.

    Raises
    ------
    ValueError
        If the extra `cluster` is not installed, the scheduler has no workers, or a task kills its workers.
    OSError
        If no scheduler answers.
    """
    try:
        with _open_cluster(scheduler) if scheduler else _open_processes(jobs) as executor:
            yield executor
    except BrokenExecutor:
        raise ValueError("a process was killed, perhaps for lack of memory; run again, with fewer --jobs") from None


def _open_processes(jobs: int) -> Executor:
    # Ctrl-C reaches every process: workers end at once and leave the traceback to the first
    ending = signal.SIGINT, signal.SIG_DFL
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=signal.signal, initargs=ending)


@contextmanager
def _open_cluster(scheduler: str) -> Iterator[Executor]:
    try:
        from distributed import Client
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise ValueError(f"{scheduler} needs Dask; install cogniload-repro[cluster]") from None
    with Client(scheduler, timeout="10s", set_as_default=False) as client:
        if not client.nthreads():
            raise ValueError(f"{scheduler} has no workers; start some with `dask worker {scheduler} --nthreads 1`")
        try:
            yield client.get_executor(pure=False)
        except KilledWorker as error:
            raise ValueError(f"{error}; give the workers more memory and run again") from None
