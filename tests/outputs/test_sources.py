"""Sources brought to this machine."""

import hashlib

import pytest
from web import serve, serve_raw

from cogniload_repro.outputs.sources import open_source, resolve_address

CONTENT = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def answer(*headers, body=b"", status="200 OK"):
    """A response as bytes."""
    return (
        "\r\n".join(
            [f"HTTP/1.1 {status}", *headers, "Connection: close", "", ""]
        ).encode("latin-1")
        + body
    )


@pytest.mark.parametrize(
    ("response", "complaint"),
    [
        (answer(status="404 Not Found"), "404 Not Found; check the address"),
        (answer(status="503 X"), "503 X; check the address"),
        (
            answer(f"Content-Length: {len(CONTENT)}", body=CONTENT[:1000]),
            "could not be fetched",
        ),
        (
            answer("Location: file:///etc/passwd", status="302 Found"),
            "InvalidSchema; check the address",
        ),
        (
            answer("Location: http://127.0.0.2/x", status="302 Found"),
            "redirected to plain http",
        ),
        (
            answer("Location: http://\xff\xfe/x", status="302 Found"),
            "check the address",
        ),
        (
            answer("Location: /again?X-Sig=TOK", status="302 Found"),
            "302 Found; check the address",
        ),
        (
            answer("Location: http://127.0.0.1:1/?X-Sig=TOK", status="302 Found"),
            "could not be fetched",
        ),
    ],
)
def test_what_cannot_be_fetched_is_refused(tmp_path, response, complaint):
    """One sentence without user, password and query of an address; nothing stays in the cache."""
    with serve_raw(response) as server:
        url = server.url.replace("//", "//me:s3cret@") + "/file?token=TOK"
        with pytest.raises(ValueError, match=complaint) as refusal:
            open_source(url, tmp_path)
    assert f"{server.url}/file" in str(refusal.value)
    assert not [
        word for word in ("s3cret", "me:", "TOK", "token") if word in str(refusal.value)
    ]
    assert list(tmp_path.iterdir()) == []


def test_a_redirection_is_followed_where_the_sum_is_compared(tmp_path):
    """Plain http on another host may have changed the file, which its sum shows."""
    with serve_raw(
        answer("Location: /x", status="302 Found"), answer(body=CONTENT)
    ) as server:
        assert (
            open_source(f"{server.url}/a#sha256={SHA256}", tmp_path).path.read_bytes()
            == CONTENT
        )
        assert len(server.requests) == 2


def test_a_local_path_stays_where_it_is(tmp_path):
    """Files and folders are used in place, under their own name."""
    path = tmp_path / "mine.jsonl"
    path.write_bytes(CONTENT)
    assert open_source(path, tmp_path / "cache") == (path, "mine.jsonl")
    assert open_source(str(tmp_path), tmp_path / "cache") == (tmp_path, tmp_path.name)
    assert not (tmp_path / "cache").exists()


def test_a_download_with_a_sum_is_kept_and_any_other_is_fetched_again(tmp_path):
    """What cannot have changed is there the second time; no query is in a label."""
    with serve(CONTENT) as server:
        address = f"{server.url}/data/mine.jsonl?token=secret"
        first = open_source(f"{address}#sha256={SHA256}", tmp_path)
        assert open_source(f"{address}#sha256={SHA256}", tmp_path) == first
        assert server.paths == ["/data/mine.jsonl?token=secret"]
        assert (first.path.read_bytes(), first.path.suffix) == (CONTENT, ".jsonl")
        assert first.label == f"{server.url}/data/mine.jsonl"
        first.path.write_bytes(b"damaged")
        assert (
            open_source(f"{address}#sha256={SHA256}", tmp_path).path.read_bytes()
            == CONTENT
        )
        open_source(address, tmp_path)
        assert len(server.paths) == 3
        with pytest.raises(
            ValueError, match=f"it has another SHA-256 sum than {'0' * 64}"
        ):
            open_source(f"{address}#sha256={'0' * 64}", tmp_path / "other")


def test_addresses_that_are_not_pinned_are_refused(tmp_path, monkeypatch):
    """A branch moves, plain http may be changed: both need a sum; the hub may have a mirror."""
    path = f"datasets/dkfo/cogniload/resolve/{COMMIT}/a%20b/x.jsonl"
    address = f"hf://datasets/dkfo/cogniload@{COMMIT}/a b/x.jsonl"
    assert resolve_address(address) == f"https://huggingface.co/{path}"
    with serve(CONTENT) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"{server.url}/")
        source = open_source(address, tmp_path)
        assert (source.path.read_bytes(), source.label, server.paths) == (
            CONTENT,
            address,
            [f"/{path}"],
        )
        open_source(address, tmp_path)
        assert len(server.paths) == 1
        for revision in ("main", COMMIT[:-1], COMMIT.upper()):
            moving = address.replace(COMMIT, revision)
            with pytest.raises(
                ValueError, match=f"{revision}' can move; pin a 40-digit commit"
            ):
                open_source(moving, tmp_path)
            assert (
                open_source(f"{moving}#sha256={SHA256}", tmp_path).path.read_bytes()
                == CONTENT
            )
    for other, complaint in (
        ("http://example.org/x", "plain http can be changed"),
        ("ftp://example.org/x", "an address is https://"),
        ("s3://bucket/x", "an address is https://"),
        ("hf://datasets/dkfo/cogniload/x.jsonl", "an address is https://"),
        ("https://example.org/x#sha256=12", "64 hexadecimal digits"),
    ):
        with pytest.raises(ValueError, match=complaint):
            open_source(other, tmp_path)


@pytest.mark.parametrize(
    "address", ["https:/me:s3cret@h/x", "https//me:s3cret@h/x", "HTTP:/me:s3cret@h/x"]
)
def test_an_address_with_another_number_of_strokes_is_refused_without_its_password(
    tmp_path, address
):
    """It is no file's name, and its user is nobody's business."""
    with pytest.raises(ValueError, match="an address is https://") as refusal:
        open_source(address, tmp_path)
    assert "s3cret" not in str(refusal.value)


def test_an_archive_from_an_address_is_unpacked_or_refused_by_its_name(tmp_path):
    """What the server sends need not be one."""
    with (
        serve(b"none") as server,
        pytest.raises(
            ValueError, match=r"x\.zip cannot be unpacked: File is not a zip"
        ),
    ):
        open_source(f"{server.url}/x.zip", tmp_path / "cache")
