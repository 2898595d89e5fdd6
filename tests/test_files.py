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
    print("held", flush=True)
    sys.stdin.read()
"""
#: A process that works in a folder, and one that it has forked, as the chapters of a book.
FORK = """
import sys
from pathlib import Path
from cogniload_repro.files import locked
from cogniload_repro.executors import Work, do_side_by_side

def work():
    print("at work", flush=True)
    sys.stdin.read()

with locked(sys.argv[1]):
    list(do_side_by_side([Work("work", work)]))
"""


def test_another_content_of_a_source_has_another_fingerprint(tmp_path):
    """Even of the same size and date, and deep in a folder; links to nowhere are something."""
    file = tmp_path / "folder" / "deep" / "a"
    write_whole(file, "red")
    (tmp_path / "folder" / "round").symlink_to(tmp_path / "folder")
    (tmp_path / "folder" / "gone").symlink_to("nowhere")
    before = [fingerprint(file), fingerprint(tmp_path / "folder")]
    dates = file.stat()
    assert before == [fingerprint(file), fingerprint(tmp_path / "folder")]
    file.write_text("tan")
    os.utime(file, ns=(dates.st_atime_ns, dates.st_mtime_ns))
    assert not set(before) & {fingerprint(file), fingerprint(tmp_path / "folder")}


def test_one_process_at_a_time_works_in_a_folder(tmp_path):
    """Every command that writes is refused with the first one's number, until that has ended, even by force."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], stdin=-1, stdout=-1, text=True
    )
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(ValueError, match=f"process {holder.pid} is at work in"), locked(tmp_path):
        pass
    parameters = ["parameters", "--grid", "paper"]
    for command in (parameters, ["download-outputs"], ["score"], ["fit"], ["compare"]):
        code, output = ask(*command, "--build", tmp_path)
        assert (code, f"process {holder.pid} is at work in" in output) == (2, True), command
    holder.kill()
    holder.wait()
    with locked(tmp_path):
        pass
    assert (tmp_path / ".lock").read_text() == ""


def test_a_lock_is_never_that_of_a_process_that_has_ended(tmp_path):
    """Workers have the lock of the process that started them, and end with it, even by force."""
    first = subprocess.Popen([sys.executable, "-c", FORK, tmp_path], stdin=-1, stdout=-1, text=True)
    assert first.stdout.readline() == "at work\n"
    first.kill()
    first.stdout.read()  # its worker has ended too
    with locked(tmp_path):
        pass


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
    assert {item.name: item.read_text() for item in path.parent.iterdir()} == {
        "secret": "\0",
        "later": "new",
    }


@pytest.mark.parametrize(("number", "remedy"), [(28, "No space .*; free some"), (13, "Permission .*; change its"),
                                            (2, "No such file .*; check the path")])  # fmt: skip
def test_a_refusal_of_the_system_names_the_file_and_the_remedy(number, remedy, tmp_path):
    """Not the part beside the file, and not nothing, as where a file is open already."""
    for named in (lambda part: (), lambda part: (str(part),)):
        with pytest.raises(OSError) as caught, replacing(tmp_path / "a") as part:  # noqa: PT011
            raise OSError(number, "pyarrow's words", *named(part))
        assert re.match(f"{tmp_path}/a: {remedy}", describe_error(caught.value))
    assert re.match(
        f"a: {remedy}", describe_error(OSError(number, "of a copy", "its source", None, "a"))
    )
    assert re.match("there is not enough memory; .*--jobs", describe_error(MemoryError()))


