"""Numbers of an evaluation: accuracy, capacity points, truncated answers and buckets."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from cogniload_repro.endings import CUT
from cogniload_repro.robustness.uncertainty import POINTS, fit_quadratics, profile_interval
from cogniload_repro.scoring.cells import count_cells
from cogniload_repro.scoring.verdict import BUCKETS
from cogniload_repro.statistics.accuracy import accuracy_by

_COLUMNS = ["N", "d", "ratio_pct", "rho", "bucket", "prompt_tokens", "response_tokens"]


def count_answers(judged: Iterable[Mapping]) -> pd.DataFrame:
    """Return judged answers counted by cell, as the cells table has them; their keys are columns of the scores."""
    frame = pd.DataFrame(list(judged)).reindex(columns=_COLUMNS)
    return count_cells(frame.astype({"prompt_tokens": "float64", "response_tokens": "float64"}).assign(model="model"))


def measure(judged: list[Mapping], chosen: bool = False) -> dict[str, float]:
    """Return all numbers of judged answers by name; those that do not exist, or have no limit, are left out.

    Accuracies, with the 90% Wilson interval of Appendix C and by load (``d=1``, ``rho=5%``), are fractions; of puzzles
    that were `chosen` they would say which ones. ECL50 (statements), NT50 (fraction) and ID50 (units of d) have their
    95% profile intervals, with the other loads at their means over the cells or, of chosen puzzles, the paper's grid.
    cut_off and the eight buckets (Appendix D.5) are shares of all answers, boxed is the share of overloaded queries
    with the last puzzle's answer in any box.
    """
    cells, answers, found = count_answers(judged), pd.DataFrame(judged), dict[str, float]()
    if not chosen:
        overall = accuracy_by(cells, "model").iloc[0]
        found |= {"accuracy": overall["accuracy"], "accuracy_low": overall["low"], "accuracy_high": overall["high"]}
        for column, pattern in (("d", "d={:g}"), ("N", "N={:g}"), ("ratio_pct", "rho={:g}%")):
            levels = accuracy_by(cells, column)
            found |= dict(zip(map(pattern.format, levels[column]), levels["accuracy"], strict=True))
    for quadratic in fit_quadratics(cells.assign(chosen=int(chosen))):
        for point in POINTS:
            numbers = (quadratic.points[point], *profile_interval(quadratic, point))
            for end, number in zip(("", "_low", "_high"), numbers, strict=True):
                if np.isfinite(number):
                    found[point + end] = float(10**number if point == "ecl50" else number)
    found["cut_off"] = float(answers["stopped"].isin(CUT).mean())
    found |= {bucket: float((answers["bucket"] == bucket).mean()) for bucket in BUCKETS}
    return found | ({"boxed": float(answers["boxed"].dropna().astype(float).mean())} if "boxed" in answers else {})
