"""Cognitive load as one number: state bits times predicates times steps, and whether accuracy depends on it alone.

Source: the post "Why Some Puzzles Are Hard for LLMs: A Framework for Cognitive Load" (2025-06-08). Its planning puzzles
(rules after Shojaee et al. 2025, "The Illusion of Thinking") are searched state by state. The post does not treat
CogniLoad: `cell_load` and its readings are definitions of ours that follow the post's.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain, combinations, product
from math import log2
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression
from scipy.special import expit, xlogy

from cogniload_repro.robustness.specifications import shared_grids
from cogniload_repro.statistics.design import lay_out
from cogniload_repro.statistics.likelihood import maximise_all

#: The post's threshold for Claude 3.7 Sonnet, fitted to two planning puzzles (section "Unified Performance Curve").
CRITICAL_LOAD = 254


class Load(NamedTuple):
    """A load's factors: S, bits of the state; C, predicates that decide whether a step is valid; D, steps."""

    state_bits: float
    predicates: float
    steps: float

    @property
    def load(self) -> float:
        """L = S x C x D, in bits times predicates times steps."""
        return self.state_bits * self.predicates * self.steps


def hanoi_load(n: int) -> Load:
    """Return the post's load of Tower of Hanoi with n disks; its steps are the recursion's depth, not the moves."""
    return Load(n * log2(3), 3, n)


def checkers_load(n: int) -> Load:
    """Return the post's load of Checker Jumping with n checkers per colour; its state bits are an approximation."""
    return Load(2 * n, 8, n**2 + 2 * n)


def river_load(n: int) -> Load:
    """Return the post's load of River Crossing with n pairs, its moves found by search; six pairs cannot cross."""
    moves, _ = search_river(n)
    if moves is None:
        raise ValueError(
            f"{n} pairs cannot cross in the post's boat, so there is no load; take at most 5 pairs"
        )
    return Load(2 * n + 1, 2 * n * (n - 1), moves)


def _search(
    start: Hashable, goal: Hashable, moves: Callable[[Any], Iterable[Hashable]]
) -> tuple[Any, int]:
    """Return the fewest moves to the goal (None if it cannot be reached), and how many states can be reached."""
    steps, front = {start: 0}, [start]
    for state in front:  # grows as it is read
        for new in moves(state):
            if new not in steps:
                steps[new] = steps[state] + 1
                front.append(new)
    return steps.get(goal), len(steps)


