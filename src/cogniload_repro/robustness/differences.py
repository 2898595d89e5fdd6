"""Two models held against one another: differences of accuracy by load, pairs of answers, and whether they are alike.

Models are compared on the cells that both have, each cell with the same weight for both, so that neither gains by
having answered more of the easy ones.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binomtest, norm
from statsmodels.stats.proportion import proportion_confint

from cogniload_repro.published import ALPHA
from cogniload_repro.robustness.families import correct_holm
from cogniload_repro.statistics.accuracy import evenly_asked

#: Difference of accuracy below which two models are called alike, unless another is asked for.
MARGIN = 0.05
#: What a difference may be: beyond doubt; within the margin; neither can be told. The first two may hold together.
VERDICTS = ("differ", "differ, by less than the margin", "alike within the margin", "cannot be told")
_CELL = ["N", "d", "ratio_pct"]


class Difference(NamedTuple):
    """A difference of two accuracies (fractions), first minus second.

    Attributes
    ----------
    difference, low, high : float
        With its 95% interval.
    p : float
        Two-sided, of no difference.
    p_alike : float
        Of a difference as large as the margin or larger, one way or the other (two one-sided tests).
    """

    difference: float
    low: float
    high: float
    p: float
    p_alike: float

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`, at level `ALPHA`."""
        return judge(self.p, self.p_alike)


def judge(p: float, p_alike: float) -> str:
    """Return one of `VERDICTS` for a p-value of no difference and one of no likeness, at level `ALPHA`."""
    if p < ALPHA:
        return VERDICTS[1] if p_alike < ALPHA else VERDICTS[0]
    return VERDICTS[2] if p_alike < ALPHA else VERDICTS[3]


_PAIRS = ["first", "second", "cells", *Difference._fields]


def compare_models(
    cells: pd.DataFrame, first: str, second: str, by: Sequence[str] = (), margin: float = MARGIN
) -> pd.DataFrame:
    """Compare the accuracies of two models, overall or at each level of some columns.

    Parameters
    ----------
    cells : DataFrame
        Cells frame.
    first, second : str
        Models of it.
    by : sequence of str
        Columns whose levels are compared one by one, such as ``["N"]``, or all three loads for single cells.
    margin : float
        Largest difference (fraction) of models that are alike.

    Returns
    -------
    DataFrame
        One row a level: the columns; cells, n_first, n_second (answers); accuracy_first, accuracy_second (means over
        the cells that both have); difference, low, high, p and p_alike of `Difference`; p_holm, corrected for all rows;
        verdict, one of `VERDICTS`, by both p-values so corrected.

    Raises
    ------
    ValueError
        If a model is not there, both are the same, they have no cell in common, or the margin is not above 0 and
        below 1.
    """
    if not 0 < margin < 1:
        raise ValueError(f"the margin is {margin:g}; a difference of accuracies lies between 0 and 1, such as 0.05")
    pairs = _shared_cells(cells, first, second)
    levels = pairs.groupby(list(by), sort=True) if by else [((), pairs)]
    rows = []
    for level, own in levels:
        sides = [(own["correct", name].to_numpy(), own["total", name].to_numpy()) for name in (first, second)]
        counts = {"cells": len(own), "n_first": sides[0][1].sum(), "n_second": sides[1][1].sum()}
        means = {f"accuracy_{word}": np.mean(k / n) for word, (k, n) in zip(("first", "second"), sides, strict=True)}
        rows.append(dict(zip(by, level, strict=True)) | counts | means | _difference(sides, margin)._asdict())
    return _judge_rows(pd.DataFrame(rows))


def compare_all(cells: pd.DataFrame, margin: float = MARGIN) -> pd.DataFrame:
    """Compare every pair of models overall, and at each number of statements.

    Returns
    -------
    DataFrame
        One row a pair that has cells in common, the more accurate model first: first, second; cells; difference, low,
        high, p, p_alike of `Difference`; p_holm and verdict, corrected for all pairs; by N ``at_N`` and ``apart_N``:
        the difference there, and whether it is significant after correction for the levels of the pair.
    """
    if (cells := evenly_asked(cells)).empty:
        return _judge_rows(pd.DataFrame(columns=_PAIRS))
    wide, rows = _side_by_side(cells), []
    present = wide["total"] > 0
    means = (wide["correct"] / wide["total"].where(present)).mean().sort_values(ascending=False, kind="stable")
    lengths = wide.index.get_level_values("N").to_numpy()
    for pair in combinations(means.index, 2):
        both = (present[pair[0]] & present[pair[1]]).to_numpy()
        if not both.any():
            continue
        sides = [(wide["correct", name].to_numpy(), wide["total", name].to_numpy()) for name in pair]
        levels = [at for N in np.unique(lengths[both]) if (at := both & (lengths == N)).any()]
        overall, *found = (_difference([(k[at], n[at]) for k, n in sides], margin) for at in (both, *levels))
        apart = correct_holm(np.array([one.p for one in found])) < ALPHA
        row = {"first": pair[0], "second": pair[1], "cells": both.sum()} | overall._asdict()
        for at, one, is_apart in zip(levels, found, apart, strict=True):
            row |= {f"at_{lengths[at][0]}": one.difference, f"apart_{lengths[at][0]}": is_apart}
        rows.append(row)
    table = pd.DataFrame(rows, columns=None if rows else _PAIRS)
    return _judge_rows(table)


