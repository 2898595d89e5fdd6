"""Where data lie; files written whole; one process at a time in a folder; foreign text made safe.

Standard library alone, as `make` asks for these before every build.
"""

import errno
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO
from uuid import uuid4

if TYPE_CHECKING:
    import pandas as pd

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[1]

#: Folder that holds ``published/`` and ``reconstructed/``.
DATA = _PACKAGE / "_data"
if (_CHECKOUT / "data" / "published").is_dir():
    DATA = _CHECKOUT / "data"
PUBLISHED = DATA / "published"
ICLR2026 = PUBLISHED / "iclr2026"
RECONSTRUCTED = DATA / "reconstructed"

#: File in a folder by which a process keeps others out; its text is the process's number.
LOCK = ".lock"

_ROOM = "free some disk space and run the same command again"
_RIGHTS = "change its permissions, or choose another folder"
#: What to do where the system refuses.
_REMEDIES = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: _ROOM,
    errno.ENOENT: "check the path; workers of a cluster need it too",
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: _RIGHTS,
}

#: What spreadsheets take for a formula, or for the mark that one is to be shown as text.
_FORMULA = re.compile(r"\s*[=+\-@]|[\t\r\n]|'")
#: Signed numbers and dashes of printed tables, which spreadsheets take for no formula.
_NUMBER = re.compile(r"[+-]?\d[\d,]*\.?\d*(e[+-]?\d+)?%?\**|--|-")


def describe_error(error: Exception) -> str:
    """Return an error as one sentence; where the system refuses, with the file and the remedy."""
    if isinstance(error, MemoryError):
        return "there is not enough memory; close other programs, or give fewer --jobs"
    if not isinstance(error, OSError) or error.errno not in _REMEDIES:
        return str(error)
    place = error.filename2 or error.filename or "a file"  # of a copy, where it goes
    return f"{place}: {os.strerror(error.errno)}; {_REMEDIES[error.errno]}"


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a path beside another, which takes its place when the block ends without an error.

    A reader, or an interruption, meets the old content or the new, never a part. Missing folders
    are made.
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
        part.unlink(missing_ok=True)


def write_whole(path: str | Path, content: str | bytes, mode: int | None = None) -> Path:
    """Write a file, text as UTF-8 with its line ends as they are; see `replacing`.

    A mode, such as 0o600, is that of the file from its first byte on.
    """
    if isinstance(content, str):
        content = content.encode("utf-8")
    with replacing(path) as part:
        if mode is not None:
            part.touch(mode)
        part.write_bytes(content)
    return Path(path)


@contextmanager
def locked(folder: str | Path) -> Iterator[TextIO | None]:
    """Keep a folder for this process and those that it starts.

    ValueError names another process that is at work there.
    Yields the file of the lock, which stays locked as long as a process that inherits it lives;
    None where a parent of this process has it.
    """
    import fcntl  # not on every system, and not needed to read

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / LOCK, "a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip()
            if holder != str(os.getppid()):
                who = f"process {holder or 'of another run'}"
                remedy = "wait until it has ended, or end it"
                raise ValueError(f"{who} is at work in {folder}; {remedy}") from None
            yield None
            return
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield file
        file.truncate(0)


def look_at(path: str | Path) -> str:
    """Return a digest of the names, sizes and times of a file, or of all files of a folder."""
    lines = []
    for file in (Path(path), *sorted(Path(path).rglob("*"))):
        about = file.stat() if file.exists() else file.lstat()
        # a copy can keep the time of the last modification, never that of the change of the entry
        lines.append(f"{file} {about.st_size} {about.st_mtime_ns} {about.st_ctime_ns}")
    text = "\n".join(lines)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def digest_of(path: str | Path) -> str:
    """Return the digest of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def for_terminal(text: str) -> str:
    """Return text with control characters, and marks that turn the writing direction, spelt out."""
    return "".join(sign if _is_plain(sign) else _spell_out(sign) for sign in text)


def _is_plain(sign: str) -> bool:
    return sign.isprintable() or sign in "\n\t"


def _spell_out(sign: str) -> str:
    return sign.encode("unicode_escape").decode()


def for_spreadsheet(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame for a CSV file, with an apostrophe before text that looks like a formula."""
    return frame.map(_guard_cell).rename(columns=_guard_cell)


def _guard_cell(cell: object) -> object:
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def without_secrets(address: str) -> str:
    """Return an address without user, password, query and fragment; a path stays as it is.

    A check sum in the fragment stays too.
    """
    scheme, mark, rest = address.partition("://")
    if not mark:
        return address
    rest, _, fragment = rest.partition("#")
    rest, _, _ = rest.partition("?")
    host, slash, path = rest.partition("/")
    _, _, host = host.rpartition("@")
    check_sum = re.match(r"sha256=[0-9A-Fa-f]+", fragment)
    ending = f"#{check_sum[0]}" if check_sum else ""
    return f"{scheme}://{host}{slash}{path}{ending}"
