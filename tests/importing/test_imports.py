"""Outputs of a source, written as the outputs table."""

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from harness import read_metadata, read_source, run, write_lines
from hypothesis import given, settings
from hypothesis import strategies as st
from packing import make_archive, write_packed

from cogniload_repro.grid import grid_cells
from cogniload_repro.importing.imports import import_source
from cogniload_repro.importing.report import Rejected
from cogniload_repro.puzzles.draws import resolve_edition
from cogniload_repro.puzzles.generate import draw_grid, draw_puzzle
from cogniload_repro.puzzles.rows import draw_named, puzzle_row
from cogniload_repro.puzzles.sets import PuzzleSet, draw_rows
from cogniload_repro.storage import OUTPUTS, PUZZLES, write_table

NAMES = ["20_1_1_770487_red", "20_1_1_586907_purple"]

ELIXIR = resolve_edition("elixir")
CELLS = grid_cells("N=12,30 ratio=25,75 d=1,3,6")
#: A puzzle whose text stands under another name.
STRANGE = draw_puzzle(12, 3, 3, 400_000, edition=ELIXIR)


def rows_of(*models):
    """One response of each model to each puzzle, the models taking turns."""
    return [
        {"model": model, "name": name, "response": f"{model} red {name}"}
        for name in NAMES
        for model in models
    ]


def reasons(report):
    """Rejected rows by reason."""
    return Counter(row.reason for row in report.rejected)


@pytest.fixture
def source(tmp_path):
    """A file of two models with one bad row; one has stop reasons and settings."""
    settings = {"finish_reason": "length", "max_tokens": 4096, "effort": "low"}
    rows = [
        row | settings if row["model"] == "b" else row for row in rows_of("b", "a/c")
    ]
    return write_lines(
        tmp_path / "mine.jsonl",
        [*rows, {"model": "b", "name": NAMES[0], "response": "x"}],
    )


def test_every_row_is_written_or_rejected(tmp_path, source):
    """One partition a model, the puzzles drawn again, the rejected row with its reason."""
    report = import_source(source, tmp_path / "build", tmp_path)
    outputs = {
        path.name: pd.read_parquet(path)
        for path in (tmp_path / "build/outputs").iterdir()
    }
    assert {name: frame["response"].tolist() for name, frame in outputs.items()} == {
        "a%2Fc.parquet": [f"a/c red {name}" for name in NAMES],
        "b.parquet": [f"b red {name}" for name in NAMES],
    }
    assert all(list(frame.columns) == OUTPUTS.names for frame in outputs.values())
    assert outputs["b.parquet"]["stopped"].tolist() == ["length"] * 2
    assert outputs["a%2Fc.parquet"]["stopped"].isna().all()
    assert report.settings == {("b", "effort", "low"), ("b", "max_tokens", "4096")}
    puzzles = pd.read_parquet(tmp_path / "build/puzzles.parquet")
    assert (puzzles["name"].tolist(), list(puzzles.columns)) == (NAMES, PUZZLES.names)
    detail = f"b has answered {NAMES[0]} already, in 'mine.jsonl'"
    row = Rejected("mine.jsonl", 5, "duplicate", detail, NAMES[0], "b")
    assert report.rejected == [row]
    assert (report.responses, reasons(report)) == ({"b": 2, "a/c": 2}, {"duplicate": 1})
    metadata = read_metadata(tmp_path / "build/outputs/b.parquet")
    assert metadata["source"] == "mine.jsonl"
    assert str(tmp_path) not in "".join(metadata.values())


def test_a_part_of_the_grid_takes_the_answers_to_its_puzzles_alone(tmp_path, source):
    """With known puzzles only, an answer to another one is left out and its puzzle is not drawn."""
    write_table(
        tmp_path / "build/puzzles.parquet",
        pa.Table.from_pylist([draw_named(NAMES[0])], PUZZLES),
    )
    report = import_source(source, tmp_path / "build", tmp_path, known_only=True)
    assert report.responses == {"b": 1, "a/c": 1}
    assert pd.read_parquet(tmp_path / "build/puzzles.parquet")["name"].tolist() == [
        NAMES[0]
    ]