def compare_answers(first: pd.Series, second: pd.Series, margin: float = MARGIN) -> tuple[pd.Series, Difference]:
    """Compare two models on the puzzles that both have answered, answer by answer.

    The test is McNemar's, exact: only puzzles that one of them alone has right tell them apart. The interval is Bonett
    and Price's adjusted one (2012), and likeness is tested with its standard error.

    Parameters
    ----------
    first, second : Series of bool
        Whether each answer is right, by the puzzle's name.
    margin : float
        As for `compare_models`.

    Returns
    -------
    counts : Series
        Puzzles by who has them right: both, first_alone, second_alone, neither.
    difference : Difference

    Raises
    ------
    ValueError
        If no puzzle was answered by both.
    """
    pair = pd.concat([first.rename("first"), second.rename("second")], axis=1, join="inner").astype(bool)
    if pair.empty:
        raise ValueError("no puzzle was answered by both models; compare them by cell")
    one, other = pair["first"], pair["second"]
    counts = pd.Series({
        "both": (one & other).sum(), "first_alone": (one & ~other).sum(),
        "second_alone": (~one & other).sum(), "neither": (~one & ~other).sum(),
    })  # fmt: skip
    alone, against = int(counts["first_alone"]), int(counts["second_alone"])
    p = binomtest(alone, alone + against).pvalue if alone + against else 1.0
    shares = np.array([alone + 1, against + 1]) / (len(pair) + 2)
    middle = shares[0] - shares[1]
    se = np.sqrt((shares.sum() - middle**2) / (len(pair) + 2))
    reach = norm.ppf(1 - ALPHA / 2) * se
    found = Difference((alone - against) / len(pair), middle - reach, middle + reach, p, _alike(middle, se, margin))
    return counts, found


def _judge_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Add p_holm and the verdicts, both questions corrected for all rows."""
    p_holm, p_alike = correct_holm(table["p"]), correct_holm(table["p_alike"])
    return table.assign(p_holm=p_holm, verdict=[judge(*pair) for pair in zip(p_holm, p_alike, strict=True)])


def _shared_cells(cells: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """Return the cells that two models have, side by side."""
    if first == second:
        raise ValueError(f"{first} is compared with itself; name two models")
    known = cells.loc[cells["total"] > 0, "model"].unique()
    even = set(evenly_asked(cells)["model"])
    if chosen := [name for name in (first, second) if name in known and name not in even]:
        raise ValueError(
            f"puzzles of {' and '.join(chosen)} were chosen by what they tell, so accuracies are not averaged; compare "
            "capacity points instead"
        )
    if unknown := [name for name in (first, second) if name not in known]:
        raise ValueError(f"the cells have no model {', '.join(unknown)}; they have: {', '.join(known)}")
    wide = _side_by_side(cells[cells["model"].isin([first, second])])
    pairs = wide[(wide["total"] > 0).all(axis=1)]
    if pairs.empty:
        raise ValueError(f"{first} and {second} have no cell of the grid in common")
    return pairs


def _side_by_side(cells: pd.DataFrame) -> pd.DataFrame:
    """Return n and correct by cell, a column for each model, 0 where it has none.

    Answers to perturbed prompts are held against those to prompts perturbed alike.
    """
    condition = cells["perturbation"].fillna("") if "perturbation" in cells else ""
    key = [*_CELL, "perturbation"]
    counts = cells.assign(model=cells["model"].astype(str), perturbation=condition)
    return counts.pivot_table(["total", "correct"], key, "model", "sum", fill_value=0)


def _difference(sides: list[tuple[np.ndarray, np.ndarray]], margin: float) -> Difference:
    """Return the difference of mean accuracies over cells, by Newcombe's combination of two Wilson intervals.

    Each side is a model's right answers and answers by cell. Wilson's interval takes the number of answers that would
    have the variance of the mean over cells, were they all of one cell.
    """
    means = [np.mean(k / n) for k, n in sides]
    # a cell whose answers are all right or all wrong has some variance too: half a success and half a failure more
    shrunk = [(k + 0.5) / (n + 1) for k, n in sides]
    variances = [np.sum(p * (1 - p) / n) / len(n) ** 2 for p, (_, n) in zip(shrunk, sides, strict=True)]
    answers = [np.mean(p) * (1 - np.mean(p)) / variance for p, variance in zip(shrunk, variances, strict=True)]
    (low, high), (low_second, high_second) = map(_wilson, means, answers)
    difference, se = means[0] - means[1], np.sqrt(sum(variances))
    return Difference(
        difference,
        difference - np.hypot(means[0] - low, high_second - means[1]),
        difference + np.hypot(high - means[0], means[1] - low_second),
        2 * norm.sf(abs(difference) / se),
        _alike(difference, se, margin),
    )


def _wilson(mean: float, n: float) -> tuple[float, float]:
    """Return Wilson's interval of a share of n answers; n is whole only where all lie in one cell."""
    return proportion_confint(mean * n, n, ALPHA, "wilson")


def _alike(difference: float, se: float, margin: float) -> float:
    return float(norm.sf((margin - abs(difference)) / se))
