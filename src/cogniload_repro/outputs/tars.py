"""Tar archives from strangers, read from front to end: no header decides how much memory or time that takes.

The standard library reads extended headers whole, whatever size they claim, and follows negative sizes backwards; so
blocks are walked through here, and it only takes single headers apart.
"""

import bz2
import gzip
import io
import lzma
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from cogniload_repro.records import bound

#: Largest extended header, bytes: long names have a hundredth of it.
HEADER_BYTES = 1 << 20
#: Most memory for unpacking .xz, bytes; the highest preset takes half of it.
_XZ_BYTES = 1 << 27

_BLOCK, _CHUNK_BYTES, _MOST_EXTENSIONS = 512, 1 << 16, 100
_LONG_NAME, _LOCAL, _OTHERS = tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, (
    tarfile.GNUTYPE_LONGLINK, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE,
)  # fmt: skip
_EMPTY_TYPES = (tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE)
_RECORD, _SIZE = re.compile(rb"(\d{1,7}) ([^=]{1,200})="), re.compile(rb"\d{1,15}")


class Member:
    """One entry of a tar: its name, its size in bytes, what it is; its content comes from the archive's stream."""

    def __init__(self, name: str, size: int, kind: bytes, stream: io.BufferedReader):
        self.name, self.size = name.rstrip("/"), size
        self.is_folder = kind == tarfile.DIRTYPE or (kind == tarfile.AREGTYPE and name.endswith("/"))
        self.is_file = kind in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE) and not self.is_folder
        self.content = _Content(stream, size)


class _Content(io.RawIOBase):
    """The bytes of a member, while it is the one at which the archive stands."""

    def __init__(self, stream: io.BufferedReader, size: int):
        self._stream, self._left = stream, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        block = self._stream.read(min(len(buffer), self._left))
        if not block and self._left:
            raise EOFError("the archive ends within a member")
        self._left -= len(block)
        buffer[: len(block)] = block
        return len(block)


def read_members(path: Path) -> Iterator[Member]:
    """Yield the members of a tar, compressed or not, with links and devices, but without extended headers.

    The content of a member can be read until the next is asked for.

    Raises
    ------
    tarfile.TarError, EOFError, OSError, lzma.LZMAError
        If the archive is cut short, damaged, or has a header that is no honest archive's.
    ValueError
        If it unpacks to too much.
    """
    with _open(path) as stream:
        long_name, extensions = None, 0
        own: dict[bytes, bytes] = {}
        while True:
            try:
                info = tarfile.TarInfo.frombuf(_read(stream, _BLOCK), "utf-8", "surrogateescape")
            except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
                return
            if info.size < 0:
                raise tarfile.ReadError(f"a header tells a size of {info.size:,} bytes")
            if info.type in (_LONG_NAME, _LOCAL, *_OTHERS):
                content, extensions = _read_extension(stream, info), extensions + 1
                if extensions > _MOST_EXTENSIONS:
                    raise tarfile.ReadError(f"more than {_MOST_EXTENSIONS} extended headers come before one member")
                if info.type == _LONG_NAME:
                    long_name = content.rstrip(b"\0").decode("utf-8", "surrogateescape")
                elif info.type == _LOCAL:
                    own = _parse_pax(content)
                continue
            while info.type == tarfile.GNUTYPE_SPARSE and _read(stream, _BLOCK)[504]:
                pass  # places of its holes
            size = _find_size(own, info)
            name = own[b"path"].decode("utf-8", "surrogateescape") if b"path" in own else long_name or info.name
            kind = tarfile.GNUTYPE_SPARSE if any(key.startswith(b"GNU.sparse.") for key in own) else info.type
            member = Member(name, 0 if info.type in _EMPTY_TYPES else size, kind, stream)
            long_name, extensions, own = None, 0, {}
            yield member
            while member.content.read(_CHUNK_BYTES):
                pass
            _read(stream, -member.size % _BLOCK)


def _open(path: Path) -> io.BufferedReader:
    """Open the stream of blocks; how it is compressed is seen from its first bytes."""
    with path.open("rb") as file:
        start = file.read(6)
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        return bound(pa.input_stream(str(path), compression="zstd"), path.name)
    if start.startswith(b"\x1f\x8b"):
        return bound(gzip.open(path), path.name)
    if start.startswith(b"BZh"):
        return bound(bz2.open(path), path.name)
    if start.startswith(b"\xfd7zXZ\0"):
        return bound(_Unxz(path), path.name)
    return path.open("rb")


class _Unxz(io.BufferedIOBase):
    """The content of an .xz file; unlike `lzma.open` it does not let the file say how much memory that takes."""

    def __init__(self, path: Path):
        self._file = path.open("rb")
        self._unpack = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_BYTES)

    def read1(self, size: int = -1, /) -> bytes:
        block = b""
        while not block and not self._unpack.eof:
            packed = self._file.read(_CHUNK_BYTES) if self._unpack.needs_input else b""
            if self._unpack.needs_input and not packed:
                raise EOFError("the archive is cut short")
            block = self._unpack.decompress(packed, size)
        return block

    def close(self) -> None:
        self._file.close()
        super().close()


def _read(stream: io.BufferedReader, size: int) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise EOFError("the archive is cut short")
    return content


def _read_extension(stream: io.BufferedReader, info: tarfile.TarInfo) -> bytes:
    if info.size > HEADER_BYTES:
        raise tarfile.ReadError(f"an extended header tells a size of {info.size:,} bytes")
    content = _read(stream, info.size)
    _read(stream, -info.size % _BLOCK)
    return content


def _parse_pax(content: bytes) -> dict[bytes, bytes]:
    """Return the records of a pax header: LENGTH KEY=VALUE and a line's end each."""
    records, place = {}, 0
    while place < len(content) and content[place]:
        found = _RECORD.match(content, place)
        end = place + int(found[1]) if found else 0
        if found is None or not found.end() < end <= len(content) or content[end - 1] != ord("\n"):
            raise tarfile.ReadError("an extended header is damaged")
        records[found[2]] = content[found.end() : end - 1]
        place = end
    return records


def _find_size(own: dict[bytes, bytes], info: tarfile.TarInfo) -> int:
    told = own.get(b"size")
    if told is None:
        return info.size
    if not _SIZE.fullmatch(told):
        raise tarfile.ReadError(f"an extended header tells a size of {told[:40]!r}")
    return int(told)
