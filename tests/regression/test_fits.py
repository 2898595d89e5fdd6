"""Regressions of all models as tidy tables, and their capacity points."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from samples import PRODUCT, three_models
from scipy.stats import norm

from cogniload_repro.analysis.uncertainty import capacity_intervals as intervals
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.design import grid_means, many_points
from cogniload_repro.regression.fits import _summarise_terms as summarise_terms
from cogniload_repro.regression.fits import capacity_points, fit, spread_terms
from cogniload_repro.regression.glm import LINEAR, QUADRATIC, fit_glm
from cogniload_repro.regression.selection import compare_fits

CELLS = load_cells()
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]
THREE = three_models(CELLS)
SURE = THREE[THREE["model"] == "sure"]


def test_any_regression_comes_as_one_row_a_term():
    """`fit` lists every model and term; a model without a fit has no numbers."""
    table = fit(THREE, "correct ~ C(d) + rho")
    assert table.groupby("model", sort=False).size().tolist() == [6, 6, 6]
    is_sure = table["model"] == "sure"
    numbers = ["coef", "se", "z", "p", "loglik", "aic"]
    assert table.loc[is_sure, numbers].isna().all(axis=None)
    assert table.loc[~is_sure, numbers].notna().all(axis=None)


def test_tests_and_intervals_are_walds():
    """Scores are coefficients by standard errors; intervals miss in 5% of the cases."""
    table = fit(THREE, "correct ~ C(d) + rho").query("status == 'ok'")
    se = table["se"]
    np.testing.assert_allclose(table["z"], table["coef"] / se)
    np.testing.assert_allclose(table["p"], 2 * norm.sf(np.abs(table["z"])))
    width = table["high"] - table["low"]
    np.testing.assert_allclose(width / se, 2 * norm.ppf(0.975))


def test_a_covariate_that_one_model_lacks_is_its_status():
    """A model without known prompt lengths says so, and the others are fitted."""
    with_lengths = QWQ.assign(prompt_mean=40.0 * QWQ["N"])
    without = SURE.assign(prompt_mean=np.nan)
    cells = pd.concat([with_lengths, without])
    formula = "correct ~ d + np.log10(prompt_mean)"
    table = fit(cells, formula)
    statuses = table.groupby("model", sort=False)["status"].first()
    assert statuses.tolist() == ["ok", "no prompt_mean"]
    compared = compare_fits(cells, formula)
    assert compared["status"].tolist() == ["ok", "no prompt_mean"]
    wide = spread_terms(table).set_index("model")
    betas = wide.filter(regex="^beta_")
    assert list(betas) == ["beta_0", "beta_d", "beta_np.log10(prompt_mean)"]
    assert wide.loc["sure"].drop("status").isna().all()


def test_fits_say_what_was_fitted_to_what():
    """Formula and family go with the table, through a subset too."""
    fits = fit(QWQ, LINEAR, "probit").query("term == 'd'")
    assert fits.attrs == {"formula": LINEAR, "family": "probit"}
    without = pd.DataFrame(fits.to_dict("list"))
    message = "lacks its formula and family"
    with pytest.raises(ValueError, match=message):
        compare_fits(QWQ, without)


def test_capacity_points_are_those_of_the_coefficients():
    """One row a model; without a fit no number; a line in rho is a curve without bend."""
    points = capacity_points(fit(THREE), THREE)
    assert points["status"].tolist() == ["ok", "separation", "ok"]
    assert points.loc[1, ["ecl50", "nt50", "id50"]].isna().all()
    means = grid_means(QWQ)
    expected = many_points(fit_glm(QWQ).coef[None], means)
    assert points.loc[0, "nt50"] == expected["nt50"][0]
    assert points.loc[0, "id50"] == expected["id50"][0]
    assert np.log10(points.loc[0, "ecl50"]) == pytest.approx(expected["ecl50"][0])
    linear = capacity_points(fit(QWQ, LINEAR), QWQ)
    beta = np.append(fit_glm(QWQ, LINEAR).coef, 0)
    assert linear["id50"].item() == many_points(beta[None], means)["id50"][0]


@pytest.mark.parametrize(
    ("formula", "family", "why"),
    [
        (PRODUCT, "logit", "not defined with the term d:log10_N"),
        (QUADRATIC, "cloglog", "not defined with the link"),
    ],
)
def test_other_regressions_have_no_capacity_points_and_say_why(formula, family, why):
    """Other terms or another link move the crossing; a failed fit keeps its status."""
    points = capacity_points(fit(THREE, formula, family), THREE)
    loads = points.filter(regex="50")
    assert loads.isna().all(axis=None)
    assert loads.shape[1] == 9
    assert [status.startswith(why) for status in points["status"]] == [
        True,
        False,
        True,
    ]
    assert points["status"].iloc[1] == "separation"


def test_cells_that_cannot_be_meant_are_refused():
    """Another model's cells, absent columns and what is no table are one sentence each."""
    fits = fit(QWQ)
    message = "the cells have no model QwQ-32B; pass the cells that were fitted"
    with pytest.raises(ValueError, match=message):
        capacity_points(fits, SURE)
    with pytest.raises(ValueError, match="the cells have no column rho; they have"):
        capacity_points(fits, QWQ.drop(columns="rho"))
    for nothing in (None, "fits.csv", fits.drop(columns="coef")):
        with pytest.raises(ValueError, match="is not a table of fits, or"):
            capacity_points(nothing, QWQ)


