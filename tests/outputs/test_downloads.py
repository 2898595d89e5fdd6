"""Files from the web."""

import gzip
import itertools
import shutil
import ssl
import subprocess
import time

import pytest
from web import serve, serve_raw

from cogniload_repro.outputs.downloads import Downloader

CONTENT = bytes(range(256)) * 2000
# Half of the content comes before a cut.
RESUMED = f"bytes={len(CONTENT) // 2}-"


def fetch(folder, server, **options):
    """Fetch the server's file and return its bytes."""
    options = {"attempts": 3, "pause_s": 0.001, "timeout_s": 1.0, **options}
    Downloader(folder / ".part", **options)(f"{server.url}/file", folder / "file")
    assert [path.name for path in folder.iterdir()] == ["file"]
    return (folder / "file").read_bytes()


@pytest.mark.parametrize(
    "faults", [[], [503, 429], ["truncate", "truncate"], ["stall"], [500, "truncate"], ["truncate", "whole"]]
)
def test_passing_faults_are_overcome(tmp_path, faults):
    """Errors of the server, a body cut short and a silence are tried again."""
    with serve(CONTENT, faults) as server:
        assert fetch(tmp_path, server) == CONTENT


def test_a_second_attempt_goes_on_where_the_first_stopped(tmp_path):
    """Only the missing bytes are asked for."""
    with serve(CONTENT, ["truncate"]) as server:
        fetch(tmp_path, server)
        assert server.ranges == [None, RESUMED]


def test_a_second_run_goes_on_where_the_first_stopped(tmp_path):
    """The part file outlives the process; the error says so."""
    with serve(CONTENT, ["truncate"]) as server:
        with pytest.raises(ValueError, match=r"could not be fetched in 1 attempts .* goes on where it stopped"):
            fetch(tmp_path, server, attempts=1)
        assert not (tmp_path / "file").exists()
        assert fetch(tmp_path, server) == CONTENT
        assert server.ranges == [None, RESUMED]


def test_parts_of_different_versions_are_not_joined(tmp_path):
    """When the file has changed in between, it is fetched from its start."""
    with serve(b"old" * 9999, ["truncate"]) as server:
        with pytest.raises(ValueError, match="could not be fetched"):
            fetch(tmp_path, server, attempts=1)
        server.content, server.etag = CONTENT, '"2"'
        assert fetch(tmp_path, server) == CONTENT


@pytest.mark.parametrize("etag", [None, 'W/"1"'])
def test_without_a_version_a_download_starts_again(tmp_path, etag):
    """Where the server does not mark versions, nothing is appended."""
    with serve(CONTENT, ["truncate"], etag=etag) as server:
        assert fetch(tmp_path, server) == CONTENT
        assert server.ranges == [None, None]


def test_a_part_that_is_complete_is_no_trap(tmp_path):
    """A run killed between the last byte and the renaming is followed by one that finishes."""
    (tmp_path / ".part").write_bytes(CONTENT)
    (tmp_path / ".part.version").write_text('"1"')
    with serve(CONTENT) as server:
        assert fetch(tmp_path, server) == CONTENT


@pytest.mark.parametrize("page", [b"<!DOCTYPE html><p>Sign in", b"\n <HTML>"])
def test_a_web_page_is_refused(tmp_path, page):
    """A page in place of the data is known by its beginning, whatever type the server claims."""
    with serve(page) as server, pytest.raises(ValueError, match="gives a web page instead of data"):
        fetch(tmp_path, server)
    with serve(b"{}", kind="text/html; charset=utf-8") as server, pytest.raises(ValueError, match="web page"):
        fetch(tmp_path, server)


def test_a_refusal_is_not_tried_again(tmp_path):
    """Not found stays not found."""
    with serve(CONTENT, [404]) as server:
        with pytest.raises(ValueError, match=r"answered 404 Not Found; check the address"):
            fetch(tmp_path, server)
        assert len(server.ranges) == 1


