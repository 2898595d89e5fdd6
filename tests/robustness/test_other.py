"""Comparisons across models: heterogeneity of their coefficients, and accuracy against size and date."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit
from scipy.stats import linregress, t

from cogniload_repro.models import BY_NAME, NAMES
from cogniload_repro.published import load_facts
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.other import heterogeneity_table, place_models, relate_scale
from cogniload_repro.robustness.uncertainty import fit_quadratics

CELLS = load_counts()


def restricted_likelihood(tau2, beta, variance):
    """Minus the restricted log-likelihood of a random-effects model, from scratch."""
    weight = 1 / (variance + tau2)
    mean = weight @ beta / weight.sum()
    return (np.log(variance + tau2).sum() + np.log(weight.sum()) + weight @ (beta - mean) ** 2) / 2


def test_tau_solves_its_equation_and_agrees_with_another_estimator():
    """At Paule and Mandel's tau Cochran's Q equals its degrees of freedom; REML by hand is within a tenth of it."""
    table = heterogeneity_table(CELLS).set_index("term")
    fits = fit_quadratics(CELLS)
    for term, column in (("d", 1), ("N", 2), ("rho", 3), ("rho2", 4)):
        beta, variance = (np.array([getattr(one.fit, name)[column] for one in fits]) for name in ("coef", "se"))
        variance, tau2 = variance**2, table.loc[term, "tau"] ** 2
        weight = 1 / (variance + tau2)
        mean = weight @ beta / weight.sum()
        assert weight @ (beta - mean) ** 2 == pytest.approx(21, rel=1e-3)
        assert table.loc[term, "mean"] == pytest.approx(mean)
        reml = minimize_scalar(restricted_likelihood, args=(beta, variance), bounds=(0, 20), method="bounded").x
        assert np.sqrt(reml) == pytest.approx(table.loc[term, "tau"], rel=0.1)
        fixed = 1 / variance
        q = fixed @ (beta - fixed @ beta / fixed.sum()) ** 2
        assert table.loc[term, ["q", "i2"]].tolist() == pytest.approx([q, 1 - 21 / q])
    assert table.loc["N", "relative"] > 0.6
    assert table.loc["N", "span"] == pytest.approx(table.loc["N", "tau"] * np.log10(12.5))


def test_one_slope_for_all_has_no_heterogeneity():
    """Models drawn from one regression have a small tau and no negative share; one model alone has no rows."""
    (quadratic,) = fit_quadratics(CELLS[CELLS["model"] == "QwQ-32B"])
    rng, own = np.random.default_rng(5), CELLS[CELLS["model"] == "QwQ-32B"]
    drawn = [own.assign(model=f"m{number}", correct=rng.binomial(100, quadratic.accuracy)) for number in range(20)]
    table = heterogeneity_table(pd.concat(drawn)).set_index("term")
    assert table.loc["N", "tau"] < 0.05
    assert table["i2"].between(0, 0.6).all()
    assert heterogeneity_table(own).empty


def test_every_model_has_a_date_and_a_source():
    """Sizes are given for the models with open weights and a hundred puzzles a cell; dates agree with names."""
    facts = load_facts().set_index("model")
    assert list(facts.index) == list(NAMES)
    assert facts["source"].str.len().min() > 0
    sized = {name for name, model in BY_NAME.items() if model.puzzles_per_cell == 100}
    assert set(facts.index[facts["parameters_billion"].notna()]) == sized
    assert f"{facts.loc['gpt-5-2025-08-07', 'released']:%Y-%m-%d}" == "2025-08-07"


def test_a_doubling_is_a_step_with_students_interval():
    """The slope and its 95% interval, from Student's t with 11 degrees of freedom, are those of scipy's regression."""
    placed = place_models(CELLS)
    known = placed[placed["parameters_billion"].notna()]
    line = linregress(np.log2(known["parameters_billion"]), known["log_odds"])
    row = relate_scale(placed).iloc[0]
    share = CELLS.query("model == 'QwQ-32B'")["correct"].sum() / 14_000
    assert expit(placed.set_index("model").loc["QwQ-32B", "log_odds"]) == pytest.approx(share)
    assert row["models"] == 13
    reach = t.ppf(0.975, 11) * line.stderr
    assert row[["slope", "low", "high"]].tolist() == pytest.approx([line.slope, line.slope - reach, line.slope + reach])


def test_strangers_have_no_facts():
    """Models that the paper does not have are not placed, and too few leave nothing to relate."""
    mine = CELLS[CELLS["model"] == "QwQ-32B"].assign(model="mine")
    assert place_models(mine).empty
    assert relate_scale(place_models(mine)).empty
    assert set(place_models(pd.concat([CELLS, mine]))["model"]) == set(NAMES)
