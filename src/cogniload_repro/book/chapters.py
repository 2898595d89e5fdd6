"""The book's chapters: which a build has, with which parameters, which files they wrote."""

import hashlib
import json
import re
import shutil
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from cogniload_repro.files import write_if_changed

#: Folders of a build for the files that chapters write.
FOLDERS = ("figures", "tables", "verdicts")
#: Prefix of the temporary folder in which these files are kept until a run has succeeded.
STAGE = ".chapter-"


@dataclass(frozen=True)
class Chapter:
    """A notebook of the book, with the options in its metadata under ``cogniload``."""

    source: Path
    #: The names that its parameters cell sets.
    takes: Set[str] = frozenset()
    #: The text of each of its Markdown cells, and a digest of all else: of what a run depends on.
    texts: Sequence[list[str]] = ()
    code: str = ""
    #: What a build must have for it: "whole grid", "another model".
    needs: Sequence[str] = ()
    reads_verdicts: bool = False  # of other chapters, so it runs after them


def list_chapters(
    folder: Path, *, whole_grid: bool, another_model: bool = False
) -> list[Chapter]:
    """Return the chapters of a build's book, longest first, so that none is left to run alone.

    Raises ValueError if a file is not a notebook, or if its metadata have an option that `Chapter`
    lacks.
    """
    met = {"whole grid": whole_grid, "another model": another_model}
    sources = sorted(folder.glob("*.ipynb"), key=lambda source: -source.stat().st_size)
    return [
        chapter
        for chapter in map(_read_chapter, sources)
        if all(map(met.get, chapter.needs))
    ]


def _read_chapter(source: Path) -> Chapter:
    try:  # nbformat, which checks everything else, takes a hundred times as long
        notebook = json.loads(source.read_bytes())
        options = notebook["metadata"].get("cogniload", {})
        names: set[str] = set()
        for cell in notebook["cells"]:
            if "parameters" in cell["metadata"].get("tags", ()):
                names.update(re.findall(r"^(\w+) = ", "".join(cell["source"]), re.M))
        texts = [cell.pop("source") for cell in _list_markdown(notebook)]
        code = hashlib.sha256(json.dumps(notebook).encode())
        return Chapter(source, names, texts, code.hexdigest(), **options)
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            f"{source.name} is not a notebook as `Chapter` describes it: {error}"
        ) from None


def _list_markdown(notebook: dict) -> list:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]


def update_texts(chapters: Sequence[Chapter], build: Path) -> None:
    """Copy the text of the Markdown cells, which need no run, into the executed copies."""
    for chapter in chapters:
        copy = executed_copy(chapter, build)
        notebook = json.loads(copy.read_bytes())
        for cell, text in zip(_list_markdown(notebook), chapter.texts, strict=False):
            cell["source"] = text
        content = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
        write_if_changed(copy, f"{content}\n")


def executed_copy(chapter: Chapter, build: Path) -> Path:
    """Return the path of a chapter's executed copy, which holds the outputs of its last run."""
    return build / "notebooks" / chapter.source.name


def is_whole(chapter: Chapter, build: Path) -> bool:
    """Return whether a build has a chapter's executed copy, and all files that it wrote."""
    files = _list_files(executed_copy(chapter, build))
    return files is not None and all((build / name).is_file() for name in files)


def _list_files(copy: Path) -> list[str] | None:
    """Return the files that a chapter wrote in its last run, such as ``tables/table2.csv``.

    None if there is no executed copy that can be read.
    """
    try:
        notebook = json.loads(copy.read_bytes())
        return notebook["metadata"]["cogniload_run"]["files"]
    except (OSError, ValueError, KeyError):
        return None


def remove_stale_files(chapters: Sequence[Chapter], build: Path) -> None:
    """Remove figures, tables, verdicts and copies of a build that none of the chapters wrote.

    Also removes what killed runs left. A ValueError names two chapters that write the same file.
    """
    copies = [executed_copy(chapter, build) for chapter in chapters]
    writers: dict[str, str] = {}
    for copy in copies:
        for name in _list_files(copy) or ():
            if name in writers:
                raise ValueError(
                    f"{writers[name]} and {copy.name} both write {name}; rename one"
                )
            writers[name] = copy.name
    for folder in FOLDERS:
        for file in (build / folder).glob("*"):
            if f"{folder}/{file.name}" not in writers and file.is_file():
                file.unlink()
    for copy in (build / "notebooks").glob("*.ipynb"):
        if copy not in copies and not copy.match("*.failed.ipynb"):
            copy.unlink()
    for stage in build.glob(f"{STAGE}*"):
        shutil.rmtree(stage)
