"""Sources brought to this machine, and archives from strangers."""

import gzip
import hashlib

import pytest
from packing import make_archive, write_packed
from web import serve, serve_raw

from cogniload_repro.importing import sources, tables
from cogniload_repro.importing.sources import HUB, fetch_source, resolve_address

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
    "address",
    [
        "http://127.0.0.1/a.jsonl",
        "ftp://h/a",
        "hf://datasets/o/n",
        "hf://datasets/o/n/a.jsonl",
        "hf://models/o/n@main/a.jsonl",
    ],
)
def test_an_address_is_https(tmp_path, address):
    """Anything else could be changed on the way."""
    with pytest.raises(ValueError, match="an address begins with https://"):
        fetch_source(address, tmp_path)


def test_a_branch_of_a_data_set_needs_a_checksum():
    """A commit does not change."""
    commit = "0123456789" * 4
    address = resolve_address(f"hf://datasets/o/n@{commit}/data/a b.jsonl", False)
    assert address == f"{HUB}/datasets/o/n/resolve/{commit}/data/a%20b.jsonl"
    assert resolve_address("hf://datasets/o/n@main/a.jsonl", True).endswith("a.jsonl")
    with pytest.raises(ValueError, match="'main' may change; write a commit"):
        resolve_address("hf://datasets/o/n@main/a.jsonl", False)


@pytest.fixture
def plain_http(monkeypatch):
    """Addresses of servers on this machine, which have no certificate."""
    monkeypatch.setattr(sources, "resolve_address", lambda address, _: address)


FOUND = b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}"
FOUND_SHA256 = hashlib.sha256(b"{}").hexdigest()


def moved(place):
    """A redirect."""
    return f"HTTP/1.0 307 Moved\r\nLocation: {place}\r\n\r\n".encode()


@pytest.mark.parametrize("is_hub", [True, False])
def test_the_token_goes_to_the_hub_alone(tmp_path, monkeypatch, plain_http, is_hub):
    """Also after a redirect on the hub. It is in no message and no name."""
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with serve_raw(moved("/api/b.jsonl"), FOUND) as server:
        if is_hub:
            monkeypatch.setattr(sources, "HUB", server.url)
        address = f"{server.url}/a.jsonl#sha256={FOUND_SHA256}"
        path, label = fetch_source(address, tmp_path)
    for request in server.requests:
        assert ("Bearer hf_secret" in request) == is_hub
    assert "hf_secret" not in f"{path}{label}"


def test_the_token_stays_on_the_hub_after_a_redirect(tmp_path, monkeypatch, plain_http):
    """Another port is another host, and so is another name of this machine."""
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with serve_raw(FOUND) as store:
        elsewhere = store.url.replace("127.0.0.1", "localhost")
        for number, place in enumerate([store.url, elsewhere]):
            with serve_raw(moved(place), FOUND) as hub:
                monkeypatch.setattr(sources, "HUB", hub.url)
                address = f"{hub.url}/a.jsonl#sha256={FOUND_SHA256}"
                fetch_source(address, tmp_path / str(number))
    assert len(store.requests) == 2
    assert not any("hf_secret" in request for request in store.requests)


@pytest.mark.parametrize("status", [401, 403, 404])
@pytest.mark.parametrize(
    ("token", "words"), [("", "set HF_TOKEN"), ("hf_secret", "HF_TOKEN has access")]
)
def test_a_refused_download_says_what_the_token_lacks(
    tmp_path, monkeypatch, plain_http, status, token, words
):
    """Whoever has sent one is not told to set one."""
    monkeypatch.setenv("HF_TOKEN", token)
    answer = f"HTTP/1.0 {status} No\r\nContent-Length: 0\r\n\r\n".encode()
    with serve_raw(answer) as server:
        monkeypatch.setattr(sources, "HUB", server.url)
        with pytest.raises(ValueError, match=rf"\({status}\).*{words}"):
            fetch_source(f"{server.url}/a.jsonl", tmp_path)


