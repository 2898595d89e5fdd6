import json
import shutil

import pytest

from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.folders import write_set
from cogniload_repro.puzzles.readers import Files, Unreadable, count_set, find_sets, read_row, read_set

CELLS = grid_cells("N=8 ratio=50 d=2")
NAME = "20_1_1_770487_red"


def test_every_format_is_found_and_counted(tmp_path):
    """Tables come before the layout; only the number of JSON lines is not known beforehand."""
    for kind in ("layout", "jsonl", "parquet"):
        write_set(tmp_path, kind, CELLS, 3)
    places = find_sets(tmp_path)
    assert places == [tmp_path / "puzzles.parquet", tmp_path / "puzzles.jsonl", tmp_path]
    assert find_sets(tmp_path / "puzzles.jsonl") == places[1:2]
    assert [count_set(place) for place in places] == [3, None, 3]
    assert [[read_row(item)["name"] for _, item in read_set(place)] for place in places[:2]] == [
        [row["name"] for row in map(json.loads, places[1].read_text("utf-8").splitlines())]
    ] * 2


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"name": NAME, "text": "T", "gold": "red", "N": 20}, {"text": "T", "gold": "red", "N": 20}),
        ({"id": NAME, "puzzle": "T", "solution": "red"}, {"text": "T", "gold": "red"}),
        ({"file": f"exp/cogniload/{NAME}.txt", "prompt": "T", "answer": "red"}, {"text": "T", "gold": "red"}),
        ({"id": "7", "puzzle_id": NAME, "text": "T"}, {"text": "T", "puzzle_id": NAME}),
        ({"name": NAME, "text": None, "question": "T", "N": "20"}, {"text": "T", "N": 20}),
        ({"name": NAME, "text": "T", "meta": {"difficulty": 1, "text": "other"}}, {"text": "T", "d": 1}),
        ({"name": NAME, "d": "one", "needles": "9" * 30}, {"d": "one", "needles": "9" * 30}),
    ],
)
def test_columns_are_found_under_other_names(row, expected):
    """A row of another set is read by what its columns are called, objects inside it included."""
    assert read_row(row) == {"name": NAME} | expected


def test_a_row_without_a_puzzles_name_keeps_its_own():
    """Any text that names a row serves in reports, none is the empty one."""
    assert read_row({"id": "first", "text": "T"})["name"] == "first"
    assert read_row({"id": 5, "text": "T"})["name"] == ""


def test_the_layout_may_do_without_metadata(tmp_path):
    """Where no puzzle has metadata none is missing; where one has, all are expected to."""
    write_set(tmp_path, "layout", CELLS, 3)
    states = sorted((tmp_path / "meta").rglob("*.json"))
    states[0].unlink()
    assert [type(item) for _, item in read_set(tmp_path)].count(Unreadable) == 1
    shutil.rmtree(tmp_path / "meta")
    items = [item for _, item in read_set(tmp_path)]
    assert [type(item) for item in items] == [Files] * 3
    assert all(read_row(item).keys() == {"name", "text"} for item in items)


def test_rows_are_labelled_by_where_they_stand(tmp_path):
    """Lines count as in the file, blank ones too; files of the layout stand under their name."""
    (tmp_path / "some.jsonl").write_text('{}\n\n{"text": "T"}\n[]\n')
    labels = [f"some.jsonl, line {number}" for number in (1, 3, 4)]
    found = list(read_set(tmp_path / "some.jsonl"))
    assert [label for label, _ in found] == labels
    assert found[-1][1] == Unreadable(labels[-1], "wrong type: a JSON object is needed, not list")
    write_set(tmp_path / "layout", "layout", CELLS, 1)
    ((label, item),) = read_set(tmp_path / "layout")
    assert label == item.text.stem


@pytest.mark.parametrize(("state", "reason"), [("[]", "not a JSON object"), ("{}", "lack poi, category_defaults")])
def test_metadata_without_their_keys_are_refused(tmp_path, state, reason):
    """A state that is no JSON object, or lacks what describes the puzzle, makes it unreadable."""
    write_set(tmp_path, "layout", CELLS, 1)
    next((tmp_path / "meta").rglob("*.json")).write_text(state)
    ((_, item),) = read_set(tmp_path)
    assert reason in read_row(item).reason


def test_layout_files_are_read_with_universal_newlines(tmp_path):
    """A text with CRLF is the one with LF; a newline at its end stays."""
    write_set(tmp_path, "layout", CELLS, 1)
    ((_, item),) = read_set(tmp_path)
    text = item.text.read_bytes()
    item.text.write_bytes(text.replace(b"\n", b"\r\n") + b"\r\n")
    assert read_row(item)["text"].encode() == text + b"\n"


def test_a_file_of_another_encoding_is_one_unreadable_item(tmp_path):
    """What to do is said once for the file, not for every line."""
    (tmp_path / "some.jsonl").write_bytes('{"text": "T"}\n'.encode("utf-16"))
    assert list(read_set(tmp_path / "some.jsonl")) == [
        ("some.jsonl", Unreadable("some.jsonl", "the file is UTF-16; save it as UTF-8"))
    ]
