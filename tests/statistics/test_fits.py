"""Regressions of all models as tidy tables, and their capacity points."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from samples import PRODUCT, three_models
from scipy.stats import norm

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.uncertainty import capacity_intervals as intervals
from cogniload_repro.statistics.cell_tables import load_cells
from cogniload_repro.statistics.design import grid_means, many_points
from cogniload_repro.statistics.fits import _summarise_terms as summarise_terms
from cogniload_repro.statistics.fits import capacity_points, fit, spread_terms
from cogniload_repro.statistics.regression import LINEAR, QUADRATIC, fit_glm
from cogniload_repro.statistics.selection import compare_fits

CELLS = load_counts()
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]
THREE = three_models(CELLS)
SURE = THREE[THREE["model"] == "sure"]


def test_any_regression_comes_as_one_row_a_term():
    """`fit` lists every model and term with z = coef / se, and no numbers for a model without a fit."""
    table = fit(THREE, "correct ~ C(d) + rho")
    assert table.groupby("model", sort=False).size().tolist() == [6, 6, 6]
    fitted = table[table["status"] == "ok"]
    np.testing.assert_allclose(fitted["z"], fitted["coef"] / fitted["se"])
    np.testing.assert_allclose(fitted["p"], 2 * norm.sf(np.abs(fitted["z"])))
    np.testing.assert_allclose((fitted["high"] - fitted["low"]) / fitted["se"], 2 * norm.ppf(0.975))
    assert (
        table[table["model"] == "sure"][["coef", "se", "z", "p", "loglik", "aic"]]
        .isna()
        .all(axis=None)
    )


def test_a_covariate_that_one_model_lacks_is_its_status():
    """A model without known prompt lengths says so, and the others are fitted."""
    tokens = pd.concat([QWQ.assign(prompt_mean=40.0 * QWQ["N"]), SURE.assign(prompt_mean=np.nan)])
    table = fit(tokens, "correct ~ d + np.log10(prompt_mean)")
    assert table.groupby("model", sort=False)["status"].first().tolist() == ["ok", "no prompt_mean"]
    compared = compare_fits(tokens, "correct ~ d + np.log10(prompt_mean)")
    assert compared["status"].tolist() == ["ok", "no prompt_mean"]
    wide = spread_terms(table).set_index("model")
    assert [name for name in wide if name.startswith("beta_")] == [
        "beta_0",
        "beta_d",
        "beta_np.log10(prompt_mean)",
    ]
    assert wide.loc["sure"].drop("status").isna().all()


def test_fits_say_what_was_fitted_to_what():
    """Formula and family go with the table, through a subset too."""
    fits = fit(QWQ, LINEAR, "probit").query("term == 'd'")
    assert fits.attrs == {"formula": LINEAR, "family": "probit"}
    with pytest.raises(
        ValueError, match=r"does not say its formula \(\.attrs\); pass it as fit returned it"
    ):
        compare_fits(QWQ, pd.DataFrame(fits.to_dict("list")))


def test_capacity_points_are_those_of_the_coefficients():
    """One row a model; without a fit no number; a line in rho is a curve without bend."""
    points = capacity_points(fit(THREE), THREE)
    assert points["status"].tolist() == ["ok", "separation", "ok"]
    assert points.loc[1, ["ecl50", "nt50", "id50"]].isna().all()
    found = many_points(fit_glm(QWQ).coef[None], grid_means(QWQ))
    assert points.loc[0, ["nt50", "id50"]].tolist() == [found["nt50"][0], found["id50"][0]]
    assert np.log10(points.loc[0, "ecl50"]) == pytest.approx(found["ecl50"][0])
    linear = capacity_points(fit(QWQ, LINEAR), QWQ)
    beta = np.append(fit_glm(QWQ, LINEAR).coef, 0)
    assert linear["id50"].item() == many_points(beta[None], grid_means(QWQ))["id50"][0]


@pytest.mark.parametrize(
    ("formula", "family", "why"),
    [
        (PRODUCT, "logit", "not defined with the term d:log10_N"),
        (QUADRATIC, "cloglog", "not defined with the link"),
    ],
)
def test_other_regressions_have_no_capacity_points_and_say_why(formula, family, why):
    """Where other terms or another link move the crossing, no number is made up; a failed fit keeps its status."""
    points = capacity_points(fit(THREE, formula, family), THREE)
    assert points.filter(regex="50").isna().all(axis=None)
    assert points.filter(regex="50").shape[1] == 9
    assert [status.startswith(why) for status in points["status"]] == [True, False, True]
    assert points["status"].iloc[1] == "separation"


def test_cells_that_cannot_be_meant_are_refused():
    """Another model's cells, absent columns and what is no table are one sentence each."""
    fits = fit(QWQ)
    with pytest.raises(
        ValueError, match="the cells have no model QwQ-32B; pass the cells that were fitted"
    ):
        capacity_points(fits, SURE)
    with pytest.raises(
        ValueError, match="the fits have no column term, coef; pass them as fit returned them"
    ):
        capacity_points(fits.drop(columns=["coef", "term"]), QWQ)
    with pytest.raises(ValueError, match="the cells have no column rho; they have"):
        capacity_points(fits, QWQ.drop(columns="rho"))
    for nothing in (None, "fits.csv", {"term": "d"}):
        with pytest.raises(ValueError, match="is no table of fits; pass what fit returned"):
            capacity_points(nothing, QWQ)


