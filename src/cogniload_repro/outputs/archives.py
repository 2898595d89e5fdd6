"""Archives of unknown origin, unpacked without leaving the folder: what is unsafe is left out and named."""

import errno
import json
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tqdm import tqdm

from cogniload_repro.files import naming
from cogniload_repro.outputs.layout import ARCHIVES, UNSAFE_NAME, Rejected
from cogniload_repro.records import UNREADABLE, Refusal, open_stream, open_zip, over_limit, unpacked_limit
from cogniload_repro.storage import stamp

#: Bytes that a member counts at least: empty ones take room too, on the disk and in memory.
MIN_MEMBER = 16_384
#: Largest extended header of a tar, bytes: long names have a hundredth of it.
MAX_HEADER = 1 << 20

_DAMAGED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError,
            NotImplementedError)  # fmt: skip
# the last: a place before the archive's beginning
_IMPOSSIBLE = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL)
_EXTENDED = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME,
             tarfile.GNUTYPE_LONGLINK)  # fmt: skip
_UNIX_LINK = 0o12  # upper four bits of the mode of a symbolic link
_MAX_SHOWN = 300  # characters of a refused member's name
_REFUSED, _SCRATCH = ".refused.json", ".unpack-"


class _Member(NamedTuple):
    """One entry of an archive, with its size in bytes; it can be opened if it is a plain file."""

    name: str
    size: int
    is_folder: bool
    open: Callable[[], AbstractContextManager | None] | None


def is_archive(path: Path) -> bool:
    """Return whether the file's ending is that of an archive."""
    return path.name.lower().endswith(ARCHIVES)


def unpack(archive: Path, folder: Path, limit: int | None = None) -> tuple[Path, list[Rejected]]:
    """Unpack an archive into a folder of its own, whose name holds its SHA-256; a later call finds it there.

    Returned with the folder are the members that were refused, and the archive itself if it is cut short. If it unpacks
    to more than the limit (`records.unpacked_limit`), ValueError is raised, and nothing stays.
    """
    target = folder / f"{archive.name}-{stamp(archive)}"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for stale in folder.glob(f"{_SCRATCH}*"):  # of a run that was killed
            shutil.rmtree(stale, ignore_errors=True)
        with TemporaryDirectory(prefix=_SCRATCH, dir=folder) as scratch:
            part = Path(scratch) / target.name
            part.mkdir()
            refused = _extract_all(archive, part, unpacked_limit() if limit is None else limit)
            (part / _REFUSED).write_text(json.dumps(refused), encoding="utf-8")
            part.rename(target)
    return target, [Rejected(*row) for row in json.loads((target / _REFUSED).read_text(encoding="utf-8"))]


def _extract_all(archive: Path, folder: Path, left: int) -> list[Rejected]:
    refused, taken = [], set[str]()
    members = _zip_members if archive.suffix.lower() == ".zip" else _tar_members
    try:
        for member in tqdm(members(archive), "unpack", unit=" files", disable=None):
            left -= max(member.size, MIN_MEMBER)
            if left < 0:
                raise ValueError(over_limit(archive.name))
            if reason := _extract(member, folder, taken):
                name = member.name[:_MAX_SHOWN].encode("utf-8", "backslashreplace").decode()
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
        with member.open() as stream, naming(path, part), part.open("wb") as file:  # type: ignore[union-attr]
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
    """Return whether a member's name stays in the folder, on any system."""
    parts = PurePosixPath(name).parts
    plain = name.isprintable() and "\\" not in name and ":" not in name
    return plain and bool(parts) and not name.startswith("/") and ".." not in parts and _REFUSED not in parts


def _zip_members(archive: Path) -> Iterator[_Member]:
    with open_zip(archive) as file:
        for info in file.infolist():
            opens = None if info.external_attr >> 28 == _UNIX_LINK else partial(file.open, info)
            yield _Member(info.filename, info.file_size, info.filename.endswith("/"), opens)


class _BoundedInfo(tarfile.TarInfo):
    """A header that ends the archive where the standard library would read it whole, go backwards or end in silence."""

    @classmethod
    def fromtarfile(cls, file: tarfile.TarFile) -> "_BoundedInfo":
        try:
            info = super().fromtarfile(file)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"damaged or cut short: {error}") from None
        return info._check_size()

    def _check_size(self) -> "_BoundedInfo":
        if self.size < 0 or (self.type in _EXTENDED and self.size > MAX_HEADER):
            raise tarfile.ReadError(f"a header claims a size of {self.size:,} bytes")
        return self

    def _proc_member(self, file: tarfile.TarFile) -> tarfile.TarInfo:
        return super(_BoundedInfo, self._check_size())._proc_member(file)  # type: ignore[misc]

    def _proc_sparse(self, *_: object) -> tarfile.TarInfo:
        raise tarfile.ReadError("it has a file with holes")

    _proc_gnusparse_10 = _proc_sparse


def _tar_members(archive: Path) -> Iterator[_Member]:
    with open_stream(archive) as stream, tarfile.open(fileobj=stream, mode="r|", tarinfo=_BoundedInfo) as file:
        for info in file:
            opens = partial(file.extractfile, info) if info.isreg() and not info.issparse() else None
            yield _Member(info.name, info.size, info.isdir(), opens)
            file.members.clear()  # type: ignore[attr-defined]  # kept for going back, which nobody does
        if any(block.strip(b"\0") for block in iter(partial(stream.read, 1 << 20), b"")):
            raise tarfile.ReadError("there is something behind its end, perhaps a second archive")
