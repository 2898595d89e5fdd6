"""Simulate how often bands and ranges over reconstructions hold the truth, where it is known.

Writes data/range_coverage.csv (a quarter of an hour). A truth is a table of QwQ-32B's design, drawn
around the fit of Table 3's regression with departures of the levels of rho, as the sampler assumes,
or with a scatter of single cells besides. Tables are then drawn from the truth's own sums as the
committed reconstructions are, but without allocating errors. A band is the 95% prediction interval
of these tables, as Figure 3 shows it; a range is that from the 10 to the 90% quantile.
"""

import click
import numpy as np
import pandas as pd
from scipy.special import expit, logit
from scipy.stats import t
from tqdm import tqdm

import cogniload_repro as cl
from cogniload_repro.files import write_whole
from cogniload_repro.models import find_model
from cogniload_repro.reconstruction import integers, misfit
from cogniload_repro.reconstruction.constraints import (
    Constraints,
    constrain,
    level_sums,
    surprise,
)
from cogniload_repro.reconstruction.sufficient import recover_sums
from cogniload_repro.regression.design import GRID, OF_RATIO, X
from cogniload_repro.regression.likelihood import maximise

MODEL = "QwQ-32B"
FORMULA = "correct ~ d * log10_N * rho + I(rho**2)"
#: Departures of the levels of rho in the committed reconstructions (log-odds).
MISFIT = 0.17
#: Scatter of single cells (log-odds) that gives Pearson's dispersion of about 3.
SCATTER = 0.35
STEPS = 20_000
#: Windows of the printed numbers of Tables 3 and 6; the others are those of the prose.
PRINTED = 10


def draw_truth(rng: np.random.Generator, scatter: float) -> np.ndarray:
    """Draw the correct answers of a truth."""
    counts = GRID[["N", "d", "ratio_pct"]].merge(cl.load_cells(models=MODEL))
    log_odds = logit(np.asarray(cl.glm(counts, MODEL, FORMULA).fittedvalues))
    log_odds += rng.normal(0, MISFIT, len(OF_RATIO)) @ OF_RATIO
    log_odds += rng.normal(0, scatter, len(GRID))
    return rng.binomial(counts["total"], expit(log_odds))


def constrain_to(truth: np.ndarray, printed: Constraints) -> Constraints:
    """Return the constraints that the sums of a truth set, with windows as wide as the paper's."""
    windows = printed.windows[:PRINTED]
    return Constraints(
        exact=printed.exact,
        sums=printed.exact @ truth,
        windows=windows,
        centre=windows @ truth,
        answers=printed.answers,
    )


def draw_table(
    truth: np.ndarray, constraints: Constraints, rng: np.random.Generator
) -> np.ndarray:
    """Draw a table with the sums of a truth, as `integers.draw_counts` does."""
    levels, _ = level_sums(MODEL)
    x = np.column_stack([*levels, X[:, 3:]])
    answers = constraints.answers
    while True:
        departure = rng.normal(0, MISFIT, len(OF_RATIO)) @ OF_RATIO
        beta, _ = maximise(x, answers, x.T @ truth, departure)
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


def cover(truth: np.ndarray, tables: np.ndarray, members: np.ndarray) -> dict:
    """Return whether band and 10 to 90% range of some tables hold the true sum of some cells."""
    sums = tables @ members
    error = sums.std(ddof=1) * np.sqrt(1 + 1 / len(sums))
    reach = t.ppf(0.975, len(sums) - 1) * error
    true_sum = members @ truth
    low, high = np.quantile(sums, [0.1, 0.9])
    return {
        "band": abs(true_sum - sums.mean()) <= reach,
        "range": low <= true_sum <= high,
    }


@click.command()
@click.option("--truths", default=12, help="Truths of each kind.")
@click.option("--tables", default=12, help="Tables drawn from each.")
def main(truths: int, tables: int) -> None:
    """Simulate truths with and without scatter, and count how often bands hold them."""
    model_sums = recover_sums(find_model(MODEL))
    printed = constrain(model_sums, model_sums.sums)
    rows = []
    for kind, scatter in (("as assumed", 0.0), ("with scatter", SCATTER)):
        for seed in tqdm(range(truths), kind):
            rng = np.random.default_rng([1, seed])
            truth = draw_truth(rng, scatter)
            constraints = constrain_to(truth, printed)
            drawn = [draw_table(truth, constraints, rng) for _ in range(tables)]
            for ratio in GRID["ratio_pct"].unique():
                at_ratio = GRID["ratio_pct"] == ratio
                for d in (0, 1, 10):  # 0: all levels
                    members = at_ratio & ((GRID["d"] == d) | (d == 0))
                    holds = cover(truth, np.array(drawn), members.to_numpy(float))
                    panel = "all d" if d == 0 else "one d"
                    rows.append({"truth": kind, "panel": panel, **holds})
    groups = pd.DataFrame(rows).groupby(["truth", "panel"])
    table = groups.mean().round(3)
    table["points"] = groups.size()
    table = table.reset_index().assign(truths=truths, tables=tables)
    text = table.to_csv(index=False, lineterminator="\n")
    print("wrote", write_whole(misfit.COVERAGE, text))


if __name__ == "__main__":
    main()
