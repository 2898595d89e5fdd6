"""Outputs of a source, written as the outputs table."""

import bz2
import gzip
import io
import json
import lzma
import os
import resource
import subprocess
import sys
import tarfile
import zipfile

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from cogniload_repro.cli import main
from cogniload_repro.fidelity.results import load_results
from cogniload_repro.grid import grid_cells
from cogniload_repro.outputs import imports
from cogniload_repro.outputs.check import check_outputs, print_check
from cogniload_repro.outputs.imports import Report, import_outputs
from cogniload_repro.outputs.rows import Rejected
from cogniload_repro.outputs.sources import LocalSource, open_source
from cogniload_repro.puzzles import catalog as puzzle_catalog
from cogniload_repro.puzzles.catalog import Catalog, draw_named, read_catalog
from cogniload_repro.puzzles.editions import PORT, resolve_edition
from cogniload_repro.puzzles.generate import draw_grid, draw_puzzle
from cogniload_repro.puzzles.sets import release_state
from cogniload_repro.schemas import OUTPUTS, PUZZLES, REJECTED
from cogniload_repro.scoring.scores import score_dataset
from cogniload_repro.storage import read_metadata, write_table

NAMES = ["20_1_1_770487_red", "20_1_1_586907_purple"]

KILLED_BEFORE_B = """
import os, sys
from pathlib import Path
from cogniload_repro import storage as parquet
from cogniload_repro.outputs.imports import import_outputs

move = parquet.move
parquet.move = lambda part, path: os._exit(9) if path.name == "b.parquet" else move(part, path)
source, build = map(Path, sys.argv[1:])
import_outputs(source, build / "outputs", build / "puzzles.parquet", build / "rejected.parquet")
"""

ELIXIR = resolve_edition("elixir")
CELLS = grid_cells("N=12,30 ratio=25,75 d=1,3,6")


def rows_of(*models):
    """One response of each model to each puzzle, the models taking turns."""
    return [{"model": model, "name": name, "response": f"{model} red {name}"} for name in NAMES for model in models]


def write_lines(path, rows):
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(build, source, **options):
    """Import a source into a build folder."""
    tables = (build / name for name in ("outputs", "puzzles.parquet", "rejected.parquet"))
    return import_outputs(source, *tables, **options)


def contents(build):
    """The bytes of every file of a build, by path."""
    return {path.relative_to(build).as_posix(): path.read_bytes() for path in build.rglob("*") if path.is_file()}


@pytest.fixture
def source(tmp_path):
    """A file of two models with one bad row."""
    return write_lines(
        tmp_path / "mine.jsonl", [*rows_of("b", "a/c"), {"model": "b", "name": NAMES[0], "response": ""}]
    )


def test_every_row_is_written_or_rejected(tmp_path, source):
    """One partition a model, the puzzles drawn again, the rejected row with its reason."""
    report = run(tmp_path / "build", source)
    outputs = {path.name: pd.read_parquet(path) for path in (tmp_path / "build/outputs").iterdir()}
    assert {name: frame["response"].tolist() for name, frame in outputs.items()} == {
        "a%2Fc.parquet": [f"a/c red {name}" for name in NAMES],
        "b.parquet": [f"b red {name}" for name in NAMES],
    }
    assert all(list(frame.columns) == OUTPUTS.names for frame in outputs.values())
    puzzles = pd.read_parquet(tmp_path / "build/puzzles.parquet")
    assert puzzles["name"].tolist() == NAMES
    assert list(puzzles.columns) == PUZZLES.names
    rejected = pd.read_parquet(tmp_path / "build/rejected.parquet")
    assert rejected.to_dict("records") == [
        dict(
            zip(
                REJECTED.names,
                ("mine.jsonl", 5, "duplicate", f"b has answered {NAMES[0]} already", "b"),
                strict=True,
            )
        )
    ]
    assert (report.responses, report.rejected) == ({"b": 2, "a/c": 2}, {"duplicate": 1})


def test_the_tables_say_where_they_come_from(tmp_path, source):
    """Provenance, source and version are in the files, no path of this machine and no time."""
    run(tmp_path / "build", source)
    metadata = read_metadata(tmp_path / "build/outputs/b.parquet")
    assert (metadata["provenance"], metadata["source"]) == ("imported", "mine.jsonl")
    assert str(tmp_path) not in "".join(metadata.values())


