"""Files of outputs, row by row."""

import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from packing import write_packed

from cogniload_repro.outputs.readers import read_table

COLUMNS = ["model", "name", "response", "prompt_tokens", "response_tokens"]
ROW = dict(zip(COLUMNS, ("m", "n", 'Sue, "red"\r\nhair → é\x00', 7, None), strict=True))


def rows(path):
    """Rows and fields of a file that has no refused row."""
    entries = list(read_table(path, COLUMNS))
    assert all(entry.refusal is None for entry in entries)
    return [entry.fields for entry in entries]


def refusals(path):
    """Row and reason of every refused row."""
    return [(entry.row, entry.refusal[0]) for entry in read_table(path, COLUMNS) if entry.refusal]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_json_lines_are_read(tmp_path, ending):
    """Text comes through as it is, compressed or not; blank lines and other fields are left out."""
    content = json.dumps({**ROW, "score": 1}) + "\n\n" + json.dumps(ROW)
    path = write_packed(tmp_path / f"o.{ending}", b"\xef\xbb\xbf" + content.encode())
    assert rows(path) == [ROW, ROW]


def test_csv_is_read(tmp_path):
    """Quoted line ends and quotes come through; counts are numbers, an empty one is unknown."""
    text = 'name,response,model,prompt_tokens,response_tokens,x\r\nn,"Sue, ""red""\r\nhair → é\x00",m,7,,1\r\n'
    assert rows(write_packed(tmp_path / "o.csv", b"\xef\xbb\xbf" + text.encode())) == [ROW]
    counts = {"10": 10, "10.0": 10, "10.": 10, "10.5": "10.5", "1e1": "1e1", "-1.0": "-1.0", "9" * 20: "9" * 20}
    lines = ["model,name,response,prompt_tokens", *(f"m,n,red,{word}" for word in counts)]  # pandas writes 10.0
    found = rows(write_packed(tmp_path / "o.csv", "\n".join(lines).encode()))
    assert [row["prompt_tokens"] for row in found] == list(counts.values())


def test_a_header_that_names_a_column_twice_is_refused(tmp_path):
    """Which of two responses is meant nobody knows; other columns may come as often as they like."""
    twice = pa.table([["a"], ["b"], ["c"]], names=["name", "response", "response"])
    pq.write_table(twice, tmp_path / "o.parquet")
    (entry,) = read_table(tmp_path / "o.parquet", COLUMNS)
    assert "the file has the column response twice" in entry.refusal[1]
    assert refusals(write_packed(tmp_path / "o.csv", b"model,name,response,response\na,b,c,d\n")) == [
        (0, "malformed row")
    ]
    assert refusals(write_packed(tmp_path / "p.csv", b"model,name,response,x,x\na,b,c,1,2\n")) == []


def test_bad_csv_rows_do_not_stop_the_others(tmp_path):
    """A row with too many or too few fields is refused, odd bytes stay recognisable, blank lines do not count."""
    path = write_packed(tmp_path / "o.csv", b'model,name,response\na,b,c,d\na,b\n\na,b,\xff\na,b,"c\n')
    assert refusals(path) == [(1, "malformed row"), (2, "malformed row"), (4, "malformed row")]
    good = [entry.fields["response"] for entry in read_table(path, COLUMNS) if not entry.refusal]
    assert good == ["\udcff"]


