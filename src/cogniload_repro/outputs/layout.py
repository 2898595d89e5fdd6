"""What a folder of model outputs holds: tables, single answers, and puzzles of its own.

The authors' layout has answers ``N_d_needles_puzzleId_gold.*`` in one folder per model, puzzle texts
``exp/**/NAME.txt`` and metadata ``meta/**/NAME_state.json``; a table named ``puzzles.*`` holds puzzles.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import NamedTuple

from cogniload_repro.outputs.readers import COMPRESSED, is_table
from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.puzzles.readers import STATE, name_state
from cogniload_repro.records import UNREADABLE, Refusal

NOT_AN_ANSWER, NOT_READ, UNSAFE_NAME = "not an answer", "not read", "unsafe name"
#: Folders that hold the models' folders and are no model themselves.
CONTAINERS = ("outputs", "answers", "responses", "results")
#: Endings of archives.
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.bz2", ".tar.xz")

_NO_FILE = UNREADABLE, "it is neither a file nor a folder"
_MISNAMED = NOT_AN_ANSWER, "answers are named N_d_needles_puzzleId_gold.*"
_UNKNOWN_FORM = (
    NOT_READ,
    "it looks like data of a form that is not read; unpack it, or give it as JSONL, CSV or Parquet",
)
# endings that mean data, texts that do not, and what data have in them: the name of a puzzle, or the key of an answer
_DATA = (*ARCHIVES, *COMPRESSED, ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".arrow", ".feather", ".eval", ".7z",
         ".rar", ".lz4", ".br", ".xlsx", ".xls", ".ods", ".pkl", ".pickle", ".npy", ".npz", ".h5", ".hdf5", ".db",
         ".sqlite", ".sqlite3", ".duckdb", ".avro", ".orc", ".msgpack", ".dta", ".sav", ".rds", ".rdata")  # fmt: skip
_DOCUMENT = re.compile(r"(readme|licen[cs]e|changelog|citation|notice)\b.*|.*\.(md|rst|py|ya?ml|toml|html?|pdf)")
_COPY = re.compile(r"(\.(\d{1,4}|tmp|temp|bak|old|orig|part|partial|copy)|~)+$")
_CONTENT = re.compile(
    rb'"(response|resps|completion|candidates|choices|messages)"\s*:\s*("|\[|\{"0"|null)|\d_\d{1,2}_\d+_\d+_[a-z]'
)
_RESULTS = re.compile(r"results_\d{4}-\d\d-\d\dT.*\.json")  # of lm-evaluation-harness


class Rejected(NamedTuple):
    """A row that cannot be used: file, row (0: the whole file), why, and the model if its puzzle is the trouble."""

    file: str
    row: int
    reason: str
    detail: str
    model: str | None = None


class LocalSource(NamedTuple):
    """A source on this machine: file or folder, its name in tables, what its archives could not give.

    The note says since when a file fetched earlier is used; ``inner`` has its archives, and where they are unpacked.
    """

    path: Path
    label: str
    refused: Sequence[Rejected] = ()
    note: str = ""
    inner: Mapping[Path, Path] = {}


@dataclass
class Layout:
    """The files of a source, sorted by path, by what they are.

    Texts and states are by puzzle name, answers stand with their model (None in no folder). ``others`` do not look like
    data; ``lost`` are data that are not read, and what cannot be looked into.
    """

    source: LocalSource
    tables: list[Path] = field(default_factory=list)
    puzzle_tables: list[Path] = field(default_factory=list)
    texts: dict[str, Path] = field(default_factory=dict)
    states: dict[str, Path] = field(default_factory=dict)
    answers: list[tuple[str | None, Path]] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)
    lost: list[tuple[Path, Refusal]] = field(default_factory=list)

    def label(self, path: Path) -> str:
        """Return a file's name in reports: its path below the root, bytes that are no text spelt out."""
        root, inner = self.source.path, self.source.inner.items()
        inside = (archive / path.relative_to(to) for archive, to in inner if path.is_relative_to(to))
        below = next(inside, path).relative_to(root.parent if root.is_file() else root)
        return below.as_posix().encode("utf-8", "backslashreplace").decode()


