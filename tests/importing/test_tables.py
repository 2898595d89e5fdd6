"""Tables read record by record, and what is said of damage."""

import gzip

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from harness import read_source

from cogniload_repro.importing.rejections import RowError
from cogniload_repro.importing.tables import read_table, read_whole_table

LINE = '{"model": "m", "name": "20_1_1_770487_red", "response": "red"}\n'
TABLE = "model,name,response\nm,20_1_1_770487_red,red\n"


def faults(path):
    """Reasons and details of the records that cannot be used, by their number."""
    return {n: row.args[:2] for n, row in read_table(path) if isinstance(row, RowError)}


def records(path):
    """The records that can be used."""
    return [row for _, row in read_table(path) if isinstance(row, dict)]


@pytest.mark.parametrize(
    "ending", ["jsonl", "ndjson", "JSONL", "csv", "CSV", "parquet"]
)
@pytest.mark.parametrize("packed", ["", ".gz", ".GZ"])
def test_a_table_is_read_whatever_its_ending_in_letters(tmp_path, ending, packed):
    """Of the documented kinds; Parquet is packed by itself."""
    path = tmp_path / f"a.{ending}{packed}"
    if ending == "parquet":
        path = path.with_name("a.parquet")
        pd.DataFrame(
            [{"model": "m", "name": "20_1_1_770487_red", "response": "red"}]
        ).to_parquet(path)
    else:
        content = (TABLE if ending.lower() == "csv" else LINE).encode()
        path.write_bytes(gzip.compress(content) if packed else content)
    assert [row["response"] for row in records(path)] == ["red"]


def test_a_line_that_is_no_object_is_refused_alone(tmp_path):
    """Numbers of any length and repeated keys beside are no reason to."""
    lines = [LINE, "[]\n", "\n", LINE[:-9] + "\n", "[" * 100_000 + "\n"]
    lines += ['{"n": ' + "9" * 5000 + ', "m": {"a": 1, "a": 0}}\n']
    path = tmp_path / "a.jsonl"
    path.write_text("".join(lines))
    assert [reason for reason, _ in faults(path).values()] == ["malformed row"] * 3
    assert list(faults(path)) == [2, 4, 5]
    assert len(records(path)) == 2


def test_a_quote_that_is_not_closed_loses_no_row_in_silence(tmp_path):
    """A field with another row in it is refused, and one with lines alone is read."""
    rows = 'm,20_1_1_7_red,"So red\nm,20_1_1_8_red,yes"\nm,20_1_1_9_red,"a\r\nb, c"\n'
    path = tmp_path / "a.csv"
    path.write_bytes(f"model,name,response\n{rows}".encode())
    assert faults(path)[1][0] == "malformed row"
    assert [row["response"] for row in records(path)] == ["a\r\nb, c"]


def test_a_cell_that_a_spreadsheet_cut_is_refused(tmp_path):
    """At 32,767 characters of UTF-16, an emoji being two."""
    path = tmp_path / "a.csv"
    for text, count in (("a" * 32_765 + "\N{GRINNING FACE}", 1), ("a" * 32_766, 0)):
        path.write_text(f"name,response\nx,{text}\n", encoding="utf-8")
        assert len(faults(path)) == count


