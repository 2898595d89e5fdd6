import json
import re
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from samples import release_state, write_release

from cogniload_repro.commands.puzzles import verify
from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.draws import resolve_edition
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.puzzle import INSTRUCTION
from cogniload_repro.puzzles.sets import describe_set, draw_rows, write_jsonl, write_parquet, write_set
from cogniload_repro.puzzles.verify import PUZZLE_VERDICTS, verify_puzzle, verify_set

CELLS = grid_cells("N=8,40 ratio=10,60 d=1,5")
ROWS = list(draw_rows(PuzzleSet(CELLS, 3, 4)))
ROW = ROWS[-1]


def verdicts(source, **options):
    """Names and verdicts of a set."""
    return [(one.name, one.verdict) for one in verify_set(source, **options)]


@pytest.mark.parametrize("redraw", [True, False])
def test_drawn_puzzles_are_right(redraw):
    """Every puzzle of a drawn set is right, with and without drawing it again."""
    assert {verify_puzzle(row, redraw=redraw)[1:] for row in ROWS} == {("right", "", "python" * redraw)}


def line_of(text, start):
    """The first line of a text that begins so."""
    return next(line for line in text.split("\n") if line.startswith(start))


TEXT = ROW["text"]
OTHER = next(value for value in ROW["domain"] if value != ROW["gold"])
POI_LINE = line_of(TEXT, f"{ROW['poi']} ")
PUZZLE = draw_puzzle(ROW["N"], ROW["d"], ROW["needles"], ROW["puzzle_id"])
FRIENDS = [person for person in PUZZLE.people if person != ROW["poi"] and f"\n{person} " in TEXT][:2]


def swap(text, one, other):
    """The text with two words exchanged."""
    return re.sub(rf"\b({one}|{other})\b", lambda found: other if found[0] == one else one, text)


@pytest.mark.parametrize(
    ("change", "verdict", "message"),
    [
        ({"gold": OTHER}, "mismatch", "gold"),
        ({"domain": []}, "mismatch", "that has those of the text"),
        ({"domain": 5}, "mismatch", "not a list"),
        ({"text": TEXT.replace(f"{POI_LINE}\n", "")}, "ambiguous", "which no initial line states"),
        ({"text": TEXT.replace("\n7. ", "\n8. ")}, "unparsable", "statement 8 where 7 is due"),
        ({"text": TEXT.replace("Solve this", "Solve that")}, "mismatch", "instruction"),
        ({"text": swap(TEXT, ROW["poi"], FRIENDS[0])}, "mismatch", "poi is"),
        ({"domain": [*ROW["domain"], "stranger"]}, "mismatch", "is not a list of values"),
        ({"domain": [*ROW["domain"], ROW["gold"]]}, "mismatch", "the domain has 7 values, .* 6 different"),
        ({"rho": 0.5}, "mismatch", "rho is 0.6 by the text, 0.5"),
        ({"ratio_pct": 50.0}, "mismatch", "ratio_pct 50.0 does not give 24 needles of 40"),
        ({"d": 3}, "mismatch", "d 3, its name 5"),
        ({"name": ROW["name"].replace("40_5_", "41_5_"), "N": 41}, "mismatch", "N is 40 by the text, 41"),
        ({"puzzle_id": 7}, "mismatch", "puzzle_id 7, its name"),
        ({"text": TEXT + "\n"}, "right", "^$"),
        ({"text": 5}, "unparsable", "lacks the text"),
        ({"name": None, "gold": None}, "unparsable", "lacks the gold value; it has N, d"),
    ],
)
def test_damage_is_found_and_named(change, verdict, message):
    """Each kind of damage gets its verdict, even without drawing the puzzle again."""
    found = verify_puzzle({**ROW, **change}, redraw=False)
    assert found.verdict in verdict.split("|")
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
    for change in ({"text": swap(TEXT, *FRIENDS)}, {"domain": ROW["domain"][::-1]}):
        assert verify_puzzle({**ROW, **change}, redraw=False).verdict == "right"
        assert verify_puzzle({**ROW, **change}).verdict == "mismatch"


