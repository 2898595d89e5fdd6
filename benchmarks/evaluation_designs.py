"""Compare choices of 280 puzzles by simulation from the paper's 22 models, and derive the short form again.

    python benchmarks/evaluation_designs.py [--replicates 100]

Writes data/evaluation/short_form.csv and data/evaluation/designs.csv, which the page on the number of puzzles shows.
Each design asks 280 puzzles: ``grid`` two in every cell; ``D-optimal`` and ``c-optimal`` one fixed choice for all
models, by either criterion; ``c-optimal, known`` chosen for each model as if its curve were known, which is a bound;
``short`` and ``adaptive`` the forms. Answers are drawn from three curves: ``logistic``, the model's own fit;
``spline``, a fit with more bends, which the regression does not have; ``lapse``, its own fit with one answer in twenty
wrong whatever the load. Right is what the regression would say of infinitely many answers on the grid.

One row a design and truth, medians over the models: ``gain_ecl50`` and ``gain_id50``, how many times fewer puzzles do
as well as on the grid (ratio of squared interquartile ranges of log10 ECL50 and of ID50); ``covers_ecl50`` and
``covers_id50``, the share of samples whose 95% profile interval has the right value, over models; ``bias_ecl50``, the
distance of the median from it in log10 statements; ``found``, the share of samples in which both points exist;
``prompt_ratio`` and ``response_ratio``, tokens a puzzle against the grid; ``gain_per_token``, the gain of ECL50 for
the same tokens of responses. Takes a few minutes on one core.
"""

import argparse

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import chi2

from cogniload_repro.evaluation.forms import SHORT_FORM
from cogniload_repro.evaluation.planning import (
    CELLS,
    DESIGNS,
    MEANS,
    SHORT,
    choose,
    fisher_information,
    mean_tokens,
    next_batch,
    paper_curves,
    prior,
)
from cogniload_repro.files import write_whole
from cogniload_repro.published import ALPHA
from cogniload_repro.robustness.uncertainty import place
from cogniload_repro.statistics.capacity import many_points
from cogniload_repro.statistics.cell_tables import load_cells
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.likelihood import maximise_all
from cogniload_repro.statistics.regression import fit_glm

SPLINE = "correct ~ bs(d, df=3) + bs(log10_N, df=3) + bs(rho, df=4)"
LAPSE = 0.05
BATCH = 35
_SEED = 2026


def derive_short() -> np.ndarray:
    """Choose the short form again: puzzles of each of the paper's cells, shape (140,)."""
    curves, once = paper_curves(), np.ones(len(CELLS), dtype=np.int64)
    known, count = fisher_information(curves, once), SHORT - len(CELLS)
    freely = choose(curves, count, known)
    best = np.isin(np.arange(len(CELLS)), np.argsort(-freely, kind="stable")[:8])
    return once + choose(curves, count, known, best)


def frame_counts(counts: np.ndarray) -> pd.DataFrame:
    """Return puzzles of the paper's cells as a table: N, ratio_pct, d, puzzles; cells without any are left out."""
    frame = GRID[["N", "ratio_pct", "d"]].assign(puzzles=counts)
    return frame[frame["puzzles"] > 0].reset_index(drop=True)


def draw_truths() -> dict[str, np.ndarray]:
    """Return accuracies of every model and cell, shape (22, 140), by the kind of curve."""
    curves = expit(paper_curves() @ CELLS.T)
    bent = []
    for (_, own), straight in zip(load_cells().groupby("model", sort=False), curves, strict=True):
        fit = fit_glm(own, SPLINE)
        bent.append(fit.accuracy if fit.status == "ok" else straight)
    return {"logistic": curves, "spline": np.array(bent), "lapse": (1 - LAPSE) * curves}


def choose_d(curves: np.ndarray, count: int, information: np.ndarray) -> np.ndarray:
    """Choose puzzles one after another so that the determinant of the information grows most, on average."""
    p, chosen = expit(curves @ CELLS.T), np.zeros(len(CELLS), dtype=np.int64)
    weight = p * (1 - p)
    for _ in range(count):
        own = np.einsum("ca,rab,cb->rc", CELLS, np.linalg.inv(information), CELLS)
        best = int(np.argmax(np.log1p(weight * own).mean(axis=0).round(12)))
        chosen[best] += 1
        information = information + weight[:, best, None, None] * np.outer(CELLS[best], CELLS[best])
    return chosen