def test_reconstructed_outputs_stay_reconstructed(tmp_path, source):
    """Importing our own tables does not launder their provenance."""
    run(tmp_path / "first", source)
    path = tmp_path / "first/outputs/b.parquet"
    write_table(path, pq.read_table(path), read_metadata(path) | {"provenance": "reconstructed"})
    run(tmp_path / "second", tmp_path / "first/outputs")
    assert read_metadata(tmp_path / "second/outputs/b.parquet")["provenance"] == "reconstructed"


def test_the_same_source_gives_the_same_bytes(tmp_path, source):
    """A second import into another folder, or over the first, changes nothing."""
    run(tmp_path / "one", source)
    run(tmp_path / "two", source)
    first = contents(tmp_path / "one")
    run(tmp_path / "one", source)
    assert contents(tmp_path / "two") == first == contents(tmp_path / "one")


def test_a_small_buffer_loses_nothing(tmp_path, monkeypatch):
    """Partitions that are written bit by bit hold all rows in order."""
    source = write_lines(tmp_path / "many.jsonl", rows_of(*"abcdefg"))
    monkeypatch.setattr(imports, "BUFFER_CHARS", 90)
    run(tmp_path / "build", source)
    for model in "abcdefg":
        frame = pd.read_parquet(tmp_path / f"build/outputs/{model}.parquet")
        assert frame["name"].tolist() == NAMES
        assert frame["response"].tolist() == [f"{model} red {name}" for name in NAMES]


def test_very_many_models_need_few_open_files(tmp_path):
    """A build may have a thousand models, and a process as few open files."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    source = write_lines(tmp_path / "many.jsonl", [row for n in range(150) for row in rows_of(f"m{n}")[:1]])
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, limits[1]))
    try:
        assert len(run(tmp_path / "build", source).responses) == 150
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize(
    ("keep", "left"), [(False, ["new.parquet"]), (True, ["a%2Fc.parquet", "b.parquet", "new.parquet"])]
)
def test_an_own_model_joins_the_others_when_asked(tmp_path, source, keep, left):
    """Other models' partitions go or stay, as `keep` says."""
    run(tmp_path / "build", source)
    run(tmp_path / "build", write_lines(tmp_path / "new.jsonl", rows_of("new")), append=keep)
    assert sorted(path.name for path in (tmp_path / "build/outputs").iterdir()) == left


def test_an_import_killed_while_its_tables_take_their_places_is_noticed(tmp_path, source):
    """The mark keeps the mixture from being scored and added to, and goes with the next import."""
    build = tmp_path / "build"
    run(build, write_lines(tmp_path / "old.jsonl", rows_of("old")))
    assert subprocess.run([sys.executable, "-c", KILLED_BEFORE_B, source, build]).returncode == 9
    other = write_lines(tmp_path / "new.jsonl", rows_of("new"))
    with pytest.raises(ValueError, match="was interrupted and may mix old and new outputs; run it again"):
        score_dataset(build / "outputs", build / "puzzles.parquet", build / "scores")
    with pytest.raises(ValueError, match=r"the import of mine\.jsonl was interrupted"):
        run(build, other, append=True)
    run(build, source)
    run(tmp_path / "fresh", tmp_path / "old.jsonl")
    run(tmp_path / "fresh", source)
    assert contents(build) == contents(tmp_path / "fresh")


def test_what_an_archive_could_not_give_is_kept(tmp_path, source):
    """Members that were refused are rejected rows too, also where nothing else is left."""
    refused = [Rejected("../evil.jsonl", 0, "unsafe name", "outside the archive's folder")]
    report = run(tmp_path / "build", LocalSource(source, "mine.zip", refused))
    assert report.rejected == {"unsafe name": 1, "duplicate": 1}
    assert pd.read_parquet(tmp_path / "build/rejected.parquet")["file"].tolist() == ["../evil.jsonl", "mine.jsonl"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="1 row was rejected"):
        run(tmp_path / "build", LocalSource(tmp_path / "empty", "mine.zip", refused), validate=Report.check)


