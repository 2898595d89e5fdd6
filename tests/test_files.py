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
    digest_of,
    for_spreadsheet,
    for_terminal,
    locked,
    look_at,
    replacing,
    without_secrets,
    write_whole,
)

HOLD = """
import sys
from cogniload_repro.files import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""
ENTER = (
    "import sys; from cogniload_repro.files import locked\nwith locked(sys.argv[1]): print('in')"
)


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
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], stdin=-1, stdout=-1, text=True
    )
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
        done = subprocess.run(
            [sys.executable, "-c", ENTER, tmp_path], capture_output=True, text=True
        )
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
