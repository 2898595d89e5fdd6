"""Sort the files of a source by kind: tables, logs, answers, puzzles, and files not read.

The authors' layout has answers ``N_d_needles_puzzleId_gold.*`` in one folder per model, puzzle
texts ``exp/**/NAME.txt`` and metadata ``meta/**/NAME_state.json``. A table named ``puzzles.*``
holds puzzles.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from cogniload_repro.outputs.inspect_logs import is_json_log
from cogniload_repro.outputs.records import UNREADABLE, Refusal
from cogniload_repro.puzzles.catalog import parse_name

#: Reason for a file that is not read; it does not count as a rejected row.
NOT_READ = "not read"
#: Endings of archives; an archive may be a source, but is not read inside one.
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
#: Endings of tables.
TABLE_ENDINGS = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".parquet")
_EXPECTED = (
    "expected are .jsonl, .csv, .parquet (.jsonl and .csv also as .gz), logs of Inspect (.eval),"
    " answers N_d_needles_puzzleId_gold.* in one folder per model, or an archive of these as the"
    " source"
)
# ending of the names of the authors' metadata files
_STATE = "_state.json"
# files beside tables that document them: results of a harness, requests of a batch
_BESIDE = re.compile(r"results_\d{4}-\d\d-\d\dT.*\.json|requests.*\.jsonl")
_NOISE = re.compile(r"\.DS_Store|\._.*|\.git.*")
_HIDDEN: Refusal = (NOT_READ, "it is hidden: its name or folder begins with a dot")
_LINK: Refusal = (NOT_READ, "it is a link to a folder; give that folder as a source")


@dataclass
class Layout:
    """The files of a source by kind, in the order of paths; ``name`` is the source's in tables.

    Texts and states are by puzzle name; answers are pairs of model (None outside a folder) and
    path; ``lost`` has files and folders that are not read, and why.
    """

    root: Path
    name: str
    tables: list[Path] = field(default_factory=list)
    puzzle_tables: list[Path] = field(default_factory=list)
    texts: dict[str, Path] = field(default_factory=dict)
    states: dict[str, Path] = field(default_factory=dict)
    answers: list[tuple[str | None, Path]] = field(default_factory=list)
    lost: list[tuple[Path, Refusal]] = field(default_factory=list)

    def parts(self, path: Path) -> tuple[str, ...]:
        """Return the path of a file below the source as a tuple of folders and name."""
        root = self.root.parent if self.root.is_file() else self.root
        return path.relative_to(root).parts

    def label(self, path: Path) -> str:
        """Return a file's name in reports; bytes that are not UTF-8 are escaped."""
        return "/".join(self.parts(path)).encode("utf-8", "backslashreplace").decode()


def find_files(root: Path, name: str) -> Layout:
    """Return the files of a source by kind; ValueError if it is missing or has no outputs."""
    is_system = root.resolve() == Path(root.resolve().anchor)
    if is_system or not (root.is_file() or root.is_dir()):
        raise ValueError(f"no outputs at {root}; give their file or folder")
    layout = Layout(root, name)
    paths = [root] if root.is_file() else _walk(root, layout.lost)
    for path in sorted(paths, key=layout.parts):
        _sort_in(layout, path)
    is_lost = any(refusal[0] == UNREADABLE for _, refusal in layout.lost)
    if layout.tables or layout.answers or is_lost:
        return layout
    reason = f"; {_EXPECTED}"
    if layout.puzzle_tables:
        reason = ", only puzzles"
    elif layout.lost:
        path, (_, detail) = layout.lost[-1]
        reason = f"; {layout.label(path)!r}: {detail}"
    raise ValueError(f"{name or root} has no outputs{reason}")


def _walk(root: Path, lost: list[tuple[Path, Refusal]]) -> Iterator[Path]:
    """Yield the files below a folder; list linked and unreadable folders in ``lost``."""

    def refuse(error: OSError) -> None:
        detail = f"the folder cannot be read: {error.strerror}"
        lost.append((Path(error.filename), (UNREADABLE, detail)))

    for folder, folders, names in os.walk(root, onerror=refuse):
        folders[:] = sorted(name for name in folders if not _NOISE.fullmatch(name))
        places = [Path(folder, name) for name in folders]
        lost.extend((place, _LINK) for place in places if place.is_symlink())
        for name in names:
            if not _NOISE.fullmatch(name):
                yield Path(folder, name)


def name_puzzle(path: PurePath) -> str:
    """Return the puzzle that an answer file answers: its name up to the first full stop."""
    return path.name.partition(".")[0]


def _sort_in(layout: Layout, path: Path) -> None:
    *folders, name = layout.parts(path)
    is_hidden = any(part.startswith(".") for part in (*folders, name))
    if path.exists() and not path.is_file():
        layout.lost.append((path, (UNREADABLE, "it is neither a file nor a folder")))
    elif "exp" in folders and path.suffix == ".txt":
        layout.texts[path.stem] = path
    elif "meta" in folders and name.endswith(_STATE):
        layout.states[name.removesuffix(_STATE)] = path
    elif parse_name(name_puzzle(path)):
        layout.answers.append((folders[-1] if folders else None, path))
    elif not path.exists():
        layout.lost.append((path, (UNREADABLE, "it is a broken link")))
    elif is_hidden:
        layout.lost.append((path, _HIDDEN))
    elif _BESIDE.fullmatch(name):
        return
    elif name.startswith("puzzles.") and name.endswith(TABLE_ENDINGS):
        layout.puzzle_tables.append(path)
    elif name.endswith((*TABLE_ENDINGS, ".eval")) or (
        name.endswith(".json") and is_json_log(path)
    ):
        layout.tables.append(path)
    else:
        kind = (
            f"files that end in {path.suffix}"
            if path.suffix
            else "files without an ending"
        )
        layout.lost.append((path, (NOT_READ, f"{kind} are not read; {_EXPECTED}")))
