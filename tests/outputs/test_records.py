"""Files that anybody may have written, record by record."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from packing import write_packed

from cogniload_repro.outputs import records
from cogniload_repro.outputs.records import Entry, explain_bytes, read_table, read_text
from cogniload_repro.outputs.rows import end_at_damage

ROW = {"model": "m", "response": "Sue → red"}
GOOD = json.dumps(ROW).encode()


def refusals(path):
    """Row and reason of every refused record."""
    return [
        (entry.row, entry.refusal[0]) for entry in read_table(path) if entry.refusal
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
    entries = list(read_table(tmp_path / "a.jsonl"))
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
    assert len([entry for entry in read_table(path) if not entry.refusal]) == 3


@pytest.mark.parametrize(
    "content", [GOOD, GOOD + b"\r\n", b"\xef\xbb\xbf{}", b"", b"[]\n{}"]
)
def test_lines_of_utf_8_are_no_other_kind_of_file(content):
    """With any line ends and a byte order mark; an array may be one bad row among others."""
    assert explain_bytes(content) is None


COLUMNS = ["model", "name", "response", "prompt_tokens", "response_tokens"]
VALUES = ["m", "n", 'Sue, "red"\r\nhair → é\x00', "7", ""]
CELLS = dict(zip(COLUMNS, VALUES, strict=True))


def read(path):
    """Entries of a table."""
    return list(end_at_damage(read_table(path)))


def rows(path):
    """Fields of a table without a refused row."""
    entries = read(path)
    assert all(entry.refusal is None for entry in entries)
    return [entry.fields for entry in entries]


def refused(path):
    """Row and reason of every refused row."""
    return [(entry.row, entry.refusal[0]) for entry in read(path) if entry.refusal]


LINES = json.dumps(CELLS) + "\n\n" + json.dumps(CELLS)
LINE_OF_CSV = 'n,"Sue, ""red""\r\nhair → é\x00",m,7,\r\n'
CSV = "name,response,model,prompt_tokens,response_tokens\r\n" + 2 * LINE_OF_CSV


@pytest.mark.parametrize(
    ("ending", "content"),
    [("jsonl", LINES), ("jsonl.gz", LINES), ("csv", CSV), ("csv.gz", CSV)],
)
def test_text_comes_through_as_it_is(tmp_path, ending, content):
    """Compressed or not, with quoted line ends; blank lines are left out."""
    path = write_packed(tmp_path / f"o.{ending}", b"\xef\xbb\xbf" + content.encode())
    assert rows(path) == [CELLS, CELLS]


def test_a_column_that_comes_twice_is_refused(tmp_path):
    """Nobody knows which response is meant; columns without a name may come twice."""
    twice = pa.table([["a"], ["b"], ["c"]], names=["name", "response", "response"])
    pq.write_table(twice, tmp_path / "o.parquet")
    (entry,) = read(tmp_path / "o.parquet")
    assert entry.refusal == ("unreadable file", "it has the column response twice")
    path = write_packed(tmp_path / "o.csv", b"model,name,response,response\na,b,c,d\n")
    assert refused(path) == [(0, "unreadable file")]
    path = write_packed(tmp_path / "p.csv", b"model,name,response,,\na,b,c,1,2\n")
    assert refused(path) == []


def test_bad_csv_rows_do_not_stop_the_others(tmp_path):
    """Other numbers of fields are refused, odd bytes recognisable, blank lines not counted."""
    content = b'model,name,response\na,b,c,d\na,b\n\na,b,\xff\na,b,"c"d\na,b,c\n'
    path = write_packed(tmp_path / "o.csv", content)
    assert refused(path) == [(row, "malformed row") for row in (1, 2, 4)]
    responses = [entry.fields["response"] for entry in read(path) if not entry.refusal]
    assert responses == ["\udcff", "c"]


def test_quoted_lines_that_are_no_rows_are_kept(tmp_path):
    """Answers of many lines, tables in them, and a puzzle's name alone on a line are a response."""
    answer = "Sue, red\na | b\n1,2,3\n20_1_1_770487_red\nsnake_case, more\n"
    path = write_packed(
        tmp_path / "o.csv", f'model,name,response\nm,n,"{answer}"\n'.encode()
    )
    assert [row["response"] for row in rows(path)] == [answer]


@pytest.mark.parametrize("ending", ["jsonl.gz", "csv.gz"])
def test_a_table_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch, ending):
    """A small file does not keep the reader busy for ever; the rows before the limit are read."""
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.0001")
    content = b"model,name,response\n" + json.dumps(CELLS).encode() + b"\n" * 120_000
    path = write_packed(tmp_path / f"o.{ending}", content)
    *_, last = read(path)
    assert (last.row, last.refusal[0]) == (0, "unreadable file")
    limit = "has more than 0.0001 GB; if that is right, set COGNILOAD_MAX_UNPACKED_GB to more"
    assert last.refusal[1] == f"o.{ending} {limit}"
    monkeypatch.delenv("COGNILOAD_MAX_UNPACKED_GB")
    assert "unreadable file" not in [reason for _, reason in refused(path)]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.jsonl.gz", b"{}", [(0, "unreadable file")]),
        ("a.parquet", b"", [(0, "unreadable file")]),
        ("a.csv.gz", b"", []),
        ("a.csv", b"", []),
    ],
)
def test_a_damaged_or_empty_file_is_named_or_has_no_rows(
    tmp_path, name, content, expected
):
    """Bytes that are not compressed, and no bytes at all."""
    (tmp_path / name).write_bytes(content)
    assert refused(tmp_path / name) == expected


def test_a_row_of_parquet_that_is_no_utf8_is_refused_alone(tmp_path):
    """The rows around it are read."""
    path = tmp_path / "o.parquet"
    raw = pa.array([b"a", b"\xff", b"c"], pa.binary())
    texts = pa.Array.from_buffers(pa.string(), 3, raw.buffers())
    pq.write_table(pa.table({"response": texts}), path)
    assert refused(path) == [(2, "not UTF-8")]


def test_parquet_of_every_shape_is_read(tmp_path):
    """Row groups, missing values, other columns, large and shared texts, no rows at all."""
    texts = ["a", None, "c"] * 50
    columns = {
        "response": texts,
        "name": pa.nulls(150, pa.string()),
        "other": [["x"]] * 150,
    }
    table = pa.table(columns | {"prompt_tokens": [1.0, float("nan"), 2.0] * 50})
    large = table.set_column(0, "response", table["response"].cast(pa.large_string()))
    shared = table.set_column(0, "response", table["response"].dictionary_encode())
    path = tmp_path / "o.parquet"
    for shape in (table, large, shared, table.slice(0, 0)):
        pq.write_table(shape, path, row_group_size=40)
        assert [row["response"] for row in rows(path)] == texts[: len(shape)]
        assert {row["prompt_tokens"] for row in rows(path)} <= {1.0, None, 2.0}
