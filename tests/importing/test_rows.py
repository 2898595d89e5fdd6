"""Files of every program as rows."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from harness import read_source, write_lines
from hypothesis import given
from hypothesis import strategies as st
from packing import write_packed
from program_files import (
    NAMES,
    Answer,
    anthropic_line,
    chat_line,
    completion_line,
    gemini_line,
    harness_sample,
    inspect_sample,
    responses_line,
    table_row,
)

from cogniload_repro.outputs import records as outputs_records
from cogniload_repro.outputs.inspect_logs import read_log_sample
from cogniload_repro.outputs.records import Row
from cogniload_repro.outputs.responses import Output, RowError, read_response
from cogniload_repro.outputs.rows import end_at_damage, read_rows, read_table

ANSWER = Answer(reasoning="Red?")
MAKERS = [
    table_row,
    chat_line,
    completion_line,
    responses_line,
    anthropic_line,
    gemini_line,
]
SEEDS = [make(ANSWER) for make in (*MAKERS, harness_sample, inspect_sample)]
WORDS = st.sampled_from(["text", "stop", "type", "content"])
VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | WORDS
)
JSON = st.recursive(
    VALUES,
    lambda value: (
        st.lists(value, max_size=2) | st.dictionaries(WORDS, value, max_size=2)
    ),
    max_leaves=4,
)


def read(record):
    """The rows of a record of any program."""
    if "epoch" in record:
        return read_log_sample(Row(1, record), {"model": "m"})
    with TemporaryDirectory() as folder:
        return list(read_rows(write_lines(Path(folder) / "o.jsonl", [record])))


def describe(row):
    """The response of a row, or why there is none."""
    try:
        return read_response(row)
    except RowError as error:
        return ": ".join(error.args)


def draw_place(record, data):
    """Draw a place in a record: the list or object, and the key in it."""
    node = record
    while True:
        keys = sorted(node) if isinstance(node, dict) else range(len(node))
        key = data.draw(st.sampled_from(keys))
        below = node[key]
        if (
            not isinstance(below, dict | list)
            or not below
            or not data.draw(st.integers(0, 3))
        ):
            return node, key
        node = below


@given(st.sampled_from(SEEDS), st.data())
def test_no_record_ends_an_import(seed, data):
    """Whatever stands in any of its places, a record is responses or refusals with a reason."""
    record = json.loads(json.dumps(seed))
    node, key = draw_place(record, data)
    node[key] = data.draw(JSON)
    for row in read(record):
        assert isinstance(describe(row), Output | str)


@pytest.mark.parametrize("depth", [200, 700])
@pytest.mark.parametrize("key", ["content", "reasoning", "other_thoughts"])
def test_a_record_that_is_nested_too_deeply_is_refused_by_itself(tmp_path, depth, key):
    """The rows behind it are read."""
    record = chat_line(Answer())
    text = "red and blue"
    for _ in range(depth):
        text = [text]
    record["response"]["body"]["choices"][0]["message"][key] = text
    path = write_lines(tmp_path / "o.jsonl", [record, chat_line(Answer(NAMES[1]))])
    outputs, rejected = read_source(path)
    assert NAMES[1] in [output.name for output in outputs]
    assert {row.reason for row in rejected} <= {"malformed row"}
    assert len(outputs) + len(rejected) == 2


LINE = '{"model": "m", "response": "Sue → red"}'.encode()
COLUMNS = ["model", "name", "response", "prompt_tokens", "response_tokens"]
VALUES = ["m", "n", 'Sue, "red"\r\nhair → é\x00', "7", ""]
CELLS = dict(zip(COLUMNS, VALUES, strict=True))


def read_whole(path):
    """The records of a table."""
    return list(end_at_damage(read_table(path)))


def list_fields(path):
    """Fields of a table without a refused row."""
    rows = read_whole(path)
    assert all(row.refusal is None for row in rows)
    return [row.fields for row in rows]


def refused(path):
    """Row and reason of every refused row."""
    return [(row.number, row.refusal[0]) for row in read_whole(path) if row.refusal]


def test_every_line_counts(tmp_path):
    """Records stand under their line's number; blank lines are passed over, others refused."""
    bad = [b"[]", b"{", b" ", b'{"b": "\xff"}', b"9" * 5000, b"[" * 200_000]
    content = [b'{"a": 1}\n', *bad, b'{"c": 2}', b'{"d": 1, "d": 2}']
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(content))
    rows = list(read_table(tmp_path / "a.jsonl"))
    reasons = {row.number: row.refusal[0] for row in rows if row.refusal}
    malformed = dict.fromkeys((4, 7, 8, 10), "malformed row")
    assert reasons == {3: "wrong type", 6: "not UTF-8"} | malformed
    assert (rows[0], rows[-2]) == (Row(1, {"a": 1}), Row(9, {"c": 2}))
    assert "the key 'd' occurs twice" in rows[-1].refusal[1]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_a_line_without_an_end_is_passed_over(tmp_path, monkeypatch, ending):
    """A row longer than any response is refused in bounded memory; its neighbours are read."""
    monkeypatch.setattr(outputs_records, "ROW_BYTES", 1000)
    lines = [LINE, b"a" * 5_000_000, LINE, b"[" + b" " * 998, LINE]
    path = write_packed(tmp_path / f"o.{ending}", b"\n".join(lines))
    assert refused(path) == [(2, "malformed row"), (4, "malformed row")]
    assert len([row for row in read_table(path) if not row.refusal]) == 3


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
    assert list_fields(path) == [CELLS, CELLS]


