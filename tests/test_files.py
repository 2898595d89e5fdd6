"""Files by content, and a folder for one process at a time."""

import csv
import io
import os
import re
import subprocess
import sys

import pandas as pd
import pytest
from harness import ask
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.files import (
    describe_error,
    fingerprint,
    for_spreadsheet,
    for_terminal,
    locked,
    replacing,
    without_secrets,
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
def folder(tmp_path):
    """A folder with a file, a link to itself and a link to nowhere."""
    folder = tmp_path / "folder"
    write_whole(folder / "deep" / "a", "red")
    (folder / "round").symlink_to(folder)
    (folder / "gone").symlink_to("nowhere")
    return folder


def test_another_content_of_the_same_size_and_time_has_another_fingerprint(folder):
    """By itself and in its folder."""
    file = folder / "deep" / "a"
    before = [fingerprint(file), fingerprint(folder)]
    assert before == [fingerprint(file), fingerprint(folder)]
    about = file.stat()
    file.write_text("tan")
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert fingerprint(file) != before[0]
    assert fingerprint(folder) != before[1]


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
    assert write_if_changed(path, "ρ", mode=0o600)
    os.utime(path, ns=(1, 1))
    assert not write_if_changed(path, "ρ")
    assert path.stat().st_mtime_ns == 1
    assert write_if_changed(path, "d")
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


def test_a_lack_of_memory_ends_in_a_sentence():
    """The system says nothing then."""
    assert re.match(
        "there is not enough memory; .*--jobs", describe_error(MemoryError())
    )


@given(st.text())
def test_a_terminal_gets_only_printable_signs(text):
    """Printable text is not touched, and what is left can be written."""
    plain = for_terminal(text)
    assert all(sign.isprintable() or sign in "\n\t" for sign in plain)
    assert plain.encode("utf-8")[:1] or not text
    assert plain == text or not text.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        "+1+1",
        "-2+3+cmd|' /C calc'!D2",
        "@SUM(1)",
        " =1",
    ],
)
def test_a_spreadsheet_gets_no_formula(text):
    """Cells and headings that begin as formulas are written with an apostrophe before them."""
    frame = for_spreadsheet(pd.DataFrame({text: [text, "QwQ-32B"]}))
    assert list(frame) == [f"'{text}"]
    assert frame.iloc[:, 0].tolist() == [f"'{text}", "QwQ-32B"]


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("\t=1", "'\t'=1"),
        ("x;=1+1;@SUM(1)", "x;'=1+1;'@SUM(1)"),
        ("x|=1", "x|'=1"),
        ("x\n  =1", "x\n  '=1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("x;\uff20SUM(1)", "x;'\uff20SUM(1)"),
        ("acme/m1:7b; d = 3", "acme/m1:7b; d = 3"),
    ],
)
def test_no_formula_hides_behind_a_separator_or_in_full_width(text, guarded):
    """Some spreadsheets divide cells at semicolons, tabs, bars and line ends."""
    assert for_spreadsheet(pd.DataFrame({"a": [text]}))["a"].tolist() == [guarded]


@pytest.mark.parametrize(
    "text", ["-0.51***", "+1.1", "--", "-", "-1,000", "3.41e-05", "-2.5e+17", "-0.5%"]
)
def test_printed_numbers_stay_numbers(text):
    """Signs, stars and dashes of printed tables are no formula."""
    frame = pd.DataFrame({"number": [text]})
    assert for_spreadsheet(frame)["number"].tolist() == [text]


@given(st.lists(st.text(max_size=8), min_size=1))
def test_no_cell_of_a_guarded_table_begins_as_a_formula(cells):
    """Whatever the cells, as they stand in the file."""
    table = for_spreadsheet(pd.DataFrame({"a": cells}))
    text = table.to_csv(index=False, lineterminator="\n")
    for (cell,) in csv.reader(io.StringIO(text, newline="")):
        assert not re.match(r"\s*[=@]|\+(?!\d)", cell)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("http://me:s3cret@host/x?token=TOK", "http://host/x"),
        ("https://host/a@b/c#token=TOK", "https://host/a@b/c"),
        ("https://[::1]:8080/a@b?x=1#sha256=0f", "https://[::1]:8080/a@b#sha256=0f"),
        ("hf://datasets/o/n@0123/a.jsonl", "hf://datasets/o/n@0123/a.jsonl"),
        ("s3://key:word@bucket/x", "s3://bucket/x"),
        ("https:me:s3cret@h", "https:h"),
        ("https///me:s3cret@h/x", "https///h/x"),
        ("HTTP:\\me:s3cret@h", "HTTP:\\h"),
        ("https://me:s3/cret@h/x", "https://h/x"),
        ("https://me:s3@cret@h/x", "https://h/x"),
        ("https://h:80/a@b", "https://h:80/a@b"),
        ("C:/me/a:b@c", "C:/me/a:b@c"),
        ("outputs/a?b#c@d", "outputs/a?b#c@d"),
    ],
)
def test_an_address_is_shown_without_its_secrets(address, public):
    """User, password, query and fragment are left out."""
    assert without_secrets(address) == public
    assert without_secrets(public) == public
