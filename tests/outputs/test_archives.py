"""Archives from strangers."""

import gzip
import json
import re
import tarfile

import pytest
from packing import make_archive

from cogniload_repro.outputs.archives import unpack

GOOD = {"a/one.jsonl": b"1\n" * 50, "a/b/two.jsonl": b"2\n"}
FEW = ["zip", "tar.gz"]


def files_of(folder):
    """Visible files of a folder with their bytes."""
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.parametrize("ending", ["zip", "tar", "tar.gz", "tgz"])
def test_an_archive_is_unpacked_once(tmp_path, ending):
    """Files come out as they are; a second call takes the folder that is there."""
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
    """The first file stays; paths that no system has are left out, and the others are unpacked."""
    members = [("a", b"1"), ("a", b"2"), ("a/b", b"3"), ("n" * 300, b"4"), ("d/" * 2500 + "x", b"1"), ("z", b"9")]
    if ending == "zip":
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive = make_archive(tmp_path / f"x.{ending}", members)
    else:
        archive = make_archive(tmp_path / f"x.{ending}", members)
    folder, refused = unpack(archive, tmp_path / "cache")
    assert files_of(folder) == {"a": b"1", "z": b"9"}
    assert [row.reason for row in refused] == ["unreadable file"] * 4
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


def header(name, size=0):
    """One block of a tar."""
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)[:512]


ROWS = b"".join(json.dumps({"row": row * row}).encode() for row in range(4_000))


@pytest.mark.parametrize(
    ("blocks", "complaint"),
    [
        ([header("a", 1000), bytes(512)], "unexpected end of data"),
        ([header("a", len(ROWS)), ROWS[:9_000]], "unexpected end of data"),
        ([header("a")[:-1] + b"x", bytes(1024)], "a header is damaged"),
        ([header("a"), header("b")[:100]], "cut short|damaged"),
        ([header("a")], "cut short"),
        ([], "cut short"),
        ([bytes(10240 - 1024), header("second"), bytes(10240)], "stands behind its end"),
    ],
)
def test_a_tar_that_is_not_whole_gives_the_members_before_the_fault(tmp_path, blocks, complaint):
    """Damage and a second archive are named, where the standard library ends in silence."""
    good = header("good", 3) + b"abc" + bytes(509)
    (tmp_path / "x.tar.gz").write_bytes(gzip.compress(good + b"".join(blocks), 1))
    folder, refused = unpack(tmp_path / "x.tar.gz", tmp_path / "cache")
    assert files_of(folder)["good"] == b"abc"
    assert files_of(folder).keys() <= {"good", "a"}
    assert re.search(complaint, refused[-1].detail)
    assert {row.reason for row in refused} == {"unreadable file"}
    (tmp_path / "cut.tar.gz").write_bytes((tmp_path / "x.tar.gz").read_bytes()[:-20])
    _, refused = unpack(tmp_path / "cut.tar.gz", tmp_path / "cache")
    assert refused


def test_a_member_that_lies_nowhere_is_left_out(tmp_path):
    """Neither a place before the archive's beginning nor a changed byte takes the other members with it."""
    archive = make_archive(tmp_path / "x.zip", [("a", b"1"), ("b", b"2"), ("c", b"3")])
    content = bytearray(archive.read_bytes())
    first = content.index(b"PK\x01\x02")
    content[first + 42 : first + 46] = (2**31).to_bytes(4, "little")
    content[content.index(b"b2") + 1] = ord("9")
    archive.write_bytes(content)
    folder, refused = unpack(archive, tmp_path / "cache")
    assert files_of(folder) == {"c": b"3"}
    assert [row.file for row in refused] == ["x.zip/a", "x.zip/b"]
