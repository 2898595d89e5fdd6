"""How many puzzles an evaluation needs, and which ones.

A capacity point is a smooth function of the regression's coefficients, so that its variance is c'M^-1 c: c its
gradient, M the Fisher information of the puzzles asked. Choosing puzzles that make it small is c-optimality;
D-optimality makes the whole ellipsoid small and spends puzzles on rho.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from cogniload_repro.evaluation.forms import read_short
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import NAMES, find_model
from cogniload_repro.published import ALPHA, load_printed
from cogniload_repro.robustness.uncertainty import fit_quadratics
from cogniload_repro.statistics.capacity import grid_means
from cogniload_repro.statistics.cell_tables import load_cells
from cogniload_repro.statistics.design import GRID, QUADRATIC, X
from cogniload_repro.storage import DATA

#: The paper's cells as rows of the regression, shape (140, 5), and the loads at which ECL50 and ID50 are evaluated.
CELLS = X[:, QUADRATIC]
MEANS = grid_means(GRID)
#: Puzzles of the short form.
SHORT = 280
#: Share of each adaptive batch that goes round the grid, so that a curve which does not fit shows.
EXPLORATION_SHARE = 0.25
#: Designs compared by simulation; benchmarks/evaluation_designs.py makes them and describes the columns.
DESIGNS = DATA / "evaluation" / "designs.csv"
POWER = 0.8
_FLATTEST = 0.02  # a slope nearer to zero has no capacity point: log-odds per unit of d, or of log10 N
_CURVES, _SEED = 24, 2026  # curves drawn from a belief, over which the worth of a puzzle is averaged
_Z = float(norm.ppf(1 - ALPHA / 2))


@cache
def paper_curves() -> np.ndarray:
    """Return the coefficients of the paper's 22 models, shape (22, 5)."""
    return np.array([quadratic.fit.coef for quadratic in fit_quadratics(load_cells())])


def gradients(betas: np.ndarray) -> np.ndarray:
    """Return gradients of log10 ECL50 and ID50, shape (r, 2, 5); a slope that rises counts as nearly flat."""
    loads = np.array([1.0, MEANS["d"], MEANS["log10_N"], MEANS["rho"], MEANS["rho"] ** 2])
    found = np.empty((len(betas), 2, 5))
    for which, column in enumerate((2, 1)):
        others = np.where(np.arange(5) == column, 0.0, loads)
        slope = np.minimum(betas[:, column], -_FLATTEST)
        at = np.repeat(others[None], len(betas), axis=0)
        at[:, column] = -(betas @ others) / slope
        found[:, which] = -at / slope[:, None]
    return found