@pytest.mark.parametrize("retried", [False, True])
def test_a_retry_is_the_answer_whatever_text_the_failure_has(tmp_path, retried):
    """Before it or after it."""
    failure, answer = ({"model": "m", "name": NAMES[0]} for _ in range(2))
    failure |= {"response": "It is bl", "finish_reason": "engine_error"}
    answer |= {"response": "It is red.", "finish_reason": "stop"}
    rows = [answer, failure] if retried else [failure, answer]
    source = write_lines(tmp_path / "mine.jsonl", rows)
    report = import_source(source, tmp_path / "build", tmp_path)
    outputs = pq.read_table(tmp_path / "build" / "outputs").to_pylist()
    assert [row["response"] for row in outputs] == ["It is red."]
    assert reasons(report) == {"answered elsewhere": 1}
    report.check()


def test_many_models_with_many_rows_lose_none(tmp_path):
    """Tables are written in groups of rows, and hold all rows in order."""
    models = [f"m{number}" for number in range(60)]
    rows = rows_of(*models)
    puzzles = PuzzleSet(grid_cells("N=20 ratio=50 d=1,3,5"), 100)
    names = [row["name"] for row in draw_rows(puzzles)]
    rows += [{"model": "m0", "name": name, "response": "red"} for name in names]
    source = write_lines(tmp_path / "many.jsonl", rows)
    import_source(source, tmp_path / "build", tmp_path)
    for model in models:
        frame = pd.read_parquet(tmp_path / f"build/outputs/{model}.parquet")
        assert frame["name"].tolist() == NAMES + names * (model == "m0")


@pytest.mark.parametrize(
    ("name", "content"), [("a.jsonl.gz", b""), ("a.csv", b"model,name,response\n")]
)
def test_a_source_without_rows_is_refused_in_a_true_sentence(tmp_path, name, content):
    """An empty file, a header alone and an empty .gz have no row."""
    (tmp_path / name).write_bytes(content)
    done = run(
        "download-outputs", "--source", tmp_path / name, "--build", tmp_path / "build"
    )
    assert done.exit_code == 2
    assert "no row that can be read; it may have only a header" in done.output


def test_a_second_source_brings_other_models_and_agrees_on_puzzles(tmp_path, source):
    """A file of text must be that of the known puzzle."""
    old = write_lines(tmp_path / "old.jsonl", rows_of("old"))
    import_source(old, tmp_path / "build", tmp_path)
    other = draw_named(NAMES[1])["text"]
    second = tmp_path / "source"
    for path, text in (("exp/0", other), ("new/0", "red"), ("new/1", "purple")):
        path = second / f"{path[:-1]}{NAMES[int(path[-1])]}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    report = import_source(second, tmp_path / "build", tmp_path)
    assert (report.responses, reasons(report)) == ({"new": 1}, {"unknown puzzle": 1})
    assert {path.stem for path in (tmp_path / "build/outputs").iterdir()} == {
        "old",
        "new",
    }


READ = ["b.jsonl", "b.jsonl.gz", "b.csv", "b.csv.gz", "b.ndjson", "b.parquet"]


