"""Sources brought to this machine, archives from strangers, and what a folder of outputs holds."""

import gzip
import hashlib
import io
import os
import tarfile

import pytest
from packing import make_archive
from web import serve, serve_raw

from cogniload_repro.outputs.imports import Rejected, read_outputs
from cogniload_repro.outputs.sources import find_files, open_source, resolve_address, unpack
from cogniload_repro.puzzles.catalog import Catalog

CONTENT = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAME = "20_1_1_770487_red"
GOOD = {"a/one.jsonl": b"1\n" * 50, "a/b/two.jsonl": b"2\n"}
FEW = ["zip", "tar.gz"]


def answer(*headers, body=b"", status="200 OK"):
    """A response as bytes."""
    return (
        "\r\n".join([f"HTTP/1.1 {status}", *headers, "Connection: close", "", ""]).encode("latin-1")
        + body
    )


@pytest.mark.parametrize(
    ("response", "complaint"),
    [
        (answer(status="404 Not Found"), "404 Not Found; check the address"),
        (answer(status="503 X"), "503 X; check the address"),
        (answer(f"Content-Length: {len(CONTENT)}", body=CONTENT[:1000]), "could not be fetched"),
        (
            answer("Location: file:///etc/passwd", status="302 Found"),
            "InvalidSchema; check the address",
        ),
        (answer("Location: http://127.0.0.2/x", status="302 Found"), "redirected to plain http"),
        (answer("Location: http://\xff\xfe/x", status="302 Found"), "check the address"),
        (answer("Location: /again?X-Sig=TOK", status="302 Found"), "302 Found; check the address"),
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
    assert open_source(path, tmp_path / "cache") == (path, "mine.jsonl")
    assert open_source(str(tmp_path), tmp_path / "cache") == (tmp_path, tmp_path.name)
    assert not (tmp_path / "cache").exists()
    assert open_source(f"{path}#sha256={SHA256.upper()}", tmp_path).path == path
    for other, digits in (
        (path, "0" * 64),
        (tmp_path / "missing.jsonl", SHA256),
        (tmp_path, SHA256),
    ):
        with pytest.raises(
            ValueError,
            match=f"{other} is no file with the SHA-256 sum .*; correct one, or leave out",
        ):
            open_source(f"{other}#sha256={digits}", tmp_path / "cache")


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
        assert open_source(f"{address}#sha256={SHA256}", tmp_path).path.read_bytes() == CONTENT
        open_source(address, tmp_path)
        assert len(server.paths) == 3
        with pytest.raises(ValueError, match=f"it has another SHA-256 sum than {'0' * 64}"):
            open_source(f"{address}#sha256={'0' * 64}", tmp_path / "other")


def test_addresses_that_are_not_pinned_are_refused(tmp_path, monkeypatch):
    """A branch moves and plain http may be changed on its way: both need a sum; the hub may have a mirror."""
    path = f"datasets/dkfo/cogniload/resolve/{COMMIT}/a%20b/x.jsonl"
    address = f"hf://datasets/dkfo/cogniload@{COMMIT}/a b/x.jsonl"
    assert resolve_address(address) == f"https://huggingface.co/{path}"
    with serve(CONTENT) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"{server.url}/")
        found = open_source(address, tmp_path)
        assert (found.path.read_bytes(), found.label, server.paths) == (
            CONTENT,
            address,
            [f"/{path}"],
        )
        open_source(address, tmp_path)
        assert len(server.paths) == 1
        for revision in ("main", COMMIT[:-1], COMMIT.upper()):
            moving = address.replace(COMMIT, revision)
            with pytest.raises(ValueError, match=f"{revision}' can move; pin a 40-digit commit"):
                open_source(moving, tmp_path)
            assert open_source(f"{moving}#sha256={SHA256}", tmp_path).path.read_bytes() == CONTENT
    for other, complaint in (
        ("http://example.org/x", "plain http can be changed"),
        ("ftp://example.org/x", "an address is https://"),
        ("s3://bucket/x", "an address is https://"),
        ("hf://datasets/dkfo/cogniload/x.jsonl", "an address is https://"),
        ("https://example.org/x#sha256=12", "64 hexadecimal digits"),
    ):
        with pytest.raises(ValueError, match=complaint):
            open_source(other, tmp_path)


EVIL = ["../evil", "a/../../evil", "/tmp/evil", "C:\\evil", "a\\..\\evil", "a/\nevil"]


@pytest.mark.parametrize("ending", FEW)
@pytest.mark.parametrize(
    "member", [*EVIL, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
)
def test_an_archive_with_an_unsafe_member_is_refused(tmp_path, ending, member):
    """Nothing is written outside of the folder, no link or device is made, and nothing stays."""
    named = [(member, b"evil")] if isinstance(member, str) else []
    links = [] if named else [("a/link", member)]
    archive = make_archive(tmp_path / f"x.{ending}", [*GOOD.items(), *named], links)
    complaint = "would lie outside its folder" if named else "'a/link' is a link or a device"
    with pytest.raises(
        ValueError, match=rf"x\.{ending} cannot be unpacked: its member .*{complaint}"
    ):
        open_source(archive, tmp_path / "cache/deep")
    assert [path for path in tmp_path.rglob("*") if "evil" in path.name or path.is_symlink()] == []
    assert list((tmp_path / "cache/deep/unpacked").iterdir()) == []


@pytest.mark.parametrize("ending", ["zip", "tar"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_comes_twice_is_refused(tmp_path, ending):
    """Which of two files is meant nobody knows."""
    for again in ("a", "./a"):
        archive = make_archive(tmp_path / f"x.{ending}", [("a", b"1"), ("b", b"3"), (again, b"2")])
        with pytest.raises(ValueError, match=f"it holds '{again}' twice"):
            unpack(archive, tmp_path / "cache")


@pytest.mark.parametrize("ending", FEW)
def test_a_bomb_is_refused_whole(tmp_path, monkeypatch, ending):
    """An archive that would fill the disk leaves nothing there; a limit that is raised lets it pass, no word does."""
    members = [(f"{number}.jsonl", bytes(3_000_000)) for number in range(3)]
    archive = make_archive(tmp_path / f"x.{ending}", members)
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.005")
    with pytest.raises(
        ValueError, match=r"it has more than 0\.005 GB; if that is right, set COGNILOAD_MAX"
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
        [header("a")[:-1] + b"x", bytes(1024)],
        [header("a"), header("b")[:100]],
        [header("a")],
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
    """Cut short, with a changed byte, in a place before its beginning, with an impossible date, or none at all."""
    content = make_archive(
        tmp_path / "x.zip", [("a", b"1"), ("b", b"b2"), ("c", b"3")]
    ).read_bytes()
    place = content.index(b"PK\x01\x02") + 42
    late = tarfile.TarInfo("late")
    late.pax_headers = {"mtime": "1e400"}
    with tarfile.open(tmp_path / "late.tar", "w", format=tarfile.PAX_FORMAT) as file:
        file.addfile(late, io.BytesIO())
    bad = {
        "cut.zip": content[:90], "empty.zip": b"", "changed.zip": content.replace(b"b2", b"b9", 1),
        "no.tar": b"x" * 900,
        "lost.zip": content[:place] + (2**31).to_bytes(4, "little") + content[place + 4 :],
        "late.tar": (tmp_path / "late.tar").read_bytes(),
    }  # fmt: skip
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=f"{name} cannot be unpacked: "):
            open_source(tmp_path / name, tmp_path / "cache")
    with (
        serve(b"none") as server,
        pytest.raises(ValueError, match=r"x\.zip cannot be unpacked: File is not a zip"),
    ):
        open_source(f"{server.url}/x.zip", tmp_path / "cache")


def make(folder, files):
    """Write files, by their path below the folder."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    return folder


def test_every_file_is_read_or_listed(tmp_path):
    """An answer's folder names the model; what is not read is listed, hidden files too."""
    files = [f"QwQ-32B/{NAME}.txt", f"outputs/o3/{NAME}.md", f"{NAME}.txt", "QwQ-32B/notes.md", ".git/x", "README",
             "m/samples.jsonl", "m/results_2026-01-01T10-00-00.1.json", ".b.jsonl", ".m/c.csv", ".DS_Store", "b.json",
             "._a.jsonl", "a.csv.gz", "a.JSONL", "a.jsonl.xz", "in.zip", "m/requests-1.jsonl"]  # fmt: skip
    layout = find_files(make(tmp_path, dict.fromkeys(files, "red")))
    assert [(model, layout.label(path)) for model, path in layout.answers] == [
        (None, f"{NAME}.txt"),
        ("QwQ-32B", f"QwQ-32B/{NAME}.txt"),
        ("o3", f"outputs/o3/{NAME}.md"),
    ]
    assert [layout.label(path) for path in layout.tables] == ["a.csv.gz", "m/samples.jsonl"]
    listed = [
        ".b.jsonl",
        ".m/c.csv",
        "QwQ-32B/notes.md",
        "README",
        "a.JSONL",
        "a.jsonl.xz",
        "b.json",
        "in.zip",
    ]
    assert [(layout.label(path), why) for path, (why, _) in layout.lost] == [
        (name, "not read") for name in listed
    ]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("gone", "does not exist"),
        ("a.txt", "holds no outputs"),
        ("", "holds no outputs"),
        ("/", "the root of the file system"),
        ("/dev/null", "neither a file nor a folder"),
    ],
)
def test_a_source_without_outputs_is_refused(tmp_path, source, reason):
    """The sentence says what is expected."""
    make(tmp_path, {"a.txt": "red"})
    with pytest.raises(ValueError, match=reason):
        find_files(tmp_path / source)


def test_what_cannot_be_looked_into_is_listed(tmp_path, monkeypatch):
    """A folder without permission, links that lead nowhere, to a folder or round, and a pipe; a linked file is read."""
    source = make(tmp_path / "source", {f"m/{NAME}.txt": "red", f"locked/{NAME}.txt": "red"})
    elsewhere = make(tmp_path / "elsewhere", {f"n/{NAME}.txt": "red"})
    (source / "gone.jsonl").symlink_to(tmp_path / "annex" / "gone.jsonl")
    (source / "round.jsonl").symlink_to(source / "round.jsonl")
    (source / "again").symlink_to(source)
    (source / "n").mkdir()
    (source / f"n/{NAME}.txt").symlink_to(elsewhere / f"n/{NAME}.txt")
    os.mkfifo(source / "pipe.jsonl")
    scandir = os.scandir

    def refuse(folder):
        if str(folder).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)  # whoever tests as root may read any folder
    layout = find_files(source)
    assert [model for model, _ in layout.answers] == ["m", "n"]
    rejected = {
        item.file: item.reason
        for item in read_outputs(layout, Catalog())
        if isinstance(item, Rejected)
    }
    unreadable = dict.fromkeys(
        ["gone.jsonl", "locked", "pipe.jsonl", "round.jsonl"], "unreadable file"
    )
    assert rejected == unreadable | {"again": "not read"}
