"""Files from the web."""

import pytest
from web import serve

from cogniload_repro.outputs.downloads import _CHUNK_BYTES, Downloader

CONTENT = bytes(range(256)) * 2000
# Half of the content comes before a cut, of which whole chunks are kept.
RESUMED = f"bytes={len(CONTENT) // 2 // _CHUNK_BYTES * _CHUNK_BYTES}-"


def fetch(folder, server, **options):
    """Fetch the server's file and return its bytes."""
    options = {"attempts": 3, "pause_s": 0.001, "timeout_s": 0.3, **options}
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
