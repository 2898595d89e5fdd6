"""What a folder of outputs holds."""

import json
import os

import pytest

from cogniload_repro.outputs.layout import Rejected, find_files
from cogniload_repro.outputs.rows import read_outputs
from cogniload_repro.puzzles.catalog import Catalog, draw_named
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.sets import release_state

NAME = "20_1_1_770487_red"


def make(folder, files):
    """Write files, by their path below the folder."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    return folder


def authors_puzzle(puzzle, **changes):
    """The two files of a puzzle in the authors' layout."""
    state = json.loads(release_state(puzzle)) | changes
    place = f"cogniload/{puzzle.name}"
    return {f"exp/{place}.txt": puzzle.text, f"meta/{place}_state.json": json.dumps(state)}


def test_every_file_is_read_or_listed(tmp_path):
    """The first folder that is no container names the model; what is not read is listed, hidden files too."""
    files = [f"QwQ-32B/{NAME}.txt", f"outputs/o3/run/{NAME}.md", f"{NAME}.txt", "QwQ-32B/notes.md", ".git/x", "README",
             "m/samples.jsonl", "m/results_2026-01-01T10-00-00.1.json", ".b.jsonl", ".m/c.csv", ".DS_Store",
             "._a.jsonl", "a.csv.gz", "a.JSONL", "a.jsonl.xz", "in.zip"]  # fmt: skip
    layout = find_files(make(tmp_path, dict.fromkeys(files, "red")))
    assert [(model, layout.label(path)) for model, path in layout.answers] == [
        (None, f"{NAME}.txt"),
        ("QwQ-32B", f"QwQ-32B/{NAME}.txt"),
        ("o3", f"outputs/o3/run/{NAME}.md"),
    ]
    assert [layout.label(path) for path in layout.tables] == ["a.csv.gz", "m/samples.jsonl"]
    listed = [".b.jsonl", ".m/c.csv", "QwQ-32B/notes.md", "README", "a.JSONL", "a.jsonl.xz", "in.zip"]
    assert [(layout.label(path), why) for path, (why, _) in layout.lost] == [(name, "not read") for name in listed]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("gone", "does not exist"),
        ("a.txt", "holds no outputs"),
        ("", "holds no outputs"),
        ("/", "the root of the file system"),
        ("/dev/null", "neither a file nor a folder"),
    ],
)
def test_a_source_without_outputs_is_refused(tmp_path, source, reason):
    """The sentence says what is expected."""
    make(tmp_path, {"a.txt": "red"})
    with pytest.raises(ValueError, match=reason):
        find_files(tmp_path / source)


def test_puzzles_of_a_source_join_the_catalog_or_are_reported(tmp_path):
    """From the authors' files, and a table where the name fills in what follows; the refused ones are named."""
    one, (two, lost, other) = draw_puzzle(20, 1, 1, 770487), (draw_puzzle(20, 3, 5, number) for number in (4, 5, 6))
    files = authors_puzzle(one) | authors_puzzle(lost) | authors_puzzle(other, poi=1)
    files.pop(f"exp/cogniload/{lost.name}.txt")
    row = {key: draw_named(two.name)[key] for key in ("name", "text", "poi", "category", "domain")}
    rows = [row, draw_named(NAME), {**draw_named(NAME), "text": "changed"}, {"name": 3}, {"name": lost.name}, []]
    files |= {"puzzles.jsonl": "\n".join(map(json.dumps, rows)), "a.jsonl": ""}
    catalog = Catalog()
    refused = [(item.row, item.reason, item.detail) for item in read_outputs(make(tmp_path, files), catalog)]
    assert catalog.table().to_pylist() == [draw_named(one.name), draw_named(two.name)]
    expected = [
        (0, "bad puzzle", "the metadata have no text"),
        (0, "bad puzzle", "the puzzle has a column of another type"),
        (3, "bad puzzle", "the text has no blank"),
        (4, "bad puzzle", "the name is not of the form"),
        (5, "bad puzzle", "the puzzle lacks"),
        (6, "wrong type", "a JSON object is needed"),
    ]
    for (row, reason, detail), (number, why, words) in zip(refused, expected, strict=True):
        assert (row, reason, words in detail) == (number, why, True)


def test_what_cannot_be_looked_into_is_listed(tmp_path, monkeypatch):
    """A folder without permission, links that lead nowhere, to a folder or round, and a pipe; a linked file is read."""
    source = make(tmp_path / "source", {f"m/{NAME}.txt": "red", f"locked/{NAME}.txt": "red"})
    elsewhere = make(tmp_path / "elsewhere", {f"n/{NAME}.txt": "red"})
    (source / "gone.jsonl").symlink_to(tmp_path / "annex" / "gone.jsonl")
    (source / "round.jsonl").symlink_to(source / "round.jsonl")
    (source / "again").symlink_to(source)
    (source / "n").mkdir()
    (source / f"n/{NAME}.txt").symlink_to(elsewhere / f"n/{NAME}.txt")
    os.mkfifo(source / "pipe.jsonl")
    scandir = os.scandir

    def refuse(folder):
        if str(folder).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)  # whoever tests as root may read any folder
    layout = find_files(source)
    assert [model for model, _ in layout.answers] == ["m", "n"]
    rejected = {item.file: item.reason for item in read_outputs(layout, Catalog()) if isinstance(item, Rejected)}
    unreadable = dict.fromkeys(["gone.jsonl", "locked", "pipe.jsonl", "round.jsonl"], "unreadable file")
    assert rejected == unreadable | {"again": "not read"}
