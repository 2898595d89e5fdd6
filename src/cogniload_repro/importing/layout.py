"""Sort the files of a source by kind: tables, answers, puzzles, and files that are not read.

The authors' release has answers ``MODEL/N_d_needles_puzzleId_gold.*``, a text per file, puzzle
texts ``exp/**/NAME.txt`` and their metadata ``meta/**/NAME_state.json``. A table ``tokens.csv``
beside them may say more of each answer: model, name, and any column of a table but response.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cogniload_repro.importing.rejections import IMPORT_PAGE
from cogniload_repro.importing.tables import TABLE_ENDINGS
from cogniload_repro.puzzles.rows import parse_name

#: How a log of Inspect becomes a table.
LOG_REMEDY = (
    "convert logs of Inspect: .venv-evaluate/bin/python -m cogniload_repro.asking.logs"
    " LOG.eval > answers.jsonl"
)
#: Ending of the names of the authors' metadata files.
STATE = "_state.json"


@dataclass
class Layout:
    """The files of a source by kind, in the order of paths: see `find_kind`."""

    root: Path
    name: str
    files: dict[str, list[Path]] = field(default_factory=lambda: defaultdict(list))


def find_files(path: Path, name: str) -> Layout:
    """Return the files of a source by kind; ValueError if it is missing or has no answers."""
    if not path.exists():
        raise ValueError(f"no answers at {path}; give their file or folder")
    layout = Layout(path.parent if path.is_file() else path, name)
    for file in [path] if path.is_file() else sorted(_walk(path)):
        kind = find_kind(file.relative_to(layout.root))
        layout.files[kind if file.is_file() else "not read"].append(file)
    if not layout.files["table"] and not layout.files["answer"]:
        remedies = [IMPORT_PAGE, *map(describe_unread, layout.files["not read"])]
        raise ValueError(f"{name} has no answers; {remedies[-1]}")
    return layout


def describe_unread(path: Path) -> str:
    """Return what to do with a file that is not read."""
    return LOG_REMEDY if path.suffix == ".eval" else IMPORT_PAGE


def _walk(root: Path) -> Iterator[Path]:
    """Yield the files below a folder, and links to folders; OSError if it cannot be read."""
    for path in root.iterdir():
        if path.name.startswith((".", "__MACOSX")):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path)
        else:
            yield path


def find_kind(path: Path) -> str:
    """Return what a file of a source has: table, puzzles, tokens, answer, text, state, not read."""
    name = path.name.lower()
    is_table = name.endswith(TABLE_ENDINGS)
    if "exp" in path.parts and path.suffix == ".txt":
        return "text"
    if "meta" in path.parts and name.endswith(STATE):
        return "state"
    if parse_name(name_puzzle(path)):
        return "answer"
    if is_table and name.startswith("puzzles."):
        return "puzzles"
    if is_table and name.startswith("tokens."):
        return "tokens"
    return "table" if is_table else "not read"


def name_puzzle(path: Path) -> str:
    """Return the puzzle that an answer file answers: its name up to the first full stop."""
    return path.name.partition(".")[0]
