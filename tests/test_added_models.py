"""The chapters of a build with a reader's models, whatever these models are."""

import re

import numpy as np
import pandas as pd
import pytest
from odd_models import odd_cells
from reading import read_chapter
from samples import table_of

from cogniload_repro.fidelity.ledger import COLUMNS
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.puzzles.baselines import write_baselines
from cogniload_repro.storage import write_table

#: Chapters that take another regression.
REGRESSIONS = ["05_glm", "06_interactions", "07_aic", "11_alternatives"]


def write_build(folder, cells):
    """A build folder with these cells, and one puzzle a cell."""
    puzzles = table_of(*((cell.N, cell.d, cell.needles, 7) for cell in PAPER_GRID))
    write_table(folder / "puzzles.parquet", puzzles)
    write_baselines(folder / "puzzles.parquet", folder / "baselines.parquet")
    write_table(folder / "cells.parquet", cells)
    pd.DataFrame(columns=list(COLUMNS), dtype=str).to_parquet(folder / "fidelity.parquet")
    return folder


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chapter", REGRESSIONS)
def test_no_term_of_a_regression_is_markup(chapter, tmp_path, monkeypatch):
    """A level of a factor is a reader's text; a chapter shows it letter by letter, in the book and in Jupyter."""
    cells = odd_cells("even and odd", "length alone")
    level = "<img src=x onerror=alert(9)>"
    perturbed = cells.assign(perturbation=np.where(np.arange(len(cells)) % 3, "", level))
    build = write_build(tmp_path, perturbed)
    formula = "correct ~ d + log10_N + C(perturbation)"
    models = ["even and odd", "length alone"]
    shown = read_chapter(chapter, monkeypatch, build=build, formula=formula, models=models)
    assert any("onerror" in text for text in shown) == (chapter == "05_glm")
    for text in shown:
        markup = re.sub(r"^:alt: .*$", "", text, flags=re.MULTILINE)  # a plain attribute
        assert not re.search(r"(?<!\\)<img src=x", markup)
