"""Sort the files of a source by kind: tables, answers, puzzles, and files that are not read.

The authors' release has answers ``MODEL/N_d_needles_puzzleId_gold.*``, a text per file, and puzzle
texts ``exp/**/NAME.txt``; its metadata are not needed. A table ``tokens.csv`` beside them may say
more of each answer: model, name, and any column of a table but response.
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cogniload_repro.importing.rejections import NOT_READ
from cogniload_repro.importing.tables import TABLE_ENDINGS
from cogniload_repro.puzzles.rows import parse_name


class Layout(NamedTuple):
    """The files of a source by kind, in the order of paths: see `find_kind`."""

    root: Path
    name: str
    files: dict[str, list[Path]]


def find_files(path: Path, name: str) -> Layout:
    """Return the files of a source by kind; ValueError if it is missing or has no answers."""
    if not path.exists():
        raise ValueError(f"no answers at {path}; give their file or folder")
    root = path.parent if path.is_file() else path
    files = defaultdict(list)
    for file in sorted(_walk(path)):
        kind = find_kind(file.relative_to(root))
        files[kind if file.is_file() else "not read"].append(file)
    if not files["table"] and not files["answer"]:
        raise ValueError(f"{name} has no answers; {NOT_READ}")
    return Layout(root, name, files)


def _walk(path: Path) -> Iterator[Path]:
    """Yield a file, or the files below a folder and links; OSError if a folder is closed."""
    if not path.is_dir():
        yield path
        return
    for child in path.iterdir():
        if child.name.startswith((".", "__MACOSX")):
            continue
        if child.is_symlink():
            yield child
        else:
            yield from _walk(child)


def find_kind(path: Path) -> str:
    """Return what a file of a source has: table, puzzles, tokens, answer, text (of a puzzle)."""
    name = name_puzzle(path)
    is_text = "exp" in path.parts and path.suffix == ".txt"
    if is_text or path.match("*_state.json"):
        return "text"
    if parse_name(name):
        return "answer"
    if not path.name.lower().endswith(TABLE_ENDINGS):
        return "not read"
    return name.lower() if name.lower() in ("puzzles", "tokens") else "table"


def name_puzzle(path: Path) -> str:
    """Return a file's name up to the first full stop: of an answer, that of its puzzle."""
    return path.name.partition(".")[0]
