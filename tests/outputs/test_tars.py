"""Tar archives, read from front to end."""

import bz2
import gzip
import io
import lzma
import tarfile
import time
import tracemalloc

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.outputs import tars
from cogniload_repro.outputs.tars import read_members

FILES = {"a/one.jsonl": b"1" * 700, "é" * 120: b"", "total" * 180: bytes(512), "b": b"x"}


def write(path, files, **options):
    """Write a tar with the standard library."""
    with tarfile.open(path, "w", **options) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def header(name, size=0, kind=tarfile.REGTYPE, **fields):
    """One block, as the standard library writes it."""
    info = tarfile.TarInfo(name)
    info.size, info.type = max(size, 0), kind
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT)[:512])
    if size < 0:
        block[124:136] = b"\xff" * 4 + size.to_bytes(8, "big", signed=True)
    for place, content in fields.get("at", {}).items():
        block[place : place + len(content)] = content
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def pad(content):
    """Content up to a whole number of blocks."""
    return content + bytes(-len(content) % 512)


def pax(**records):
    """An extended header for the next member."""
    content = b""
    for key, text in records.items():
        rest = f" {key.replace('_', '.')}=".encode() + text + b"\n"
        size = next(n for n in range(len(rest), len(rest) + 9) if n == len(rest) + len(str(n)))
        content += f"{size}".encode() + rest
    return header("pax", len(content), tarfile.XHDTYPE) + pad(content)


def contents(path):
    """Names and contents of the plain files."""
    return {member.name: member.content.read() for member in read_members(path) if member.is_file}


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, "zstd"])
def test_every_form_is_read(tmp_path, form, pack):
    """What the standard library writes comes back, long names and compression included."""
    files = FILES if form != tarfile.USTAR_FORMAT else {"a/one.jsonl": b"1" * 700, "b/" * 70 + "c": b"2", "d": b""}
    path = write(tmp_path / "x.tar", files, format=form)
    packed = pa.compress(path.read_bytes(), "zstd", asbytes=True) if pack == "zstd" else pack(path.read_bytes())
    path.write_bytes(packed)
    assert contents(path) == files
    assert [member.size for member in read_members(path)] == [len(content) for content in files.values()]


@given(st.dictionaries(st.text("abcé/._-", min_size=1, max_size=200).map(lambda n: "x" + n + "y"),
                       st.binary(max_size=1500), max_size=5))  # fmt: skip
def test_it_reads_as_the_standard_library_does(tmp_path_factory, files):
    """Names and contents are those that tarfile finds."""
    path = write(tmp_path_factory.mktemp("tar") / "x.tar", files)
    with tarfile.open(path) as archive:
        assert contents(path) == {info.name: archive.extractfile(info).read() for info in archive if info.isreg()}


def test_links_devices_and_files_with_holes_are_named(tmp_path):
    """None of them is a plain file, and what follows is read."""
    sparse = header("sparse", 512, tarfile.GNUTYPE_SPARSE, at={482: b"\1"})
    blocks = [
        header("link", 0, tarfile.SYMTYPE), header("hard", 512, tarfile.LNKTYPE), header("folder/", 0, tarfile.DIRTYPE),
        sparse, bytes([*bytes(504), 1, *bytes(7)]), bytes(512), bytes(512),
        pax(GNU_sparse_major=b"1"), header("holes", 512), bytes(512), header("good", 3), pad(b"abc"), bytes(1024),
    ]  # fmt: skip
    (tmp_path / "x.tar").write_bytes(b"".join(blocks))
    found = [(member.name, member.is_file, member.is_folder) for member in read_members(tmp_path / "x.tar")]
    names = ["link", "hard", "folder", "sparse", "holes", "good"]
    assert found == [(name, name == "good", name == "folder") for name in names]
    assert contents(tmp_path / "x.tar") == {"good": b"abc"}


@pytest.mark.parametrize(
    ("blocks", "complaint"),
    [
        ([header("a", -512)], "tells a size of -512 bytes"),
        ([header("a", -(10**15))], "tells a size of -1,000,000,000,000,000 bytes"),
        ([header("x", 3 << 30, tarfile.XHDTYPE)], "an extended header tells a size of 3,221,225,472"),
        ([header("x", 3 << 30, tarfile.GNUTYPE_LONGNAME)], "an extended header tells a size of 3,221,225,472"),
        ([header("x", 3 << 30, tarfile.XGLTYPE)], "an extended header tells a size of 3,221,225,472"),
        ([header("x", -1, tarfile.GNUTYPE_LONGLINK)], "tells a size of -1 bytes"),
        ([pax(path=b"x")] * 101, "more than 100 extended headers"),
        ([pax(size=b"-5"), header("a")], "tells a size of b'-5'"),
        ([pax(size=b"9" * 30), header("a")], "tells a size of b'999"),
        ([header("p", 9, tarfile.XHDTYPE), pad(b"99 path=x")], "an extended header is damaged"),
        ([header("p", 9, tarfile.XHDTYPE), pad(b"0 path=xx")], "an extended header is damaged"),
        ([header("a", 0)[:-1] + b"x"], "bad checksum"),
        ([header("a", 1000), bytes(512)], "ends within a member"),
        ([header("a", 0)], "cut short"),
        ([], "cut short"),
    ],
)
def test_headers_that_are_no_honest_archives_end_it(tmp_path, blocks, complaint):
    """At once, with the reason; the members before are read."""
    path = tmp_path / "x.tar.gz"
    path.write_bytes(gzip.compress(b"".join([header("good", 3), pad(b"abc"), *blocks])))
    found = []
    with pytest.raises((tarfile.TarError, EOFError), match=complaint):
        found.extend((member.name, member.content.read()) for member in read_members(path))
    assert found[0] == ("good", b"abc")


def test_a_bomb_in_a_header_takes_no_memory(tmp_path):
    """Headers of some megabytes that would be read whole are refused before."""
    size = 64 << 20
    for kind in (tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME):
        path = tmp_path / "x.tar.gz"
        path.write_bytes(gzip.compress(header("x", size, kind) + bytes(size) + header("y") + bytes(1024), 1))
        tracemalloc.start()
        start = time.monotonic()
        with pytest.raises(tarfile.ReadError, match="extended header"):
            list(read_members(path))
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
        tracemalloc.stop()
        assert time.monotonic() - start < 20


def test_an_xz_file_does_not_say_how_much_memory_it_takes(tmp_path, monkeypatch):
    """A dictionary beyond the bound is refused."""
    path = write(tmp_path / "x.tar", FILES)
    path.write_bytes(lzma.compress(path.read_bytes(), preset=6))
    monkeypatch.setattr(tars, "_XZ_BYTES", 1 << 20)
    with pytest.raises(lzma.LZMAError, match="Memory usage limit exceeded"):
        contents(path)
