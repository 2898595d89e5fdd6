"""Sources brought to this machine."""

import hashlib
import json
import os
import zipfile

import pytest
from web import serve, serve_raw

from cogniload_repro.outputs.sources import open_source, resolve_address

CONTENT = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAME = "20_1_1_770487_red"


def answer(*headers, body=b"", status="200 OK"):
    """A response as bytes."""
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "Connection: close", "", ""]).encode("latin-1") + body


@pytest.mark.parametrize(
    ("response", "complaint"),
    [
        (answer(status="404 Not Found"), "404 .*check the address"),
        (answer(status="503 X"), "503 .*check the address"),
        (answer("Content-Length: 9999999999999999"), "is larger than 50 GB"),
        (answer(f"Content-Length: {len(CONTENT)}", body=CONTENT[:1000]), "could not be fetched"),
        (answer("Content-Type: text/html; charset=utf-8", body=b"{}"), "gives a web page instead of data"),
        (answer("Location: file:///etc/passwd", status="302 Found"), "No connection adapters .* check the address"),
        (answer("Location: http://127.0.0.2/x", status="302 Found"), "redirected to plain http"),
        (answer("Location: http://\xff\xfe/x", status="302 Found"), "check the address"),
        (answer("Location: /again?X-Sig=TOK", status="302 Found"), "Exceeded 30 redirects"),
        (answer("Location: http://127.0.0.1:1/?X-Sig=TOK", status="302 Found"), "could not be fetched"),
    ],
)
def test_what_cannot_be_fetched_is_refused(tmp_path, response, complaint):
    """One sentence without user, password and query of an address; nothing stays in the cache."""
    with serve_raw(response) as server:
        url = server.url.replace("//", "//me:s3cret@") + "/file?token=TOK"
        with pytest.raises(ValueError, match=complaint) as refusal:
            open_source(url, tmp_path)
    assert f"{server.url}/file" in str(refusal.value)
    assert not [word for word in ("s3cret", "me:", "TOK", "token") if word in str(refusal.value)]
    assert list(tmp_path.iterdir()) == []


def test_a_redirection_is_followed_where_the_sum_is_compared(tmp_path):
    """Plain http on another host may have changed the file, which its sum shows."""
    with serve_raw(answer("Location: /x", status="302 Found"), answer(body=CONTENT)) as server:
        assert open_source(f"{server.url}/a#sha256={SHA256}", tmp_path).path.read_bytes() == CONTENT
        assert len(server.requests) == 2


def test_a_local_path_stays_where_it_is(tmp_path):
    """Files and folders are used in place, called by their own name; a sum counts like that of a download."""
    path = tmp_path / "mine.jsonl"
    path.write_bytes(CONTENT)
    assert open_source(path, tmp_path / "cache") == (path, "mine.jsonl", (), "")
    assert open_source(str(tmp_path), tmp_path / "cache")[:2] == (tmp_path, tmp_path.name)
    assert not (tmp_path / "cache").exists()
    assert open_source(f"{path}#sha256={SHA256.upper()}", tmp_path).path == path
    with pytest.raises(ValueError, match="does not have the SHA-256 sum"):
        open_source(f"{path}#sha256={'0' * 64}", tmp_path)
    for other in (tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(ValueError, match=f"{other} is no file .*; correct the path or leave out"):
            open_source(f"{other}#sha256={SHA256}", tmp_path / "cache")


def test_a_download_is_kept(tmp_path):
    """The second time the file is there, no query is in its label; without a sum a note says since when."""
    with serve(CONTENT) as server:
        address = f"{server.url}/data/mine.jsonl?token=secret"
        first = open_source(f"{address}#sha256={SHA256}", tmp_path)
        assert open_source(f"{address}#sha256={SHA256}", tmp_path) == first
        assert server.paths == ["/data/mine.jsonl?token=secret"]
        assert (first.path.read_bytes(), first.path.suffix, first.note) == (CONTENT, ".jsonl", "")
        assert first.label == f"{server.url}/data/mine.jsonl"
        os.utime(first.path, (1_700_000_000,) * 2)
        note = open_source(address, tmp_path).note
        assert note.startswith(f"{first.label} was fetched on 2023-11-1")
        assert f"delete {first.path} to fetch it again" in note
        first.path.write_bytes(b"damaged")
        assert open_source(f"{address}#sha256={SHA256}", tmp_path).path.read_bytes() == CONTENT
        with pytest.raises(ValueError, match=r"mine\.jsonl could not be fetched: it does not have the SHA-256 sum 000"):
            open_source(f"{address}#sha256={'0' * 64}", tmp_path)
        assert first.path.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("ftp://example.org/a.jsonl", "ftp:// is not known"),
        (
            "git+https://me:s3cret@example.org/a.jsonl",
            r"git\+https://example\.org/a\.jsonl: git\+https:// is not known",
        ),
        ("http://example.org/a.jsonl", "plain http"),
        ("hf://datasets/dkfo/cogniload/a.jsonl", "incomplete"),
        ("https://example.org/a#sha256=12", "64 hexadecimal digits"),
    ],
)
def test_other_addresses_are_refused(tmp_path, address, reason):
    """The sentence says what an address looks like; nothing is asked of any server."""
    with pytest.raises(ValueError, match=f"^(?!.*s3cret).*{reason}"):
        open_source(address, tmp_path)


def test_hub_addresses_name_a_file_at_a_commit(tmp_path, monkeypatch):
    """They go to the hub, or to the mirror that the environment names; what can move needs a sum."""
    address = f"hf://datasets/dkfo/cogniload@{COMMIT}/a b/c.jsonl"
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    path = f"datasets/dkfo/cogniload/resolve/{COMMIT}/a%20b/c.jsonl"
    assert resolve_address(address) == f"https://huggingface.co/{path}"
    with serve(CONTENT) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"{server.url}/")
        found = open_source(address, tmp_path)
        assert (found.path.read_bytes(), found.label, server.paths) == (CONTENT, address, [f"/{path}"])
        for revision in ("main", COMMIT[:-1], COMMIT.upper()):
            moving = address.replace(COMMIT, revision)
            with pytest.raises(ValueError, match=f"{revision}' can move; pin a 40-digit commit"):
                open_source(moving, tmp_path)
            assert open_source(f"{moving}#sha256={SHA256}", tmp_path).path.read_bytes() == CONTENT


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
    ("name", "kept", "reason"), [("x.zip", 90, "BadZipFile"), ("x.zip", 0, "BadZipFile"), ("x.tar", 90, "ReadError")]
)
def test_an_archive_that_is_none_is_refused(tmp_path, name, kept, reason):
    """Cut short or false, the sentence says why it could not be unpacked and what to do, the second time too."""
    with zipfile.ZipFile(tmp_path / "good.zip", "w") as archive:
        archive.writestr("x.jsonl", "{}\n" * 100)
    content = (tmp_path / "good.zip").read_bytes()[:kept]
    with serve(content or CONTENT) as server:
        for _ in range(2):
            with pytest.raises(ValueError, match=rf"{server.url}/{name} cannot be unpacked \({reason}.*fetch it again"):
                open_source(f"{server.url}/{name}", tmp_path / "cache")
