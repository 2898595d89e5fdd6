"""What samples of an evaluation say together: accuracy, kinds of answers, cut-offs and capacity points as numbers.

A judged answer is a mapping with N, d, ratio_pct, rho, bucket, stopped (`endings.STOPS`, or None) and, where known, the
token counts prompt_tokens and response_tokens. Numbers that do not exist, or have no limit, are left out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from cogniload_repro.endings import CUT
from cogniload_repro.evaluation.adaptive import update
from cogniload_repro.evaluation.precision import CELLS, MEANS, variances
from cogniload_repro.robustness.uncertainty import POINTS, fit_quadratics, profile_interval
from cogniload_repro.scoring.cells import count_cells
from cogniload_repro.scoring.verdict import BUCKETS
from cogniload_repro.statistics.accuracy import accuracy_by
from cogniload_repro.statistics.design import GRID

_MODEL = "model"

Judged = Iterable[Mapping]


def count_answers(judged: Judged) -> pd.DataFrame:
    """Return judged answers counted by cell, as the cells table has them."""
    columns = ["N", "d", "ratio_pct", "rho", "bucket", "prompt_tokens", "response_tokens"]
    frame = pd.DataFrame([dict(one) for one in judged])
    frame = frame.reindex(columns=columns)
    tokens = frame[["prompt_tokens", "response_tokens"]].astype("float64")
    return count_cells(frame.assign(model=_MODEL, **tokens))


def measure_accuracy(judged: Judged) -> dict[str, float]:
    """Return accuracy (fraction) with its 90% Wilson interval, as the paper draws it (Appendix C)."""
    row = accuracy_by(count_answers(judged), _MODEL).iloc[0]
    return {"accuracy": row["accuracy"], "accuracy_low": row["low"], "accuracy_high": row["high"]}


def split_accuracy(judged: Judged) -> dict[str, float]:
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
    """Return the share of answers that were cut off, whatever they were scored as."""
    return {"cut_off": float(np.mean([one["stopped"] in CUT for one in judged]))}


def share_boxed(judged: Judged) -> dict[str, float]:
    """Return the share of overloaded queries whose last puzzle a box answers rightly, wherever the box stands.

    The document behind the overload counts so; verdicts are those of any response, by its end.
    """
    return {"boxed": float(np.mean([one["boxed"] for one in judged]))}


def locate_points(judged: Judged) -> dict[str, float]:
    """Return ECL50 (statements), NT50 (fraction) and ID50 (units of d), each with its 95% profile interval.

    The other loads are held at the means of the paper's grid, whichever cells were asked, so that points of all forms
    compare with the paper's. Nothing is returned where the answers admit no finite fit.
    """
    found: dict[str, float] = {}
    for quadratic in fit_quadratics(count_answers(judged)):
        quadratic = replace(quadratic, means=MEANS)
        for point in POINTS:
            ends = profile_interval(quadratic, point)
            numbers = dict(zip(("", "_low", "_high"), (quadratic.points[point], *ends), strict=True))
            for end, number in numbers.items():
                if np.isfinite(number):
                    found[point + end] = float(10**number if point == "ecl50" else number)
    return found


def equate_grid(judged: Judged) -> dict[str, float]:
    """Return how many puzzles spread evenly over the paper's grid would settle log10 ECL50 and ID50 as well.

    Under the likeliest curve, with what the paper's models say of one; nothing for answers in other cells.
    """
    cells = GRID.merge(count_answers(judged), on=["N", "d", "ratio_pct"], how="left").fillna({"total": 0, "correct": 0})
    asked, correct = (cells[name].to_numpy(float) for name in ("total", "correct"))
    if not (asked.any() and np.linalg.matrix_rank(CELLS[asked > 0]) == CELLS.shape[1]):
        return {}
    belief = update(asked, correct)
    even = variances(belief.mean[None], np.ones(len(CELLS)))[0] * len(CELLS)
    worth = even / variances(belief.mean[None], asked)[0]
    return {"grid_puzzles_ecl50": float(worth[0]), "grid_puzzles_id50": float(worth[1])}