def find_files(source: str | Path | LocalSource) -> Layout:
    """Sort the files of a source and of archives in it; ValueError if there are no outputs and nothing was refused."""
    local = source if isinstance(source, LocalSource) else LocalSource(Path(source), Path(source).name)
    root, layout = local.path, Layout(local)
    if root.is_file():
        if not is_table(root):
            raise ValueError(f"{local.label} is no table of outputs and no Inspect log; give one, or a folder of them")
        layout.tables.append(root)
        return layout
    if not root.is_dir():
        raise ValueError(f"{root} does not exist; give a file or folder of outputs, or its address")
    files = [(path.relative_to(root).parts, path) for path in walk(root, layout.lost) if path not in local.inner]
    for archive, folder in local.inner.items():
        above = archive.relative_to(root).parts[:-1]
        files += [((*above, *path.relative_to(folder).parts), path) for path in walk(folder, layout.lost)]
    for parts, path in sorted(files):
        _sort_in(layout, path, parts)
    answering = {model for model, _ in layout.answers} - {None}
    meant = {path for parts, path in files if _model_folder(parts[:-1]) in answering}.intersection(layout.others)
    layout.others = [path for path in layout.others if path not in meant]
    layout.lost += [(path, _MISNAMED) for path in sorted(meant)]
    if not (layout.tables or layout.answers or layout.lost or local.refused):
        raise ValueError(
            f"{local.label or root} holds no outputs; expected are JSONL, CSV, Parquet or Arrow files, "
            "logs of Inspect, or answers N_d_needles_puzzleId_gold.* under one folder per model"
        )
    return layout


def answer_name(path: PurePath) -> str:
    """Return the puzzle that an answer file is about: its name up to the first full stop."""
    return path.name.partition(".")[0]


def walk(source: Path, lost: list[tuple[Path, Refusal]]) -> list[Path]:
    """Return the files below a folder by path, hidden ones left out; what cannot be looked into goes among the lost.

    A link is followed, unless it leads to a folder that is read anyway.
    """
    found: list[Path] = []
    read, waiting = {source.resolve()}, [source]
    while waiting:
        folder = waiting.pop()
        try:
            entries = [entry for entry in os.scandir(folder) if not entry.name.startswith(".")]
        except OSError as error:
            lost.append((folder, (UNREADABLE, f"the folder cannot be read: {error.strerror}")))
            continue
        for entry in entries:
            path = Path(entry.path)
            try:
                target = path.resolve(strict=True) if entry.is_symlink() else path
                if not target.is_dir():
                    found.append(path) if target.is_file() else lost.append((path, _NO_FILE))
                elif target is path or read.isdisjoint([target, *target.parents]):
                    read.add(target)
                    waiting.append(path)
            except (OSError, RuntimeError) as error:  # the latter where links lead round in a circle
                lost.append((path, (UNREADABLE, f"it leads nowhere: {getattr(error, 'strerror', error)}")))
    return sorted(found, key=lambda path: path.relative_to(source).parts)


def _sort_in(layout: Layout, path: Path, parts: tuple[str, ...]) -> None:
    folders = parts[:-1]
    if "exp" in folders and path.suffix == ".txt":
        layout.texts[path.stem] = path
    elif "meta" in folders and path.name.endswith(STATE):
        layout.states[name_state(path)] = path
    elif parse_name(answer_name(path)):
        layout.answers.append((_model_folder(folders), path))
    elif is_table(path):
        (layout.puzzle_tables if path.name.startswith("puzzles.") else layout.tables).append(path)
    elif _looks_like_data(path):
        layout.lost.append((path, _UNKNOWN_FORM))
    elif not _RESULTS.fullmatch(path.name):  # which name the model of the samples beside them
        layout.others.append(path)


def _looks_like_data(path: Path) -> bool:
    """Return whether a file that is not read may hold answers, by its ending or by how it begins."""
    name = _COPY.sub("", path.name.lower())
    if name.endswith(_DATA) or _DOCUMENT.fullmatch(name):
        return name.endswith(_DATA)
    try:
        with path.open("rb") as file:
            return bool(_CONTENT.search(file.read(1 << 16)))
    except OSError:
        return True


def _model_folder(folders: tuple[str, ...]) -> str | None:
    return next((folder for folder in folders if folder not in CONTAINERS), None)
