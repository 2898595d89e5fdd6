import json
import shutil

import pytest

from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.catalog import puzzle_row
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.readers import find_sets, read_row, read_set, release_row
from cogniload_repro.puzzles.sets import write_set

CELLS = grid_cells("N=8 ratio=50 d=2")
NAME = "20_1_1_770487_red"


def test_every_format_is_found(tmp_path):
    """Tables come before the release."""
    for kind in ("release", "jsonl", "parquet"):
        write_set(tmp_path, kind, PuzzleSet(CELLS, 3))
    places = find_sets(tmp_path)
    assert places == [tmp_path / "puzzles.parquet", tmp_path / "puzzles.jsonl", tmp_path]
    assert find_sets(tmp_path / "puzzles.jsonl") == places[1:2]
    assert [[read_row(item.fields)["name"] for item in read_set(place)] for place in places[:2]] == [
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


def test_the_release_may_do_without_metadata(tmp_path):
    """Where no puzzle has metadata none is missing; where one has, all are expected to."""
    write_set(tmp_path, "release", PuzzleSet(CELLS, 3))
    states = sorted((tmp_path / "meta").rglob("*.json"))
    states[0].unlink()
    assert [item.error for item in read_set(tmp_path)].count("it has no _state.json") == 1
    shutil.rmtree(tmp_path / "meta")
    items = list(read_set(tmp_path))
    assert [(item.error, item.fields["state"]) for item in items] == [("", {})] * 3


def test_a_file_of_another_encoding_is_one_unreadable_item(tmp_path):
    """What to do is said once for the file, not for every line."""
    (tmp_path / "some.jsonl").write_bytes('{"text": "T"}\n'.encode("utf-16"))
    ((where, fields, error),) = read_set(tmp_path / "some.jsonl")
    assert (where, fields, "save it as UTF-8" in error) == ("some.jsonl", {}, True)


def state_of(puzzle, **changes):
    """The authors' metadata of a puzzle, as JSON."""
    keys = {"poi": puzzle.poi, "category_defaults": puzzle.domains, "needles": puzzle.needles}
    keys |= {"difficulty": puzzle.d, "num_statements": puzzle.N} | changes
    return json.dumps({key: value for key, value in keys.items() if value is not None})


PUZZLE = draw_puzzle(20, 3, 5, 4)


def test_the_authors_files_give_the_same_row():
    """Text and metadata of a puzzle hold all that its name tells; the released counter of needles ends at 0."""
    for changes in ({}, {"needles": 0}):
        row = release_row(PUZZLE.name, PUZZLE.text + "\n", state_of(PUZZLE, **changes))
        assert row == {**puzzle_row(PUZZLE), "text": PUZZLE.text + "\n"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"poi": None}, "lack poi"),
        ({"poi": 3}, "another type"),
        ({"needles": 6}, r"N, d, needles = \(20, 3, 6\)"),
        ({"category_defaults": []}, "lack a list of values"),
    ],
)
def test_metadata_that_contradict_the_name_are_refused(changes, reason):
    """A lost or changed key is an error that names it."""
    with pytest.raises(ValueError, match=reason):
        release_row(PUZZLE.name, PUZZLE.text, state_of(PUZZLE, **changes))
