"""The verdicts of the chapters on some counts: their cells tagged "verdicts" are run on a build."""

import json
import warnings
from functools import cache
from pathlib import Path
from types import CodeType

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.puzzles.baselines import write_baselines
from cogniload_repro.puzzles.sets import PuzzleSet, draw_rows, write_parquet
from cogniload_repro.storage import write_table

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
#: The tag of every cell that a verdict needs; the others draw, and write texts.
TAG = "verdicts"


def write_build(folder, puzzles):
    """Write what the shortcut scores on some puzzles per cell to a build folder."""
    drawn = PuzzleSet(PAPER_GRID, puzzles, scheme="spawn")
    file = folder / "puzzles.parquet"
    write_parquet(file, draw_rows(drawn), drawn.describe(""))
    write_baselines(file, folder / "baselines.parquet")
    return folder


@cache
def read_cells() -> dict[str, dict[str, CodeType]]:
    """Return by chapter the cells of code that lead to its verdicts, its parameters first."""
    chapters = {}
    for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")):
        cells = {}
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            tags = cell["metadata"].get("tags", ())
            if "parameters" in tags or TAG in tags:
                name = f"{path.stem}: {cell['id']}"
                cells[name] = compile("".join(cell["source"]), name, "exec")
        if len(cells) > 1:
            chapters[path.stem] = cells
    return chapters


def run_chapter(chapter, build):
    """Run the cells that lead to a chapter's verdicts; return all its variables."""
    space = {}
    for code in read_cells()[chapter].values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(code, space)  # our own notebook
        space["build"] = str(build)
    return space


def judge(cells, build, chapters=None):
    """Return the verdicts of chapters (default: all) on some cells, by statement."""
    write_table(build / "cells.parquet", cells)
    judged = {}
    for chapter in chapters or read_cells():
        judged |= run_chapter(chapter, build)["judged"]
    return judged
