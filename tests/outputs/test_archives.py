"""Archives from strangers."""

import gzip
import json
import lzma
import re
import tarfile
import tracemalloc
import zipfile

import pytest
from packing import make_archive

from cogniload_repro import records
from cogniload_repro.outputs.archives import unpack

GOOD = {"a/one.jsonl": b"1\n" * 50, "a/b/two.jsonl": b"2\n"}


def files_of(folder):
    """Visible files of a folder with their bytes."""
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


ENDINGS = ["zip", "tar", "tar.gz", "tgz", "tar.zst", "tar.bz2", "tar.xz"]
FEW = ["zip", "tar.gz"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_archive_is_unpacked_once(tmp_path, ending):
    """Files come out as they are; a second call takes the folder that is there, and what a killed one left goes."""
    (tmp_path / f"cache/.unpack-killed/x.{ending}").mkdir(parents=True)
    archive = make_archive(tmp_path / f"x.{ending}", GOOD.items())
    folder, refused = unpack(archive, tmp_path / "cache")
    assert (files_of(folder), refused) == (GOOD, [])
    (folder / "a/one.jsonl").write_bytes(b"touched")
    assert unpack(archive, tmp_path / "cache") == (folder, [])
    assert files_of(folder)["a/one.jsonl"] == b"touched"
    assert list((tmp_path / "cache").iterdir()) == [folder]


@pytest.mark.parametrize("ending", FEW)
def test_members_that_are_unsafe_are_left_out_and_named(tmp_path, ending):
    """Nothing is written outside the folder, no link or device is made, the good members are kept."""
    evil = ["../evil", "a/../../evil", "/tmp/evil", "C:\\evil", "a\\..\\evil", "a/\nevil"]
    kinds = [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
    links = [(f"a/link{number}", kind) for number, kind in enumerate(kinds)]
    archive = make_archive(tmp_path / f"x.{ending}", [*GOOD.items(), *((name, b"evil") for name in evil)], links)
    folder, refused = unpack(archive, tmp_path / "cache/deep")
    assert files_of(folder) == GOOD
    names = {row.file.removeprefix(f"{archive.name}/") for row in refused}
    assert {"../evil", "a/../../evil", "/tmp/evil", *(name for name, _ in links)} <= names
    assert len(refused) == len(evil) + len(links)
    assert {row.reason for row in refused} == {"unsafe name"}
    assert [path for path in tmp_path.rglob("*") if "evil" in path.name] == []
    assert unpack(archive, tmp_path / "cache/deep") == (folder, refused)


@pytest.mark.parametrize("ending", ["zip", "tar"])
def test_a_name_that_comes_twice_is_refused(tmp_path, ending):
    """The first file stays, also where names differ in capitals only; paths that no system has are left out."""
    members = [("a", b"1"), ("a", b"2"), ("A", b"2"), ("a/b", b"3"), ("n" * 300, b"4"), ("d/" * 2500 + "x", b"1")]
    if ending == "zip":
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive = make_archive(tmp_path / f"x.{ending}", members)
    else:
        archive = make_archive(tmp_path / f"x.{ending}", members)
    folder, refused = unpack(archive, tmp_path / "cache")
    assert files_of(folder) == {"a": b"1"}
    assert [row.reason for row in refused] == ["unreadable file"] * 5
    assert max(len(row.file) for row in refused) < 400


@pytest.mark.parametrize("ending", FEW)
def test_a_bomb_is_refused_whole(tmp_path, monkeypatch, ending):
    """An archive that would fill the disk leaves nothing there; a limit that is raised lets it pass, no word does."""
    members = [(f"{number}.jsonl", bytes(3_000_000)) for number in range(3)]
    archive = make_archive(tmp_path / f"x.{ending}", members)
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.005")
    with pytest.raises(ValueError, match=r"unpacks to more than 0\.005 GB; if that is right, set COGNILOAD_MAX"):
        unpack(archive, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []
    for word in ("much", "0", "-1", "nan", "inf"):
        monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", word)
        with pytest.raises(ValueError, match=f"COGNILOAD_MAX_UNPACKED_GB is '{word}'"):
            unpack(archive, tmp_path / "cache")
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.01")
    folder, refused = unpack(archive, tmp_path / "cache")
    assert (len(files_of(folder)), refused) == (3, [])
    many = make_archive(tmp_path / f"many.{ending}", [(str(number), b"") for number in range(70)])
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.001")
    with pytest.raises(ValueError, match="unpacks to more than"):  # empty files fill a disk too
        unpack(many, tmp_path / "cache")


@pytest.mark.parametrize("ending", ["tar", "tar.zst"])
def test_a_tar_cut_short_gives_its_whole_members(tmp_path, ending):
    """The member at the cut is not taken for a whole one, and the loss is reported."""
    rows = b"".join(json.dumps({"row": row * row}).encode() for row in range(4_000))
    archive = make_archive(tmp_path / f"x.{ending}", [("a", b"1"), ("b", rows)])
    archive.write_bytes(archive.read_bytes()[: archive.stat().st_size * 2 // 3])
    folder, refused = unpack(archive, tmp_path / "cache")
    assert set(files_of(folder)) <= {"a"}
    assert refused
    assert {row.reason for row in refused} == {"unreadable file"}


def header(name, size=0, kind=tarfile.REGTYPE):
    """One block, as the standard library writes it, though the size may be negative."""
    info = tarfile.TarInfo(name)
    info.size, info.type = max(size, 0), kind
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT)[:512])
    if size < 0:
        block[124:136] = b"\xff" * 4 + size.to_bytes(8, "big", signed=True)
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def pad(content):
    """Content up to a whole number of blocks."""
    return content + bytes(-len(content) % 512)


SPARSE = pad(b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n")


@pytest.mark.parametrize(
    ("blocks", "complaint"),
    [
        ([header("a", -512)], "a size of -512 bytes"),
        ([header("x", 64 << 20, tarfile.XHDTYPE), bytes(64 << 20)], "a size of 67,108,864"),
        ([header("x", -1, tarfile.GNUTYPE_LONGLINK)], "a size of -1 bytes"),
        ([header("x", 11, tarfile.XHDTYPE), pad(b"11 size=-5\n"), header("a"), bytes(1024)], "-5"),
        ([header("a", 0)[:-1] + b"x"], "bad checksum"),
        ([header("a", 1000), bytes(512)], "unexpected end of data"),
        ([header("a", 512, tarfile.GNUTYPE_SPARSE)], "a file with holes"),
        ([header("x", 44, tarfile.XHDTYPE), SPARSE, header("a", 512), bytes(2048)], "a file with holes"),
        ([header("a")], "damaged or cut short"),
        ([], "damaged or cut short"),
        ([bytes(10240 - 1024), header("second"), bytes(10240)], "something behind its end"),
    ],
)
def test_a_tar_that_is_no_honest_one_gives_the_members_before_the_fault(tmp_path, blocks, complaint):
    """Negative sizes (CVE-2025-8194), huge extended headers, damage and a second archive: named, in little memory."""
    (tmp_path / "x.tar.gz").write_bytes(gzip.compress(b"".join([header("good", 3), pad(b"abc"), *blocks]), 1))
    tracemalloc.start()
    folder, refused = unpack(tmp_path / "x.tar.gz", tmp_path / "cache")
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()
    assert files_of(folder)["good"] == b"abc"
    assert [row.file for row in refused if row.file == "x.tar.gz"] == ["x.tar.gz"]
    assert complaint in refused[-1].detail


def test_an_xz_file_does_not_say_how_much_memory_it_takes(tmp_path, monkeypatch):
    """A dictionary beyond the bound is refused; streams one behind the other are one file."""
    archive = make_archive(tmp_path / "x.tar.xz", GOOD.items())
    content = lzma.decompress(archive.read_bytes())
    archive.write_bytes(lzma.compress(content[:700]) + bytes(8) + lzma.compress(content[700:]))
    assert files_of(unpack(archive, tmp_path / "cache")[0]) == GOOD
    monkeypatch.setattr(records, "_XZ_MEMORY", 1 << 20)
    folder, refused = unpack(archive, tmp_path / "other")
    assert (files_of(folder), "Memory usage limit" in refused[0].detail) == ({}, True)


def test_the_list_of_a_zip_is_bounded(tmp_path, monkeypatch):
    """A list of members that would fill memory is not read, nor is a method that fills it."""
    archive = make_archive(tmp_path / "x.zip", [(f"{number}.jsonl", b"{}") for number in range(200)])
    monkeypatch.setattr("cogniload_repro.records._ZIP_LIST_BYTES", 5_000)
    _, refused = unpack(archive, tmp_path / "cache")
    assert refused[0].detail.endswith("its list of members has more than 5,000 bytes")
    with zipfile.ZipFile(tmp_path / "y.zip", "w", zipfile.ZIP_LZMA) as file:
        file.writestr("a.jsonl", b"{}")
    _, refused = unpack(tmp_path / "y.zip", tmp_path / "cache")
    assert "'a.jsonl' is compressed as LZMA" in refused[0].detail


def test_a_member_that_lies_nowhere_is_left_out(tmp_path):
    """Neither a place before the archive's beginning nor a name without letters takes the other members with it."""
    archive = make_archive(tmp_path / "x.zip", [("a", b"1"), ("b", b"2"), ("c", b"3")])
    content = bytearray(archive.read_bytes())
    first, second = (found.start() for found in list(re.finditer(rb"PK\x01\x02", content))[:2])
    content[first + 42 : first + 46] = (2**31).to_bytes(4, "little")
    content[second + 46] = 0
    end = content.rfind(b"PK\x05\x06")
    content[end + 16 : end + 20] = (int.from_bytes(content[end + 16 : end + 20], "little") + 40).to_bytes(4, "little")
    archive.write_bytes(content)
    folder, refused = unpack(archive, tmp_path / "cache")
    assert files_of(folder) == {}
    assert {row.file for row in refused} == {"x.zip/a", "x.zip/", "x.zip/c"}
