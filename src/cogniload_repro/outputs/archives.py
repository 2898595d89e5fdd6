"""Archives of unknown origin, unpacked without leaving the folder: what is unsafe is left out and named."""

import errno
import io
import json
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple

from tqdm import tqdm

from cogniload_repro.files import digest_of, naming
from cogniload_repro.outputs.layout import UNSAFE_NAME, Rejected
from cogniload_repro.records import UNREADABLE, Refusal, open_stream, over_limit, unpacked_limit

#: Endings of archives.
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
#: Bytes that a member counts at least: empty ones take room too.
MIN_MEMBER = 16_384

_DAMAGED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)
_IMPOSSIBLE = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL)  # names that no system has
_UNIX_LINK = 0o12  # upper four bits of the mode of a symbolic link
_REFUSED = ".refused.json"


class _Member(NamedTuple):
    """One entry of an archive, with its size in bytes; it can be opened if it is a plain file."""

    name: str
    size: int
    is_folder: bool
    open: Callable[[], IO[bytes] | None] | None


def unpack(archive: Path, cache: Path) -> tuple[Path, list[Rejected]]:
    """Unpack an archive into a folder whose name holds its SHA-256; a later call finds it there.

    Returned with the folder are the members that were refused, and the archive itself if it is cut short. If its
    members together have more bytes than `records.unpacked_limit`, ValueError is raised, and nothing stays.
    """
    target = cache / f"{archive.name}-{digest_of(archive)[:16]}"
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".unpack-", dir=cache) as scratch:
            part = Path(scratch) / target.name
            part.mkdir()
            (part / _REFUSED).write_text(json.dumps(_extract_all(archive, part)), encoding="utf-8")
            part.rename(target)
    return target, [Rejected(*row) for row in json.loads((target / _REFUSED).read_text(encoding="utf-8"))]


def _extract_all(archive: Path, folder: Path) -> list[Rejected]:
    refused, left = [], unpacked_limit()
    members = _zip_members if archive.suffix == ".zip" else _tar_members
    try:
        for member in tqdm(members(archive), "unpack", unit=" files", disable=None):
            left -= max(member.size, MIN_MEMBER)
            if left < 0:
                raise ValueError(over_limit(archive.name))
            if reason := _extract(member, folder):
                name = member.name[:300].encode("utf-8", "backslashreplace").decode()
                refused.append(Rejected(f"{archive.name}/{name}", 0, *reason))
    except (*_DAMAGED, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise  # the disk, not the archive
        refused.append(Rejected(archive.name, 0, UNREADABLE, f"{type(error).__name__}: {error}"))
    return refused


def _extract(member: _Member, folder: Path) -> Refusal | None:
    """Write one member; return why it was not written."""
    if not _is_inside(member.name):
        return UNSAFE_NAME, "it would lie outside the archive's folder"
    if member.is_folder:
        return None
    if member.open is None:
        return UNSAFE_NAME, "it is a link or a device"
    path = folder / member.name
    try:
        if path.exists():
            return UNREADABLE, "the archive holds it twice"
        path.parent.mkdir(parents=True, exist_ok=True)
        with naming(path), path.open("xb") as file:
            try:
                shutil.copyfileobj(member.open(), file)  # type: ignore[arg-type]
            except BaseException:
                path.unlink()
                raise
    except _DAMAGED as error:
        return UNREADABLE, f"{type(error).__name__}: {error}"
    except OSError as error:
        if error.errno not in (*_IMPOSSIBLE, None):
            raise
        return UNREADABLE, str(error.strerror or error)
    return None


def _is_inside(name: str) -> bool:
    """Return whether a member's name stays in the folder, on any system."""
    parts = PurePosixPath(name).parts
    plain = name.isprintable() and "\\" not in name and ":" not in name
    return plain and bool(parts) and not name.startswith("/") and ".." not in parts and _REFUSED not in parts


def _zip_members(archive: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as file:
        for info in file.infolist():
            opens = None if info.external_attr >> 28 == _UNIX_LINK else partial(file.open, info)
            yield _Member(info.filename, info.file_size, info.filename.endswith("/"), opens)


def _tar_members(archive: Path) -> Iterator[_Member]:
    with open_stream(archive) as stream, tarfile.open(fileobj=stream, mode="r:") as file:
        for info in file:
            try:
                tarfile.data_filter(info, ".")
                opens = partial(file.extractfile, info) if info.isreg() else None
            except tarfile.FilterError:
                opens = None
            yield _Member(info.name, info.size, info.isdir(), opens)
        stream.seek(file.offset)  # tarfile ends in silence at a damaged header
        blocks = list(map(len, iter(partial(_read_zeros, stream), b"")))
        if not blocks:
            raise tarfile.ReadError("it is cut short")


def _read_zeros(stream: io.BufferedIOBase) -> bytes:
    """Return the next bytes behind an archive's members, which are zeros up to its end."""
    block = stream.read(1 << 20)
    if block.strip(b"\0"):
        raise tarfile.ReadError("a header is damaged, or something stands behind its end")
    return block