@given(st.text())
def test_a_terminal_gets_letters_only(text):
    """No control, no turning of the writing and no half a character is left; printable text is not touched."""
    shown = for_terminal(text)
    assert all(sign.isprintable() or sign in "\n\t" for sign in shown)
    shown.encode("utf-8")
    if text.isprintable():
        assert shown == text
    assert for_terminal("\x1b]0;a\rb \u202e c\n\udcff") == "\\x1b]0;a\\rb \\u202e c\n\\udcff"


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1+1",
        "-2+3+cmd|' /C calc'!D2",
        "@SUM(1)",
        "=cmd|' /C calc'!A0",
        " =1",
        "--1",
        "-x",
    ],
)
def test_a_spreadsheet_gets_no_formula(text):
    """Cells and headings that begin as formulas do are written with an apostrophe before them."""
    frame = for_spreadsheet(pd.DataFrame({text: [text, "QwQ-32B"]}))
    assert list(frame) == [f"'{text}"]
    assert list(frame.iloc[:, 0]) == [f"'{text}", "QwQ-32B"]


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("\t=1", "'\t'=1"),
        ("x;=1+1;@SUM(1)", "x;'=1+1;'@SUM(1)"),
        ("x\t=1", "x\t'=1"),
        ("x|=1", "x|'=1"),
        ("x\n  =1", "x\n  '=1"),
        ("x\r+1", "x\r'+1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\uff0b1", "'\uff0b1"),
        ("\uff0d1", "'\uff0d1"),
        ("\uff20SUM(1)", "'\uff20SUM(1)"),
        ("x;\uff1d1", "x;'\uff1d1"),
        ("acme/m1:7b; d = 3", "acme/m1:7b; d = 3"),
    ],
)
def test_no_formula_hides_behind_a_separator_or_in_full_width(text, guarded):
    """Some spreadsheets divide cells at semicolons, tabs, bars and line ends, or read full width."""
    assert for_spreadsheet(pd.DataFrame({"a": [text]}))["a"].tolist() == [guarded]


@pytest.mark.parametrize(
    "cell", ["-0.51***", "+1.1", "--", "-", "-1,000", "3.41e-05", "-2.5e+17", "-0.5%", -1.5, None]
)
def test_printed_numbers_stay_numbers(cell):
    """Signs, stars and dashes of printed tables are no formula."""
    (shown,) = for_spreadsheet(pd.DataFrame({"a": [cell]}, dtype=object))["a"]
    assert shown is cell or shown == cell
    frame = pd.DataFrame(
        {"a": pd.array([1, None], "Int64"), "b": pd.Timestamp("2026-01-01"), "d": [-5, cell]}
    )
    assert for_spreadsheet(frame).to_csv() == frame.to_csv()


@given(st.lists(st.text(max_size=8), min_size=1))
def test_no_cell_of_a_guarded_table_begins_as_a_formula(cells):
    """Whatever the cells, as they stand in the file."""
    text = for_spreadsheet(pd.DataFrame({"a": cells})).to_csv(index=False, lineterminator="\n")
    for (cell,) in csv.reader(io.StringIO(text, newline="")):
        assert not re.match(r"\s*[=@]|\+(?!\d)", cell)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://me:s3cret@host/x?token=TOK", "http://host/x"),
        ("https://host/a@b/c#token=TOK", "https://host/a@b/c"),
        ("https://[::1]:8080/a@b?x=1#sha256=0f", "https://[::1]:8080/a@b#sha256=0f"),
        ("https://host?token=TOK", "https://host"),
        ("hf://datasets/o/n@0123/a.jsonl", "hf://datasets/o/n@0123/a.jsonl"),
        ("s3://key:word@bucket/x", "s3://bucket/x"),
        ("git+https://me:s3cret@h/a?token=TOK", "git+https://h/a"),
        ("https:/me:s3cret@h/x", "https:/h/x"),
        ("https:me:s3cret@h", "https:h"),
        ("https:///me:s3cret@h/x", "https:///h/x"),
        ("HTTP:\\me:s3cret@h", "HTTP:\\h"),
        ("https://me:s3/cret@h/x", "https://h/x"),
        ("https://me:s3@cret@h/x", "https://h/x"),
        ("https://h:80/a@b", "https://h:80/a@b"),
        ("C:/me/a:b@c", "C:/me/a:b@c"),
        ("outputs/a?b#c@d", "outputs/a?b#c@d"),
    ],
)
def test_an_address_is_shown_without_its_secrets(address, shown):
    """User, password, query and fragment are left out."""
    assert without_secrets(address) == shown
    assert without_secrets(shown) == shown