def test_puzzles_of_another_generator_can_be_verified():
    """Texts without an id that draws them are solved and compared with the answer."""
    row = {"name": "40_5_24_123456_" + ROW["gold"], "text": TEXT}
    assert "differs from the one drawn" in verify_puzzle(row).detail
    assert verify_puzzle(row, redraw=False).verdict == "right"
    assert verify_puzzle({"text": TEXT, "gold": OTHER, "N": 40}, redraw=False).detail.startswith("gold is")
    assert verify_puzzle({"text": TEXT, "gold": ROW["gold"], "N": 40}, redraw=False).verdict == "right"
    lines = "Ann has red colored hair.\n1. The people having blue hair color their hair to pink"
    idle = f"{INSTRUCTION}\n\n{lines}\n\nWhat is the final hair color of Ann?"
    assert verify_puzzle({"text": idle, "gold": "red"}, redraw=False).detail == "statement 1 applies to nobody"


@given(
    st.dictionaries(
        st.sampled_from([*ROW, "solution", "metadata"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
        | st.lists(st.integers(), max_size=2) | st.just({"poi": 1})
        | st.sampled_from([TEXT, TEXT[:-99], ROW["name"], ROW["gold"]]),
    )
)  # fmt: skip
def test_no_row_stops_the_others(changes):
    """Whatever a row holds, it gets a verdict and a sentence."""
    found = verify_puzzle({**ROW, **changes}, redraw=False)
    assert found.verdict in PUZZLE_VERDICTS
    assert (found.verdict == "right") == (found.detail == "")


def test_unreadable_rows_are_named_by_their_place(tmp_path):
    """A line that is no JSON, not UTF-8 or no row is unparsable under its number; a name that comes twice is told."""
    path = tmp_path / "puzzles.jsonl"
    good = json.dumps(ROW).encode()
    bad = [b"\xff{", good[:99], b"[1]", b"[" * 100_000, good.replace(b"Solve", b"S\xf6lve"), b'{"text": "\\ud800"}']
    other = json.dumps({**ROWS[1], "name": ROW["name"]}).encode()
    path.write_bytes(b"\n".join([*bad, b"", good, good, other]) + b"\n")
    found = list(verify_set(path))
    lines = [f"puzzles.jsonl, line {number}" for number in range(1, 7)]
    assert [one.name for one in found] == lines + [ROW["name"]] * 3
    assert [one.verdict for one in found] == ["unparsable"] * 6 + ["right", "mismatch", "mismatch"]
    assert all("a puzzle of this name came before" in one.detail for one in found[-2:])
    assert "not UTF-8" in found[4].detail


def test_a_damaged_table_is_read_as_far_as_it_can_be(tmp_path):
    """Texts that are not UTF-8 and pages that cannot be read are named by their row; the others are verified."""
    rows = list(draw_rows(PuzzleSet(grid_cells("N=8 ratio=10 d=1"), 9, 4)))
    table = pa.Table.from_pylist(rows)
    texts = [text.encode() for text in table["text"].to_pylist()]
    texts[4] = texts[4].replace(b"Solve", b"S\xf6lve")
    buffers = pa.array(texts, pa.binary()).buffers()
    text = pa.Array.from_buffers(pa.string(), 9, buffers)
    path = tmp_path / "puzzles.parquet"
    pq.write_table(table.set_column(table.schema.get_field_index("text"), "text", text), path, row_group_size=3)
    expected = [(row["name"], "right") for row in rows]
    expected[4] = ("puzzles.parquet, row 5", "unparsable")
    first = pq.ParquetFile(path).metadata.row_group(2).column(0).data_page_offset
    content = bytearray(path.read_bytes())
    content[first : first + 400] = bytes(400)
    path.write_bytes(content)
    assert verdicts(path) == expected[:6] + [(f"puzzles.parquet, row {number}", "unparsable") for number in (7, 8, 9)]


@pytest.mark.parametrize("damage", ["cut", "empty", "no rows", "no texts"])
def test_a_table_that_cannot_be_read_is_refused(tmp_path, damage):
    """A file that is cut short, empty, without texts or of another kind stops with a sentence that names it."""
    (tmp_path / "table.csv").touch()
    for source in (tmp_path, tmp_path / "missing.jsonl", tmp_path / "table.csv"):
        with pytest.raises(ValueError, match="no puzzles here"):
            verdicts(source)
    path = tmp_path / "puzzles.parquet"
    write_parquet(path, [] if damage == "no rows" else ROWS, describe_set(PuzzleSet(CELLS, seed=4), ""))
    if damage in ("cut", "empty"):
        path.write_bytes(path.read_bytes()[: -100 if damage == "cut" else 0])
    if damage == "no texts":
        pq.write_table(pq.read_table(path).drop_columns("text"), path)
    with pytest.raises(ValueError, match=r"puzzles\.parquet (is not a whole|holds no puzzle|has no column)"):
        verdicts(path)


def test_damaged_files_of_the_release_are_named(tmp_path):
    """Text and metadata that are lost, changed or unreadable are found by the puzzle's name."""
    puzzles = [draw_puzzle(*(row[key] for key in ("N", "d", "needles", "puzzle_id"))) for row in ROWS]
    texts, states = zip(*write_release(tmp_path, puzzles), strict=True)
    texts[0].unlink()
    states[1].unlink()
    texts[2].write_bytes(b"\xff" + texts[2].read_bytes())
    for place, text in ((3, "["), (4, release_state(puzzles[4], poi="Nobody")), (5, "[]"), (6, "{}")):
        states[place].write_text(text, "utf-8")
    states[7].write_text(release_state(puzzles[7], needles=0), "utf-8")  # as the released program counts down
    found = {one.name: one for one in verify_set(tmp_path) if one.verdict != "right"}
    words = ["metadata and no text", "no _state.json", "decode", "Expecting", "poi is", "not a JSON object", "lack poi"]
    assert sorted(found) == sorted(row["name"] for row in ROWS[:7])
    assert all(re.search(word, found[row["name"]].detail) for row, word in zip(ROWS, words, strict=False))


@pytest.mark.parametrize("name", ["elixir-1.16", "python"])
def test_edition_of_a_set_is_named(tmp_path, monkeypatch, name):
    """A drawn set is right for any number of processes, and its edition is told."""
    monkeypatch.setattr("cogniload_repro.puzzles.verify._CHUNK", 3)
    write_set(tmp_path, "jsonl", PuzzleSet(CELLS, 1, 4, edition=resolve_edition(name)))
    run = CliRunner().invoke(verify, [str(tmp_path), "--jobs", "1"])
    assert run.exit_code == 0, run.output
    assert f"{len(CELLS)} puzzles: {len(CELLS)} right; {len(CELLS)} drawn by edition {name}\n" in run.output
    monkeypatch.setattr("cogniload_repro.puzzles.sets.open_executor", ThreadPoolExecutor)
    assert list(verify_set(tmp_path, jobs=2)) == list(verify_set(tmp_path))


def test_two_editions_in_one_set_are_refused(tmp_path):
    """The command counts both, and fails although every puzzle is right."""
    rows = [*ROWS[:9], *draw_rows(PuzzleSet(CELLS, 1, 4, edition=resolve_edition("elixir-1.16")))]
    write_jsonl(tmp_path / "mixed.jsonl", {row["name"]: row for row in rows}.values())
    run = CliRunner().invoke(verify, [str(tmp_path / "mixed.jsonl"), "--jobs", "1"])
    assert run.exit_code == 1
    assert f"; 9 drawn by edition python, {len(CELLS)} drawn by edition elixir-1.16\n" in run.output
    assert "mixes editions" in run.output
    assert "mismatch" not in run.output
