"""Records of files, one by one."""

import json

import pytest
from packing import write_packed

from cogniload_repro.outputs import records
from cogniload_repro.outputs.records import (
    Entry,
    explain_bytes,
    read_json_lines,
    read_text,
)

ROW = {"model": "m", "response": "Sue → red"}
GOOD = json.dumps(ROW).encode()


def refusals(path):
    """Row and reason of every refused record."""
    return [
        (entry.row, entry.refusal[0])
        for entry in read_json_lines(path)
        if entry.refusal
    ]


def test_texts_have_universal_newlines(tmp_path):
    """Line ends are as the scorer expects them; what is no UTF-8 is refused."""
    (tmp_path / "a.txt").write_bytes("é\r\nb\rc".encode())
    (tmp_path / "b.txt").write_bytes(b"\xff")
    (tmp_path / "c.txt").write_bytes("é".encode("utf-16"))
    assert read_text(tmp_path / "a.txt") == "é\nb\nc"
    assert read_text(tmp_path / "b.txt") == ("not UTF-8", "byte 0: invalid start byte")
    assert read_text(tmp_path / "c.txt") == (
        "not UTF-8",
        "it is UTF-16 or UTF-32; save it as UTF-8",
    )
    assert read_text(tmp_path / "d.txt")[0] == "unreadable file"


def test_a_text_beyond_all_responses_is_not_read(tmp_path, monkeypatch):
    """An answer in a file of its own is bounded as a row is."""
    monkeypatch.setattr(records, "ROW_BYTES", 10)
    (tmp_path / "a.txt").write_bytes(b"a" * 10)
    (tmp_path / "b.txt").write_bytes(b"a" * 11)
    assert read_text(tmp_path / "a.txt") == "a" * 10
    assert read_text(tmp_path / "b.txt")[0] == "malformed row"


def test_every_line_counts(tmp_path):
    """Records stand under their line's number; blank lines are passed over, others refused."""
    bad = [b"[]", b"{", b" ", b'{"b": "\xff"}', b"9" * 5000, b"[" * 200_000]
    content = [b'{"a": 1}\n', *bad, b'{"c": 2}', b'{"d": 1, "d": 2}']
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(content))
    entries = list(read_json_lines(tmp_path / "a.jsonl"))
    reasons = {entry.row: entry.refusal[0] for entry in entries if entry.refusal}
    malformed = dict.fromkeys((4, 7, 8, 10), "malformed row")
    assert reasons == {3: "wrong type", 6: "not UTF-8"} | malformed
    assert (entries[0], entries[-2]) == (Entry(1, {"a": 1}), Entry(9, {"c": 2}))
    assert "the key 'd' comes twice" in entries[-1].refusal[1]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_a_line_without_an_end_is_passed_over(tmp_path, monkeypatch, ending):
    """A row longer than any response is refused in bounded memory; its neighbours are read."""
    monkeypatch.setattr(records, "ROW_BYTES", 1000)
    lines = [GOOD, b"a" * 5_000_000, GOOD, b"[" + b" " * 998, GOOD]
    path = write_packed(tmp_path / f"o.{ending}", b"\n".join(lines))
    assert refusals(path) == [(2, "malformed row"), (4, "malformed row")]
    assert len([entry for entry in read_json_lines(path) if not entry.refusal]) == 3


@pytest.mark.parametrize(
    "content", [GOOD, GOOD + b"\r\n", b"\xef\xbb\xbf{}", b"", b"[]\n{}"]
)
def test_lines_of_utf_8_are_no_other_kind_of_file(content):
    """With any line ends and a byte order mark; an array may be one bad row among others."""
    assert explain_bytes(content) is None