def search_hanoi(n: int) -> tuple[Any, int]:
    """Move n disks from the first of three pegs to the third; a state is the peg of every disk, smallest first."""

    def moves(pegs: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        tops = [pegs.index(peg) if peg in pegs else n for peg in range(3)]
        for disk, target in product(tops, range(3)):
            if disk < tops[target]:
                yield (*pegs[:disk], target, *pegs[disk + 1 :])

    return _search((0,) * n, (2,) * n, moves)


def search_checkers(n: int) -> tuple[Any, int]:
    """Swap n red checkers (moving right) with n blue ones (moving left) around one empty square."""
    ways = (("R_", "_R"), ("_B", "B_"), ("RB_", "_BR"), ("_RB", "BR_"))
    start = "R" * n + "_" + "B" * n
    return _search(
        start, start[::-1], lambda line: [line.replace(*way) for way in ways if way[0] in line]
    )


def search_river(n: int, capacity: int | None = None) -> tuple[Any, int]:
    """Bring n actors and their n agents over a river; the post's boat holds two for n = 2 and 3, and three from 4 on.

    Nobody's actor may be with another's agent without their own, on either bank or in the boat. A state is the set of
    people on the near bank and the boat's side.
    """
    capacity = capacity or (2 if n <= 3 else 3)
    everybody = frozenset(product(range(n), ("actor", "agent")))

    def is_safe(group: Iterable[tuple[int, str]]) -> bool:
        actors, agents = (
            {pair for pair, role in group if role == one} for one in ("actor", "agent")
        )
        return not agents or actors <= agents

    def moves(state: tuple[frozenset, bool]) -> Iterator[tuple[frozenset, bool]]:
        near, boat_near = state
        bank = near if boat_near else everybody - near
        for group in chain.from_iterable(
            combinations(bank, size) for size in range(1, capacity + 1)
        ):
            left = near ^ set(group)
            if is_safe(left) and is_safe(everybody - left) and is_safe(group):
                yield left, not boat_near

    return _search((everybody, True), (frozenset(), False), moves)


def cell_load(N: int, d: int) -> Load:
    """Return the load of a CogniLoad cell, by a definition of ours that follows the post's.

    S: max(d, 2) people have d attributes of max(d + 1, 3) values each (paper, Table 1), so a state holds
    max(d, 2) d log2 max(d + 1, 3) bits. C: a statement has 1 to d conditions and as many updates, each number equally
    likely (section 2.1.3), so that a step takes d + 1 predicates on average. D: the N statements, one step each.
    """
    people, values = max(d, 2), max(d + 1, 3)
    return Load(people * d * log2(values), d + 1, N)


def cell_loads(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the natural logarithms of the loads of cells (columns N, d, rho) under three readings of S and D.

    Same index; ``everybody``: everybody's state over all statements, as `cell_load`; ``person``: the state of the
    person of interest over all statements; ``needles``: that person's state over its needles alone; ``log_SC`` and
    ``log_N``: the two factors of the first, as S and C depend on d alone and share an exponent.
    """
    logs = np.log([cell_load(1, d).load for d in cells["d"]]), np.log(cells["N"])
    loads = pd.DataFrame(
        {"everybody": sum(logs), "log_SC": logs[0], "log_N": logs[1]}, index=cells.index
    )
    loads["person"] = loads["everybody"] - np.log(cells["d"].clip(lower=2))
    return loads.assign(needles=loads["person"] + np.log(cells["rho"]))


def _columns(*names: str) -> Callable[[pd.DataFrame], np.ndarray]:
    return lambda cells: np.column_stack([np.ones(len(cells)), cell_loads(cells)[[*names]]])


PAPER = "the paper's regression: d, log N, ρ, ρ²"
#: What a fit lets accuracy depend on, model by model.
SPECIFICATIONS: dict[str, Callable[[pd.DataFrame], np.ndarray]] = {
    PAPER: lambda cells: lay_out(cells)[:, :5],
    "load, everybody's state": _columns("everybody"),
    "load, the person's state": _columns("person"),
    "load, the person's state over its needles": _columns("needles"),
    "free exponents of S × C and D": _columns("log_SC", "log_N"),
}
FALLING = "any falling function of the load"


def compare_curves(cells: pd.DataFrame) -> pd.DataFrame:
    """Fit every specification to each model, and measure how far it is from the counts.

    One row per specification, summed over models: specification; terms; deviance (twice the log-likelihood short of
    the saturated one); aic (Bernoulli likelihoods, as in the paper's Table 6) and aic_difference from the paper's
    regression; models_better, those whose AIC is below that of the paper's regression. The last row is the best
    that any function can do which never rises with the load: it has no fixed number of terms, so no AIC.
    """
    grids, rows, paper = list(shared_grids(cells)), [], np.array([])
    for name, design in SPECIFICATIONS.items():
        deviance, aics = 0.0, []
        for _, own, k, n in grids:
            x = design(own)
            betas, logliks = maximise_all(x, n, k @ x)
            deviance += _deviance(k, n, expit(betas @ x.T))
            aics.append(2 * x.shape[1] - 2 * logliks)
        aic = np.concatenate(aics)
        paper = aic if name == PAPER else paper
        rows.append(
            {"specification": name, "terms": x.shape[1] * len(aic), "deviance": deviance}
            | {
                "aic": aic.sum(),
                "aic_difference": (aic - paper).sum(),
                "models_better": (aic < paper).sum(),
            }
        )
    falling = sum(
        _deviance(k, n, _fall(cell_loads(own)["everybody"], k, n)) for _, own, k, n in grids
    )
    rows.append({"specification": FALLING, "deviance": falling})
    return pd.DataFrame(rows).astype({"models_better": "Int64", "terms": "Int64"})


def _fall(loads: pd.Series, correct: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return the most likely accuracies (m, c) among those that never rise with the load."""
    levels, level = np.unique(loads.round(9), return_inverse=True)
    sums = (
        (np.bincount(level, one, len(levels)) for one in pair)
        for pair in zip(correct, total, strict=True)
    )
    return np.array(
        [isotonic_regression(k / n, weights=n, increasing=False).x[level] for k, n in sums]
    )


def _deviance(k: np.ndarray, n: np.ndarray, p: np.ndarray) -> float:
    return float(
        2 * (xlogy(k, k / n) + xlogy(n - k, 1 - k / n) - xlogy(k, p) - xlogy(n - k, 1 - p)).sum()
    )
