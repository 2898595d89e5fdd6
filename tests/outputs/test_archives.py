"""Archives from strangers."""

import gzip
import io
import tarfile

import pytest
from packing import make_archive

from cogniload_repro.outputs.archives import unpack

GOOD = {"a/one.jsonl": b"1\n" * 50, "a/b/two.jsonl": b"2\n"}
FEW = ["zip", "tar.gz"]
EVIL = ["../evil", "a/../../evil", "/tmp/evil", "C:\\evil", "a\\..\\evil", "a/\nevil"]


@pytest.mark.parametrize("ending", FEW)
@pytest.mark.parametrize(
    "member",
    [*EVIL, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE],
)
def test_an_archive_with_an_unsafe_member_is_refused(tmp_path, ending, member):
    """Nothing is written outside of the folder, no link or device is made, and nothing stays."""
    named = [(member, b"evil")] if isinstance(member, str) else []
    links = [] if named else [("a/link", member)]
    archive = make_archive(tmp_path / f"x.{ending}", [*GOOD.items(), *named], links)
    complaint = (
        "would lie outside its folder" if named else "'a/link' is a link or a device"
    )
    with pytest.raises(
        ValueError, match=rf"x\.{ending} cannot be unpacked: its member .*{complaint}"
    ):
        unpack(archive, tmp_path / "cache/deep")
    assert [
        path for path in tmp_path.rglob("*") if "evil" in path.name or path.is_symlink()
    ] == []
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize("ending", ["zip", "tar"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_comes_twice_is_refused(tmp_path, ending):
    """Which of two files is meant nobody knows."""
    for again in ("a", "./a"):
        archive = make_archive(
            tmp_path / f"x.{ending}", [("a", b"1"), ("b", b"3"), (again, b"2")]
        )
        with pytest.raises(ValueError, match=f"it holds '{again}' twice"):
            unpack(archive, tmp_path / "cache")


@pytest.mark.parametrize("member", ["header.json", "_journal/start.json"])
def test_a_log_of_inspect_under_another_name_is_named(tmp_path, member):
    """Its samples would else be taken for answers of the authors' layout."""
    archive = make_archive(
        tmp_path / "x.zip", [(member, b"{}"), ("samples/a.json", b"{}")]
    )
    with pytest.raises(
        ValueError, match=r"it is a log of Inspect; let its name end in \.eval"
    ):
        unpack(archive, tmp_path / "cache")


@pytest.mark.parametrize("ending", FEW)
def test_a_bomb_is_refused_whole(tmp_path, monkeypatch, ending):
    """An archive that would fill the disk leaves nothing there; a higher limit lets it pass."""
    members = [(f"{number}.jsonl", bytes(3_000_000)) for number in range(3)]
    archive = make_archive(tmp_path / f"x.{ending}", members)
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.005")
    with pytest.raises(
        ValueError,
        match=r"it has more than 0\.005 GB; if that is right, set COGNILOAD_MAX",
    ):
        unpack(archive, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
    for word in ("much", "0", "-1", "nan", "inf"):
        monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", word)
        with pytest.raises(ValueError, match=f"COGNILOAD_MAX_UNPACKED_GB is '{word}'"):
            unpack(archive, tmp_path / "cache")
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.01")
    assert len(list(unpack(archive, tmp_path / "cache").iterdir())) == 3


def header(name, size=0):
    """One block of a tar."""
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)[:512]


@pytest.mark.parametrize(
    "blocks",
    [
        [header("a", 1000), bytes(512)],
        [header("a"), header("b")[:100]],
        [],
        [bytes(10240 - 1024), header("second"), bytes(10240)],
    ],
)
def test_a_tar_that_is_not_whole_is_refused(tmp_path, blocks):
    """Damage and a second archive are named, where the standard library ends in silence."""
    good = header("good", 3) + b"abc" + bytes(509)
    (tmp_path / "x.tar.gz").write_bytes(gzip.compress(good + b"".join(blocks), 1))
    with pytest.raises(ValueError, match="cannot be unpacked: "):
        unpack(tmp_path / "x.tar.gz", tmp_path / "cache")
    whole = gzip.compress(good + bytes(10240))
    (tmp_path / "cut.tar.gz").write_bytes(whole[:-6])
    with pytest.raises(ValueError, match="cannot be unpacked: Compressed file ended"):
        unpack(tmp_path / "cut.tar.gz", tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_an_archive_that_is_damaged_is_refused(tmp_path):
    """Cut short, a changed byte, a place before the beginning, an impossible date, none at all."""
    members = [("a", b"1"), ("b", b"b2"), ("c", b"3")]
    content = make_archive(tmp_path / "x.zip", members).read_bytes()
    place = content.index(b"PK\x01\x02") + 42
    late = tarfile.TarInfo("late")
    late.pax_headers = {"mtime": "1e400"}
    with tarfile.open(tmp_path / "late.tar", "w", format=tarfile.PAX_FORMAT) as file:
        file.addfile(late, io.BytesIO())
    bad = {
        "cut.zip": content[:90],
        "empty.zip": b"",
        "changed.zip": content.replace(b"b2", b"b9", 1),
        "lost.zip": content[:place]
        + (2**31).to_bytes(4, "little")
        + content[place + 4 :],
        "no.tar": b"x" * 900,
        "late.tar": (tmp_path / "late.tar").read_bytes(),
    }
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=rf"{name} cannot be unpacked: \S"):
            unpack(tmp_path / name, tmp_path / "cache")