def test_a_column_that_comes_twice_is_refused(tmp_path):
    """Nobody knows which response is meant; columns without a name may come twice."""
    twice = pa.table([["a"], ["b"], ["c"]], names=["name", "response", "response"])
    pq.write_table(twice, tmp_path / "o.parquet")
    (row,) = read_whole(tmp_path / "o.parquet")
    assert row.refusal == (
        "unreadable file",
        "it has the column response twice; remove one",
    )
    path = write_packed(tmp_path / "o.csv", b"model,name,response,response\na,b,c,d\n")
    assert refused(path) == [(0, "unreadable file")]
    path = write_packed(tmp_path / "p.csv", b"model,name,response,,\na,b,c,1,2\n")
    assert refused(path) == []


def test_bad_csv_rows_do_not_stop_the_others(tmp_path):
    """Other numbers of fields are refused, odd bytes recognisable, blank lines not counted."""
    content = b'model,name,response\na,b,c,d\na,b\n\na,b,\xff\na,b,"c"d\na,b,c\n'
    path = write_packed(tmp_path / "o.csv", content)
    assert refused(path) == [(row, "malformed row") for row in (1, 2, 4)]
    responses = [row.fields["response"] for row in read_whole(path) if not row.refusal]
    assert responses == ["\udcff", "c"]


def test_quoted_lines_that_are_no_rows_are_kept(tmp_path):
    """Answers of many lines, tables in them, and a puzzle's name alone on a line are a response."""
    answer = "Sue, red\na | b\n1,2,3\n20_1_1_770487_red\nsnake_case, more\n"
    path = write_packed(
        tmp_path / "o.csv", f'model,name,response\nm,n,"{answer}"\n'.encode()
    )
    assert [row["response"] for row in list_fields(path)] == [answer]


@pytest.mark.parametrize("ending", ["jsonl.gz", "csv.gz"])
def test_a_table_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch, ending):
    """A small file does not keep the reader busy for ever; the rows before the limit are read."""
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.0001")
    content = b"model,name,response\n" + json.dumps(CELLS).encode() + b"\n" * 120_000
    path = write_packed(tmp_path / f"o.{ending}", content)
    *_, last = read_whole(path)
    assert (last.number, last.refusal[0]) == (0, "unreadable file")
    limit = "has more than 0.0001 GB; if that is intended, increase COGNILOAD_MAX_UNPACKED_GB"
    assert last.refusal[1] == f"o.{ending} {limit}"
    monkeypatch.delenv("COGNILOAD_MAX_UNPACKED_GB")
    assert "unreadable file" not in [reason for _, reason in refused(path)]


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
        assert [row["response"] for row in list_fields(path)] == texts[: len(shape)]
        assert {row["prompt_tokens"] for row in list_fields(path)} <= {1.0, None, 2.0}
