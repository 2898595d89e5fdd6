"""Archives from strangers, unpacked without leaving the folder: what is unsafe is left out and named."""

import errno
import json
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pooch
from tqdm import tqdm

from cogniload_repro.outputs import tars
from cogniload_repro.outputs.rows import UNSAFE_NAME, Rejected
from cogniload_repro.records import UNREADABLE, Refusal, open_zip, over_limit, unpacked_limit

#: Most members that an archive may have: ten times the paper's answers and puzzles.
MAX_MEMBERS = 2_500_000

_TAR_ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.bz2", ".tar.xz")
_DAMAGED = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, NotImplementedError,
)  # fmt: skip
# the last: a place before the archive's beginning
_IMPOSSIBLE = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL)
_UNIX_LINK = 0o12  # upper four bits of the mode of a symbolic link
_LONGEST_SHOWN = 300  # characters of a refused member's name
_REFUSED, _SCRATCH = ".refused.json", ".unpack-"


class _Member(NamedTuple):
    """One entry of an archive, with its size in bytes; it can be opened if it is a plain file."""

    name: str
    size: int
    is_folder: bool
    open: Callable[[], AbstractContextManager] | None


def is_archive(path: Path) -> bool:
    """Tell whether the file's ending is that of an archive."""
    return path.name.lower().endswith((".zip", *_TAR_ENDINGS))


def unpack(archive: Path, folder: Path) -> tuple[Path, list[Rejected]]:
    """Unpack an archive into a folder of its own, once; a later call finds it there.

    Parameters
    ----------
    archive : Path
        A .zip, or a .tar with or without compression.
    folder : Path
        Where the archive's folder is made; its name holds the archive's SHA-256.

    Returns
    -------
    folder : Path
        What the archive holds.
    refused : list of Rejected
        Members that are links or devices, would lie outside the folder, come twice (be it in capitals) or cannot
        be read; and the archive itself if it is cut short.

    Raises
    ------
    ValueError
        If it has too many members or unpacks to too much (`records.unpacked_limit`); nothing of it stays.
    """
    target = folder / f"{archive.name}-{pooch.file_hash(archive)[:16]}"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for stale in folder.glob(f"{_SCRATCH}*"):  # of a run that was killed
            shutil.rmtree(stale, ignore_errors=True)
        with TemporaryDirectory(prefix=_SCRATCH, dir=folder) as scratch:
            part = Path(scratch) / target.name
            part.mkdir()
            refused = _extract_all(archive, part)
            (part / _REFUSED).write_text(json.dumps(refused), encoding="utf-8")
            part.rename(target)
    return target, [Rejected(*row) for row in json.loads((target / _REFUSED).read_text(encoding="utf-8"))]


def _extract_all(archive: Path, folder: Path) -> list[Rejected]:
    refused, taken, size, limit = [], set[str](), 0, unpacked_limit()
    try:
        for count, member in enumerate(tqdm(_members(archive), "unpack", unit=" files", disable=None), start=1):
            size += member.size
            if size > limit:
                raise ValueError(over_limit(archive.name))
            if count > MAX_MEMBERS:
                raise ValueError(f"{archive.name} has more than {MAX_MEMBERS:,} members; unpack it yourself")
            if reason := _extract(member, folder, taken):
                name = member.name[:_LONGEST_SHOWN].encode("utf-8", "backslashreplace").decode()
                refused.append(Rejected(f"{archive.name}/{name}", 0, *reason))
    except (*_DAMAGED, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise  # the disk, not the archive
        refused.append(Rejected(archive.name, 0, UNREADABLE, f"{type(error).__name__}: {error}"))
    return refused


def _extract(member: _Member, folder: Path, taken: set[str]) -> Refusal | None:
    """Write one member; return why it was not written. Names are `taken` in any case of their letters."""
    if not _is_inside(member.name):
        return UNSAFE_NAME, "it would lie outside the archive's folder"
    if member.is_folder:
        return None
    if member.open is None:
        return UNSAFE_NAME, "it is a link, a device or a file with holes"
    path = folder / member.name
    part = path.with_name(".part")
    try:
        if member.name.casefold() in taken or path.exists():
            return UNREADABLE, "the archive holds it twice, perhaps in capitals"
        path.parent.mkdir(parents=True, exist_ok=True)
        with member.open() as stream, part.open("wb") as file:
            shutil.copyfileobj(stream, file)
        part.rename(path)
        taken.add(member.name.casefold())
    except _DAMAGED as error:
        return UNREADABLE, f"{type(error).__name__}: {error}"
    except OSError as error:
        if error.errno not in _IMPOSSIBLE:
            raise
        return UNREADABLE, str(error.strerror)
    finally:
        with suppress(OSError):  # of a path that cannot be
            part.unlink()
    return None


def _is_inside(name: str) -> bool:
    """Tell whether a member's name stays in the folder, on any system."""
    parts = PurePosixPath(name).parts
    plain = name.isprintable() and "\\" not in name and ":" not in name
    return plain and bool(parts) and not name.startswith("/") and ".." not in parts and _REFUSED not in parts


def _members(archive: Path) -> Iterator[_Member]:
    if archive.name.lower().endswith(".zip"):
        yield from _zip_members(archive)
    else:
        yield from _tar_members(archive)


def _zip_members(archive: Path) -> Iterator[_Member]:
    with open_zip(archive) as file:
        for info in file.infolist():
            is_link = info.external_attr >> 28 == _UNIX_LINK
            yield _Member(
                info.filename,
                info.file_size,
                info.filename.endswith("/"),
                None if is_link else partial(file.open, info),
            )


def _tar_members(archive: Path) -> Iterator[_Member]:
    for member in tars.read_members(archive):
        opens = partial(nullcontext, member.content) if member.is_file else None
        yield _Member(member.name, member.size, member.is_folder, opens)
