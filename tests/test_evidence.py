"""What pages say of the paper's models is the same whichever reconstruction a build holds.

Identified, or a range.
"""

import re

import numpy as np
import pandas as pd
import pytest
from test_chapters import run

import cogniload_repro as cl
from cogniload_repro.counts.reconstruct import assemble_cells
from cogniload_repro.counts.sufficient import sum_cells
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.puzzles.baselines import write_baselines
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.sets import describe_set, draw_rows, write_parquet
from cogniload_repro.regression.reconstructions import KEYS, load_tables
from cogniload_repro.storage import write_table

MODELS = ["gpt-5-2025-08-07", "o3-2025-04-16", "QwQ-32B", "Phi-4-reasoning-plus"]


def glued(chapter, number, tmp_path, monkeypatch):
    """Return a chapter's facts on a build whose cells are one reconstruction of a few models."""
    frames = []
    for name in MODELS:
        correct = (
            load_tables().query("model == @name").iloc[:, len(KEYS) + number].to_numpy()
        )
        frames.append(
            assemble_cells(
                sum_cells(cl.load_cells(), name), correct, np.random.default_rng(number)
            )
        )
    build = tmp_path / f"{chapter}-{number}"
    build.mkdir()
    cells = pd.concat(frames, ignore_index=True)
    write_table(build / "cells.parquet", cells.assign(provenance="reconstructed"))
    checks = pd.DataFrame({"table": [], "verdict": [], "kind": [], "quantity": []})
    checks.to_parquet(build / "fidelity.parquet")
    few = PuzzleSet(
        PAPER_GRID, 1, scheme="spawn"
    )  # for what answerers without reasoning score
    write_parquet(build / "puzzles.parquet", draw_rows(few), describe_set(few, ""))
    write_baselines(build / "puzzles.parquet", build / "baselines.parquet")
    return run(chapter, monkeypatch, build=build)


SLOW = [
    pytest.param(name, marks=pytest.mark.slow)
    for name in ("04_accuracy", "05_glm", "06_interactions", "12_comparison")
]
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


@pytest.mark.parametrize("chapter", ["07_aic", *SLOW])
def test_facts_do_not_depend_on_the_reconstruction(chapter, tmp_path, monkeypatch):
    """Every value of a sentence is that of another table of counts too.

    Counts of models to the last one.
    """
    first, other = (glued(chapter, number, tmp_path, monkeypatch) for number in (0, 17))
    assert first
    assert first.keys() == other.keys()
    first.pop("apart", None)  # rounding error between two programs
    assert {
        key: (first[key], other[key])
        for key in first
        if not alike(str(first[key]), str(other[key]))
    } == {}
