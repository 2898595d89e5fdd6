"""Sources brought to this machine, and archives from strangers."""

import gzip
import hashlib
import io
import tarfile

import pytest
from packing import make_archive
from web import serve, serve_raw

from cogniload_repro.outputs.sources import fetch_source, resolve_address, unpack

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
            fetch_source(url, tmp_path)
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
            fetch_source(f"{server.url}/a#sha256={SHA256}", tmp_path)[0].read_bytes()
            == CONTENT
        )
        assert len(server.requests) == 2


def test_a_local_path_stays_where_it_is(tmp_path):
    """Files and folders are used in place, under their own name."""
    path = tmp_path / "mine.jsonl"
    path.write_bytes(CONTENT)
    assert fetch_source(path, tmp_path / "cache") == (path, "mine.jsonl")
    assert fetch_source(str(tmp_path), tmp_path / "cache") == (tmp_path, tmp_path.name)
    assert not (tmp_path / "cache").exists()


def test_a_download_with_a_sum_is_kept_and_any_other_is_fetched_again(tmp_path):
    """What cannot have changed is there the second time; no query is in a label."""
    with serve(CONTENT) as server:
        address = f"{server.url}/data/mine.jsonl?token=secret"
        path, label = fetch_source(f"{address}#sha256={SHA256}", tmp_path)
        assert fetch_source(f"{address}#sha256={SHA256}", tmp_path) == (path, label)
        assert server.paths == ["/data/mine.jsonl?token=secret"]
        assert (path.read_bytes(), path.suffix) == (CONTENT, ".jsonl")
        assert label == f"{server.url}/data/mine.jsonl"
        path.write_bytes(b"damaged")
        assert (
            fetch_source(f"{address}#sha256={SHA256}", tmp_path)[0].read_bytes()
            == CONTENT
        )
        fetch_source(address, tmp_path)
        assert len(server.paths) == 3
        with pytest.raises(ValueError, match=f"its SHA-256 checksum is not {'0' * 64}"):
            fetch_source(f"{address}#sha256={'0' * 64}", tmp_path / "other")


def test_addresses_that_are_not_pinned_are_refused(tmp_path, monkeypatch):
    """A branch moves, plain http may be changed: both need a sum; the hub may have a mirror."""
    path = f"datasets/dkfo/cogniload/resolve/{COMMIT}/a%20b/x.jsonl"
    address = f"hf://datasets/dkfo/cogniload@{COMMIT}/a b/x.jsonl"
    assert resolve_address(address) == f"https://huggingface.co/{path}"
    with serve(CONTENT) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"{server.url}/")
        file, label = fetch_source(address, tmp_path)
        assert (file.read_bytes(), label, server.paths) == (
            CONTENT,
            address,
            [f"/{path}"],
        )
        fetch_source(address, tmp_path)
        assert len(server.paths) == 1
        for revision in ("main", COMMIT[:-1], COMMIT.upper()):
            moving = address.replace(COMMIT, revision)
            with pytest.raises(
                ValueError, match=f"{revision}' may change; put a 40-digit commit"
            ):
                fetch_source(moving, tmp_path)
            assert (
                fetch_source(f"{moving}#sha256={SHA256}", tmp_path)[0].read_bytes()
                == CONTENT
            )
    for other, complaint in (
        ("http://example.org/x", "plain http can be tampered with"),
        ("ftp://example.org/x", "an address must be https://"),
        ("s3://bucket/x", "an address must be https://"),
        ("hf://datasets/dkfo/cogniload/x.jsonl", "an address must be https://"),
        ("https://example.org/x#sha256=12", "64 hexadecimal digits"),
    ):
        with pytest.raises(ValueError, match=complaint):
            fetch_source(other, tmp_path)


@pytest.mark.parametrize(
    "address", ["https:/me:s3cret@h/x", "https//me:s3cret@h/x", "HTTP:/me:s3cret@h/x"]
)
def test_an_address_with_another_number_of_strokes_is_refused_without_its_password(
    tmp_path, address
):
    """It is no file's name, and its user is nobody's business."""
    with pytest.raises(ValueError, match="an address must be https://") as refusal:
        fetch_source(address, tmp_path)
    assert "s3cret" not in str(refusal.value)


def test_an_archive_from_an_address_is_unpacked_or_refused_by_its_name(tmp_path):
    """What the server sends need not be one."""
    with (
        serve(b"none") as server,
        pytest.raises(
            ValueError, match=r"x\.zip cannot be unpacked: File is not a zip"
        ),
    ):
        fetch_source(f"{server.url}/x.zip", tmp_path / "cache")


FILES = {"a/one.jsonl": b"1\n" * 50, "a/b/two.jsonl": b"2\n"}
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
    archive = make_archive(tmp_path / f"x.{ending}", [*FILES.items(), *named], links)
    complaint = (
        "has a name that is not safe" if named else "'a/link' is a link or a device"
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
        with pytest.raises(ValueError, match=f"it contains '{again}' twice"):
            unpack(archive, tmp_path / "cache")


@pytest.mark.parametrize("member", ["header.json", "_journal/start.json"])
def test_a_log_of_inspect_under_another_name_is_named(tmp_path, member):
    """Its samples would else be taken for answers of the authors' layout."""
    archive = make_archive(
        tmp_path / "x.zip", [(member, b"{}"), ("samples/a.json", b"{}")]
    )
    with pytest.raises(
        ValueError, match=r"it is a log of Inspect; rename it to end in \.eval"
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
        match=r"it has more than 0\.005 GB; if that is intended, increase COGNILOAD_MAX",
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
