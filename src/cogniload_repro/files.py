"""Files written whole, folders locked, and errors of the system in one sentence.

Standard library only, since `make` calls these functions before every build.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

#: File by which a process locks a folder; it contains the process id.
LOCK = ".lock"

_ROOM = "free some disk space and run the same command again"
_RIGHTS = "change its permissions, or choose another folder"
#: What to do about an error of the operating system.
_SYSTEM_REMEDIES = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: _ROOM,
    0: _ROOM,  # of a lock that a limit on files leaves half-written
    errno.ENOENT: "check the path; workers of a cluster need it too",
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: _RIGHTS,
}


def describe_error(error: Exception) -> str:
    """Return an error as one sentence; for a system error, with the file and the remedy."""
    if isinstance(error, MemoryError):
        return "there is not enough memory; close other programs, or give fewer --jobs"
    if isinstance(error, shutil.Error):  # of several files that were copied
        _, place, cause = error.args[0][0]
        return f"{place} cannot be written: {cause}"
    if not isinstance(error, OSError) or error.errno not in _SYSTEM_REMEDIES:
        return str(error)
    # filename2 is the target of a copy; no file is named where results are printed, and where
    # processes have their locks
    place = error.filename2 or error.filename or "a file, standard output or /dev/shm"
    return f"{place}: {os.strerror(error.errno or errno.EFBIG)}; {_SYSTEM_REMEDIES[error.errno]}"


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path; its file replaces ``path`` if the block ends without an error.

    Readers find the old content or the new, never a part, even after an interruption. Missing
    folders are created.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.{uuid4().hex}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield part
        os.replace(part, path)
    except OSError as error:
        if error.errno and error.filename in (None, str(part)):
            error.filename = str(path)  # name the file asked for, not the temporary one
        raise
    finally:
        with suppress(OSError):  # must not hide an earlier error
            part.unlink()


def write_whole(
    path: str | Path, content: str | bytes, mode: int | None = None
) -> Path:
    """Write a file, text as UTF-8 with unchanged line ends; see `replacing`.

    A mode, such as 0o600, applies to the file from its first byte on.
    """
    if isinstance(content, str):
        content = content.encode("utf-8")
    with replacing(path) as part:
        if mode is not None:
            part.touch(mode)
        part.write_bytes(content)
    return Path(path)


def write_if_changed(path: Path, content: str, mode: int | None = None) -> None:
    """Write a text only if it changes.

    An unchanged file keeps its modification time, which make compares; see `write_whole`.
    """
    if not path.is_file() or path.read_bytes() != content.encode("utf-8"):
        write_whole(path, content, mode)


@contextmanager
def locked(folder: str | Path) -> Iterator[None]:
    """Lock a folder, created if missing, for this process and its workers.

    Half-written files of ended processes are removed. ValueError names a process that has the lock.
    """
    import fcntl  # not on every system, and not needed to read

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / LOCK, "a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read() or "of another run"
            remedy = "wait until it has ended, or end it"
            raise ValueError(
                f"process {holder} is at work in {folder}; {remedy}"
            ) from None
        file.truncate(0)
        # on a full disk the step says which of its files has no room
        with suppress(OSError):
            os.write(file.fileno(), str(os.getpid()).encode())
        for part in folder.rglob(".*.part"):
            if part.parent.name != "downloads":  # a download may run beside the build
                part.unlink(missing_ok=True)
        yield
        file.truncate(0)