def fisher_information(betas: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the information of puzzles per cell, shape (140,), under each of many curves, shape (r, 5, 5)."""
    p = expit(betas @ CELLS.T)
    return np.einsum("rc,ca,cb->rab", counts * p * (1 - p), CELLS, CELLS)


def variances(betas: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the variances of log10 ECL50 and ID50 that puzzles leave, shape (r, 2), by the delta method."""
    c = gradients(betas)
    return np.einsum("rja,rab,rjb->rj", c, np.linalg.inv(fisher_information(betas, counts)), c)


def choose(betas: np.ndarray, count: int, information: np.ndarray, candidates: np.ndarray | None = None) -> np.ndarray:
    """Choose puzzles one after another, each the one that then leaves the least variance (c-optimal).

    The variances of log10 ECL50 and ID50 are taken relative to those of an even spread over the grid, added, and
    averaged over the curves, shape (r, 5). `information`, shape (r, 5, 5) and of full rank, is what is known before: a
    prior, or puzzles asked in any case. Only `candidates`, shape (140,), are chosen. Returns puzzles per cell, shape
    (140,); of equals, the cell that comes first in the grid.
    """
    c = gradients(betas) / np.sqrt(variances(betas, np.ones(len(CELLS))))[:, :, None]
    p = expit(betas @ CELLS.T)
    weight, inverse, chosen = p * (1 - p), np.linalg.inv(information), np.zeros(len(CELLS), dtype=np.int64)
    for _ in range(count):
        toward = inverse @ CELLS.T  # (r, 5, 140): M^-1 x of every cell
        gained = np.einsum("rja,rac->rjc", c, toward) ** 2
        leverage = np.einsum("ca,rac->rc", CELLS, toward)
        # a puzzle adds w xx' to M, so that c'M^-1 c falls by w (c'M^-1 x)^2 / (1 + w x'M^-1 x)
        worth = (gained.sum(axis=1) * weight / (1 + weight * leverage)).mean(axis=0)
        if candidates is not None:
            worth = np.where(candidates, worth, -np.inf)
        best = int(np.argmax(worth.round(12)))
        chosen[best] += 1
        step = toward[:, :, best]
        factor = weight[:, best] / (1 + weight[:, best] * leverage[:, best])
        inverse = inverse - factor[:, None, None] * step[:, :, None] * step[:, None, :]
    return chosen


@dataclass(frozen=True)
class Belief:
    """A normal distribution of the five coefficients: mean, shape (5,), and precision, shape (5, 5)."""

    mean: np.ndarray
    precision: np.ndarray

    def draw(self, count: int) -> np.ndarray:
        """Return curves drawn from it, always the same ones, shape (count, 5)."""
        noise = np.random.default_rng(_SEED).standard_normal((count, len(self.mean)))
        # with precision LL', the columns of L'^-1 are independent directions of unit length
        return self.mean + np.linalg.solve(np.linalg.cholesky(self.precision).T, noise.T).T


@cache
def prior() -> Belief:
    """Return what the paper's 22 models say of another one: their mean and covariance."""
    curves = paper_curves()
    return Belief(curves.mean(axis=0), np.linalg.inv(np.cov(curves.T)))


def update(asked: np.ndarray, correct: np.ndarray) -> Belief:
    """Return the prior after answers by cell, shape (140,) each: the likeliest curve, and the curvature there."""
    before = prior()

    def loss(at: np.ndarray) -> float:
        eta, off = CELLS @ at, at - before.mean
        return float(asked @ np.logaddexp(0, eta) - correct @ eta + off @ before.precision @ off / 2)

    def slope(at: np.ndarray) -> np.ndarray:
        return before.precision @ (at - before.mean) - CELLS.T @ (correct - asked * expit(CELLS @ at))

    def curvature(at: np.ndarray) -> np.ndarray:
        return before.precision + fisher_information(at[None], asked)[0]

    found = minimize(loss, before.mean, jac=slope, hess=curvature, method="trust-exact", options={"gtol": 1e-8})
    return Belief(found.x, curvature(found.x))


def next_batch(asked: np.ndarray, correct: np.ndarray, size: int, seed: int = _SEED) -> np.ndarray:
    """Return the puzzles to ask next, shape (140,): a quarter round the grid, the others where they inform most.

    It depends on the counts of answers and correct answers alone, so that a resumed run asks the same puzzles; `seed`
    sets the order in which the cells of the grid take turns.
    """
    turns = np.random.default_rng(seed).permutation(len(CELLS))
    round_grid = np.zeros(len(CELLS), dtype=np.int64)
    for _ in range(round(EXPLORATION_SHARE * size)):
        round_grid[turns[int(np.argmin((asked + round_grid)[turns]))]] += 1
    belief = update(asked, correct)
    curves = belief.draw(_CURVES)
    known = belief.precision + fisher_information(belief.mean[None], round_grid)[0]
    return round_grid + choose(curves, size - int(round_grid.sum()), np.repeat(known[None], len(curves), axis=0))


def measure_width(asked: np.ndarray, correct: np.ndarray) -> float:
    """Return the width of the 95% interval of log10 ECL50 that the answers alone give; infinite where they do not.

    The curve is the likeliest under the prior, which keeps it finite; the information is that of the answers.
    """
    mean = update(asked, correct).mean[None]
    if np.linalg.matrix_rank(fisher_information(mean, asked)[0]) < CELLS.shape[1]:
        return np.inf
    return float(2 * _Z * np.sqrt(variances(mean, asked)[0, 0]))


@cache
def mean_tokens() -> tuple[np.ndarray, np.ndarray]:
    """Return mean tokens of prompts and of responses from Tables 7 to 10, shape (22, 140), printed order.

    All ratios of one N and d have one value; an unreadable one is the others' median.
    """
    printed = load_printed("tokens").astype({"N": int, "d": int})
    found = []
    for column in ("prompt_mean", "output_mean"):
        numbers = printed.assign(value=pd.to_numeric(printed[column], errors="coerce"))
        wide = numbers.pivot(index="model", columns=["N", "d"], values="value").reindex(list(NAMES))  # noqa: PD010
        found.append(wide.fillna(wide.median())[list(zip(GRID["N"], GRID["d"], strict=True))].to_numpy())
    return found[0], found[1]


def count_needed(width: float) -> pd.DataFrame:
    """Return puzzles and tokens that each form needs until the 95% interval of log10 ECL50 is so narrow.

    One row per form (``grid``, the paper's cells evenly; ``short``; ``adaptive``, from its gain in simulation) and
    model of the paper: form, model, puzzles, prompt_tokens, response_tokens (sums).
    """
    if not width > 0:
        raise ValueError(f"width is {width!r}; give a positive number, such as 0.1")
    curves, (prompts, responses) = paper_curves(), mean_tokens()
    gain = pd.read_csv(DESIGNS).set_index(["design", "truth"]).loc[("adaptive", "logistic")]
    short = np.array([read_short()[cell] for cell in PAPER_GRID])
    even, same = np.ones(len(CELLS)), pd.Series(1.0, gain.index)
    frames = {}
    for form, design, ratios in (("grid", even, same), ("short", short, same), ("adaptive", even, gain)):
        share = design / design.sum()
        puzzles = np.ceil((2 * _Z / width) ** 2 * variances(curves, share)[:, 0] / ratios["gain_ecl50"])
        prompt, response = prompts @ share * ratios["prompt_ratio"], responses @ share * ratios["response_ratio"]
        counts = {"puzzles": puzzles, "prompt_tokens": puzzles * prompt, "response_tokens": puzzles * response}
        frames[form] = np.ceil(pd.DataFrame(counts, pd.Index(NAMES, name="model"))).astype("int64")
    return pd.concat(frames, names=["form"]).reset_index()


def separate(first: str, second: str) -> pd.DataFrame:
    """Return the paper's cells in which two of its models differ most, the best first.

    Columns: N, ratio_pct, d, both fitted accuracies by name, puzzles (for a power of 80% at 5%).
    """
    names = [find_model(name).name for name in (first, second)]
    one, other = (expit(paper_curves()[NAMES.index(name)] @ CELLS.T) for name in names)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.ceil((_Z + norm.ppf(POWER)) ** 2 * (one * (1 - one) + other * (1 - other)) / (one - other) ** 2)
    frame = GRID[["N", "ratio_pct", "d"]].assign(**{names[0]: one, names[1]: other}, puzzles=needed)
    return frame.sort_values("puzzles", kind="stable", ignore_index=True)