def fixed_designs() -> dict[str, np.ndarray]:
    """Return puzzles a cell of each fixed design, for every model, shape (22, 140)."""
    curves = paper_curves()
    known = np.repeat(prior().precision[None], len(curves), axis=0)
    same = {
        "grid": np.full(len(CELLS), SHORT // len(CELLS)),
        "D-optimal": choose_d(curves, SHORT, known),
        "c-optimal": choose(curves, SHORT, known),
        "short": derive_short(),
    }
    own = [choose(curve[None], SHORT, prior().precision[None]) for curve in curves]
    designs = {name: np.repeat(counts[None], len(curves), axis=0) for name, counts in same.items()}
    designs["c-optimal, known"] = np.array(own)
    return designs


def ask_adaptively(p: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return puzzles and right answers of one adaptive sample of a model with these accuracies."""
    asked, correct = np.zeros(len(CELLS), dtype=np.int64), np.zeros(len(CELLS), dtype=np.int64)
    while (left := SHORT - int(asked.sum())) > 0:
        batch = next_batch(asked, correct, min(BATCH, left))
        asked, correct = asked + batch, correct + rng.binomial(batch, p)
    return asked, correct


def loglik(x: np.ndarray, betas: np.ndarray, asked: np.ndarray, correct: np.ndarray) -> np.ndarray:
    """Return the log-likelihood of many tables, each under its own coefficients."""
    eta = betas @ x.T
    return (correct * eta - asked * np.logaddexp(0, eta)).sum(axis=1)


def measure(p: np.ndarray, asked: np.ndarray, correct: np.ndarray) -> dict[str, float]:
    """Fit many tables of one model; return the spread of its points, how often intervals have the right value, ..."""
    start = maximise_all(CELLS, np.full((1, len(CELLS)), 1e6), 1e6 * p[None] @ CELLS)[0][0]
    right = many_points(start[None], MEANS)
    betas = maximise_all(CELLS, np.broadcast_to(asked, correct.shape), correct @ CELLS, start)[0]
    points = many_points(betas, MEANS)
    found = np.isfinite(points["ecl50"]) & np.isfinite(points["id50"])
    measured = {"found": found.mean(), "puzzles": asked.sum(axis=1).mean()}
    for point in ("ecl50", "id50"):
        own = points[point][found]
        low, high = np.quantile(own, [0.25, 0.75])
        held = CELLS[:, 1:] - place(point, float(right[point][0]), MEANS)[1:]
        restricted = maximise_all(held, asked[found], correct[found] @ held, start[1:])[0]
        lost = 2 * (
            loglik(CELLS, betas[found], asked[found], correct[found])
            - loglik(held, restricted, asked[found], correct[found])
        )
        measured |= {
            f"spread_{point}": (high - low) ** 2,
            f"covers_{point}": np.mean(lost[np.isfinite(lost)] < chi2.ppf(1 - ALPHA, 1)),
            f"bias_{point}": np.median(own) - right[point][0],
        }
    return measured


def main() -> None:
    """Simulate and write both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=100)
    replicates = parser.parse_args().replicates
    write_whole(SHORT_FORM, frame_counts(derive_short()).to_csv(index=False))
    designs, rows, (prompts, responses) = fixed_designs(), [], mean_tokens()
    for kind, truths in draw_truths().items():
        for model, p in enumerate(truths):
            rng = np.random.default_rng([_SEED, model])
            for name in [*designs, "adaptive"]:
                if name == "adaptive":
                    samples = [ask_adaptively(p, rng) for _ in range(replicates)]
                    asked, correct = (np.array(part) for part in zip(*samples, strict=True))
                else:
                    asked = np.repeat(designs[name][model][None], replicates, axis=0)
                    correct = rng.binomial(asked, p)
                share = asked.mean(axis=0) / asked.mean(axis=0).sum()
                tokens = {"prompt": prompts[model] @ share, "response": responses[model] @ share}
                rows.append({"design": name, "truth": kind, "model": model, **measure(p, asked, correct), **tokens})
    frame = pd.DataFrame(rows)
    even = frame[frame["design"] == "grid"].set_index(["truth", "model"])
    beside = even.reindex(pd.MultiIndex.from_frame(frame[["truth", "model"]])).reset_index(drop=True)
    frame["gain_ecl50"] = beside["spread_ecl50"] / frame["spread_ecl50"]
    frame["gain_id50"] = beside["spread_id50"] / frame["spread_id50"]
    frame["prompt_ratio"], frame["response_ratio"] = (frame[kind] / beside[kind] for kind in ("prompt", "response"))
    frame["gain_per_token"] = frame["gain_ecl50"] / frame["response_ratio"]
    groups = frame.groupby(["truth", "design"], sort=False)
    columns = ["gain_ecl50", "gain_id50", "gain_per_token", "bias_ecl50", "prompt_ratio", "response_ratio"]
    table = groups[columns].median().join(groups[["covers_ecl50", "covers_id50", "found"]].mean()).reset_index()
    write_whole(DESIGNS, table.round(3).to_csv(index=False))
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
