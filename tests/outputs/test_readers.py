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


@pytest.mark.parametrize("ending", ["jsonl", "ndjson", "jsonl.gz", "jsonl.zst", "JSONL"])
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
    with pa.ipc.new_file(str(tmp_path / "o.arrow"), twice.schema) as writer:
        writer.write_table(twice)
    for name in ("o.parquet", "o.arrow"):
        (entry,) = read_table(tmp_path / name, COLUMNS)
        assert "the file has the column response twice" in entry.refusal[1]
    assert refusals(write_packed(tmp_path / "o.csv", b"model,name,response,response\na,b,c,d\n")) == [
        (0, "malformed row")
    ]
    assert refusals(write_packed(tmp_path / "p.csv", b"model,name,response,x,x\na,b,c,1,2\n")) == []


def test_bad_csv_rows_do_not_stop_the_others(tmp_path):
    """A row too long is refused, one too short lacks its last field, odd bytes stay recognisable."""
    path = write_packed(tmp_path / "o.csv", b'model,name,response\na,b,c,d\na,b\na,b,\xff\na,b,"c\n')
    assert refusals(path) == [(1, "malformed row"), (4, "malformed row")]
    good = [entry.fields["response"] for entry in read_table(path, COLUMNS) if not entry.refusal]
    assert good == [None, "\udcff"]


@pytest.mark.parametrize(("ending", "encoding"), [("jsonl", "utf-16"), ("csv", "utf-16-be"), ("jsonl.gz", "utf-32")])
def test_other_encodings_are_refused_by_name(tmp_path, ending, encoding):
    """One refusal for the file says what to do, in place of one for every row."""
    text = "\ufeff" * (encoding == "utf-16-be") + json.dumps(ROW, ensure_ascii=False) + "\n"
    path = write_packed(tmp_path / f"o.{ending}", (text * 3).encode(encoding))
    (entry,) = read_table(path, COLUMNS)
    assert entry.row == 0
    assert entry.refusal == ("not UTF-8", "the file is UTF-16 or UTF-32; save it as UTF-8")


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.zst"])
def test_a_line_without_an_end_is_passed_over(tmp_path, monkeypatch, ending):
    """A row longer than any response is refused without being held in memory; its neighbours are read."""
    monkeypatch.setattr("cogniload_repro.records.ROW_BYTES", 1000)
    good = json.dumps(ROW).encode()
    path = write_packed(tmp_path / f"o.{ending}", b"\n".join([good, b"a" * 5_000_000, good, b"[" + b" " * 998, good]))
    assert refusals(path) == [(2, "malformed row"), (4, "malformed row")]
    assert len([entry for entry in read_table(path, COLUMNS) if not entry.refusal]) == 3


@pytest.mark.parametrize("name", ["o.jsonl", "o.json"])
def test_a_key_that_comes_twice_is_malformed(tmp_path, name):
    """Which of two responses is meant nobody knows; in a file that is read whole, the whole is refused."""
    content = json.dumps(ROW) + ',\n{"response": "a", "response": "b"}'
    content = f"[{content}]" if name == "o.json" else content.replace(",\n{", "\n{")
    *_, last = read_table(write_packed(tmp_path / name, content.encode()), COLUMNS)
    assert "the key 'response' comes twice" in last.refusal[1]
    assert last.row == (2 if name == "o.jsonl" else 0)


@pytest.mark.parametrize("ending", ["jsonl.zst", "csv.gz"])
def test_a_table_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch, ending):
    """A small file does not keep the reader busy for ever; the rows before the limit are read."""
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.0005")
    path = write_packed(tmp_path / f"o.{ending}", b"model,name,response\n" + json.dumps(ROW).encode() + b"\n" * 600_000)
    *_, last = read_table(path, COLUMNS)
    assert last.row == 0
    assert last.refusal[0] == "unreadable file"
    assert f"o.{ending} unpacks to more than 0.0005 GB" in last.refusal[1]
    monkeypatch.delenv("COGNILOAD_MAX_UNPACKED_GB")
    assert "unreadable file" not in [reason for _, reason in refusals(path)]


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


@pytest.mark.parametrize("text", ["a,b,c" + ",d" * 2000, 'a,b,"' + "x\n" * 2000 + '"', "a,b," + "x" * 4000])
def test_a_csv_row_without_an_end_is_refused(tmp_path, monkeypatch, text):
    """Neither a line, a quoted field nor a row of many fields fills memory; the rows before it are read."""
    monkeypatch.setattr("cogniload_repro.outputs.readers.ROW_BYTES", 2000)
    rows_before = "m,n,good\n" * 300  # bounded one by one, not together
    path = write_packed(tmp_path / "o.csv", f"model,name,response\n{rows_before}{text}\n".encode())
    *good, bad = read_table(path, COLUMNS)
    assert [entry.fields["response"] for entry in good] == ["good"] * 300
    assert (bad.row, *bad.refusal) == (0, "unreadable file", "ValueError: a row is longer than 2,000 characters")


def write_shared(path, size, count, **options):
    """A Parquet file in which one long text stands for many rows, as a dictionary or, by default, as text."""
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), pa.array(["x" * size]))
    table = pa.table({"model": ["m"] * count, "name": ["n"] * count, "response": shared})
    pq.write_table(table, path, compression="zstd", write_statistics=False, **{"store_schema": False, **options})