def test_a_server_that_is_not_there_is_named(tmp_path):
    """The sentence gives the address and the cause."""
    with serve(CONTENT) as server:
        pass
    with pytest.raises(ValueError, match=r"127\.0\.0\.1.*/file could not be fetched in 2 attempts"):
        fetch(tmp_path, server, attempts=2)


def answer(*headers, body=b"", status="200 OK"):
    """A response as bytes."""
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "Connection: close", "", ""]).encode("latin-1") + body


def drip(blocks, pause_s=0.03):
    """Blocks with pauses between them, without an end."""
    for block in itertools.chain(blocks, itertools.repeat(b"x")):
        yield block
        time.sleep(pause_s)


HALF = len(CONTENT) // 2
CUT = answer('ETag: "1"', f"Content-Length: {len(CONTENT)}", body=CONTENT[:HALF])
WHOLE = answer('ETag: "1"', f"Content-Length: {len(CONTENT)}", body=CONTENT)


@pytest.mark.parametrize(
    ("etag", "told", "begin"),
    [
        ('"1"', f"bytes {HALF + 99}-{len(CONTENT) - 1}/{len(CONTENT)}", HALF + 99),
        ('"2"', f"bytes {HALF}-{len(CONTENT) - 1}/{len(CONTENT)}", HALF),
        ('"1"', "bytes 7", HALF),
        ('"1"', "", HALF),
    ],
)
def test_only_the_rest_of_the_same_version_is_appended(tmp_path, etag, told, begin):
    """Another place of the file, another version or no word on it: the file is fetched from its start."""
    rest = CONTENT[begin:].replace(b"\x01", b"\x02" if etag == '"2"' else b"\x01")
    headers = f"ETag: {etag}", f"Content-Range: {told}", f"Content-Length: {len(rest)}"
    with serve_raw(CUT, answer(*headers, body=rest, status="206 Partial Content"), WHOLE) as server:
        assert fetch(tmp_path, server) == CONTENT
        assert [f"Range: bytes={HALF}-" in request for request in server.requests] == [False, True, False]


@pytest.mark.parametrize(
    ("response", "complaint"),
    [
        (answer("Content-Length: abc", body=b"x"), "the server tells a length of 'abc'"),
        (answer("Content-Length: 9999999999999999"), "is larger than 50 GB"),
        (answer("Location: file:///etc/passwd", status="302 Found"), "No connection adapters .* check the address"),
        (answer("Location: ftp://127.0.0.1/x", status="302 Found"), "No connection adapters .* check the address"),
        (answer("Location: http://127.0.0.2/x", status="302 Found"), r"redirected to plain http \(127.0.0.2\)"),
        (answer("Location: http://\xff\xfe/x", status="302 Found"), "http://127.*redirected to no address .*check the"),
        (answer("Location: http://[x", status="302 Found"), "http://127.*redirected to no address .*check the"),
        (answer("Location: /again", status="302 Found"), "more than 20 redirections"),
        (answer("Content-Encoding: br", body=b"x"), "comes compressed as 'br'"),
    ],
)
def test_what_no_second_attempt_can_mend_is_refused_at_once(tmp_path, response, complaint):
    """One sentence, without pauses between hopeless attempts; no other scheme is ever opened."""
    with serve_raw(response) as server, pytest.raises(ValueError, match=complaint):
        fetch(tmp_path, server, pause_s=60)
    assert not (tmp_path / "file").exists()


def test_a_server_that_drips_is_given_up(tmp_path):
    """Neither headers nor content may come letter by letter for ever."""
    start = time.monotonic()
    with serve_raw(drip([b"HTTP/1.1 200 OK\r\n"])) as server, pytest.raises(ValueError, match="no headers came within"):
        fetch(tmp_path, server, attempts=1)
    with serve_raw(drip([answer()])) as server, pytest.raises(ValueError, match="fewer than 1,000 bytes a second came"):
        fetch(tmp_path, server, attempts=1)
    assert time.monotonic() - start < 60


