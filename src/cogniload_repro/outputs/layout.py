"""What a folder of model outputs holds: tables, single answers, and puzzles of its own.

The authors' layout has answers ``N_d_needles_puzzleId_gold.*`` in one folder per model, puzzle texts
``exp/**/NAME.txt`` and metadata ``meta/**/NAME_state.json``; a table named ``puzzles.*`` holds puzzles.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import NamedTuple

from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.puzzles.readers import STATE, name_state
from cogniload_repro.records import UNREADABLE, Refusal

#: Reasons: a file that is not read does not count against the rejected rows that a reader accepts.
NOT_READ, UNSAFE_NAME = "not read", "unsafe name"
#: Folders that hold the models' folders and are no model themselves.
CONTAINERS = ("outputs", "answers", "responses", "results")
#: Endings of tables.
TABLES = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".parquet", ".eval", ".json")

_UNREAD: Refusal = NOT_READ, "it is no JSONL, CSV, Parquet or log of Inspect, nor named N_d_needles_puzzleId_gold.*"
_NO_FILE: Refusal = UNREADABLE, "it is neither a file nor a folder"
_HIDDEN: Refusal = NOT_READ, "it is hidden, as its name begins with a full stop"
_LINK: Refusal = NOT_READ, "it is a link to a folder; give that folder as a source"
_RESULTS = re.compile(r"results_\d{4}-\d\d-\d\dT.*\.json")  # of lm-evaluation-harness: they name the samples' model
_NOISE = re.compile(r"\.DS_Store|\._.*|\.git.*|\.refused\.json")


class Rejected(NamedTuple):
    """A row that cannot be used: file, row (0: the whole file), why, and the model if its puzzle is the trouble."""

    file: str
    row: int
    reason: str
    detail: str
    model: str | None = None


class LocalSource(NamedTuple):
    """A source on this machine: file or folder, its name in tables, what its archive could not give.

    The note says since when a file fetched earlier is used.
    """

    path: Path
    label: str
    refused: Sequence[Rejected] = ()
    note: str = ""


@dataclass
class Layout:
    """The files of a source, sorted by path, by what they are.

    Texts and states are by puzzle name, answers stand with their model (None in no folder); ``lost`` are not read.
    """

    source: LocalSource
    tables: list[Path] = field(default_factory=list)
    puzzle_tables: list[Path] = field(default_factory=list)
    texts: dict[str, Path] = field(default_factory=dict)
    states: dict[str, Path] = field(default_factory=dict)
    answers: list[tuple[str | None, Path]] = field(default_factory=list)
    lost: list[tuple[Path, Refusal]] = field(default_factory=list)

    def label(self, path: Path) -> str:
        """Return a file's name in reports: its path below the root, bytes that are no text spelt out."""
        root = self.source.path
        below = path.relative_to(root.parent if root.is_file() else root)
        return below.as_posix().encode("utf-8", "backslashreplace").decode()


def find_files(source: str | Path | LocalSource) -> Layout:
    """Sort the files of a source; ValueError if it does not exist or nothing in it is read."""
    local = source if isinstance(source, LocalSource) else LocalSource(Path(source), Path(source).name)
    root, layout = local.path, Layout(local)
    if root.resolve() == Path(root.resolve().anchor):
        raise ValueError(f"{root} is the root of the file system; name the folder or the file with the outputs")
    if not (root.is_file() or root.is_dir()):
        raise ValueError(f"{root} {'is neither a file nor a folder' if root.exists() else 'does not exist'}")
    for path in [root] if root.is_file() else _walk(root, layout.lost):
        _sort_in(layout, path, path.relative_to(root.parent if root.is_file() else root).parts)
    if not (layout.tables or layout.answers or local.refused or {why for _, (why, _) in layout.lost} - {NOT_READ}):
        raise ValueError(
            f"{local.label or root} holds no outputs; expected are JSONL, CSV or Parquet files, logs of Inspect, or "
            "answers N_d_needles_puzzleId_gold.* in one folder per model"
        )
    return layout


def answer_name(path: PurePath) -> str:
    """Return the puzzle that an answer file is about: its name up to the first full stop."""
    return path.name.partition(".")[0]


def _walk(root: Path, lost: list[tuple[Path, Refusal]]) -> list[Path]:
    """Return the files below a folder by path, hidden ones too; what cannot be looked into goes among the lost."""

    def refuse(error: OSError) -> None:
        lost.append((Path(error.filename), (UNREADABLE, f"the folder cannot be read: {error.strerror}")))

    found = []
    for folder, folders, names in os.walk(root, onerror=refuse):
        lost += [(Path(folder, name), _LINK) for name in sorted(folders) if os.path.islink(os.path.join(folder, name))]
        folders[:] = [name for name in folders if not _NOISE.fullmatch(name)]
        for path in (Path(folder, name) for name in names if not _NOISE.fullmatch(name)):
            found.append(path) if path.is_file() else lost.append((path, _NO_FILE))
    return sorted(found, key=lambda path: path.relative_to(root).parts)


def _sort_in(layout: Layout, path: Path, parts: tuple[str, ...]) -> None:
    folders = parts[:-1]
    if "exp" in folders and path.suffix == ".txt":
        layout.texts[path.stem] = path
    elif "meta" in folders and path.name.endswith(STATE):
        layout.states[name_state(path)] = path
    elif parse_name(answer_name(path)):
        layout.answers.append((next((folder for folder in folders if folder not in CONTAINERS), None), path))
    elif any(part.startswith(".") for part in parts):
        layout.lost.append((path, _HIDDEN))
    elif not path.name.endswith(TABLES):
        layout.lost.append((path, _UNREAD))
    elif path.name.startswith("puzzles."):
        layout.puzzle_tables.append(path)
    elif not _RESULTS.fullmatch(path.name):
        layout.tables.append(path)
