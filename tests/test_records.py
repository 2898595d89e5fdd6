"""Files of records, one by one."""

from cogniload_repro.records import Entry, read_json_lines, read_text


def test_texts_have_universal_newlines(tmp_path):
    """Line ends of other systems are read as the scorer expects them; what is no UTF-8 is refused."""
    (tmp_path / "a.txt").write_bytes("é\r\nb\rc".encode())
    (tmp_path / "b.txt").write_bytes(b"\xff")
    assert read_text(tmp_path / "a.txt") == "é\nb\nc"
    assert read_text(tmp_path / "b.txt")[0] == "not UTF-8"
    assert read_text(tmp_path / "c.txt")[0] == "unreadable file"


def test_a_text_beyond_all_responses_is_not_read(tmp_path, monkeypatch):
    """An answer in a file of its own is bounded as a row is."""
    monkeypatch.setattr("cogniload_repro.records.ROW_BYTES", 10)
    (tmp_path / "a.txt").write_bytes(b"a" * 10)
    (tmp_path / "b.txt").write_bytes(b"a" * 11)
    assert read_text(tmp_path / "a.txt") == "a" * 10
    assert read_text(tmp_path / "b.txt") == ("malformed row", "longer than 10 bytes")


def test_every_line_counts(tmp_path):
    """Records stand under their line's number; blank lines are passed over and others refused with their reason."""
    bad = [b"[]", b"{", b" ", b'{"b": "\xff"}', b"9" * 5000, b"[" * 200_000]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([b'{"a": 1}\n', *bad, b'{"c": 2}']))
    entries = list(read_json_lines(tmp_path / "a.jsonl"))
    found = {row: refusal and refusal[0] for row, _, refusal in entries}
    malformed = dict.fromkeys((4, 7, 8), "malformed row")
    assert found == {1: None, 3: "wrong type", 6: "not UTF-8", 9: None} | malformed
    assert (entries[0], entries[-1]) == (Entry(1, {"a": 1}), Entry(9, {"c": 2}))
