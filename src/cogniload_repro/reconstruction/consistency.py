"""Table 2 against the rows that Tables 4 to 6 imply: by number, by coding of rho, by place of missing puzzles."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.formats import stars
from cogniload_repro.models import Model
from cogniload_repro.published import load_printed
from cogniload_repro.reconstruction.sufficient import (
    BETAS,
    POINTS,
    Derived,
    derive_each,
    deviations,
    lattice_step,
    least_deviation,
    missing_ratios,
    on_lattice,
    puzzles_per_cell,
)
from cogniload_repro.statistics.capacity import capacity_points
from cogniload_repro.statistics.design import X


def compare_table2(derived: Iterable[Derived]) -> pd.DataFrame:
    """Compare each derived number with the printed text of Table 2; deviations are in half printed units."""
    printed, rows = load_printed("table2").set_index("model"), []
    for one in derived:
        name, own = one.model.name, printed.loc[one.model.name]
        off = deviations(name, one.beta, one.points)
        for beta, value, se in zip(BETAS, one.beta, one.se, strict=True):
            shown = stars(2 * norm.sf(abs(value / se)))
            rows.append((name, one.rule, beta, own[beta], value, se, off[beta], shown, own[f"{beta}_stars"]))
        for point in POINTS:
            rows.append((name, one.rule, point, own[point], one.points[point], np.nan, off[point], "", ""))
    columns = ["model", "rule", "quantity", "printed", "derived", "se", "deviation", "stars", "printed_stars"]
    return pd.DataFrame(rows, columns=columns)


def compare_codings(derived: Iterable[Derived]) -> pd.DataFrame:
    """Return how many models agree with each coding of rho.

    The sum of rho is a multiple of ``step``; of the ``complete`` models, ``possible`` have such a sum inside the
    rounding of AIC_linear (and ``by_chance`` would); ``rows`` of Table 2 follow.
    """
    derived, rows = list(derived), []
    for rule in dict.fromkeys(one.rule for one in derived):
        own, step = [one for one in derived if one.rule == rule], lattice_step(rule)
        complete = [one for one in own if not one.model.missing]
        chances = [min(1.0, (one.window[1] - one.window[0]) / float(step)) for one in complete]
        follow = sum(one.max_deviation <= 1 or least_deviation(one) <= 1 for one in own)
        rows.append((rule, str(step), len(complete), sum(map(on_lattice, complete)), sum(chances), len(own), follow,
                     max(one.max_deviation for one in own)))  # fmt: skip
    columns = ["rule", "step", "complete", "possible", "by_chance", "models", "rows", "max_deviation"]
    return pd.DataFrame(rows, columns=columns)


def missing_choices(model: Model) -> pd.DataFrame:
    """Return the ratios (%) that a model's missing puzzles can have had, best first, and the balanced design last.

    max_deviation is over the row of Table 2, in half printed units; max_deviation_weighted the same if capacity points
    were taken at means over the answers; possible: the sum of rho can be a multiple of its step.
    """
    rows = []
    whole = Model(model.name, model.label, model.family, model.puzzles_per_cell)
    cases = [*((model, choice) for choice in missing_ratios(model)), (whole, ())]
    for (full, choice), derived in zip(cases, derive_each(cases), strict=True):
        means = X[:, 1:4].T @ puzzles_per_cell(full, choice) / puzzles_per_cell(full, choice).sum()
        weighted = capacity_points(derived.beta, dict(zip(("d", "log10_N", "rho"), means, strict=True)))
        off = max(deviations(model.name, derived.beta, weighted).values())
        rows.append((choice, derived.max_deviation, off, on_lattice(derived)))
    frame = pd.DataFrame(rows, columns=["ratios", "max_deviation", "max_deviation_weighted", "possible"])
    best = frame.iloc[:-1].sort_values("max_deviation", kind="stable")
    return pd.concat([best, frame.iloc[-1:]], ignore_index=True)