def test_a_body_without_an_end_is_cut(tmp_path, monkeypatch):
    """What may be fetched is bounded, whether or not the server tells a size, and also where it redirects."""
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.001")
    endless = itertools.chain([answer()], itertools.repeat(bytes(1 << 16)))
    with serve_raw(endless) as server, pytest.raises(ValueError, match=r"is larger than 0\.001 GB"):
        fetch(tmp_path, server)
    assert list(tmp_path.iterdir()) == []
    redirection = itertools.chain([answer("Location: /x", status="302 Found")], itertools.repeat(bytes(1 << 16)))
    with serve_raw(redirection, WHOLE) as server:
        assert fetch(tmp_path, server, attempts=1) == CONTENT
        assert len(server.requests) == 2


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "GZIP"])
def test_a_server_that_compresses_is_understood(tmp_path, monkeypatch, encoding):
    """The bytes that come are those that were counted; unpacked, they are bounded and have to be whole."""
    packed = gzip.compress(CONTENT)
    headers = f"Content-Encoding: {encoding}", 'ETag: "1"'
    with serve_raw(answer(*headers, f"Content-Length: {len(packed)}", body=packed)) as server:
        assert fetch(tmp_path, server) == CONTENT
    with serve_raw(answer(*headers, body=packed[:-9])) as server, pytest.raises(ValueError, match="is damaged"):
        fetch(tmp_path, server)
    page = gzip.compress(b"<html>Sign in")
    with serve_raw(answer(*headers, body=page)) as server, pytest.raises(ValueError, match="web page"):
        fetch(tmp_path, server)
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.001")
    bomb = gzip.compress(bytes(5_000_000))
    with serve_raw(answer(*headers, body=bomb)) as server, pytest.raises(ValueError, match=r"than 0\.001 GB"):
        fetch(tmp_path, server)
    assert not [path.name for path in tmp_path.iterdir() if path.name.endswith(".plain")]


def test_a_packed_file_stays_packed(tmp_path):
    """A server that calls a .gz file compressed on its way means the file."""
    packed = gzip.compress(CONTENT)
    with serve_raw(answer("Content-Encoding: gzip", body=packed)) as server:
        Downloader(tmp_path / ".part")(f"{server.url}/a.jsonl.gz?x=1", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == packed


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl, which makes the server's certificate")
def test_https_is_not_left_for_http(tmp_path, monkeypatch):
    """A redirection to plain http is followed only where the file's sum is compared afterwards."""
    certificate = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=x -addext"
    )
    files = ["-keyout", tmp_path / "key", "-out", tmp_path / "certificate"]
    subprocess.run([*certificate.split(), "subjectAltName=IP:127.0.0.1", *files], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "certificate", tmp_path / "key")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "certificate"))
    folder = tmp_path / "cache"
    folder.mkdir()
    with serve(CONTENT) as plain:
        redirection = answer(f"Location: {plain.url}/file", status="302 Found")
        with serve_raw(redirection, tls=tls) as secure:
            with pytest.raises(ValueError, match=r"redirected to plain http \(127\.0\.0\.1\); add #sha256="):
                fetch(folder, secure)
            assert plain.paths == []
            assert fetch(folder, secure, any_route=True) == CONTENT
        with serve_raw(answer("Location: /again", status="302 Found"), WHOLE, tls=tls) as secure:
            assert fetch(folder, secure) == CONTENT


@pytest.mark.parametrize(
    "response",
    [
        answer(status="404 Not Found"),
        answer(status="503 X"),
        answer("Content-Length: x"),
        answer("Location: http://127.0.0.1:1/?X-Sig=TOK", status="302 Found"),
        answer(body=b"<html>"),
        b"",
    ],
)
def test_no_message_has_a_secret(tmp_path, response):
    """User, password and query of an address, and of one that it is redirected to, are in no sentence."""
    with serve_raw(response) as server:
        url = server.url.replace("//", "//me:s3cret@") + "/file?token=TOK"
        with pytest.raises(ValueError, match=f"{server.url}/file") as refusal:
            Downloader(tmp_path / ".part", attempts=2, pause_s=0.001, timeout_s=1)(url, tmp_path / "file")
    assert not [word for word in ("s3cret", "me:", "TOK", "token") if word in str(refusal.value)]
