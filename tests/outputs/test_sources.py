"""Sources brought to this machine."""

import hashlib
import json
import os
import zipfile
from functools import partial

import pytest
from web import serve

from cogniload_repro.outputs.downloads import Downloader
from cogniload_repro.outputs.sources import open_source, resolve_address

CONTENT = b'{"model": "mine"}\n' * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAME = "20_1_1_770487_red"


def open_quickly(source, cache):
    """Open a source with short pauses between attempts."""
    return open_source(source, cache, partial(Downloader, pause_s=0.001, attempts=2))


def test_a_local_path_stays_where_it_is(tmp_path):
    """Files and folders are used in place, called by their own name."""
    (tmp_path / "mine.jsonl").write_bytes(CONTENT)
    assert open_source(tmp_path / "mine.jsonl", tmp_path / "cache") == (tmp_path / "mine.jsonl", "mine.jsonl", [], "")
    assert open_source(str(tmp_path), tmp_path / "cache")[:2] == (tmp_path, tmp_path.name)
    assert not (tmp_path / "cache").exists()


def test_a_local_sum_is_compared(tmp_path):
    """A sum given with a path counts like that of a download."""
    path = tmp_path / "mine.jsonl"
    path.write_bytes(CONTENT)
    assert open_source(f"{path}#sha256={SHA256.upper()}", tmp_path).path == path
    with pytest.raises(ValueError, match="does not have the SHA-256 sum"):
        open_source(f"{path}#sha256={'0' * 64}", tmp_path)


def test_a_download_is_kept(tmp_path):
    """The second time the file is there, and no query or password is in its label."""
    with serve(CONTENT) as server:
        address = f"{server.url}/data/mine.jsonl?token=secret#sha256={SHA256}"
        first = open_quickly(address, tmp_path)
        assert open_quickly(address, tmp_path) == first  # without a note: the sum says that it is the same
        assert server.paths == ["/data/mine.jsonl?token=secret"]
    assert first.path.read_bytes() == CONTENT
    assert first.path.suffix == ".jsonl"
    assert first.label == f"{server.url}/data/mine.jsonl"


def test_a_file_that_was_kept_says_so(tmp_path):
    """What an address gave once is used again, with a line on since when and how another is had."""
    with serve(CONTENT) as server:
        address = f"{server.url}/mine.jsonl?token=secret"
        first = open_quickly(address, tmp_path)
        assert first.note == ""
        os.utime(first.path, (1_700_000_000,) * 2)
        note = open_quickly(address, tmp_path).note
    assert note.startswith(f"{server.url}/mine.jsonl was fetched on 2023-11-1")
    assert f"delete {first.path} to fetch it again" in note


def test_a_kept_file_that_was_damaged_is_fetched_again(tmp_path):
    """The sum is compared every time."""
    with serve(CONTENT) as server:
        address = f"{server.url}/mine.jsonl#sha256={SHA256}"
        path = open_quickly(address, tmp_path).path
        path.write_bytes(b"damaged")
        assert open_quickly(address, tmp_path).path.read_bytes() == CONTENT


def test_a_wrong_sum_is_refused(tmp_path):
    """The sentence names the address, and nothing stays that could be taken for the file."""
    with serve(CONTENT) as server, pytest.raises(ValueError, match=r"mine\.jsonl does not have the SHA-256 sum 000"):
        open_quickly(f"{server.url}/mine.jsonl#sha256={'0' * 64}", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("fault", "reason"), [("truncate", "could not be fetched"), (404, "404 Not Found")])