def test_the_report_counts_and_shows_an_example():
    """The summary has a line per reason and one for files that are not read; the check refuses more than is allowed."""
    row = Rejected("a.jsonl", 3, "duplicate", "again")
    report = Report({"mine": 1000}, {"duplicate": 2}, {"duplicate": row}, others=["README", "a", "b", "c"])
    assert report.summary().splitlines() == [
        "1,000 responses of 1 model, 2 rows rejected",
        "  2 duplicate, first in 'a.jsonl', row 3: again",
        "not read, as nothing in them looks like outputs: README, a, b and 1 more",
    ]
    report.check(2)
    with pytest.raises(ValueError, match=r"2 rows were rejected, 1 is allowed"):
        report.check(1)
    with pytest.raises(ValueError, match=r"1 row was rejected, 0 are allowed"):
        Report({"mine": 1000}, {"duplicate": 1}, {"duplicate": row}).check()
    with pytest.raises(ValueError, match="no usable response"):
        Report({}, {}, {}).check()


def test_a_refused_import_leaves_what_was_there(tmp_path, source):
    """Too many rejected rows, or none that is good, change nothing but the table of rejected rows."""
    build = tmp_path / "build"
    run(build, write_lines(tmp_path / "old.jsonl", rows_of("old")))
    before = contents(build)
    for bad in (source, write_lines(tmp_path / "bad.jsonl", [{"model": "m", "name": "hello", "response": ""}])):
        with pytest.raises(ValueError, match="1 row was rejected"):
            run(build, bad, validate=Report.check)
        after = contents(build)
        assert len(pd.read_parquet(build / "rejected.parquet")) == 1
        assert after | {"rejected.parquet": b""} == before | {"rejected.parquet": b""}


def test_puzzles_of_an_earlier_source_are_forgotten(tmp_path):
    """What one source said of a puzzle does not decide about the next one's; prompts are looked up where they are."""
    puzzle = draw_named(NAMES[0])
    rows = rows_of("m")[:1]
    first, prompts = tmp_path / "first", tmp_path / "prompts.jsonl"
    first.mkdir()
    write_lines(first / "m.jsonl", rows)
    write_lines(first / "puzzles.jsonl", [puzzle | {"domain": puzzle["domain"][::-1]}])
    run(tmp_path / "build", first)
    assert pd.read_parquet(tmp_path / "build/puzzles.parquet")["domain"][0].tolist() == puzzle["domain"][::-1]
    run(tmp_path / "build", write_lines(tmp_path / "second.jsonl", rows))
    assert pd.read_parquet(tmp_path / "build/puzzles.parquet")["domain"][0].tolist() == puzzle["domain"]
    sample = {"doc": {"prompt": puzzle["text"]}, "resps": [["red"]], "model": "m"}
    report = run(tmp_path / "build", write_lines(prompts, [sample]), model="m")
    assert report.rejected == {"unknown puzzle": 1}
    report = run(tmp_path / "build", prompts, model="m", extra_puzzles=lambda: [puzzle])
    assert (report.responses, report.rejected) == ({"m": 1}, {})


@pytest.mark.parametrize("changes", [{"gold": "blue"}, {"N": 250}, {"d": 99}, {"category": "bogus"}])
def test_a_puzzle_that_contradicts_itself_decides_nothing(tmp_path, changes):
    """It is a rejected row, and the responses are held against the puzzle of that name."""
    folder = tmp_path / "source"
    folder.mkdir()
    write_lines(folder / "m.jsonl", rows_of("m"))
    write_lines(folder / "puzzles.jsonl", [draw_named(NAMES[0]) | changes, draw_named(NAMES[1])])
    report = run(tmp_path / "build", folder)
    assert (report.responses, report.rejected) == ({"m": 2}, {"bad puzzle": 1})
    assert pd.read_parquet(tmp_path / "build/puzzles.parquet")["gold"].tolist() == ["purple", "red"]


