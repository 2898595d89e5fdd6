"""Tables of outputs, row by row."""

import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from packing import write_packed

from cogniload_repro.outputs.rows import end_at_damage
from cogniload_repro.outputs.tables import read_table

COLUMNS = ["model", "name", "response", "prompt_tokens", "response_tokens"]
VALUES = ["m", "n", 'Sue, "red"\r\nhair → é\x00', "7", ""]
ROW = dict(zip(COLUMNS, VALUES, strict=True))


def read(path):
    """Entries of a table."""
    return list(end_at_damage(read_table(path)))


def rows(path):
    """Fields of a table without a refused row."""
    entries = read(path)
    assert all(entry.refusal is None for entry in entries)
    return [entry.fields for entry in entries]


def refusals(path):
    """Row and reason of every refused row."""
    return [(entry.row, entry.refusal[0]) for entry in read(path) if entry.refusal]


LINES = json.dumps(ROW) + "\n\n" + json.dumps(ROW)
LINE_OF_CSV = 'n,"Sue, ""red""\r\nhair → é\x00",m,7,\r\n'
CSV = "name,response,model,prompt_tokens,response_tokens\r\n" + 2 * LINE_OF_CSV


@pytest.mark.parametrize(
    ("ending", "content"),
    [("jsonl", LINES), ("jsonl.gz", LINES), ("csv", CSV), ("csv.gz", CSV)],
)
def test_text_comes_through_as_it_is(tmp_path, ending, content):
    """Compressed or not, with quoted line ends; blank lines are left out."""
    path = write_packed(tmp_path / f"o.{ending}", b"\xef\xbb\xbf" + content.encode())
    assert rows(path) == [ROW, ROW]


def test_a_column_that_comes_twice_is_refused(tmp_path):
    """Nobody knows which response is meant; columns without a name may come twice."""
    twice = pa.table([["a"], ["b"], ["c"]], names=["name", "response", "response"])
    pq.write_table(twice, tmp_path / "o.parquet")
    (entry,) = read(tmp_path / "o.parquet")
    assert entry.refusal == ("unreadable file", "it has the column response twice")
    path = write_packed(tmp_path / "o.csv", b"model,name,response,response\na,b,c,d\n")
    assert refusals(path) == [(0, "unreadable file")]
    path = write_packed(tmp_path / "p.csv", b"model,name,response,,\na,b,c,1,2\n")
    assert refusals(path) == []


def test_bad_csv_rows_do_not_stop_the_others(tmp_path):
    """Other numbers of fields are refused, odd bytes recognisable, blank lines not counted."""
    content = b'model,name,response\na,b,c,d\na,b\n\na,b,\xff\na,b,"c"d\na,b,c\n'
    path = write_packed(tmp_path / "o.csv", content)
    assert refusals(path) == [(row, "malformed row") for row in (1, 2, 4)]
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
    content = b"model,name,response\n" + json.dumps(ROW).encode() + b"\n" * 120_000
    path = write_packed(tmp_path / f"o.{ending}", content)
    *_, last = read(path)
    assert (last.row, last.refusal[0]) == (0, "unreadable file")
    limit = "has more than 0.0001 GB; if that is right, set COGNILOAD_MAX_UNPACKED_GB to more"
    assert last.refusal[1] == f"o.{ending} {limit}"
    monkeypatch.delenv("COGNILOAD_MAX_UNPACKED_GB")
    assert "unreadable file" not in [reason for _, reason in refusals(path)]


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
    assert refusals(tmp_path / name) == expected


def test_parquet_with_damage_inside_is_read_around_it(tmp_path):
    """A text that is no UTF-8 is refused by its row, a damaged page ends the file."""
    path = tmp_path / "o.parquet"
    raw = pa.array([b"a", b"\xff", b"c"], pa.binary())
    texts = pa.Array.from_buffers(pa.string(), 3, raw.buffers())
    pq.write_table(pa.table({"response": texts}), path)
    assert refusals(path) == [(2, "not UTF-8")]
    table = pa.table(
        {"response": [random.Random(n).randbytes(50).hex() for n in range(20_000)]}
    )
    pq.write_table(
        table, path, compression="zstd", use_dictionary=False, data_page_size=10_000
    )
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 5000] = bytes(5000)
    path.write_bytes(content)
    assert refusals(path) == [(0, "unreadable file")]


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
