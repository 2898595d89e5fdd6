"""Sort the files of a source by kind: tables, answers, puzzles, and files that are not read.

The authors' layout has answers ``MODEL/N_d_needles_puzzleId_gold.*``, one text per file, puzzle
texts ``exp/**/NAME.txt`` and their metadata ``meta/**/NAME_state.json``. A table ``tokens.csv``
beside them may say more of each answer: columns model and name, and any but response of a table.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cogniload_repro.importing.rejections import (
    IMPORT_PAGE,
    NOT_READ,
    UNREADABLE,
    RowError,
)
from cogniload_repro.importing.tables import TABLE_ENDINGS, Record, read_table
from cogniload_repro.puzzles.catalog import parse_name

# ending of the names of the authors' metadata files
_STATE = "_state.json"


@dataclass
class Layout:
    """The files of a source by kind, in the order of paths; texts and states by puzzle name."""

    root: Path
    name: str
    tables: list[Path] = field(default_factory=list)
    puzzle_tables: list[Path] = field(default_factory=list)
    token_tables: list[Path] = field(default_factory=list)
    answers: list[Path] = field(default_factory=list)
    texts: dict[str, Path] = field(default_factory=dict)
    states: dict[str, Path] = field(default_factory=dict)
    unread: list[Path] = field(default_factory=list)

    def label(self, path: Path) -> str:
        """Return a file's name in reports; bytes that are not UTF-8 are escaped."""
        root = self.root.parent if self.root.is_file() else self.root
        name = path.relative_to(root).as_posix()
        return name.encode("utf-8", "backslashreplace").decode()

    def read_records(self) -> Iterator[tuple[Path, Record]]:
        """Yield the records of all files, each with its file."""
        for path in self.tables:
            for record in read_table(path):
                yield path, record
        tokens = {}
        for path in self.token_tables:
            for number, row in read_table(path):
                if isinstance(row, RowError):
                    yield path, (number, row)
                else:
                    tokens[row.get("model"), row.get("name")] = row
        for path in self.answers:
            yield path, (1, _read_answer(path, self.root, tokens))
        for path in self.unread:
            yield path, (0, RowError(NOT_READ, IMPORT_PAGE))


def find_files(root: Path, name: str) -> Layout:
    """Return the files of a source by kind; ValueError if it is missing or has no answers."""
    if not root.exists():
        raise ValueError(f"no answers at {root}; give their file or folder")
    layout = Layout(root, name)
    paths = [root] if root.is_file() else _walk(root)
    for path in sorted(paths):
        _sort_in(layout, path)
    if layout.tables or layout.answers:
        return layout
    example = layout.label(layout.unread[0]) if layout.unread else "no file"
    endings = " ".join(TABLE_ENDINGS)
    raise ValueError(f"{name} has no answers, but {example!r}; read are {endings}; {IMPORT_PAGE}")


def _walk(root: Path) -> Iterator[Path]:
    """Yield the files below a folder, without hidden ones; OSError if it cannot be read."""

    def refuse(error: OSError) -> None:
        raise error

    for folder, folders, names in os.walk(root, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith((".", "__MACOSX"))]
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in (*links, *names):
            if not name.startswith("."):
                yield Path(folder, name)


def name_puzzle(path: Path) -> str:
    """Return the puzzle that an answer file answers: its name up to the first full stop."""
    return path.name.partition(".")[0]


def _sort_in(layout: Layout, path: Path) -> None:
    folders = path.relative_to(layout.root).parts[:-1]
    name = path.name.lower()
    if not path.is_file():
        layout.unread.append(path)
    elif "exp" in folders and path.suffix == ".txt":
        layout.texts[path.stem] = path
    elif "meta" in folders and name.endswith(_STATE):
        layout.states[path.name.removesuffix(_STATE)] = path
    elif parse_name(name_puzzle(path)):
        layout.answers.append(path)
    elif not name.endswith(TABLE_ENDINGS):
        layout.unread.append(path)
    elif name.startswith("puzzles."):
        layout.puzzle_tables.append(path)
    elif name.startswith("tokens."):
        layout.token_tables.append(path)
    else:
        layout.tables.append(path)


def _read_answer(path: Path, root: Path, tokens: Mapping[tuple, dict]) -> dict | RowError:
    """Return an answer of the authors' layout as a row of a table.

    An empty file is an empty answer, since the authors' files do not say why a model stopped.
    """
    model = path.parent.name if path.parent != root else None
    name = name_puzzle(path)
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        return RowError(UNREADABLE, str(error))
    row = {"model": model, "name": name, "response": text}
    if not text.strip():
        row["finish_reason"] = "stop"
    return tokens.get((model, name), {}) | row