def test_a_known_name_with_another_text_is_rejected(tmp_path):
    """Beside puzzles that are known, a file of text or a prompt in a row must be theirs."""
    run(tmp_path / "build", write_lines(tmp_path / "old.jsonl", rows_of("old")))
    other = draw_named(NAMES[1])["text"]
    source = tmp_path / "source"
    for folder in ("exp", "new"):
        (source / folder).mkdir(parents=True)
    (source / "exp" / f"{NAMES[0]}.txt").write_text(other, encoding="utf-8")
    (source / "new" / f"{NAMES[0]}.txt").write_text("red", encoding="utf-8")
    (source / "new" / f"{NAMES[1]}.txt").write_text("purple", encoding="utf-8")
    write_lines(source / "rows.jsonl", [row | {"text": "Solve:\n" + other} for row in rows_of("rows")])
    report = run(tmp_path / "build", source, append=True)
    assert (report.responses, report.rejected) == ({"new": 1, "rows": 1}, {"unknown puzzle": 2})


def test_a_model_that_is_there_is_not_brought_again(tmp_path, source):
    """Two sources with a model of one name are refused in a sentence, and nothing changes."""
    run(tmp_path / "build", source)
    before = contents(tmp_path / "build/outputs")
    with pytest.raises(ValueError, match=r"a/c of again\.jsonl was already imported from mine\.jsonl"):
        run(tmp_path / "build", write_lines(tmp_path / "again.jsonl", rows_of("new", "a/c")), append=True)
    assert contents(tmp_path / "build/outputs") == before


def test_a_foreign_provenance_is_not_ours(tmp_path):
    """Another program may use the key for something else; its file is imported like any."""
    table = pa.Table.from_pylist([{"model": "m", "name": NAMES[0], "response": "red"}])
    pq.write_table(table.replace_schema_metadata({"provenance": "bogus"}), tmp_path / "o.parquet")
    assert run(tmp_path / "build", tmp_path / "o.parquet").responses == {"m": 1}
    assert read_metadata(tmp_path / "build/outputs/m.parquet")["provenance"] == "imported"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no names that are no text")
def test_a_file_whose_name_is_no_text_is_named(tmp_path):
    """Its bad row is reported under the name's bytes, and the other files are imported."""
    (tmp_path / "source").mkdir()
    write_lines(tmp_path / "source/good.jsonl", rows_of("m"))
    bad = os.fsencode(tmp_path / "source") + b"/bad\xff.jsonl"
    with open(bad, "wb") as file:
        file.write(b"[]\n")
    report = run(tmp_path / "build", tmp_path / "source")
    assert report.responses == {"m": 2}
    assert pd.read_parquet(tmp_path / "build/rejected.parquet")["file"].tolist() == ["bad\\udcff.jsonl"]


def test_the_end_of_an_answer_and_the_settings_are_kept(tmp_path):
    """Why a model stopped is a column, how it was asked stands in the report."""
    told = {"finish_reason": "length", "max_tokens": 4096, "effort": "low"}
    lines = [row | told for row in rows_of("b")] + rows_of("a")
    report = run(tmp_path / "build", write_lines(tmp_path / "o.jsonl", lines))
    assert pd.read_parquet(tmp_path / "build/outputs/b.parquet")["stopped"].tolist() == ["length"] * 2
    assert pd.read_parquet(tmp_path / "build/outputs/a.parquet")["stopped"].isna().all()
    assert report.settings == {"b": {"effort": {"low": 2}, "max_tokens": {"4096": 2}}}


def pack(name, content):
    """A file of answers as an archive or compressed, as its name says."""
    buffer = io.BytesIO()
    if name.endswith(".zip"):
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("b.jsonl", content)
    elif ".tar" in name:
        with tarfile.open(fileobj=buffer, mode=f"w:{name.rpartition('.')[2]}") as archive:
            info = tarfile.TarInfo("in/b.jsonl")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    else:
        buffer.write({"bz2": bz2, "xz": lzma, "gz": gzip}[name.rpartition(".")[2]].compress(content))
    return buffer.getvalue()


