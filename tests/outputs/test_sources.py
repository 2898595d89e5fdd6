"""Sources brought to this machine."""

import gzip
import hashlib
import itertools
import json
import os
import zipfile
from functools import partial

import pytest
from requests.exceptions import InvalidSchema
from web import serve, serve_raw

from cogniload_repro.outputs import sources
from cogniload_repro.outputs.sources import download, open_source, resolve_address

CONTENT = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAME = "20_1_1_770487_red"
HALF = len(CONTENT) // 2
#: What a second attempt asks for after half of the content.
RESUMED = f"bytes={HALF}-"


def fetch(folder, server, path="file", **options):
    """Fetch the server's file and return its bytes."""
    download(f"{server.url}/{path}", folder / "file", **{"attempts": 3, "pause_s": 0.001, "timeout_s": 1.0, **options})
    assert [path.name for path in folder.iterdir()] == ["file"]
    return (folder / "file").read_bytes()


def open_quickly(source, cache):
    """Open a source with short pauses between attempts."""
    return open_source(source, cache, partial(download, pause_s=0.001, attempts=2))


def answer(*headers, body=b"", status="200 OK"):
    """A response as bytes."""
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "Connection: close", "", ""]).encode("latin-1") + body


CUT = answer('ETag: "1"', f"Content-Length: {len(CONTENT)}", body=CONTENT[:HALF])
WHOLE = answer('ETag: "1"', f"Content-Length: {len(CONTENT)}", body=CONTENT)


@pytest.mark.parametrize(
    ("faults", "etag", "is_resumed"),
    [
        ([503, 429], '"1"', False),
        (["truncate", "truncate"], '"1"', True),
        (["truncate", "whole"], '"1"', True),
        (["stall"], '"1"', False),
        (["truncate"], None, False),
        (["truncate"], 'W/"1"', False),
    ],
)
def test_passing_faults_are_overcome(tmp_path, faults, etag, is_resumed):
    """Errors of the server, a body cut short and a silence; only what is surely of the same version is continued."""
    with serve(CONTENT, faults, etag=etag) as server:
        assert fetch(tmp_path, server) == CONTENT
        assert (RESUMED in server.ranges) == is_resumed
        (tmp_path / ".file.part").write_bytes(CONTENT)  # of a run that was killed before the renaming
        (tmp_path / ".file.part.version").write_text(f"{len(CONTENT)} {etag}")
        assert fetch(tmp_path, server) == CONTENT


@pytest.mark.parametrize(
    ("etag", "told", "begin"),
    [
        ('"1"', f"bytes {HALF + 99}-{len(CONTENT) - 1}/{len(CONTENT)}", HALF + 99),
        ('"2"', f"bytes {HALF}-{len(CONTENT) - 1}/{len(CONTENT)}", HALF),
        ('"1"', f"bytes {HALF}-{HALF + 4999}/{HALF + 5000}", HALF),
        ('"1"', "", HALF),
    ],
)
def test_only_the_rest_of_the_same_version_is_appended(tmp_path, etag, told, begin):
    """Another place of the file, another version, another size in all or no word on it: it is fetched anew."""
    rest = CONTENT[begin : HALF + 5000 if "5000" in told else None][:HALF]
    rest = rest.replace(b"\x01", b"\x02" if etag == '"2"' else b"\x01")
    headers = f"ETag: {etag}", f"Content-Range: {told}", f"Content-Length: {len(rest)}"
    with serve_raw(CUT, answer(*headers, body=rest, status="206 Partial Content"), WHOLE) as server:
        assert fetch(tmp_path, server) == CONTENT
        assert [f"Range: bytes={HALF}-" in request for request in server.requests] == [False, True, False]


@pytest.mark.parametrize(
    ("response", "complaint"),
    [
        (answer(status="404 Not Found"), "answered 404 Not Found; check the address"),
        (answer("Content-Length: 9999999999999999"), "is larger than 50 GB"),
        (answer(body=b"\n <!DOCTYPE html><p>Sign in"), "gives a web page instead of data"),
        (answer("Content-Type: text/html; charset=utf-8", body=b"{}"), "web page"),
        (answer("Location: file:///etc/passwd", status="302 Found"), "No connection adapters .* check the address"),
        (answer("Location: http://127.0.0.2/x", status="302 Found"), r"redirected to plain http \(127.0.0.2\)"),
        (answer("Location: http://\xff\xfe/x", status="302 Found"), "check the address"),
        (answer("Location: /again", status="302 Found"), "Exceeded 20 redirects"),
    ],
)
def test_what_no_second_attempt_corrects_is_refused_at_once(tmp_path, response, complaint):
    """One sentence, without pauses between hopeless attempts; no other scheme is ever opened."""
    with serve_raw(response) as server, pytest.raises(ValueError, match=complaint):
        fetch(tmp_path, server, pause_s=60)
    assert list(tmp_path.iterdir()) == []


def test_a_body_without_an_end_is_cut(tmp_path, monkeypatch):
    """What may be fetched is bounded, whether or not the server gives a size, and also where it redirects."""
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.001")
    endless = itertools.chain([answer()], itertools.repeat(bytes(1 << 16)))
    with serve_raw(endless) as server, pytest.raises(ValueError, match=r"is larger than 0\.001 GB"):
        fetch(tmp_path, server)
    assert list(tmp_path.iterdir()) == []
    redirection = itertools.chain([answer("Location: /x", status="302 Found")], itertools.repeat(bytes(1 << 16)))
    with serve_raw(redirection, WHOLE) as server:
        assert fetch(tmp_path, server, attempts=1) == CONTENT
        assert len(server.requests) == 2