@pytest.mark.parametrize("header", ["model,name,response", "name,response,model", "response,model,name,x"])
@pytest.mark.parametrize("last", [9, 12])
def test_a_stray_quote_swallows_no_rows(tmp_path, header, last):
    """A field that holds other rows of the table is refused with the first and the last line; the others are read."""
    fields = [{"model": "m", "name": f"20_1_1_{100_000 + row}_red", "response": f"So red {row}", "x": "1"}
              for row in range(1, 13)]  # fmt: skip
    fields[2]["response"], fields[last - 1]["response"] = '"So red 3', f'So red {last}"' if last < 12 else "So red"
    lines = [",".join(row[name] for name in header.split(",")) for row in fields]
    path = write_packed(tmp_path / "o.csv", "\n".join([header, *lines]).encode() + b"\n")
    entries = list(read_table(path, COLUMNS))
    (refused,) = (entry for entry in entries if entry.refusal)
    assert refused.refusal[0] == "malformed row"
    assert refused.refusal[1].startswith(f"lines 4 to {last + 1}: ")
    taken = [entry.fields["response"] for entry in entries if not entry.refusal]
    assert taken == [f"So red {row}" for row in (1, 2, *range(last + 1, 13))]


def test_quoted_lines_that_are_no_rows_are_kept(tmp_path):
    """Answers of many lines, tables in them, and a puzzle's name alone on a line are a response."""
    answer = "Sue, red\na | b\n1,2,3\n20_1_1_770487_red\n"
    path = write_packed(tmp_path / "o.csv", f'model,name,response\nm,n,"{answer}"\n'.encode())
    assert [row["response"] for row in rows(path)] == [answer]


@pytest.mark.parametrize(("ending", "encoding"), [("jsonl", "utf-16"), ("csv", "utf-16-be"), ("jsonl.gz", "utf-32")])
def test_other_encodings_are_refused(tmp_path, ending, encoding):
    """No row of such a file is taken, and every one is named, or the file."""
    content = (json.dumps(ROW, ensure_ascii=False) + "\n").encode(encoding)
    assert {reason for _, reason in refusals(write_packed(tmp_path / f"o.{ending}", content * 3))} <= {
        "not UTF-8", "malformed row", "missing field",
    }  # fmt: skip
    assert [entry for entry in read_table(tmp_path / f"o.{ending}", COLUMNS) if entry.fields] == []


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_a_line_without_an_end_is_passed_over(tmp_path, monkeypatch, ending):
    """A row longer than any response is refused without being held in memory; its neighbours are read."""
    monkeypatch.setattr("cogniload_repro.records.ROW_BYTES", 1000)
    good = json.dumps(ROW).encode()
    path = write_packed(tmp_path / f"o.{ending}", b"\n".join([good, b"a" * 5_000_000, good, b"[" + b" " * 998, good]))
    assert refusals(path) == [(2, "malformed row"), (4, "malformed row")]
    assert len([entry for entry in read_table(path, COLUMNS) if not entry.refusal]) == 3


def test_a_key_that_comes_twice_is_malformed(tmp_path):
    """Which of two responses is meant nobody knows."""
    content = json.dumps(ROW) + '\n{"response": "a", "response": "b"}'
    *_, last = read_table(write_packed(tmp_path / "o.jsonl", content.encode()), COLUMNS)
    assert (last.row, "the key 'response' comes twice" in last.refusal[1]) == (2, True)


@pytest.mark.parametrize("ending", ["jsonl.gz", "csv.gz"])
def test_a_table_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch, ending):
    """A small file does not keep the reader busy for ever; the rows before the limit are read."""
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.0005")
    path = write_packed(tmp_path / f"o.{ending}", b"model,name,response\n" + json.dumps(ROW).encode() + b"\n" * 600_000)
    *_, last = read_table(path, COLUMNS)
    assert (last.row, last.refusal[0]) == (0, "unreadable file")
    assert f"o.{ending} unpacks to more than 0.0005 GB" in last.refusal[1]
    monkeypatch.delenv("COGNILOAD_MAX_UNPACKED_GB")
    assert "unreadable file" not in [reason for _, reason in refusals(path)]


@pytest.mark.parametrize(("name", "content"), [("a.jsonl.gz", b"{}"), ("a.csv.gz", b""), ("a.parquet", b"")])
def test_a_damaged_or_empty_file_is_named_or_has_no_rows(tmp_path, name, content):
    """Bytes that are not compressed, and no bytes at all."""
    (tmp_path / name).write_bytes(content)
    assert refusals(tmp_path / name) == ([] if name.startswith("a.csv") else [(0, "unreadable file")])


