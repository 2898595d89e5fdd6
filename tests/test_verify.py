import json
import re

import pytest

from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzle_sets import describe_set, draw_rows, write_jsonl, write_layout, write_parquet
from cogniload_repro.verify import verify_puzzle, verify_set

CELLS = grid_cells("N=8,40 ratio=10,60 d=1,5")
ROWS = list(draw_rows(CELLS, 3, 4))
ROW = ROWS[-1]


@pytest.mark.parametrize("redraw", [True, False])
def test_drawn_puzzles_are_right(redraw):
    """Every puzzle of a drawn set is right, with and without drawing it again."""
    assert {verify_puzzle(row, redraw=redraw)[1:] for row in ROWS} == {("right", "")}


def test_all_three_formats_are_verified(tmp_path):
    """Parquet, JSONL and the authors' layout give one verdict a puzzle."""
    write_parquet(tmp_path / "a.parquet", ROWS, describe_set(CELLS, 4, "chain", ""))
    write_jsonl(tmp_path / "set" / "puzzles.jsonl", ROWS)
    write_layout(tmp_path / "layout", CELLS, 3, 4)
    for source in ("a.parquet", "set", "layout"):
        verdicts = list(verify_set(tmp_path / source))
        assert sorted(one.name for one in verdicts) == sorted(row["name"] for row in ROWS)
        assert {one.verdict for one in verdicts} == {"right"}


def line_of(text, start):
    """The first line of a text that begins so."""
    return next(line for line in text.split("\n") if line.startswith(start))


TEXT = ROW["text"]
OTHER = next(value for value in ROW["domain"] if value != ROW["gold"])
POI_LINE = line_of(TEXT, f"{ROW['poi']} ")


@pytest.mark.parametrize(
    ("change", "verdict", "message"),
    [
        ({"gold": OTHER}, "mismatch", "gold|name"),
        ({"name": None, "gold": OTHER}, "mismatch", "gold is"),
        ({"needles": ROW["needles"] + 1}, "mismatch", "needles"),
        ({"N": 39}, "mismatch", "N 39"),
        ({"poi": "Nobody"}, "mismatch", "poi is"),
        ({"category": "nothing"}, "mismatch", "category is"),
        ({"domain": []}, "mismatch", "outside the domain"),
        ({"domain": 5}, "mismatch", "not a list"),
        ({"text": TEXT.replace(f"{POI_LINE}\n", "")}, "ambiguous", "which no initial line tells"),
        ({"text": TEXT.rpartition("\n\n")[0]}, "unparsable", "the text goes on"),
        ({"text": TEXT.replace("\n7. ", "\n8. ")}, "unparsable", "statement 8 where 7 is due"),
        ({"text": TEXT.replace(line_of(TEXT, "9. ") + "\n", "")}, "unparsable", "10 where 9 is due"),
        ({"text": TEXT.replace("Solve this", "Solve that")}, "mismatch", "instruction"),
        ({"text": TEXT.replace(" and ", ", ", 1)}, "unparsable", "clause|category"),
        ({"text": TEXT + "\n"}, "right", "^$"),
        ({"text": None}, "unparsable", "lacks the text"),
        ({"text": 5}, "unparsable", "lacks the text"),
        ({"name": None, "gold": None}, "unparsable", "lacks"),
    ],
)
def test_damage_is_found_and_named(change, verdict, message):
    """Each kind of damage gets its verdict, even without drawing the puzzle again."""
    found = verify_puzzle({**ROW, **change}, redraw=False)
    assert found.verdict == verdict
    assert re.search(message, found.detail)


def test_drawing_again_finds_any_change():
    """Whichever statement is left out at the end or exchanged with the next, the change is found."""
    lines = TEXT.split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("1. "))
    for i in range(first, first + ROW["N"] - 1):
        (one, rule), (two, other) = (line.split(". ", 1) for line in lines[i : i + 2])
        if rule == other:
            continue
        swapped = [*lines[:i], f"{one}. {other}", f"{two}. {rule}", *lines[i + 2 :]]
        assert verify_puzzle({**ROW, "text": "\n".join(swapped)}).verdict != "right"


def test_unreadable_rows_are_named_by_their_place(tmp_path):
    """A line that is no JSON, or no row, is unparsable under its number, and the others are verified."""
    path = tmp_path / "puzzles.jsonl"
    path.write_bytes(b"\xff{\n[1]\n" + json.dumps(ROW).encode() + b"\n")
    verdicts = list(verify_set(path))
    assert [(one.name, one.verdict) for one in verdicts] == [
        ("line 1", "unparsable"),
        ("line 2", "unparsable"),
        (ROW["name"], "right"),
    ]


def test_place_without_puzzles_is_refused(tmp_path):
    """A folder or file that holds no puzzles stops with what may be given."""
    for source in (tmp_path, tmp_path / "missing.jsonl"):
        with pytest.raises(ValueError, match="no puzzles here"):
            list(verify_set(source))