def test_a_packed_file_stays_packed(tmp_path):
    """A server that calls a .gz file compressed on its way means the file."""
    packed = gzip.compress(CONTENT)
    with serve_raw(answer("Content-Encoding: gzip", body=packed)) as server:
        assert fetch(tmp_path, server, "a.jsonl.gz?x=1") == packed


def test_https_is_not_left_for_http():
    """A redirection to plain http is followed from a server of this machine, or where the file's sum is compared."""
    with pytest.raises(InvalidSchema, match=r"redirected to plain http \(127\.0\.0\.1\); add #sha256="):
        sources._Session(False, anywhere=False).get_adapter("http://127.0.0.1/a")
    assert sources._Session(True, anywhere=True).get_adapter("http://y.org/a")


@pytest.mark.parametrize(
    "response",
    [
        answer(status="503 X"),
        answer("Location: http://127.0.0.1:1/?X-Sig=TOK", status="302 Found"),
        answer(body=b"<html>"),
    ],
)
def test_no_message_has_a_secret(tmp_path, response):
    """User, password and query of an address, and of one that it is redirected to, are in no sentence."""
    with serve_raw(response) as server:
        url = server.url.replace("//", "//me:s3cret@") + "/file?token=TOK"
        with pytest.raises(ValueError, match=f"{server.url}/file") as refusal:
            download(url, tmp_path / "file", attempts=2, pause_s=0.001, timeout_s=1)
    with pytest.raises(ValueError, match="leads to no valid address") as invalid:
        download("https://me:s3cret/word@127.0.0.1/a?token=TOK", tmp_path / "file", attempts=1)
    shown = f"{refusal.value} {invalid.value}"
    assert not [word for word in ("s3cret", "me:", "TOK", "token") if word in shown]


def test_a_local_path_stays_where_it_is(tmp_path):
    """Files and folders are used in place, called by their own name; a sum counts like that of a download."""
    path = tmp_path / "mine.jsonl"
    path.write_bytes(CONTENT)
    assert open_source(path, tmp_path / "cache")[:3] == (path, "mine.jsonl", [])
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
        first = open_quickly(f"{address}#sha256={SHA256}", tmp_path)
        assert open_quickly(f"{address}#sha256={SHA256}", tmp_path) == first
        assert server.paths == ["/data/mine.jsonl?token=secret"]
        assert (first.path.read_bytes(), first.path.suffix, first.note) == (CONTENT, ".jsonl", "")
        assert first.label == f"{server.url}/data/mine.jsonl"
        os.utime(first.path, (1_700_000_000,) * 2)
        note = open_quickly(address, tmp_path).note
        assert note.startswith(f"{first.label} was fetched on 2023-11-1")
        assert f"delete {first.path} to fetch it again" in note
        first.path.write_bytes(b"damaged")
        assert open_quickly(f"{address}#sha256={SHA256}", tmp_path).path.read_bytes() == CONTENT
        with pytest.raises(ValueError, match=r"mine\.jsonl does not have the SHA-256 sum 000"):
            open_quickly(f"{address}#sha256={'0' * 64}", tmp_path)
        assert list(tmp_path.iterdir()) == []


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
        open_quickly(address, tmp_path)


def test_hub_addresses_name_a_file_at_a_commit(tmp_path, monkeypatch):
    """They go to the hub, or to the mirror that the environment names; what can move needs a sum."""
    address = f"hf://datasets/dkfo/cogniload@{COMMIT}/a b/c.jsonl"
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    path = f"datasets/dkfo/cogniload/resolve/{COMMIT}/a%20b/c.jsonl"
    assert resolve_address(address) == f"https://huggingface.co/{path}"
    with serve(CONTENT) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"{server.url}/")
        found = open_quickly(address, tmp_path)
        assert (found.path.read_bytes(), found.label, server.paths) == (CONTENT, address, [f"/{path}"])
        for revision in ("main", COMMIT[:-1], COMMIT.upper()):
            moving = address.replace(COMMIT, revision)
            with pytest.raises(ValueError, match=f"{revision}' can move; pin a 40-digit commit"):
                open_quickly(moving, tmp_path)
            assert open_quickly(f"{moving}#sha256={SHA256}", tmp_path).path.read_bytes() == CONTENT


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


def test_archives_in_a_folder_share_the_limit(tmp_path, monkeypatch):
    """What they could not give is named below the folder; together they unpack to no more than one archive may."""
    (tmp_path / "s/in").mkdir(parents=True)
    for name in ("a", "b"):
        with zipfile.ZipFile(tmp_path / f"s/in/{name}.zip", "w") as archive:
            archive.writestr("x.jsonl", name * 600_000)
            archive.writestr("../evil", "")
    found = open_source(tmp_path / "s", tmp_path / "cache")
    assert list(found.inner) == [tmp_path / "s/in/a.zip", tmp_path / "s/in/b.zip"]
    assert [row.file for row in found.refused] == ["in/a.zip/../evil", "in/b.zip/../evil"]
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.001")
    with pytest.raises(ValueError, match=r"b\.zip unpacks to more than 0\.001 GB"):
        open_source(tmp_path / "s", tmp_path / "other")


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
                open_quickly(f"{server.url}/{name}", tmp_path / "cache")
