"""Contrasts: weighted sums of correct answers, tested without a curve.

Tables 2 to 6 fix the sums of 1, rho and rho^2 over the correct answers, and the correct answers at
each N and at each d. A sum whose weights are a parabola in rho plus a number per level of N or d is
therefore the same in every table of counts that agrees with them.
"""

import numpy as np
import pandas as pd

from cogniload_repro.regression.glm import fit_finite


def u_contrasts(cells: pd.DataFrame, widest: bool = False) -> pd.DataFrame:
    """Test a fall and a rise of accuracy along rho.

    The weights of a fall are a parabola that opens upwards, add up to zero at each length and are
    not positive at the largest ratio. Where accuracy never falls, their sum is not positive. Those
    of a rise are not positive at the smallest ratio. Each parabola reaches zero at this end at one
    length.

    One row per model with a finite fit of the paper's regression: model (index), and z of the fall
    and of the rise. The variance is that of independent answers with the accuracies of the fit; the
    ``widest`` possible one has one half everywhere.
    """
    contrasts = pd.DataFrame(columns=["fall", "rise"], dtype=float)
    for fit in fit_finite(cells):
        accuracy = 0.5 if widest else fit.accuracy
        variance = fit.answers * accuracy * (1 - accuracy)
        for name, end in (("fall", "max"), ("rise", "min")):
            weights = slope_weights(fit.cells, end)
            error = np.sqrt(weights**2 @ variance)
            contrasts.loc[fit.model, name] = weights @ fit.correct / error
    return contrasts


def slope_weights(cells: pd.DataFrame, end: str) -> np.ndarray:
    """Return rho^2 - slope x rho less its mean at each N, zero or less at an end ("max", "min").

    The slope is that of the chord of rho^2 from this end to the mean, at the length that asks most.
    """
    answers = cells["total"]
    length = cells["N"]

    def mean(values: pd.Series) -> pd.Series:
        products = values * answers
        sums = products.groupby(length).transform("sum")
        return sums / answers.groupby(length).transform("sum")

    rho = cells["rho"]
    far = rho.groupby(length).transform(end)
    rise = far**2 - mean(rho**2)
    run = far - mean(rho)
    slope = (rise / run).agg(end)
    parabola = rho**2 - slope * rho
    return (parabola - mean(parabola)).to_numpy()


def trends(
    cells: pd.DataFrame,
    load: str,
    outcome: str = "correct",
) -> pd.Series:
    """Return z of the trend of an outcome's share over a load, by model (Cochran and Armitage)."""
    answers = cells["total"]
    levels = cells[load]
    counts = pd.DataFrame(
        {
            "answers": answers,
            "outcomes": cells[outcome],
            "load": answers * levels,
            "square": answers * levels**2,
            "product": cells[outcome] * levels,
        }
    )
    sums = counts.groupby(cells["model"]).sum()
    share = sums["outcomes"] / sums["answers"]
    trend = sums["product"] - share * sums["load"]
    spread = sums["square"] - sums["load"] ** 2 / sums["answers"]
    variance = share * (1 - share) * spread
    return trend / np.sqrt(variance)