def test_a_fit_that_fails_in_some_samples_has_no_numbers():
    """The status counts the failures; medians and ranges of the rest would be of other tables than it says."""
    each = pd.DataFrame(
        {"model": "m", "term": "d", "reconstruction": [1, 2, 3], "coef": [1.0, 2.0, np.nan]}
    )
    each = each.assign(se=0.1, p=0.5, total=9, loglik=-1.0, aic=2.0, bic=3.0, identified=False)
    row = summarise_terms(each.assign(status=["ok", "ok", "separation"])).iloc[0]
    assert row["status"] == "separation in 1 of 3 reconstructions"
    assert (
        row[["coef", "se", "low", "high", "aic", "coef_p10", "coef_p90", "p_p10", "p_p90"]]
        .isna()
        .all()
    )
    assert (row["model"], row["term"], row["total"]) == ("m", "d", 9)
    whole = summarise_terms(each.assign(status="ok", coef=[1.0, 2.0, 3.0])).iloc[0]
    assert whole[["coef", "coef_p10", "coef_p90"]].tolist() == pytest.approx([2, 1.2, 2.8])


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
from cogniload_repro.robustness.comparisons import judge
from cogniload_repro.statistics.paper_tables import aic_table
cells = cl.load_cells(models=["QwQ-32B", "DeepSeek-R1-Distill-Qwen-7B"])  # its p_LR is 0.04
row = cl.fit(cells).query("model == 'QwQ-32B'").iloc[1]
ecl50 = cl.intervals(cells).query("model == 'QwQ-32B' and point == 'ecl50'").iloc[0]
print(published.CONFIDENCE, round((row.high - row.low) / row.se, 3), judge(0.03, 0.5))
print(round(ecl50.profile_high - ecl50.profile_low, 1))
table6 = cl.tables.table6(aic_table(cells))
print(published.STARRED, table6.bold["p_lr"].all(), table6.caption)
"""


def test_our_level_moves_our_intervals_and_verdicts_and_not_the_papers_stars():
    """With ALPHA = 0.01 intervals are 99% wide and p = 0.03 shows no difference; bold type of Table 6 stays at 0.05."""
    run = subprocess.run(
        [sys.executable, "-c", _STRICTER], capture_output=True, text=True, check=True
    )
    ours, width, papers = run.stdout.splitlines()
    assert ours == f"99% {2 * norm.ppf(0.995):.3f} inconclusive"
    ecl50 = intervals(load_cells(models=["QwQ-32B"])).query("point == 'ecl50'").iloc[0]
    assert float(width) > 1.2 * (ecl50["profile_high"] - ecl50["profile_low"])
    assert papers.startswith("0.05 True ")
    assert papers.endswith("p_{LR} < 0.05$.")
