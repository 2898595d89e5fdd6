"""Files by content, and a folder for one process at a time."""

import os
import re
import subprocess
import sys

import pytest
from harness import ask

from cogniload_repro.files import describe_error, digest_of, locked, look_at, naming, replacing, write_whole

HOLD = """
import sys
from cogniload_repro.files import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""
ENTER = "import sys; from cogniload_repro.files import locked\nwith locked(sys.argv[1]): print('in')"


def test_a_look_tells_when_the_content_may_be_another(tmp_path):
    """Another content of the same size and date looks otherwise, in a folder too; links to nowhere are something."""
    file = tmp_path / "folder" / "deep" / "a"
    write_whole(file, "red")
    (tmp_path / "folder" / "round").symlink_to(tmp_path / "folder")
    (tmp_path / "folder" / "gone").symlink_to("nowhere")
    looks, dates = [look_at(file), look_at(tmp_path / "folder"), digest_of(file)], file.stat()
    assert looks == [look_at(file), look_at(tmp_path / "folder"), digest_of(file)]
    file.write_text("tan")
    os.utime(file, ns=(dates.st_atime_ns, dates.st_mtime_ns))
    assert not set(looks) & {look_at(file), look_at(tmp_path / "folder"), digest_of(file)}
    file.write_text("red")
    assert digest_of(file) == looks[2]


def test_one_process_at_a_time_works_in_a_folder(tmp_path):
    """Another one is refused with the first one's number, until that has ended, even by force."""
    holder = subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdin=-1, stdout=-1, text=True)
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(ValueError, match=f"process {holder.pid} is at work in"), locked(tmp_path):
        pass
    (tmp_path / "outputs").mkdir()
    for command in (["score"], ["download-outputs"], ["prepare", "scores", "true"]):
        code, said = ask(*command, "--build", tmp_path)
        assert (code, f"process {holder.pid} is at work in" in said) == (2, True), command
    holder.kill()
    holder.wait()
    with locked(tmp_path):
        # a process that this one starts does its work
        done = subprocess.run([sys.executable, "-c", ENTER, tmp_path], capture_output=True, text=True)
        assert done.stdout == "in\n", done.stderr
    assert (tmp_path / ".lock").read_text() == ""


def test_a_file_is_written_whole(tmp_path, monkeypatch):
    """Text keeps its line ends and letters, bytes stay bytes, folders are made; the mode is theirs from the start."""
    path = write_whole(tmp_path / "new" / "secret", "ρ\nN\r\n", mode=0o600)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == ("ρ\nN\r\n".encode(), 0o600)
    assert write_whole(path, b"\x00").read_bytes() == b"\x00"
    with replacing(path.with_name("later")) as part:
        part.write_text("new")
        assert not path.with_name("later").exists()
    assert path.with_name("later").read_text() == "new"
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_whole(path, "other")
    assert {item.name: item.read_text() for item in path.parent.iterdir()} == {"secret": "\0", "later": "new"}


@pytest.mark.parametrize("named", [(), (".a.part",)])
@pytest.mark.parametrize(("number", "remedy"), [(28, "No space .*; make room"), (13, "Permission .*; give yourself"),
                                            (2, "No such file .*; check the path")])  # fmt: skip
def test_a_refusal_of_the_system_names_the_file_and_the_remedy(number, remedy, named):
    """Not the part beside the file, and not nothing, as where a file is open already."""
    with pytest.raises(OSError) as caught, naming("a", ".a.part"):  # noqa: PT011
        raise OSError(number, "pyarrow's words", *named)
    assert re.match(f"a: {remedy}", describe_error(caught.value))
    assert re.match(f"a: {remedy}", describe_error(OSError(number, "of a copy", "its source", None, "a")))
    assert re.match("there is not enough memory; .*--jobs", describe_error(MemoryError()))
