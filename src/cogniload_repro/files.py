"""Data folders, files written whole, locks on folders, and untrusted text made safe to show.

Standard library only, since `make` calls these functions before every build.
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
#: Real responses that come with the package.
ANSWERS = DATA / "outputs"
#: File by which a process locks a folder; it contains the process id.
LOCK = ".lock"

_ROOM = "free some disk space and run the same command again"
_RIGHTS = "change its permissions, or choose another folder"
# what spreadsheets take for a formula or for its guard, including full-width characters
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠﹦﹢﹣﹫]|[\t\r\n]|'")
# the same after a character at which some spreadsheets split cells
_INNER_FORMULA = re.compile(r"([;|\t\r\n]\s*)(?=[=+\-@＝＋－＠﹦﹢﹣﹫])")
# signed numbers and dashes of printed tables, which are not formulas
_NUMBER_FORM = re.compile(r"[+-]?\d[\d,]*\.?\d*(e[+-]?\d+)?%?\**|--|-")
# how an address begins: these schemes even if the colon or slashes are missing, others with ://
_ADDRESS = re.compile(
    r"(?:https?|hf|ftps?|sftp|ssh|s3|gs)(?::[/\\]*|[/\\]{2,})|[a-z][a-z0-9+.-]+:[/\\]{2,}",
    re.IGNORECASE,
)
# user and password before a host; the password may contain a slash
_USER = re.compile(r"^(?:[^/]*@|(?!\[)[^/]*:(?!\d*(?:/|$)).*@)")
#: What to do about an error of the operating system.
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
    """Return an error as one sentence; for a system error, with the file and the remedy."""
    if isinstance(error, MemoryError):
        return "there is not enough memory; close other programs, or give fewer --jobs"
    if not isinstance(error, OSError) or error.errno not in _SYSTEM_REMEDIES:
        return str(error)
    place = error.filename2 or error.filename or "a file"  # filename2: a copy's target
    return f"{place}: {os.strerror(error.errno)}; {_SYSTEM_REMEDIES[error.errno]}"


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


def write_if_changed(
    path: str | Path, content: str | bytes, mode: int | None = None
) -> bool:
    """Write a file only if its content changes, and return whether it was written.

    An unchanged file keeps its modification time, which make compares; see `write_whole`.
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
        file.write(str(os.getpid()))
        file.flush()
        for part in folder.rglob(".*.part"):
            if part.parent.name != "downloads":  # a download may run beside the build
                part.unlink(missing_ok=True)
        yield
        file.truncate(0)


def fingerprint(path: str | Path) -> str:
    """Return a digest of the names, sizes and times of a file, or of all files of a folder."""
    lines = []
    for file in (Path(path), *sorted(Path(path).rglob("*"))):
        about = file.stat() if file.exists() else file.lstat()
        # a copy can keep the modification time (mtime), but never the change time (ctime)
        lines.append(f"{file} {about.st_size} {about.st_mtime_ns} {about.st_ctime_ns}")
    text = "\n".join(lines)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def for_terminal(text: str) -> str:
    """Return text with control characters and marks of writing direction escaped."""
    signs = []
    for sign in text:
        is_plain = sign.isprintable() or sign in "\n\t"
        signs.append(sign if is_plain else sign.encode("unicode_escape").decode())
    return "".join(signs)


def for_spreadsheet(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame that can be written as CSV without text that spreadsheets run as formulas.

    An apostrophe is put before text that begins like a formula, also after a character at which
    some spreadsheets split cells.
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
    """Return whether a source is meant as an address, even if its slashes are mistyped."""
    return _ADDRESS.match(source) is not None


def without_secrets(address: str) -> str:
    """Return an address without user, password, query and fragment, except for a checksum.

    A path is returned unchanged.
    """
    start = _ADDRESS.match(address)
    if not start:
        return address
    rest, _, fragment = address[start.end() :].partition("#")
    place = _USER.sub("", rest.partition("?")[0], count=1)
    digits = re.match(r"sha256=[0-9A-Fa-f]+", fragment)
    return start[0] + place + (f"#{digits[0]}" if digits else "")
