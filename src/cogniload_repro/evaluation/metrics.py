"""Numbers of an evaluation: accuracy, buckets, truncated answers and capacity points.

A judged answer is a mapping with N, d, ratio_pct, rho, bucket, stopped (`endings.STOPS`, or None) and, where known, the
token counts prompt_tokens and response_tokens. Numbers that do not exist, or have no limit, are left out.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from cogniload_repro.endings import CUT
from cogniload_repro.robustness.uncertainty import POINTS, fit_quadratics, profile_interval
from cogniload_repro.scoring.cells import count_cells
from cogniload_repro.scoring.verdict import BUCKETS
from cogniload_repro.statistics.accuracy import accuracy_by

Judged = Iterable[Mapping]
_COLUMNS = ["N", "d", "ratio_pct", "rho", "bucket", "prompt_tokens", "response_tokens"]


def count_answers(judged: Judged) -> pd.DataFrame:
    """Return judged answers counted by cell, as the cells table has them."""
    frame = pd.DataFrame([dict(one) for one in judged]).reindex(columns=_COLUMNS)
    return count_cells(frame.astype({"prompt_tokens": "float64", "response_tokens": "float64"}).assign(model="model"))


def measure_all(judged: Judged, chosen: bool = False) -> dict[str, float]:
    """Return all numbers; accuracies of puzzles that were `chosen` would say which ones."""
    averaged = {} if chosen else measure_accuracy(judged) | accuracy_by_load(judged)
    return averaged | locate_points(judged, chosen) | share_cut(judged) | share_buckets(judged) | share_boxed(judged)


def measure_accuracy(judged: Judged) -> dict[str, float]:
    """Return accuracy (fraction) with its 90% Wilson interval, as the paper draws it (Appendix C)."""
    row = accuracy_by(count_answers(judged), "model").iloc[0]
    return {"accuracy": row["accuracy"], "accuracy_low": row["low"], "accuracy_high": row["high"]}


def accuracy_by_load(judged: Judged) -> dict[str, float]:
    """Return accuracies (fractions) by one load after another, with the nominal ratio in %: ``d=1``, ``rho=5%``."""
    cells, found = count_answers(judged), {}
    for column, pattern in (("d", "d={:g}"), ("N", "N={:g}"), ("ratio_pct", "rho={:g}%")):
        for row in accuracy_by(cells, column).to_dict("records"):
            found[pattern.format(row[column])] = row["accuracy"]
    return found


def share_buckets(judged: Judged) -> dict[str, float]:
    """Return the share of each of the eight buckets (Appendix D.5) among all answers."""
    buckets = pd.Series([one["bucket"] for one in judged])
    return {bucket: float((buckets == bucket).mean()) for bucket in BUCKETS}


def share_cut(judged: Judged) -> dict[str, float]:
    """Return the share of truncated answers, whatever they were scored as."""
    return {"cut_off": float(np.mean([one["stopped"] in CUT for one in judged]))}


def share_boxed(judged: Judged) -> dict[str, float]:
    """Return the share of overloaded queries with the last puzzle's answer in any box; nothing for other queries."""
    boxed = [one["boxed"] for one in judged if "boxed" in one]
    return {"boxed": float(np.mean(boxed))} if boxed else {}


def locate_points(judged: Judged, chosen: bool = False) -> dict[str, float]:
    """Return ECL50 (statements), NT50 (fraction) and ID50 (units of d), each with its 95% profile interval.

    The same numbers as in the book: the other loads are held at their means over the cells asked or, for a form whose
    puzzles were chosen, over the paper's grid. Nothing is returned where the answers admit no finite fit.
    """
    found: dict[str, float] = {}
    for quadratic in fit_quadratics(count_answers(judged).assign(chosen=int(chosen))):
        for point in POINTS:
            numbers = (quadratic.points[point], *profile_interval(quadratic, point))
            for end, number in zip(("", "_low", "_high"), numbers, strict=True):
                if np.isfinite(number):
                    found[point + end] = float(10**number if point == "ecl50" else number)
    return found
