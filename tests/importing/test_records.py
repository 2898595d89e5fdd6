"""Bytes, lines and texts of files that anybody may have written."""

import pytest

from cogniload_repro.outputs import records
from cogniload_repro.outputs.records import explain_bytes, read_text

LINE = '{"response": "Sue → red"}'.encode()


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


@pytest.mark.parametrize(
    "content", [LINE, LINE + b"\r\n", b"\xef\xbb\xbf{}", b"", b"[]\n{}"]
)
def test_lines_of_utf_8_are_no_other_kind_of_file(content):
    """With any line ends and a byte order mark; an array may be one bad row among others."""
    assert explain_bytes(content) is None
