"""What pages say of the paper's models is the same whichever reconstruction a build holds.

Identified, or a range.
"""

import re

import numpy as np
import pandas as pd
import pytest
from reading import run_chapter

import cogniload_repro as cl
from cogniload_repro.book.markdown import Fragment, unescape
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import NAMES
from cogniload_repro.puzzles.baselines import write_baselines
from cogniload_repro.puzzles.sets import (
    PuzzleSet,
    draw_rows,
    write_parquet,
)
from cogniload_repro.reconstruction.reconstruct import assemble_cells
from cogniload_repro.reconstruction.sufficient import sum_cells
from cogniload_repro.regression.reconstructions import KEYS, load_tables
from cogniload_repro.storage import write_table


def run_on_reconstruction(chapter, number, tmp_path, monkeypatch):
    """Return what a chapter states on a build whose cells are one reconstruction."""
    frames = []
    for name in NAMES:
        table = load_tables().query("model == @name")
        correct = table.iloc[:, len(KEYS) + number].to_numpy()
        sums = sum_cells(cl.load_cells(), name)
        frames.append(assemble_cells(sums, correct, np.random.default_rng(number)))
    build = tmp_path / f"{chapter}-{number}"
    build.mkdir()
    cells = pd.concat(frames, ignore_index=True)
    write_table(build / "cells.parquet", cells.assign(provenance="reconstructed"))
    # for what the last-clause shortcut scores
    few = PuzzleSet(PAPER_GRID, 1, scheme="spawn")
    write_parquet(build / "puzzles.parquet", draw_rows(few), few.describe(""))
    write_baselines(build / "puzzles.parquet", build / "baselines.parquet")
    fragments = run_chapter(chapter, monkeypatch, build=build)
    texts = {}
    for key, shown in fragments.items():
        if isinstance(shown, Fragment):  # others are frames and pictures
            texts[key] = unescape(shown.markdown)
    return texts


CHAPTERS = ["04_accuracy", "05_glm", "06_interactions", "07_aic", "11_comparison"]
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def alike(one, other):
    """Return whether two values are equal but for one unit of a last digit.

    The printed digits leave windows.
    """
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(
        a == b
        or (
            "." in a
            and abs(float(a) - float(b)) < 1.5 * 10.0 ** -len(a.partition(".")[2])
        )
        for a, b in pairs
    )


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_sentences_do_not_depend_on_the_reconstruction(chapter, tmp_path, monkeypatch):
    """What a chapter states of the paper holds in another table of counts too.

    To the last digit.
    """
    first, second = (
        run_on_reconstruction(chapter, number, tmp_path, monkeypatch)
        for number in (1, 17)
    )
    assert first.keys() == second.keys()
    assert "22" in first["lead"]
    differing = [key for key in first if not alike(first[key], second[key])]
    assert {key: (first[key], second[key]) for key in differing} == {}