@pytest.mark.parametrize("packed", ["", "s.zip", "s.tgz"])
def test_every_format_is_read_in_every_archive(tmp_path, packed):
    """A file that is not read is listed, and does not end the import."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source/notes.txt").write_text("red")
    for name in READ:
        path = tmp_path / "source" / name
        frame = pd.DataFrame(rows_of(name))
        if name == "b.parquet":
            frame.to_parquet(path)
        else:
            text = (
                frame.to_csv(index=False)
                if ".csv" in name
                else frame.to_json(orient="records", lines=True)
            )
            write_packed(path, text.encode())
    if packed:
        make_archive(
            tmp_path / packed,
            [
                (path.name, path.read_bytes())
                for path in (tmp_path / "source").iterdir()
            ],
        )
    report = import_source(
        tmp_path / (packed or "source"), tmp_path / "build", tmp_path
    )
    report.check()
    assert report.responses == dict.fromkeys(READ, 2)
    listed = [(row.file, row.reason) for row in report.rejected]
    assert listed == [("notes.txt", "not read")]


@settings(max_examples=25)
@given(
    st.lists(
        st.sampled_from(["good", "cut", "again", "list", "nothing", "odd"]),
        min_size=1,
        max_size=12,
    )
)
def test_rows_in_are_rows_accepted_and_rejected(kinds):
    """Whatever is broken, every row of a file is a response or a rejected row."""
    names = [f"20_1_1_{100_000 + number}_red" for number in range(len(kinds))]
    lines = []
    for number, kind in enumerate(kinds):
        line = json.dumps(
            {
                "model": "m",
                "name": names[0 if kind == "again" else number],
                "response": "red",
            }
        )
        broken = {
            "cut": line[:-9],
            "list": "[]",
            "nothing": "{}",
            "odd": line.replace("red", "red\\ud800", 3),
        }
        lines.append(broken.get(kind, line))
    with TemporaryDirectory() as folder:
        write_lines(Path(folder) / "o.jsonl", []).write_text(
            "\n".join(lines), encoding="utf-8"
        )
        outputs, rejected = read_source(Path(folder) / "o.jsonl")
    assert len(outputs) + len(rejected) == len(kinds)
    assert all(row.row for row in rejected)


def answer_all(path, puzzles, **prompts):
    """Write a right answer to each puzzle, told by its name alone, or with its prompt."""
    rows = []
    for puzzle in puzzles:
        response = f"{puzzle.poi}: {puzzle.solution}."
        row = {"model": "m", "name": puzzle.name, "response": response}
        for column, prompt in prompts.items():
            row[column] = prompt(puzzle)
        rows.append(row)
    return write_lines(path, rows)


def draw_in(folder, source, **options):
    """Import a source; return the report and the texts of known puzzles by name."""
    report = import_source(source, folder, folder, **options)
    rows = pq.read_table(folder / "puzzles.parquet").to_pylist()
    return report, {row["name"]: row["text"] for row in rows}


def test_the_texts_of_a_release_decide_which_edition_drew_its_puzzles(tmp_path):
    """A text that no edition draws is refused, since its answers belong to another puzzle."""
    puzzles = list(draw_grid(CELLS, 1, 3, edition=ELIXIR))
    first = puzzles[0]
    files = {f"m/{puzzle.name}.txt": "an answer" for puzzle in puzzles}
    files |= {f"exp/a/{puzzle.name}.txt": puzzle.text for puzzle in puzzles}
    files[f"exp/a/{first.name}.txt"] = first.text + "?"
    files[f"meta/a/{first.name}_state.json"] = "{}"
    for name, text in files.items():
        (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / name).write_text(text, encoding="utf-8")
    report, texts = draw_in(tmp_path / "build", tmp_path / "source")
    assert reasons(report) == {"unknown puzzle": 1}
    assert "add it to puzzles.jsonl" in report.rejected[0].detail
    assert texts == {puzzle.name: puzzle.text for puzzle in puzzles[1:]}


def test_puzzles_of_a_source_stand_for_themselves(tmp_path):
    """Any text is scored as it is; a row that contradicts its text is refused."""
    names = [f"12_3_3_{number}_{STRANGE.solution}" for number in (5, 6)]
    rows = [puzzle_row(STRANGE) | {"name": name, "puzzle_id": None} for name in names]
    rows[1]["domain"] = ["red"]
    write_lines(tmp_path / "source" / "puzzles.jsonl", rows)
    answers = [{"model": "m", "name": name, "response": "red"} for name in names]
    write_lines(tmp_path / "source" / "answers.jsonl", answers)
    report, texts = draw_in(tmp_path / "build", tmp_path / "source")
    assert reasons(report) == {"unknown puzzle": 1}
    assert "is not a list of" in report.rejected[0].detail
    assert texts == {names[0]: STRANGE.text}


def test_commands_take_an_edition(tmp_path):
    """Another one rejects the rows."""
    puzzles = draw_grid(CELLS, 1, 3, edition=ELIXIR)
    source = answer_all(tmp_path / "answers.jsonl", puzzles)
    for words in (["check", source], ["download-outputs", "--source", source]):
        command = [*words, "--build", tmp_path / "build", "--edition"]
        assert "12 unknown puzzle" in run(*command, "python").output
        done = run(*command, "elixir")
        assert done.exit_code == 0
        assert "responses: 12, models: 1, rejected rows: 0" in done.output