def test_what_cannot_be_fetched_is_refused_without_its_password(tmp_path):
    """The remedy is said, the address only without user and query."""
    address = f"https://user:secret@127.0.0.1:1/a.jsonl?sig=SIGNATURE#sha256={SHA256}"
    with pytest.raises(ValueError, match="the file and give its path") as caught:
        fetch_source(address, tmp_path)
    assert "secret" not in str(caught.value)
    assert "SIGNATURE" not in str(caught.value)


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
@pytest.mark.parametrize(
    ("names", "fault"),
    [
        (["../up.jsonl"], "unsafe name"),
        (["/up.jsonl"], "unsafe name"),
        (["a/../../up.jsonl"], "unsafe name"),
        (["a\nb.jsonl"], "unsafe name"),
        (["a.jsonl", "a.jsonl"], "is there twice"),
        (["a.jsonl", "./a.jsonl"], "is there twice"),
        (["a", "a/b.jsonl"], "Not a directory"),
        (["a" * 300 + ".jsonl"], "File name too long"),
        (["/".join("a" * 600) + ".jsonl"], "in too many folders"),
    ],
)
def test_an_archive_with_an_odd_member_is_refused_with_the_remedy(
    tmp_path, ending, names, fault
):
    """Nothing is unpacked, inside the folder or elsewhere."""
    archive = make_archive(tmp_path / f"s.{ending}", [(name, b"{}") for name in names])
    cause = rf"s\.{ending} cannot be unpacked: .*{fault}.*; unpack it yourself"
    with pytest.raises(ValueError, match=cause):
        fetch_source(archive, tmp_path / "in" / "cache")
    assert [path.name for path in tmp_path.rglob("*.jsonl")] == []


@pytest.mark.parametrize("ending", ["zip", "tgz"])
def test_a_member_that_is_neither_file_nor_folder_is_refused(tmp_path, ending):
    """A link may lead anywhere, and a pipe has no end."""
    for kind in (b"2", b"1", b"6"):
        members = [("a.jsonl", b"{}")]
        archive = make_archive(tmp_path / f"s.{ending}", members, [("link", kind)])
        with pytest.raises(ValueError, match="'link' is neither a file nor a folder"):
            fetch_source(archive, tmp_path / "cache")


@pytest.mark.parametrize("ending", ["zip", "tgz"])
def test_an_archive_is_bounded_by_the_sum_of_its_members(tmp_path, monkeypatch, ending):
    """As its headers say, before anything is written."""
    monkeypatch.setattr(sources, "MAX_UNPACKED_GB", 1e-6)
    members = [(f"{number}.jsonl", b" " * 300) for number in range(4)]
    archive = make_archive(tmp_path / f"s.{ending}", members)
    with pytest.raises(ValueError, match=r"its member '3\.jsonl' goes beyond 1e-06 GB"):
        fetch_source(archive, tmp_path / "cache")
    fetch_source(
        make_archive(tmp_path / f"s.{ending}", members[:3]), tmp_path / "cache"
    )


def test_a_line_without_an_end_is_refused(tmp_path, monkeypatch):
    """Before it fills the memory."""
    monkeypatch.setattr(tables, "MAX_LINE", 500)
    path = write_packed(tmp_path / "b.jsonl.gz", b" " * 1000)
    ((_, error),) = tables.read_table(path)
    assert "a line of more than 500 characters" in error.args[1]


@pytest.mark.parametrize("ending", ["zip", "tgz"])
def test_a_damaged_archive_is_refused_whole(tmp_path, ending):
    """No part of it is left, wherever it is cut or damaged."""
    members = [(f"{number}.jsonl", CONTENT[:5000]) for number in range(3)]
    archive = make_archive(tmp_path / f"s.{ending}", members)
    content = archive.read_bytes()
    for place in range(10, len(content), max(1, len(content) // 40)):
        archive.write_bytes(content[:place])
        with pytest.raises(ValueError, match="cannot be unpacked"):
            fetch_source(archive, tmp_path / "cache")
        assert not list((tmp_path / "cache").rglob("*.jsonl"))


def test_a_tar_that_ends_early_is_refused(tmp_path):
    """The library ends in silence at a header that is damaged or missing."""
    archive = make_archive(tmp_path / "s.tgz", [("a.jsonl", b"{}"), ("b.jsonl", b"{}")])
    plain = gzip.decompress(archive.read_bytes())
    damaged = plain[:1024] + b"?" + plain[1025:]
    for content in (plain[:1024], damaged, plain + b"more"):
        write_packed(archive, content)
        with pytest.raises(ValueError, match="it is damaged, or cut short"):
            fetch_source(archive, tmp_path / "cache")


def test_a_download_with_a_checksum_is_compared(plain_http, tmp_path):
    """A file that is another one is refused."""
    with serve(CONTENT) as server:
        path, label = fetch_source(f"{server.url}/a.jsonl#sha256={SHA256}", tmp_path)
        assert path.read_bytes() == CONTENT
        assert label.endswith("/a.jsonl")
        with pytest.raises(ValueError, match="could not be fetched"):
            fetch_source(f"{server.url}/a.jsonl#sha256={'0' * 64}", tmp_path)
