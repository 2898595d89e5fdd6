"""Files by content, and a folder for one process at a time."""

import errno
import os
import re
import shutil
import subprocess
import sys

import pytest
from harness import ask

from cogniload_repro.files import (
    describe_error,
    locked,
    replacing,
    write_if_changed,
    write_whole,
)

HOLD = """
import sys
from cogniload_repro.files import locked
with locked(sys.argv[1]):
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """A process that keeps a folder for itself."""
    command = [sys.executable, "-c", HOLD, tmp_path]
    process = subprocess.Popen(command, stdin=-1, stdout=-1, text=True)
    assert process.stdout.readline() == "locked\n"
    yield process
    process.kill()
    process.wait()


def test_a_folder_has_one_process_at_a_time(tmp_path, holder):
    """Another one is refused with the first one's number."""
    with (
        pytest.raises(ValueError, match=f"process {holder.pid} is at work in"),
        locked(tmp_path),
    ):
        pass


@pytest.mark.parametrize(
    "command",
    [
        ["parameters", "--grid", "paper"],
        ["download-outputs"],
        ["score"],
        ["fit"],
    ],
)
def test_commands_leave_a_folder_to_the_process_in_it(tmp_path, holder, command):
    """They end with its number."""
    code, message = ask(*command, "--build", tmp_path)
    assert code == 2
    assert f"process {holder.pid} is at work in" in message


def test_a_folder_is_free_when_its_process_is_killed(tmp_path, holder):
    """Nothing has to be removed by hand, and what it has left half-written goes."""
    parts = [tmp_path / name / ".a.csv.0a.part" for name in ("tables", "downloads")]
    for part in parts:
        write_whole(part, "1,")
    holder.kill()
    holder.wait()
    with locked(tmp_path):
        assert [part.exists() for part in parts] == [False, True]
    assert (tmp_path / ".lock").read_text() == ""


def test_an_equal_file_keeps_its_time(tmp_path):
    """What is written again with the same content is not newer, for make; another content is."""
    path = tmp_path / "new" / "a.json"
    write_if_changed(path, "ρ", mode=0o600)
    os.utime(path, ns=(1, 1))
    write_if_changed(path, "ρ")
    assert path.stat().st_mtime_ns == 1
    write_if_changed(path, "d")
    assert path.read_text() == "d"
    assert path.stat().st_mtime_ns > 1


def test_a_file_is_written_as_it_is_given(tmp_path):
    """Text keeps its line ends and letters, bytes stay bytes; the mode is there from the start."""
    path = write_whole(tmp_path / "new" / "secret", "ρ\nN\r\n", mode=0o600)
    assert path.read_bytes() == "ρ\nN\r\n".encode()
    assert path.stat().st_mode & 0o777 == 0o600
    assert write_whole(path, b"\x00").read_bytes() == b"\x00"


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """No part stays beside it."""

    def fail(*paths):
        raise OSError("disk full")

    path = write_whole(tmp_path / "a", "old")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (28, "No space .*; free some"),
        (13, "Permission .*; change its"),
        (2, "No such file .*; check the path"),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_a_refusal_of_the_system_names_the_file_and_the_remedy(
    tmp_path, number, sentence, named
):
    """It names the file that was asked for, not the part beside it, which the system may name."""
    with pytest.raises(OSError) as caught, replacing(tmp_path / "a") as part:  # noqa: PT011, PT012
        names = [str(part)] if named else []
        raise OSError(number, "pyarrow's words", *names)
    assert re.match(f"{tmp_path}/a: {sentence}", describe_error(caught.value))


def test_a_copy_and_what_the_system_does_not_name_end_in_a_sentence(tmp_path):
    """The first file that was not copied is named; otherwise the places that have no name."""
    full = "[Errno 28] No space left on device"
    copies = [("a/x", "b/x", full), ("a/y", "b/y", full)]
    assert describe_error(shutil.Error(copies)) == f"b/x cannot be written: {full}"
    nameless = OSError(errno.ENOSPC, "No space left on device")
    assert describe_error(nameless).startswith(
        "a file, standard output or /dev/shm: No space"
    )


@pytest.mark.parametrize("size", [1, 31, 33])
def test_a_limit_on_files_ends_in_a_sentence_with_the_remedy(tmp_path, size):
    """Also where a lock of the system is written in part, for which it states no cause."""
    code = (
        "import resource as r, sys\n"
        "from multiprocessing import Lock\n"
        "from cogniload_repro.files import describe_error, write_whole\n"
        f"r.setrlimit(r.RLIMIT_FSIZE, ({size}, {size}))\n"
        "try:\n    Lock()\n    write_whole(sys.argv[1], b'x' * 50)\n"
        "except OSError as error:\n    sys.exit(describe_error(error))\n"
    )
    command = [sys.executable, "-c", code, tmp_path / "a.csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    place = tmp_path / "a.csv" if size > 32 else "/dev/shm"
    assert f"{place}: File too large; free some disk space" in done.stderr


def test_a_full_disk_is_named_by_the_file_of_a_step_and_not_by_the_lock(
    tmp_path, monkeypatch
):
    """The lock holds without the number of its process."""

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", fail)
    with (
        locked(tmp_path),
        pytest.raises(ValueError, match="is at work in"),
        locked(tmp_path),
    ):
        pass


def test_a_lack_of_memory_ends_in_a_sentence():
    """The system says nothing then."""
    assert re.match(
        "there is not enough memory; .*--jobs", describe_error(MemoryError())
    )