#: A term in three samples, without coefficient and status.
SAMPLES = pd.DataFrame(
    {
        "model": "m",
        "term": "d",
        "reconstruction": [1, 2, 3],
        "se": 0.1,
        "p": 0.5,
        "total": 9,
        "loglik": -1.0,
        "aic": 2.0,
        "bic": 3.0,
        "identified": False,
    }
)


def test_a_fit_that_fails_in_some_samples_has_no_numbers():
    """The status counts the failures; the others would give numbers of a part of the samples."""
    failed = SAMPLES.assign(coef=[1.0, 2.0, np.nan], status=["ok", "ok", "separation"])
    row = summarise_terms(failed).iloc[0]
    assert row["status"] == "separation in 1 of 3 reconstructions"
    numbers = [
        "coef",
        "se",
        "low",
        "high",
        "aic",
        "coef_p10",
        "coef_p90",
        "p_p10",
        "p_p90",
    ]
    assert row[numbers].isna().all()
    assert row[["model", "term", "total"]].tolist() == ["m", "d", 9]


def test_a_fit_that_exists_in_all_samples_has_median_and_range():
    """The quantiles are those of the samples."""
    row = summarise_terms(SAMPLES.assign(coef=[1.0, 2.0, 3.0], status="ok")).iloc[0]
    assert row[["coef", "coef_p10", "coef_p90"]].tolist() == pytest.approx(
        [2, 1.2, 2.8]
    )


#: With ALPHA = 0.01, what follows it and what the paper's own stars decide.
_STRICTER = """
import sys
from importlib.util import find_spec, module_from_spec
from pathlib import Path
spec = find_spec("cogniload_repro.published")
published = sys.modules[spec.name] = module_from_spec(spec)
source = Path(spec.origin).read_text("utf-8")
assert source.count("ALPHA = 0.05") == 1
exec(source.replace("ALPHA = 0.05", "ALPHA = 0.01"), vars(published))

import cogniload_repro as cl
from cogniload_repro.analysis.comparisons import judge_difference
from cogniload_repro.regression.paper_tables import aic_table
cells = cl.load_cells(models=["QwQ-32B", "DeepSeek-R1-Distill-Qwen-7B"])  # its p_LR is 0.04
row = cl.fit(cells).query("model == 'QwQ-32B'").iloc[1]
ecl50 = cl.intervals(cells).query("model == 'QwQ-32B' and point == 'ecl50'").iloc[0]
print(published.CONFIDENCE, round((row.high - row.low) / row.se, 3), judge_difference(0.03, 0.5))
print(round(ecl50.profile_high - ecl50.profile_low, 1))
table6 = cl.tables.table6(aic_table(cells))
print(published.STARRED, table6.bold["p_lr"].all(), table6.caption)
"""


def test_our_level_moves_our_intervals_and_verdicts_and_not_the_papers_stars():
    """With ALPHA = 0.01 intervals have 99%; bold type of Table 6 stays at 0.05."""
    program = [sys.executable, "-c", _STRICTER]
    run = subprocess.run(program, capture_output=True, text=True, check=True)
    level, width, table6 = run.stdout.splitlines()
    assert level == f"99% {2 * norm.ppf(0.995):.3f} inconclusive"
    points = intervals(load_cells(models=["QwQ-32B"])).set_index("point")
    ecl50 = points.loc["ecl50"]
    assert float(width) > 1.2 * (ecl50["profile_high"] - ecl50["profile_low"])
    assert table6.startswith("0.05 True ")
    assert table6.endswith("p_{LR} < 0.05$.")
