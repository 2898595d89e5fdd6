"""Small tables that tests of several rooms start from."""

import csv
import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.ledger.entries import compare
from cogniload_repro.ledger.results import Results
from cogniload_repro.published import load_table
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.rows import puzzle_row
from cogniload_repro.reconstruction.table2 import row_values
from cogniload_repro.regression.capacity import POINTS, find_points
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.design import grid_means
from cogniload_repro.regression.formulas import QUADRATIC
from cogniload_repro.regression.glm import Fit, fit_all, fit_finite
from cogniload_repro.regression.paper_tables import (
    aic_table,
    glm_table,
    interactions_table,
)

ROOT = Path(__file__).parents[1]


def load_file(path):
    """Return a module that is no part of the package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


#: The literal generator.
reference_generator = load_file(ROOT / "benchmarks" / "reference_generator.py")
#: The script that describes the committed counts of prompt tokens, and its source.
prompt_descriptions = load_file(ROOT / "scripts" / "describe_prompt_lengths.py")
PROMPT_TOKENS = prompt_descriptions.PROMPT_TOKENS

#: A regression other than the paper's.
PRODUCT = "correct ~ d * log10_N + rho + I(rho**2)"
LLAMA = "DeepSeek-R1-Distill-Llama-70B"
GPT5 = "gpt-5-2025-08-07"
TEMPLATE = 7


def three_models(cells):
    """Return cells of QwQ-32B, of a model that is always right, and of o3."""
    qwq = cells[cells["model"] == "QwQ-32B"]
    sure = qwq.assign(model="sure", correct=qwq["total"])
    return pd.concat([qwq, sure, cells[cells["model"] == "o3-2025-04-16"]])


def draw_requests(most):
    """Return the strategy of N, d, needles and puzzle_id up to the largest."""
    sizes = st.tuples(st.integers(1, 400), st.integers(1, 12))
    return sizes.flatmap(
        lambda size: st.tuples(
            st.just(size[0]),
            st.just(size[1]),
            st.integers(1, size[0]),
            st.integers(0, most),
        )
    )


def table_of(*points):
    """Return a puzzles table of these (N, d, needles, puzzle_id)."""
    return pd.DataFrame([puzzle_row(draw_puzzle(*point)) for point in points])


def counts_like(model, column):
    """Return counts whose mean at each N and d is the one printed for a model.

    They lack a template of 7 tokens.
    """
    rng = np.random.default_rng(0)
    means = load_table("tokens").set_index(["model", "N", "d"])["prompt_mean"]
    rows = []
    for cell in PAPER_GRID:
        mean = means[(model, cell.N, cell.d)] - TEMPLATE
        counts = np.rint(rng.normal(mean, 0.05 * mean, 100)).astype(int)
        rows += [(cell.N, cell.d, float(cell.ratio_pct), length) for length in counts]
    return pd.DataFrame(rows, columns=["N", "d", "ratio_pct", column]).assign(name="")


def results_of(cells):
    """Return the results of a build with some cells and the printed token lengths."""
    fits = (table(cells) for table in (glm_table, interactions_table, aic_table))
    return Results(cells, *fits, load_table("tokens"))


@cache
def committed_ledger():
    """Return the comparison of the committed reconstruction with the paper."""
    return compare(results_of(load_cells()))


def release_state(puzzle, **changes):
    """The metadata of a puzzle in the authors' release, as JSON.

    A change of None leaves the key out.
    """
    keys = {
        "poi": puzzle.poi,
        "category_defaults": puzzle.domains,
        "needles": puzzle.needles,
    }
    keys |= {"difficulty": puzzle.d, "num_statements": puzzle.N} | changes
    return json.dumps({key: value for key, value in keys.items() if value is not None})


def golden_puzzles(name):
    """Rows of golden puzzles, a CSV table or JSON lines with whole texts."""
    path = Path(__file__).parent / "vectors" / name
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def fit_one(cells, formula=QUADRATIC, family="logit"):
    """Fit the single model of some cells."""
    named = cells if "model" in cells else cells.assign(model="model")
    (fit,) = fit_all(named, formula, family)
    return fit


class Quadratic(NamedTuple):
    """One model's fit of the paper's regression, with covariates and counts as arrays."""

    model: str
    x: np.ndarray
    k: np.ndarray
    n: np.ndarray
    fit: Fit
    means: dict


def fit_quadratics(cells):
    """Return the finite fits of the paper's regression."""
    return [
        Quadratic(
            fit.model,
            fit.design.x,
            fit.correct,
            fit.answers,
            fit,
            grid_means(fit.cells),
        )
        for fit in fit_finite(cells)
    ]


def many_points(betas, means):
    """Return the closed forms of the paper's capacity points (log10 of ECL50)."""
    ecl50, nt50, id50 = row_values(betas, means)[:, 5:].T
    return {"ecl50": np.log10(ecl50), "nt50": nt50, "id50": id50}


def estimate_point(fit, _means, point):
    """Return a capacity point and its standard error."""
    row = find_points([fit], point).iloc[0]
    return row["value"], row["se"]


def place(point, value, means):
    """Return 1, d, log10 N, rho, rho^2 at a value of one load, the others at their means."""
    loads = means | {POINTS[point][0]: value}
    return np.array(
        [1.0, loads["d"], loads["log10_N"], loads["rho"], loads["rho"] ** 2]
    )
