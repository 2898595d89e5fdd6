"""Sources brought to this machine, and archives from strangers."""

import hashlib
from contextlib import suppress

import pytest
from packing import make_archive
from web import serve

from cogniload_repro.importing.sources import fetch_source

CONTENT = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def test_a_local_path_stays_where_it_is(tmp_path):
    """Its name is that of the source."""
    (tmp_path / "a.jsonl").write_text("")
    assert fetch_source(tmp_path / "a.jsonl", tmp_path) == (
        tmp_path / "a.jsonl",
        "a.jsonl",
    )


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1/a.jsonl", "ftp://h/a", "hf://datasets/o/n"]
)
def test_an_address_is_https_or_has_a_checksum(tmp_path, address):
    """Anything else could be changed on the way."""
    with pytest.raises(ValueError, match="an address begins with https://"):
        fetch_source(address, tmp_path)


def test_what_cannot_be_fetched_is_refused_without_its_password(tmp_path):
    """The remedy is said, the address only without user and query."""
    address = f"http://user:secret@127.0.0.1:1/a.jsonl?sig=TOKEN#sha256={SHA256}"
    with pytest.raises(
        ValueError, match="download the file and give its path"
    ) as caught:
        fetch_source(address, tmp_path)
    assert "secret" not in str(caught.value)
    assert "TOKEN" not in str(caught.value)


@pytest.mark.parametrize("ending", ["zip", "tgz", "tar.gz", "ZIP"])
def test_an_archive_is_unpacked(tmp_path, ending):
    """Also one of an old Windows program, with backslashes or a colon in its names."""
    names = ["a/b.jsonl", "out\\c.jsonl", "10:30/d.jsonl"]
    archive = make_archive(tmp_path / "s.tgz", [(name, b"{}") for name in names])
    if ending.lower() == "zip":
        archive = make_archive(tmp_path / "s.zip", [(name, b"{}") for name in names])
    archive = archive.rename(tmp_path / f"t.{ending}")
    folder, name = fetch_source(archive, tmp_path / "cache")
    assert name == f"t.{ending}"
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert sorted(path.suffix for path in files) == [".jsonl"] * 3


@pytest.mark.parametrize("ending", ["zip", "tgz"])
def test_no_member_leaves_the_folder(tmp_path, ending):
    """Paths upwards, absolute paths and links to elsewhere are refused, or stay inside."""
    members = [("../up.jsonl", b"{}"), ("a.jsonl", b"{}")]
    archive = make_archive(tmp_path / f"s.{ending}", members, [("link", b"2")])
    with suppress(ValueError):
        fetch_source(archive, tmp_path / "in" / "cache")
    outside = [
        path for path in tmp_path.iterdir() if path.name not in ("in", archive.name)
    ]
    assert outside == []
    assert not [path for path in (tmp_path / "in").rglob("*") if path.is_symlink()]


@pytest.mark.parametrize("ending", ["zip", "tgz"])
def test_a_damaged_archive_is_refused_whole(tmp_path, ending):
    """No part of it is left."""
    archive = make_archive(tmp_path / f"s.{ending}", [("a.jsonl", CONTENT)])
    archive.write_bytes(archive.read_bytes()[:-30])
    with pytest.raises(ValueError, match="cannot be unpacked"):
        fetch_source(archive, tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob("*.jsonl"))


def test_a_download_with_a_checksum_is_compared(tmp_path):
    """A file that is another one is refused."""
    with serve(CONTENT) as server:
        path, label = fetch_source(f"{server.url}/a.jsonl#sha256={SHA256}", tmp_path)
        assert path.read_bytes() == CONTENT
        assert label.endswith("/a.jsonl")
        with pytest.raises(ValueError, match="could not be fetched"):
            fetch_source(f"{server.url}/a.jsonl#sha256={'0' * 64}", tmp_path)