def test_a_text_that_stands_for_many_rows_is_read_in_bounded_memory(tmp_path, monkeypatch):
    """A small Parquet file holds few rows at a time, and so many in all as a source may unpack to."""
    write_shared(tmp_path / "o.parquet", 4_000_000, 300)
    assert (tmp_path / "o.parquet").stat().st_size < 20_000
    before = pa.total_allocated_bytes()
    most = 0
    for number, entry in enumerate(read_table(tmp_path / "o.parquet", COLUMNS)):
        assert len(entry.fields["response"]) == 4_000_000
        most = max(most, pa.total_allocated_bytes() - before)
        if number == 20:
            break
    assert most < 40_000_000
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.05")
    *_, last = read_table(tmp_path / "o.parquet", COLUMNS)
    assert "o.parquet unpacks to more than 0.05 GB" in last.refusal[1]


@pytest.mark.parametrize("shared", [{}, {"store_schema": True}, None])
def test_a_parquet_value_beyond_all_responses_is_refused(tmp_path, monkeypatch, shared):
    """In whichever way it is kept: the file before it is read, or each row for which a shared one stands."""
    monkeypatch.setattr("cogniload_repro.outputs.readers.ROW_BYTES", 50_000)
    if shared is not None:
        write_shared(tmp_path / "o.parquet", 100_000, 30, **shared)
        assert refusals(tmp_path / "o.parquet") == [(row, "malformed row") for row in range(1, 31)]
    else:
        pq.write_table(pa.table({"response": ["x" * 100_000] * 3}), tmp_path / "o.parquet", use_dictionary=False)
        (entry,) = read_table(tmp_path / "o.parquet", COLUMNS)
        assert entry.refusal == ("unreadable file", "ValueError: a row is longer than 50,000 bytes")


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
    pq.write_table(table.rename_columns({"other": "model"}), tmp_path / "o.parquet")
    (entry,) = read_table(tmp_path / "o.parquet", COLUMNS)
    assert "the column model is list" in entry.refusal[1]


def test_only_a_puzzles_domain_may_be_a_list(tmp_path, monkeypatch):
    """A run of equal values is kept in a few bytes: they are counted before they are read."""
    pq.write_table(pa.table({"name": ["n"] * 2, "domain": [["x"] * 600] * 2}), tmp_path / "o.parquet")
    found = [entry.fields for entry in read_table(tmp_path / "o.parquet", ["name", "domain"])]
    assert found == [{"name": "n", "domain": ["x"] * 600}] * 2
    monkeypatch.setattr("cogniload_repro.outputs.readers._MAX_VALUES", 1000)
    (entry,) = read_table(tmp_path / "o.parquet", ["name", "domain"])
    assert entry.refusal == ("unreadable file", "ValueError: 1,200 values in lists are more than a source has")


def test_a_long_parquet_row_among_short_ones_is_refused_alone(tmp_path, monkeypatch):
    """Its neighbours in the batch are read."""
    monkeypatch.setattr("cogniload_repro.outputs.readers.ROW_BYTES", 50_000)
    texts = ["a"] * 500 + ["x" * 100_000] + ["b"] * 500
    pq.write_table(pa.table({"response": texts}), tmp_path / "o.parquet", use_dictionary=False)
    assert refusals(tmp_path / "o.parquet") == [(501, "malformed row")]
    good = [entry for entry in read_table(tmp_path / "o.parquet", COLUMNS) if entry.fields]
    assert [(entry.row, entry.fields["response"]) for entry in good][499:501] == [(500, "a"), (502, "b")]


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
def test_arrow_is_read(tmp_path, monkeypatch, compression, new):
    """File and stream, dictionaries and compression; texts are bounded by row, batches before they are unpacked."""
    table = pa.table({**{name: [ROW[name]] * 50 for name in COLUMNS}, "x": [["a"]] * 50})
    table = table.set_column(2, "response", table["response"].dictionary_encode())
    with new(str(tmp_path / "o.arrow"), table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as file:
        file.write_table(table)
    assert rows(tmp_path / "o.arrow") == [ROW] * 50
    monkeypatch.setattr("cogniload_repro.outputs.readers.ROW_BYTES", 20)
    assert refusals(tmp_path / "o.arrow") == [(row, "malformed row") for row in range(1, 51)]
    monkeypatch.setattr("cogniload_repro.outputs.readers._MAX_ARROW", 500)
    (entry,) = read_table(tmp_path / "o.arrow", COLUMNS)
    assert "a batch takes more than 500 bytes" in entry.refusal[1]


@pytest.mark.parametrize("kept", [0, 5, 300, -300, -8])
def test_arrow_cut_short_is_refused(tmp_path, kept):
    """What is no Arrow at all, too, and lists in place of texts."""
    table = pa.table({"response": ["a" * 900], "name": [["b"]]})
    with pa.ipc.new_stream(str(tmp_path / "o.arrow"), table.schema) as writer:
        writer.write_table(table)
    content = (tmp_path / "o.arrow").read_bytes()
    (tmp_path / "o.arrow").write_bytes(content[:kept])
    assert refusals(tmp_path / "o.arrow") == [(0, "unreadable file")]
    (tmp_path / "o.arrow").write_bytes(content)
    assert "the column name is list" in next(read_table(tmp_path / "o.arrow", COLUMNS)).refusal[1]
