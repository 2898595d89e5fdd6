"""Where data lie; files written whole; one process at a time in a folder; foreign text made safe.

Standard library alone, as `make` asks for these before every build.
"""

import errno
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    import pandas as pd

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[1]

#: Folder that holds ``published/``, ``reconstructed/`` and ``outputs/``.
DATA = (
    _CHECKOUT / "data"
    if (_CHECKOUT / "data" / "published").is_dir()
    else _PACKAGE / "_data"
)
PUBLISHED = DATA / "published"
ICLR2026 = PUBLISHED / "iclr2026"
RECONSTRUCTED = DATA / "reconstructed"
#: Real answers that come with the package.
ANSWERS = DATA / "outputs"
#: File in a folder by which a process keeps others out; its text is the process's number.
LOCK = ".lock"

_ROOM = "free some disk space and run the same command again"
_RIGHTS = "change its permissions, or choose another folder"
# what spreadsheets take for a formula, or for the guard of one; full-width signs too
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠﹦﹢﹣﹫]|[\t\r\n]|'")
# the same behind a mark at which some spreadsheets divide cells
_INNER_FORMULA = re.compile(r"([;|\t\r\n]\s*)(?=[=+\-@＝＋－＠﹦﹢﹣﹫])")
# signed numbers and dashes of printed tables, which are no formulas
_NUMBER_FORM = re.compile(r"[+-]?\d[\d,]*\.?\d*(e[+-]?\d+)?%?\**|--|-")
# how an address begins; of these schemes with any number of strokes or no colon, of others with two
_ADDRESS = re.compile(
    r"(?:https?|hf|ftps?|sftp|ssh|s3|gs)(?::[/\\]*|[/\\]{2,})|[a-z][a-z0-9+.-]+:[/\\]{2,}",
    re.IGNORECASE,
)
# user and password before a host, a password with a stroke in it too
_USER = re.compile(r"^(?:[^/]*@|(?!\[)[^/]*:(?!\d*(?:/|$)).*@)")
#: What to do where the system refuses.
_SYSTEM_REMEDIES = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: _ROOM,
    errno.ENOENT: "check the path; workers of a cluster need it too",
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: _RIGHTS,
}


def describe_error(error: Exception) -> str:
    """Return an error as one sentence; where the system refuses, with the file and the remedy."""
    if isinstance(error, MemoryError):
        return "there is not enough memory; close other programs, or give fewer --jobs"
    if not isinstance(error, OSError) or error.errno not in _SYSTEM_REMEDIES:
        return str(error)
    place = error.filename2 or error.filename or "a file"  # of a copy, where it goes
    return f"{place}: {os.strerror(error.errno)}; {_SYSTEM_REMEDIES[error.errno]}"


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
        with suppress(OSError):  # what went wrong before says more
            part.unlink()


def write_whole(
    path: str | Path, content: str | bytes, mode: int | None = None
) -> Path:
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


def write_if_changed(
    path: str | Path, content: str | bytes, mode: int | None = None
) -> bool:
    """Write a file only if its content changes: an equal file keeps its time, which make compares.

    Return whether it was written; see `write_whole`.
    """
    if isinstance(content, str):
        content = content.encode("utf-8")
    path = Path(path)
    if path.is_file() and path.read_bytes() == content:
        return False
    write_whole(path, content, mode)
    return True


@contextmanager
def locked(folder: str | Path) -> Iterator[None]:
    """Keep a folder for this process and its workers, which end with it.

    What another one has left half-written is removed. ValueError names one that is at work there.
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
        file.write(str(os.getpid()))
        file.flush()
        for part in folder.rglob(".*.part"):
            if part.parent.name != "downloads":  # which may go on beside the build
                part.unlink(missing_ok=True)
        yield
        file.truncate(0)


def fingerprint(path: str | Path) -> str:
    """Return a digest of the names, sizes and times of a file, or of all files of a folder."""
    lines = []
    for file in (Path(path), *sorted(Path(path).rglob("*"))):
        about = file.stat() if file.exists() else file.lstat()
        # a copy can keep the time of the last modification, never that of the change of the entry
        lines.append(f"{file} {about.st_size} {about.st_mtime_ns} {about.st_ctime_ns}")
    text = "\n".join(lines)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def for_terminal(text: str) -> str:
    """Return text with control characters, and marks that turn the writing direction, spelt out."""
    signs = []
    for sign in text:
        is_plain = sign.isprintable() or sign in "\n\t"
        signs.append(sign if is_plain else sign.encode("unicode_escape").decode())
    return "".join(signs)


def for_spreadsheet(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame, to be written as CSV, in which no spreadsheet sees a formula.

    An apostrophe stands before text that begins like one, also behind a mark at which some
    spreadsheets divide cells.
    """
    return frame.map(_guard_cell).set_axis(
        [_guard_cell(name) for name in frame.columns], axis=1
    )


def _guard_cell(cell: object) -> object:
    if not isinstance(cell, str) or _NUMBER_FORM.fullmatch(cell):
        return cell
    guarded = _INNER_FORMULA.sub(r"\1'", cell)
    return f"'{guarded}" if _FORMULA.match(guarded) else guarded


def is_address(source: str) -> bool:
    """Return whether a source is meant as an address, however many strokes it has."""
    return _ADDRESS.match(source) is not None


def without_secrets(address: str) -> str:
    """Return an address without user, password, query and fragment, but for the sum of a file.

    A path is returned as it is.
    """
    start = _ADDRESS.match(address)
    if not start:
        return address
    rest, _, fragment = address[start.end() :].partition("#")
    place = _USER.sub("", rest.partition("?")[0], count=1)
    digits = re.match(r"sha256=[0-9A-Fa-f]+", fragment)
    return start[0] + place + (f"#{digits[0]}" if digits else "")
