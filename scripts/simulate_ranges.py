"""Simulate how often bands and ranges over reconstructions hold the truth, where it is known.

Writes data/range_coverage.csv (a quarter of an hour). A truth is a table of QwQ-32B's design, drawn
around the fit of Table 3's regression with departures of the levels of rho, as the sampler assumes,
or with a scatter of single cells besides. Tables are then drawn from the truth's own sums as the
committed reconstructions are, but without allocating errors. A band is the 95% prediction interval
of these tables, as Figure 3 shows it; a range is that from the 10 to the 90% quantile.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from scipy.stats import t
from tqdm import tqdm

import cogniload_repro as cl
from cogniload_repro.models import find_model
from cogniload_repro.reconstruction import integers, misfit
from cogniload_repro.reconstruction.constraints import (
    Constraints,
    constrain,
    level_sums,
    surprise,
)
from cogniload_repro.reconstruction.reconstruct import write_csv
from cogniload_repro.reconstruction.sufficient import recover_sums
from cogniload_repro.regression.design import GRID, OF_RATIO, X
from cogniload_repro.regression.likelihood import maximise

MODEL = "QwQ-32B"
FORMULA = "correct ~ d * log10_N * rho + I(rho**2)"
#: Departures of the levels of rho in the committed reconstructions (log-odds).
MISFIT = 0.17
#: Scatter of single cells (log-odds); the larger gives Pearson's dispersion of about 3.
SCATTERS = {"as assumed": 0.0, "with scatter": 0.35}
STEPS = 20_000
#: Windows of the printed numbers of Tables 3 and 6; the others are those of the prose.
PRINTED = 10


def draw_departure(rng: np.random.Generator) -> np.ndarray:
    """Draw the departures of the levels of rho, by cell."""
    return rng.normal(0, MISFIT, len(OF_RATIO)) @ OF_RATIO


def draw_truth(rng: np.random.Generator, scatter: float) -> np.ndarray:
    """Draw the correct answers of a truth."""
    counts = GRID[["N", "d", "ratio_pct"]].merge(cl.load_cells(models=MODEL))
    fit = cl.glm(counts, MODEL, FORMULA)
    log_odds = logit(np.asarray(fit.fittedvalues))
    log_odds += draw_departure(rng)
    log_odds += rng.normal(0, scatter, len(GRID))
    return rng.binomial(counts["total"], expit(log_odds))


def draw_table(
    truth: np.ndarray, constraints: Constraints, rng: np.random.Generator
) -> np.ndarray:
    """Draw a table with the sums of a truth, as `integers.draw_counts` does."""
    levels, _ = level_sums(MODEL)
    x = np.column_stack([*levels, X[:, 3:]])
    answers = constraints.answers
    while True:
        departure = draw_departure(rng)
        sums = x.T @ truth
        beta, _ = maximise(x, answers, sums, departure)
        accuracy = expit(x @ beta + departure)
        basis, particular = integers.reduce_lattice(constraints, accuracy)
        draw = rng.binomial(answers.astype(int), accuracy)
        table = integers._round_to_lattice(
            constraints, basis, particular, draw, accuracy
        )
        if not constraints.met(table):
            continue
        table = integers.walk(constraints, basis, table, accuracy, rng, STEPS)
        if surprise(answers, accuracy, table) <= 3:
            return table


def cover(truth: np.ndarray, tables: np.ndarray) -> Iterator[dict]:
    """Yield whether band and 10 to 90% range of some tables hold the truth, for each point."""
    quantile = t.ppf(0.975, len(tables) - 1)
    factor = quantile * np.sqrt(1 + 1 / len(tables))
    for ratio in GRID["ratio_pct"].unique():
        at_ratio = GRID["ratio_pct"] == ratio
        for d in (None, 1, 10):
            panel = "all d"
            members = at_ratio
            if d:
                panel = "one d"
                members = at_ratio & (GRID["d"] == d)
            true_sum = truth[members].sum()
            sums = tables[:, members].sum(axis=1)
            distance = abs(true_sum - sums.mean())
            reach = factor * sums.std(ddof=1)
            low, high = np.quantile(sums, [0.1, 0.9])
            yield {
                "panel": panel,
                "band": distance <= reach,
                "range": low <= true_sum <= high,
            }


def simulate(truths: int, tables: int) -> pd.DataFrame:
    """Return how often bands and ranges hold truths with and without scatter."""
    model_sums = recover_sums(find_model(MODEL))
    printed = constrain(model_sums, model_sums.sums)
    windows = printed.windows[:PRINTED]
    rows = []
    for kind, scatter in SCATTERS.items():
        for seed in tqdm(range(truths), kind):
            rng = np.random.default_rng([1, seed])
            truth = draw_truth(rng, scatter)
            # windows as wide as the paper's, around the sums of the truth
            constraints = replace(
                printed,
                sums=printed.exact @ truth,
                windows=windows,
                centre=windows @ truth,
            )
            drawn = [draw_table(truth, constraints, rng) for _ in range(tables)]
            for row in cover(truth, np.array(drawn)):
                rows.append({"truth": kind, **row})
    groups = pd.DataFrame(rows).groupby(["truth", "panel"])
    table = groups.mean().round(3)
    table["points"] = groups.size()
    return table.reset_index().assign(truths=truths, tables=tables)


if __name__ == "__main__":
    coverage = simulate(truths=12, tables=12)
    print("wrote", write_csv(misfit.COVERAGE, [coverage]))