def test_parquet_with_damage_inside_is_read_around_it(tmp_path):
    """A text that is no UTF-8 is refused by its row, a damaged page ends the file; nothing is raised."""
    path = tmp_path / "o.parquet"
    raw = pa.array([b"a", b"\xff", b"c"], pa.binary())
    pq.write_table(pa.table({"response": pa.Array.from_buffers(pa.string(), 3, raw.buffers())}), path)
    assert refusals(path) == [(2, "not UTF-8")]
    table = pa.table({"response": [random.Random(i).randbytes(50).hex() for i in range(20_000)]})
    pq.write_table(table, path, compression="zstd", use_dictionary=False, data_page_size=10_000)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 5000] = bytes(5000)
    path.write_bytes(content)
    assert refusals(path) == [(0, "unreadable file")]


@pytest.mark.parametrize(("header", "is_foreign"), [("a,b", True), ("model,name,b", True), ("name,response", False)])
def test_a_csv_with_a_foreign_header_is_refused_as_a_whole(tmp_path, header, is_foreign):
    """The refusal says once what the header has and what it needs; the model may be named elsewhere."""
    path = write_packed(tmp_path / "o.csv", f"{header}\n1,2\n3,4\n".encode())
    detail = f"the header has {header.replace(',', ', ')}; needed are model, name, response"
    expected = [(0, ("missing field", detail))] if is_foreign else []
    assert [(entry.row, entry.refusal) for entry in read_table(path, COLUMNS) if entry.refusal] == expected


def test_a_csv_field_without_an_end_is_refused(tmp_path, monkeypatch):
    """A quoted field fills no memory; a line that is too long ends the file, and the rows before it are read."""
    monkeypatch.setattr("cogniload_repro.records.ROW_BYTES", 2000)
    text = "model,name,response\n" + "m,n,good\n" * 300 + "a,b," + "x" * 4000 + "\n"
    *good, bad = read_table(write_packed(tmp_path / "o.csv", text.encode()), COLUMNS)
    assert [entry.fields["response"] for entry in good] == ["good"] * 300
    assert (bad.row, *bad.refusal) == (0, "unreadable file", "ValueError: line 302 is longer than 2,000 bytes")


def test_a_parquet_file_beyond_the_limit_is_refused(tmp_path, monkeypatch):
    """Its own figures say to how much it unpacks, before a row is read."""
    pq.write_table(pa.table({"response": [str(row) * 1000 for row in range(300)]}), tmp_path / "o.parquet")
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.0001")
    (entry,) = read_table(tmp_path / "o.parquet", COLUMNS)
    assert "o.parquet unpacks to more than 0.0001 GB" in entry.refusal[1]


def test_parquet_of_every_shape_is_read(tmp_path):
    """Row groups, other columns of lists, columns without values and tables without rows do not matter."""
    table = pa.table({"response": ["a", None, "c"] * 50, "name": pa.nulls(150, pa.string()), "other": [["x"]] * 150,
                      "prompt_tokens": [1, None, 2] * 50})  # fmt: skip
    pq.write_table(table, tmp_path / "o.parquet", row_group_size=40)
    assert [row["response"] for row in rows(tmp_path / "o.parquet")] == ["a", None, "c"] * 50
    pq.write_table(table.slice(0, 0), tmp_path / "o.parquet")
    assert rows(tmp_path / "o.parquet") == []
    large = table.select(["response"]).cast(pa.schema([("response", pa.large_string())]))
    pq.write_table(large, tmp_path / "o.parquet")
    assert len(rows(tmp_path / "o.parquet")) == 150
    shared = table.set_column(0, "response", table["response"].dictionary_encode())
    pq.write_table(shared, tmp_path / "o.parquet")
    assert [row["response"] for row in rows(tmp_path / "o.parquet")] == ["a", None, "c"] * 50
