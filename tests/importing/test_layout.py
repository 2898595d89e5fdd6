"""The files of a source, by what they are."""

import os

import pytest
from harness import read_source
from inspect_log import make_sample, write_json

from cogniload_repro.outputs.layout import find_files

NAME = "20_1_1_770487_red"


def make(folder, files):
    """Write files, by their path below the folder."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    return folder


def test_every_file_is_read_or_listed(tmp_path):
    """An answer's folder names the model; what is not read is listed, hidden files too."""
    answers = [f"QwQ-32B/{NAME}.txt", f"outputs/o3/{NAME}.md", f"{NAME}.txt"]
    tables = ["a.csv.gz", "m/samples.jsonl"]
    beside = ["m/results_2026-01-01T10-00-00.1.json", "m/requests-1.jsonl"]
    noise = [".git/x", ".DS_Store", "._a.jsonl"]
    listed = [
        ".b.jsonl",
        ".m/c.csv",
        "QwQ-32B/notes.md",
        "README",
        "a.JSONL",
        "a.jsonl.xz",
    ]
    listed += ["b.json", "in.zip"]
    files = [*answers, *tables, *beside, *noise, *listed]
    make(tmp_path, dict.fromkeys(files, "red"))
    write_json(tmp_path / "z.json", [make_sample()])
    layout = find_files(tmp_path, "mine")
    assert [(model, layout.label(path)) for model, path in layout.answers] == [
        (None, f"{NAME}.txt"),
        ("QwQ-32B", f"QwQ-32B/{NAME}.txt"),
        ("o3", f"outputs/o3/{NAME}.md"),
    ]
    assert [layout.label(path) for path in layout.tables] == [*tables, "z.json"]
    assert [(layout.label(path), why) for path, (why, _) in layout.lost] == [
        (name, "not read") for name in listed
    ]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("gone", "no outputs at"),
        ("a.txt", "has no outputs"),
        ("", "has no outputs"),
        ("/", "no outputs at /; give their file or folder"),
        ("/dev/null", "no outputs at /dev/null"),
    ],
)
def test_a_source_without_outputs_is_refused(tmp_path, source, reason):
    """The sentence says what is expected."""
    make(tmp_path, {"a.txt": "red"})
    with pytest.raises(ValueError, match=reason):
        find_files(tmp_path / source, source)


def test_what_cannot_be_looked_into_is_listed(tmp_path, monkeypatch):
    """Folders without permission, pipes, links to nothing or to folders; linked files are read."""
    source = make(
        tmp_path / "source", {f"m/{NAME}.txt": "red", f"locked/{NAME}.txt": "red"}
    )
    elsewhere = make(tmp_path / "elsewhere", {f"n/{NAME}.txt": "red"})
    (source / "gone.jsonl").symlink_to(tmp_path / "annex" / "gone.jsonl")
    (source / "round.jsonl").symlink_to(source / "round.jsonl")
    (source / "again").symlink_to(source)
    (source / "n").mkdir()
    (source / f"n/{NAME}.txt").symlink_to(elsewhere / f"n/{NAME}.txt")
    pipe = "n/20_1_1_1_red.txt"
    gone = "n/20_1_1_2_red.txt"
    os.mkfifo(source / "pipe.jsonl")
    os.mkfifo(source / pipe)
    (source / gone).symlink_to(tmp_path / "annex" / "gone.txt")
    scandir = os.scandir

    def refuse(folder):
        if str(folder).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(folder)

    monkeypatch.setattr(
        os, "scandir", refuse
    )  # whoever tests as root may read any folder
    layout = find_files(source, "mine")
    assert [layout.label(path) for _, path in layout.answers] == [
        f"m/{NAME}.txt",
        gone,
        f"n/{NAME}.txt",
    ]
    _, rows = read_source(source)
    rejected = {row.file: row.reason for row in rows}
    unreadable = ["gone.jsonl", "locked", "pipe.jsonl", "round.jsonl", pipe, gone]
    assert rejected == dict.fromkeys(unreadable, "unreadable file") | {
        "again": "not read"
    }
