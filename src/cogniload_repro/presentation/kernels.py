"""Kernels that start at once: forked from a process that has imported the libraries of the chapters already.

A kernel of its own for every notebook costs seconds of imports each; a fork shares them. Only where processes are
forked safely, that is on Linux; elsewhere notebooks start ordinary kernels.
"""

import gc
import importlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from typing import Any, cast

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

#: What nearly every chapter imports, slowest first.
LIBRARIES = ("cogniload_repro.presentation.page", "seaborn", "ipykernel.kernelapp")


def import_libraries() -> None:
    """Import what forks then share, and keep their garbage collectors from going through it again and again."""
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.freeze()


class ForkedKernel:
    """A fork of this process that waits to become a kernel; stands in for the `Popen` that Jupyter expects.

    To be made before threads, sockets and event loops exist here.
    """

    stdin = stdout = stderr = None

    def __init__(self) -> None:
        receiver, self._sender = multiprocessing.Pipe(duplex=False)
        self._process = multiprocessing.get_context("fork").Process(
            target=_become_kernel, args=(receiver, self._sender)
        )
        self._process.start()
        receiver.close()
        self.pid = cast(int, self._process.pid)  # it has started

    def launch(self, command: list[str], environment: dict[str, str], folder: str) -> None:
        """Let the fork become the kernel that a command line of ipykernel describes."""
        self._sender.send((command[command.index("-f") :], environment, folder))

    def release(self) -> None:
        """Let a fork that no notebook has called for go."""
        self._sender.close()

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        return self._process.exitcode

    def wait(self) -> int | None:
        """Wait until it has ended."""
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


def _become_kernel(receiver, sender) -> None:
    sender.close()
    os.setsid()
    import_libraries()  # where this process has them not yet, while the notebook is being read
    try:
        arguments, environment, folder = receiver.recv()
    except EOFError:  # the notebook came to nothing before it needed a kernel
        return
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["ipykernel_launcher", *arguments]
    from ipykernel.kernelapp import IPKernelApp

    IPKernelApp.launch_instance([*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"])


class _Provisioner(LocalProvisioner):
    """Jupyter's local provisioner, but for where the process comes from."""

    waiting: Any  # a ForkedKernel, which stands in for a Popen

    async def launch_kernel(self, cmd: list[str], **kwargs):
        self.process, self.cwd = self.waiting, kwargs.get("cwd") or os.getcwd()
        self.waiting.launch(cmd, kwargs["env"], str(self.cwd))
        self.pid = self.pgid = self.waiting.pid
        return self.connection_info


@contextmanager
def forked_kernel() -> Iterator[None]:
    """Fork a kernel now, for the one notebook that this process runs in the block."""
    _Provisioner.waiting = ForkedKernel()
    factory = KernelProvisionerFactory.instance()
    name = _Provisioner.__name__
    factory.provisioners[name] = EntryPoint(name, f"{__name__}:{name}", factory.GROUP_NAME)
    factory.default_provisioner_name = name
    try:
        yield
    finally:
        _Provisioner.waiting.release()