DAMAGED = {
    "semicolons": ("a.csv", TABLE.replace(",", ";").encode()),
    "tabs": ("a.csv", TABLE.replace(",", "\t").encode()),
    "no header": ("a.csv", TABLE.partition("\n")[2].encode()),
    "two columns of a name": ("a.csv", TABLE.replace("model", "name").encode()),
    "an open quote": ("a.csv", TABLE.encode() + b'm,x,"red'),
    "UTF-16": ("a.csv", TABLE.encode("utf-16")),
    "JSON lines that end in CR": ("a.jsonl", (LINE * 3).replace("\n", "\r").encode()),
    "a CR between two of them": ("a.jsonl", LINE[:-1].encode() + b"\r" + LINE.encode()),
    "CSV that ends in CR": ("a.csv", TABLE.replace("\n", "\r").encode()),
    "a CR after the header": ("a.csv", TABLE.replace("\nm", "\rm").encode()),
    "a CR after a row": ("a.csv", (TABLE[:-1] + "\rm,x,red\n").encode()),
    "a quote within a text": ("a.csv", TABLE.encode() + b'm,20_1_1_8_red,"a "b""\n'),
    "a quote over rows": ("a.csv", TABLE.encode() + b'm,x,"red\nm,y,"blue"\n'),
    "cut gzip": ("a.jsonl.gz", gzip.compress(LINE.encode())[:-9]),
    "no gzip": ("a.jsonl.gz", LINE.encode()),
    "workbook": ("a.csv", b"PK\x03\x04" + bytes(30)),
    "no Parquet": ("a.parquet", LINE.encode()),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_file_that_cannot_be_read_to_its_end_is_refused(tmp_path, case):
    """Any number of its rows may be lost, so no number of rejected rows allows it."""
    name, content = DAMAGED[case]
    (tmp_path / name).write_bytes(content)
    assert faults(tmp_path / name)[0][0] == "unreadable file"


def test_one_bad_row_does_not_reject_a_file(tmp_path):
    """Bytes that are not UTF-8, and a field too many."""
    good = ["m,20_1_1_7_red,red\n", 'm,20_1_1_8_red,"a ""b"""\n', "m,20_1_1_9_red,c\n"]
    bad = ["m,20_1_1_10_red,a,b\n", "m,20_1_1_11_red,Zo\xeb\n"]
    path = tmp_path / "a.csv"
    lines = ["model,name,response\n", good[0], bad[0], good[1], bad[1], good[2]]
    path.write_text("".join(lines), encoding="latin-1")
    assert [row["response"] for row in records(path)] == ["red", 'a "b"', "c"]
    assert {n: reason for n, (reason, _) in faults(path).items()} == {
        2: "malformed row",
        4: "malformed row",
    }
    path = tmp_path / "a.jsonl"
    path.write_bytes(LINE.encode() + LINE.replace("red", "\xeb").encode("latin-1"))
    assert list(faults(path)) == [2]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_text_has_the_same_lines_whatever_ends_them(tmp_path, ending, end):
    """LF, CRLF and CR within a response; records end in LF or CRLF."""
    path = tmp_path / f"a.{ending}"
    text = end.join(["Let me think.", "Final answer: **red**", "", ""])
    frame = pd.DataFrame(
        {"model": ["m"], "name": "20_1_1_770487_red", "response": text}
    )
    if ending == "parquet":
        frame.to_parquet(path)
    elif ending == "csv":
        frame.to_csv(path, index=False, lineterminator="\r\n")
    else:
        path.write_bytes(frame.to_json(orient="records", lines=True).encode())
    ((response,), rejected) = read_source(path)
    assert rejected == []
    assert response.response == text.replace(end, "\n")


def test_a_byte_order_mark_is_no_part_of_a_table(tmp_path):
    """Some programs write one before UTF-8."""
    for name, content in (("a.jsonl", LINE), ("a.csv", TABLE)):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8-sig")
        assert [row["response"] for row in records(path)] == ["red"]


def test_texts_of_parquet_may_be_bytes(tmp_path):
    """As some writers store them."""
    path = tmp_path / "a.parquet"
    table = pa.table(
        {
            name: [text.encode()]
            for name, text in (
                ("model", "m"),
                ("name", "20_1_1_770487_red"),
                ("response", "red"),
            )
        }
    )
    pq.write_table(table, path)
    ((response,), rejected) = read_source(path)
    assert (response.response, rejected) == ("red", [])


def test_a_table_that_must_be_whole_names_its_first_bad_row(tmp_path):
    """Puzzles and token counts are not skipped."""
    path = tmp_path / "puzzles.jsonl"
    path.write_text(LINE + "[]\n")
    with pytest.raises(ValueError, match=r"puzzles\.jsonl, row 2: not a JSON object"):
        list(read_whole_table(path))