def contents_of(name):
    """The second half of a source, in the form that the name's ending says."""
    frame = pd.DataFrame(rows_of("b"))
    lines, array = frame.to_json(orient="records", lines=True).encode(), frame.to_json(orient="records").encode()
    table, tabs = pa.Table.from_pandas(frame), frame.to_csv(sep="\t", index=False).encode()
    if name.startswith("b.arrow"):
        buffer = io.BytesIO()
        options = pa.ipc.IpcWriteOptions(compression=name.partition("_")[2].partition(".")[0] or None)
        with pa.ipc.new_file(buffer, table.schema, options=options) as writer:
            writer.write_table(table)
        return buffer.getvalue()
    plain = {"b.tsv": tabs, "b.json": array, "b.txt": tabs, "b.json.gz": gzip.compress(array), "b.xlsx": b"PK\3\4",
             "b.object.json": json.dumps({"rows": rows_of("b")}).encode()}  # fmt: skip
    return plain.get(name) or (lines if name in ("b", "b.jsonl.1", "b.jsonl.tmp") else pack(name, lines))


READ = ["b.jsonl.bz2", "b.jsonl.xz", "b.tsv", "b.json", "b.json.gz", "b.arrow", "b.arrow_lz4.feather", "b.zip",
        "b.tar.gz", "b.tar.xz"]  # fmt: skip
NOT_READ = ["b.jsonl.1", "b.jsonl.tmp", "b.txt", "b.xlsx", "b", "b.object.json"]


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("name", [*READ, *NOT_READ])
def test_no_file_of_a_source_vanishes(tmp_path, name, is_packed):
    """Beside a file that is read, in a folder or an archive, every other is read, or named as one that is not."""
    folder = tmp_path / "source"
    folder.mkdir()
    write_lines(folder / "a.jsonl", rows_of("a"))
    (folder / name).write_bytes(contents_of(name))
    if is_packed:
        with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
            for path in folder.iterdir():
                archive.write(path, path.name)
    local = open_source(tmp_path / "s.zip" if is_packed else folder, tmp_path / "cache")
    report = run(tmp_path / "build", local)
    rejected = pd.read_parquet(tmp_path / "build/rejected.parquet")[["file", "reason"]].to_numpy().tolist()
    assert (dict(report.responses), rejected) == (
        ({"a": 2, "b": 2}, []) if name in READ else ({"a": 2}, [[name, "not read"]])
    )


def test_answers_in_an_archive_are_those_of_the_folder_around_it(tmp_path):
    """One level deep: an archive in an archive in a folder is named as not read."""
    folder = tmp_path / "source/o3"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "part.zip", "w") as archive:
        archive.writestr(f"{NAMES[0]}.txt", "red")
        archive.writestr("deep.zip", pack("b.zip", b""))
        archive.writestr("notes.md", "")
    report = run(tmp_path / "build", open_source(tmp_path / "source", tmp_path / "cache"))
    rejected = pd.read_parquet(tmp_path / "build/rejected.parquet")[["file", "reason"]].to_numpy().tolist()
    assert report.responses == {"o3": 1}
    assert rejected == [["o3/part.zip/deep.zip", "not read"], ["o3/part.zip/notes.md", "not an answer"]]


def test_why_an_archive_gives_nothing_is_said(tmp_path):
    """A member with a wrong sum is a rejected row, and the reason stands in the summary."""
    (tmp_path / "x.zip").write_bytes(pack("b.zip", b'{"model": "m"}').replace(b'"m"', b'"n"', 1))
    report = run(tmp_path / "build", open_source(tmp_path / "x.zip", tmp_path / "cache"))
    assert "1 unreadable file, first in 'x.zip/b.jsonl', row 0: BadZipFile: Bad CRC-32" in report.summary()


def test_a_source_of_nothing_but_bad_rows_ends(tmp_path, monkeypatch):
    """Rejected rows are kept in memory, so there is a bound on them."""
    monkeypatch.setattr(imports, "MAX_REJECTED_ROWS", 100)
    source = write_lines(tmp_path / "o.jsonl", [{}] * 101)
    with pytest.raises(ValueError, match=r"o\.jsonl has more than 100 rows that cannot be used"):
        run(tmp_path / "build", source)


