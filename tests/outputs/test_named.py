import json

import pytest
from click.testing import CliRunner

from cogniload_repro.cli import main
from cogniload_repro.fidelity.results import load_results
from cogniload_repro.grid import PAPER_GRID, grid_cells
from cogniload_repro.outputs.check import check_outputs, print_check
from cogniload_repro.outputs.imports import import_outputs
from cogniload_repro.puzzles.catalog import Catalog, read_catalog
from cogniload_repro.puzzles.editions import PORT, resolve_edition
from cogniload_repro.puzzles.folders import layout_state
from cogniload_repro.puzzles.generate import draw_grid, draw_puzzle
from cogniload_repro.puzzles.ids import find_manifest, read_manifest

ELIXIR = resolve_edition("elixir")
CELLS = grid_cells("N=12,30 ratio=25,75 d=1,3,6")


def answer_all(path, puzzles, **prompts):
    """Write a right answer to each puzzle, told by its name alone, or with its prompt."""
    rows = [
        {"model": "m", "name": puzzle.name, "response": f"{puzzle.poi}: {puzzle.solution}."}
        | {column: prompt(puzzle) for column, prompt in prompts.items()}
        for puzzle in puzzles
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write(tmp_path, source, **options):
    """Import a source; return the report and the puzzles that are known then."""
    places = tmp_path / "outputs", tmp_path / "puzzles.parquet", tmp_path / "rejected.parquet"
    return import_outputs(source, *places, **options), read_catalog(places[1])


def texts(catalog):
    """Return texts by name."""
    table = catalog.table().to_pydict()
    return dict(zip(table["name"], table["text"], strict=True))


@pytest.mark.parametrize("edition", [PORT, ELIXIR, resolve_edition("elixir-1.14", "file")], ids=str)
def test_puzzles_known_by_name_are_drawn_under_the_edition_that_fits(tmp_path, edition):
    """An import draws the puzzles that were answered, and says which edition they fit."""
    puzzles = list(draw_grid(CELLS, 2, 3, edition=edition))
    source = answer_all(tmp_path / "answers.jsonl", puzzles)
    report, catalog = write(tmp_path, source)
    assert not report.rejected
    assert texts(catalog) == {puzzle.name: puzzle.text for puzzle in puzzles}
    assert f"names fit edition {edition}: 24 of 24" in report.summary()
    frame, report = check_outputs(source, Catalog())
    assert f"names fit edition {edition}: 24 of 24" in print_check(frame, report)


def test_names_of_two_editions_are_refused_with_counts(tmp_path):
    """Where no one edition fits, every such row is rejected with how well each fits; --edition is the last word."""
    puzzles = [puzzle for edition in (PORT, ELIXIR) for puzzle in draw_grid(CELLS, 2, 3, edition=edition)]
    source = answer_all(tmp_path / "answers.jsonl", puzzles)
    report, _ = write(tmp_path, source)
    assert report.rejected == {"unknown puzzle": 48}
    assert "of 48" in report.examples["unknown puzzle"].detail
    assert "tell the edition with --edition" in report.examples["unknown puzzle"].detail
    with pytest.raises(ValueError, match="48 rows were rejected"):
        report.check()
    report, catalog = write(tmp_path, source, edition=ELIXIR)
    own = {puzzle.name: puzzle.text for puzzle in puzzles[24:]}
    assert own.items() <= texts(catalog).items()
    assert 0 < report.rejected["unknown puzzle"] <= 24
    assert report.origin == ""


def test_a_few_bad_names_leave_the_others(tmp_path):
    """Names that fit nothing are rejected one by one where an edition fits most."""
    puzzles = list(draw_grid(CELLS, 2, 3, edition=ELIXIR))
    source = answer_all(tmp_path / "answers.jsonl", puzzles)
    with open(source, "a", encoding="utf-8") as file:
        file.write(json.dumps({"model": "m", "name": "20_1_1_770487_nothing", "response": ""}) + "\n")
        file.write(json.dumps({"model": "m", "name": "hello", "response": ""}) + "\n")
    report, catalog = write(tmp_path, source)
    assert report.rejected == {"unknown puzzle": 2}
    assert len(catalog) == 24
    assert "names fit edition elixir-1.17: 24 of 24" in report.summary()


def test_texts_decide_and_metadata_stand_for_themselves(tmp_path):
    """A text without metadata must be the one drawn; with metadata any text is scored as it is."""
    puzzles = list(draw_grid(CELLS, 1, 3, edition=ELIXIR))
    own, other = puzzles[0], draw_puzzle(12, 3, 3, 400_000, edition=ELIXIR)
    source = tmp_path / "source"
    for folder in ("exp/a", "meta/a", "m"):
        (source / folder).mkdir(parents=True)
    for puzzle in puzzles:
        (source / "m" / f"{puzzle.name}.txt").write_text("an answer", encoding="utf-8")
        (source / "exp" / "a" / f"{puzzle.name}.txt").write_text(puzzle.text, encoding="utf-8")
    (source / "exp" / "a" / f"{own.name}.txt").write_text(own.text + "?", encoding="utf-8")
    # a puzzle of nobody's: another one's text under this name, with its metadata
    strange = f"12_3_3_5_{other.solution}"
    (source / "m" / f"{strange}.txt").write_text("an answer", encoding="utf-8")
    (source / "exp" / "a" / f"{strange}.txt").write_text(other.text, encoding="utf-8")
    (source / "meta" / "a" / f"{strange}_state.json").write_text(json.dumps(layout_state(other)), encoding="utf-8")
    report, catalog = write(tmp_path, source)
    assert report.rejected == {"unknown puzzle": 1}
    assert "its text is not the one that edition elixir-1.17 draws" in report.examples["unknown puzzle"].detail
    assert texts(catalog) == {puzzle.name: puzzle.text for puzzle in puzzles[1:]} | {strange: other.text}


def test_prompts_in_a_table_tell_the_edition(tmp_path):
    """Where a solution is the same under two editions by chance, a column with the prompts decides."""
    puzzles = [
        puzzle
        for one in range(100_000, 100_030)
        if (puzzle := draw_puzzle(20, 1, 4, one, edition=ELIXIR)).solution == draw_puzzle(20, 1, 4, one).solution
    ]
    assert puzzles
    report, catalog = write(tmp_path, answer_all(tmp_path / "names.jsonl", puzzles))
    assert f"names fit edition port: {len(puzzles)}" in report.summary()
    source = answer_all(tmp_path / "answers.jsonl", puzzles, text=lambda puzzle: f"Think well. {puzzle.text}\n")
    report, catalog = write(tmp_path, source)
    assert f"names fit edition elixir-1.17: {len(puzzles)} of {len(puzzles)}; " in report.summary()
    assert "port: 0 of" in report.summary()
    assert not report.rejected
    assert texts(catalog) == {puzzle.name: puzzle.text for puzzle in puzzles}


def reproduce(tmp_path, puzzles):
    """Give answers by name alone to the commands that `make reproduce SOURCE=` runs; return what they say."""
    source, said = answer_all(tmp_path / "answers.jsonl", puzzles), []
    for arguments in (["download-outputs", "--source", str(source)], ["score", "--jobs", "1"], ["fit"], ["compare"]):
        run = CliRunner().invoke(main, [*arguments, "--build", str(tmp_path / "build")])
        assert run.exit_code == 0, run.output
        said.append(run.output)
    results = load_results(tmp_path / "build")
    assert results.cells["total"].sum() == results.cells["correct"].sum() == len(puzzles)
    return said, results


def test_elixirs_puzzles_of_some_cells_are_reproduced_from_their_names(tmp_path):
    """A puzzle of each cell of a small grid, told by name, is drawn by Elixir, scored right, counted in its cell."""
    said, results = reproduce(tmp_path, list(draw_grid(CELLS, 1, 3, edition=ELIXIR)))
    assert "names fit edition elixir-1.17: 12 of 12" in said[0]
    assert results.cells["total"].tolist() == [1] * 12


@pytest.mark.slow
def test_elixirs_puzzles_of_the_whole_grid_are_reproduced_from_their_names(tmp_path):
    """1,400 made-up outputs for the first ten puzzles of each cell of Elixir's chain go from import to comparison."""
    manifest = read_manifest(find_manifest(ELIXIR))
    puzzles = [
        draw_puzzle(cell.N, cell.d, cell.needles, one, edition=ELIXIR)
        for cell in PAPER_GRID
        for one in manifest[cell][:10]
    ]
    said, results = reproduce(tmp_path, puzzles)
    assert "names fit edition elixir-1.17: 1,400 of 1,400; " in said[0]
    assert "port: " in said[0]
    assert "1,400 responses of 1 model scored" in said[1]
    assert results.cells["total"].tolist() == [10] * 140


@pytest.mark.parametrize("one", ["99999", "1000000"])
def test_ids_that_elixir_never_drew_are_one_sentence(tmp_path, one):
    """Under a given edition of Elixir, a name whose id is not of six digits is rejected, and says why."""
    source = tmp_path / "answers.jsonl"
    source.write_text(json.dumps({"model": "m", "name": f"20_1_1_{one}_red", "response": ""}) + "\n", encoding="utf-8")
    report, _ = write(tmp_path, source, edition=ELIXIR)
    assert "give a whole number from 100000 to 999,999" in report.examples["unknown puzzle"].detail


def test_an_edition_undoes_an_earlier_import(tmp_path):
    """What was drawn under another edition is not known any more when the same outputs come with --edition."""
    puzzles = list(draw_grid(CELLS, 1, 3, edition=ELIXIR))
    source = answer_all(tmp_path / "answers.jsonl", puzzles)
    first = write(tmp_path, source)[1]
    report, catalog = write(tmp_path, source, edition=PORT)
    right = [one for one in puzzles if draw_puzzle(one.N, one.d, one.needles, one.puzzle_id).solution == one.solution]
    assert report.rejected["unknown puzzle"] == len(puzzles) - len(right) > 0
    assert set(texts(catalog).values()).isdisjoint(texts(first).values())
    assert texts(write(tmp_path, source, edition=ELIXIR)[1]) == texts(first)


def test_commands_take_an_edition(tmp_path):
    """An edition that is given is used and not looked for; one that does not fit rejects the rows."""
    source = answer_all(
        tmp_path / "answers.jsonl", draw_grid(CELLS, 2, 3, edition=resolve_edition("elixir-1.16", "term"))
    )
    build = ["--build", str(tmp_path / "build")]
    for command in (["check", str(source)], ["download-outputs", "--source", str(source)]):
        run = CliRunner().invoke(main, [*command, "--edition", "port", *build])
        assert run.exit_code == (command[0] != "check") * 2, run.output
        assert "unknown puzzle" in run.output
        run = CliRunner().invoke(main, [*command, "--edition", "elixir-1.16", "--key-order", "term", *build])
        assert run.exit_code == 0, run.output
        assert "24 responses of 1 model, 0 rows rejected" in run.output
        assert "names fit" not in run.output
