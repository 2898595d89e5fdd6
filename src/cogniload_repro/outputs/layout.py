"""What a folder of model outputs holds: tables, single answers, and puzzles of its own.

Read are the authors' layout (answers ``N_d_needles_puzzleId_gold.*`` under one folder a model, puzzle texts
``exp/**/NAME.txt``, metadata ``meta/**/NAME_state.json``) and tables of outputs; a table named ``puzzles.*``
holds puzzles.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from cogniload_repro.outputs.readers import is_table, read_table
from cogniload_repro.puzzles.catalog import Catalog, check_row, nominal_ratio, parse_name
from cogniload_repro.puzzles.release import STATE, name_state, release_row
from cogniload_repro.records import UNREADABLE, Entry, Refusal, read_text
from cogniload_repro.schemas import PUZZLES

BAD_PUZZLE = "bad puzzle"
NOT_AN_ANSWER = "not an answer"

_NO_FILE = UNREADABLE, "it is neither a file nor a folder"

#: Folders that hold the models' folders and are no model themselves.
CONTAINERS = ("outputs", "answers", "responses", "results")


@dataclass
class Layout:
    """The files of a source, sorted by path, by what they are.

    Attributes
    ----------
    root : Path
        The folder, or the folder of a single file.
    tables, puzzle_tables : list of Path
        Tables of outputs and of puzzles.
    texts, states : dict of str to Path
        Puzzle texts and metadata by puzzle name.
    answers : list of (str or None, Path)
        Single answers with their model, None for those in no folder.
    others : list of Path
        Files among a model's answers that are none.
    lost : list of (Path, Refusal)
        What cannot be looked into: folders without permission, links that lead nowhere, pipes and devices.
    """

    root: Path
    tables: list[Path] = field(default_factory=list)
    puzzle_tables: list[Path] = field(default_factory=list)
    texts: dict[str, Path] = field(default_factory=dict)
    states: dict[str, Path] = field(default_factory=dict)
    answers: list[tuple[str | None, Path]] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)
    lost: list[tuple[Path, Refusal]] = field(default_factory=list)

    def label(self, path: Path) -> str:
        """Return a file's name in reports: its path below the root, bytes that are no text spelt out."""
        return path.relative_to(self.root).as_posix().encode("utf-8", "backslashreplace").decode()


def find_files(source: Path, label: str | None = None) -> Layout:
    """Sort the files of a source, which messages call by its label, or else by its path.

    Raises
    ------
    ValueError
        If there is no such file or folder, or it holds no outputs.
    """
    if source.is_file():
        if not is_table(source):
            raise ValueError(
                f"{label or source} is no JSONL, CSV or Parquet file and no Inspect log; "
                "give one, or a folder of outputs"
            )
        return Layout(source.parent, tables=[source])
    if not source.is_dir():
        raise ValueError(f"{source} does not exist; give a file or folder of outputs, or its address")
    layout = Layout(source)
    for path in _walk(source, layout.lost):
        _sort_in(layout, path, path.relative_to(source).parts)
    answering = {model for model, _ in layout.answers}
    layout.others = [path for path in layout.others if _model_folder(path.relative_to(source).parts[:-1]) in answering]
    if not layout.tables and not layout.answers:
        lost = f" ({len(layout.lost)} of its entries cannot be looked into)" if layout.lost else ""
        raise ValueError(
            f"{label or source} holds no outputs{lost}; expected are JSONL, CSV or Parquet files, logs of Inspect, "
            "or answers N_d_needles_puzzleId_gold.* under one folder a model"
        )
    return layout


def read_puzzles(layout: Layout, catalog: Catalog) -> Iterator[tuple[Path, Entry]]:
    """Add the source's own puzzles to the catalog; yield those that are refused."""
    for name, path in layout.states.items():
        try:
            catalog.add(_read_state(name, path, layout.texts.get(name)))
        except ValueError as error:
            yield path, Entry(0, None, (BAD_PUZZLE, f"{name}: {error}"))
    for path in layout.puzzle_tables:
        for entry in read_table(path, PUZZLES.names):
            if entry.refusal:
                yield path, entry
                continue
            fields = entry.fields or {}
            try:
                catalog.add(check_row(_complete(fields)))
            except ValueError as error:
                yield path, Entry(entry.row, None, (BAD_PUZZLE, f"{fields.get('name')}: {error}"))


def answer_name(path: PurePath) -> str:
    """Return the puzzle that an answer file is about: its name up to the first full stop."""
    return path.name.partition(".")[0]


def _walk(source: Path, lost: list[tuple[Path, Refusal]]) -> list[Path]:
    """Return the files below a folder, in the order of their paths; what cannot be looked into goes among the lost.

    Hidden entries are left out. A link is followed, unless it leads to a folder that is read anyway.
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
    elif _model_folder(folders):
        layout.others.append(path)


def _model_folder(folders: tuple[str, ...]) -> str | None:
    return next((folder for folder in folders if folder not in CONTAINERS), None)


def _read_state(name: str, state: Path, text: Path | None) -> dict:
    if text is None:
        raise ValueError("the metadata have no text; add exp/**/NAME.txt")
    return release_row(name, _read_whole(text), _read_whole(state))


def _read_whole(path: Path) -> str:
    content = read_text(path)
    if not isinstance(content, str):
        raise ValueError(": ".join(content))
    return content


def _complete(fields: dict) -> dict:
    """Fill in the columns of a puzzle that follow from its name."""
    parts = parse_name(fields["name"]) if isinstance(fields.get("name"), str) else None
    if parts is None:
        raise ValueError("the name is not of the form N_d_needles_puzzleId_gold")
    derived = {"ratio_pct": nominal_ratio(parts.N, parts.needles), "rho": parts.needles / parts.N}
    return {
        **parts._asdict(),
        **derived,
        **{key: value for key, value in fields.items() if value is not None},
    }