@pytest.mark.parametrize("name", ["1000000_12_1000000_5_red", "2501_1_1_5_red"])
def test_a_very_long_puzzle_is_not_drawn_from_its_name(tmp_path, monkeypatch, name):
    """It takes a minute to find out that it is not the one, and a file of such names takes days."""
    monkeypatch.setattr(puzzle_catalog, "draw_puzzle", None)
    report = run(tmp_path / "build", write_lines(tmp_path / "o.jsonl", [{"model": "m", "name": name, "response": ""}]))
    assert "more than 2,500 statements are not drawn" in report.examples["unknown puzzle"].detail


def answer_all(path, puzzles, **prompts):
    """Write a right answer to each puzzle, told by its name alone, or with its prompt."""
    rows = [
        {"model": "m", "name": puzzle.name, "response": f"{puzzle.poi}: {puzzle.solution}."}
        | {column: prompt(puzzle) for column, prompt in prompts.items()}
        for puzzle in puzzles
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def draw_in(tmp_path, source, **options):
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
    report, catalog = draw_in(tmp_path, source)
    assert not report.rejected
    assert texts(catalog) == {puzzle.name: puzzle.text for puzzle in puzzles}
    assert f"names fit edition {edition}: 24 of 24" in report.summary()
    frame, report = check_outputs(source, Catalog())
    assert f"names fit edition {edition}: 24 of 24" in print_check(frame, report)


def test_names_of_two_editions_are_refused_with_counts(tmp_path):
    """Where no one edition fits, every such row is rejected with how well each fits; --edition is the last word."""
    puzzles = [puzzle for edition in (PORT, ELIXIR) for puzzle in draw_grid(CELLS, 2, 3, edition=edition)]
    source = answer_all(tmp_path / "answers.jsonl", puzzles)
    report, _ = draw_in(tmp_path, source)
    assert report.rejected == {"unknown puzzle": 48}
    assert "of 48" in report.examples["unknown puzzle"].detail
    assert "give the edition with --edition" in report.examples["unknown puzzle"].detail
    with pytest.raises(ValueError, match="48 rows were rejected"):
        report.check()
    report, catalog = draw_in(tmp_path, source, edition=ELIXIR)
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
    report, catalog = draw_in(tmp_path, source)
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
    (source / "meta" / "a" / f"{strange}_state.json").write_text(release_state(other), encoding="utf-8")
    report, catalog = draw_in(tmp_path, source)
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
    report, catalog = draw_in(tmp_path, answer_all(tmp_path / "names.jsonl", puzzles))
    assert f"names fit edition python: {len(puzzles)}" in report.summary()
    source = answer_all(tmp_path / "answers.jsonl", puzzles, text=lambda puzzle: f"Think well. {puzzle.text}\n")
    report, catalog = draw_in(tmp_path, source)
    assert f"names fit edition elixir-1.17: {len(puzzles)} of {len(puzzles)}; " in report.summary()
    assert "python: 0 of" in report.summary()
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


@pytest.mark.parametrize("one", ["99999", "1000000"])
def test_ids_that_elixir_never_drew_are_one_sentence(tmp_path, one):
    """Under a given edition of Elixir, a name whose id is not of six digits is rejected, and says why."""
    source = tmp_path / "answers.jsonl"
    source.write_text(json.dumps({"model": "m", "name": f"20_1_1_{one}_red", "response": ""}) + "\n", encoding="utf-8")
    report, _ = draw_in(tmp_path, source, edition=ELIXIR)
    assert "give a whole number from 100000 to 999,999" in report.examples["unknown puzzle"].detail


def test_an_edition_undoes_an_earlier_import(tmp_path):
    """What was drawn under another edition is not known any more when the same outputs come with --edition."""
    puzzles = list(draw_grid(CELLS, 1, 3, edition=ELIXIR))
    source = answer_all(tmp_path / "answers.jsonl", puzzles)
    first = draw_in(tmp_path, source)[1]
    report, catalog = draw_in(tmp_path, source, edition=PORT)
    right = [one for one in puzzles if draw_puzzle(one.N, one.d, one.needles, one.puzzle_id).solution == one.solution]
    assert report.rejected["unknown puzzle"] == len(puzzles) - len(right) > 0
    assert set(texts(catalog).values()).isdisjoint(texts(first).values())
    assert texts(draw_in(tmp_path, source, edition=ELIXIR)[1]) == texts(first)


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
