"""Regressions of all models as tidy tables, and their capacity points."""

import subprocess
import sys

import numpy as np
import pytest
from samples import three_models
from scipy.stats import norm

import cogniload_repro as cl
from cogniload_repro.analysis.uncertainty import capacity_intervals as intervals
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.fits import fit

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
from cogniload_repro.analysis.differences import judge_differences
from cogniload_repro.regression.paper_tables import aic_table
cells = cl.load_cells(models=["QwQ-32B", "DeepSeek-R1-Distill-Qwen-7B"])  # its p_LR is 0.04
row = cl.fit(cells).query("model == 'QwQ-32B'").iloc[1]
ecl50 = cl.intervals(cells).query("model == 'QwQ-32B' and point == 'ecl50'").iloc[0]
print(published.CONFIDENCE, round((row.high - row.low) / row.se, 3), judge_differences(0.03, 0.5))
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


def test_a_sample_is_fitted_as_itself():
    """Whatever the way to its counts, and never as the pooled samples."""
    formula = "correct ~ C(ratio_pct)"
    table = cl.load_reconstructions("QwQ-32B").query("reconstruction == 3")
    coef = cl.fit(table, formula)["coef"].to_numpy()
    by_hand = QWQ.assign(correct=table["correct"].to_numpy())
    assert cl.fit(by_hand, formula)["coef"].to_numpy() == pytest.approx(coef)
    share = table.groupby("ratio_pct")[["correct", "total"]].sum()
    odds = share["correct"] / (share["total"] - share["correct"])
    assert coef[0] == pytest.approx(np.log(odds.iloc[0]))