def test_a_failed_download_is_refused(tmp_path, fault, reason):
    """No sum is needed to notice that a file did not come."""
    with serve(CONTENT, [fault] * 2, etag=None) as server, pytest.raises(ValueError, match=reason):
        open_quickly(f"{server.url}/mine.jsonl", tmp_path)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("ftp://example.org/a.jsonl", "ftp:// is not known"),
        ("http://example.org/a.jsonl", "plain http"),
        ("hf://datasets/dkfo/cogniload/a.jsonl", "incomplete"),
        ("hf://models/a/b@main/c", "incomplete"),
        ("https://example.org/a#sha256=12", "64 hexadecimal digits"),
    ],
)
def test_other_addresses_are_refused(tmp_path, address, reason):
    """The sentence says what an address looks like; nothing is asked of any server."""
    with pytest.raises(ValueError, match=reason):
        open_quickly(address, tmp_path)


def test_hub_addresses_name_a_file_at_a_revision(tmp_path, monkeypatch):
    """They go to the hub, or to the mirror that the environment names."""
    address = f"hf://datasets/dkfo/cogniload@{COMMIT}/a b/c.jsonl"
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    path = f"datasets/dkfo/cogniload/resolve/{COMMIT}/a%20b/c.jsonl"
    assert resolve_address(address) == f"https://huggingface.co/{path}"
    with serve(CONTENT) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"{server.url}/")
        found = open_quickly(address, tmp_path)
        assert server.paths == [f"/{path}"]
    assert (found.path.read_bytes(), found.label) == (CONTENT, address)


@pytest.mark.parametrize("revision", ["main", "v1.0", COMMIT[:-1], COMMIT.upper()])
def test_a_revision_that_can_change_needs_a_sum(tmp_path, monkeypatch, revision):
    """Branches, tags and short commits are refused before anything is fetched, unless the sum is compared."""
    address = f"hf://datasets/dkfo/cogniload@{revision}/c.jsonl"
    with serve(CONTENT) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        with pytest.raises(ValueError, match=f"{revision}' names can change; write the commit's 40 digits"):
            open_quickly(address, tmp_path)
        assert server.paths == []
        assert open_quickly(f"{address}#sha256={SHA256}", tmp_path).path.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("members", "inside"),
    [
        (["release/outputs/o3/x.jsonl", "release/exp/a.txt"], "release"),
        (["o3/x.jsonl", "o1/x.jsonl"], ""),
        ([f"o3/{NAME}.txt"], ""),
        ([f"outputs/o3/{NAME}.txt"], ""),
        (["a/b/c/x.jsonl", "a/b/c/y.jsonl"], "a/b/c"),
    ],
)
def test_an_archive_is_unpacked_and_unwrapped(tmp_path, members, inside):
    """A folder around everything is stepped into, a model's folder is not."""
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for member in members:
            archive.writestr(member, json.dumps({}))
        archive.writestr("../evil", "")
    found = open_source(tmp_path / "x.zip", tmp_path / "cache")
    (folder,) = (tmp_path / "cache").iterdir()
    assert found.path == folder / inside
    assert [row.file for row in found.refused] == ["x.zip/../evil"]


@pytest.mark.parametrize(
    ("name", "kept", "reason"), [("x.zip", 90, "BadZipFile"), ("x.zip", 0, "BadZipFile"), ("x.tar", 90, "EOFError")]
)
def test_an_archive_that_is_none_is_refused(tmp_path, name, kept, reason):
    """Cut short or false, the sentence says why nothing came out of it and what to do, the second time too."""
    with zipfile.ZipFile(tmp_path / "good.zip", "w") as archive:
        archive.writestr("x.jsonl", "{}\n" * 100)
    content = (tmp_path / "good.zip").read_bytes()[:kept]
    with serve(content or CONTENT) as server:
        for _ in range(2):
            with pytest.raises(ValueError, match=rf"{server.url}/{name} cannot be unpacked \({reason}.*fetch it again"):
                open_quickly(f"{server.url}/{name}", tmp_path / "cache")


def test_a_sum_needs_a_file(tmp_path):
    """A path that is missing or a folder has no sum; the sentence says what to do."""
    for path in (tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(ValueError, match=f"{path} is no file .*; correct the path or leave out"):
            open_source(f"{path}#sha256={SHA256}", tmp_path / "cache")
