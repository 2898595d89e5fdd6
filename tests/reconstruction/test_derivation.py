"""Table 2 from Tables 4 to 6."""

from fractions import Fraction

import numpy as np
import pytest

from cogniload_repro.models import BY_NAME, MODELS
from cogniload_repro.published import load_table
from cogniload_repro.reconstruction.derivation import (
    BETAS,
    HALF_UNITS,
    POINTS,
    RULES,
    derive_all,
    derive_each,
    deviations,
    lattice_step,
    least_deviation,
    missing_ratios,
    needle_shares,
)
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.paper_tables import glm_table


@pytest.mark.parametrize("rule", RULES)
def test_shares_lie_on_the_lattice_and_on_none_coarser(rule):
    """Every share is a whole number of steps, and those numbers have no common divisor."""
    steps = [share / lattice_step(rule) for share in needle_shares(rule)]
    assert all(step.denominator == 1 for step in steps)
    assert np.gcd.reduce([int(step) for step in steps]) == 1


def test_readings_of_rho():
    """The two rounding rules differ at exact halves alone; the nominal reading is the ratio itself."""
    paper, port, nominal = (needle_shares(rule) for rule in RULES)
    for N, ratio, up, even, share in zip(GRID["N"], GRID["ratio_pct"], paper, port, nominal, strict=True):
        exact = Fraction(int(N) * int(ratio), 100)
        half = exact % 1 == Fraction(1, 2)
        assert up == (exact + Fraction(1, 2)) / N if half else abs(up * N - exact) < Fraction(1, 2)
        assert even == up or (half and even == (exact - Fraction(1, 2)) / N)
        assert share == Fraction(int(ratio), 100)
    assert paper != port
    with pytest.raises(ValueError, match="unknown coding 'up' of rho; codings are half-up, half-even, nominal"):
        needle_shares("up")


def test_derived_rows_are_those_of_the_reconstructed_answers():
    """In the reconstructed counts statsmodels finds the rows derived from the tables, to the AICs' rounding."""
    fits = glm_table(load_counts()).set_index("model")
    rows = derive_all("half-up")
    for one in rows:
        own = fits.loc[one.model.name]
        assert one.beta == pytest.approx(own[list(BETAS)].to_numpy(float), abs=HALF_UNITS["beta_rho"])
        errors = own[[name.replace("beta", "se") for name in BETAS]].to_numpy(float)
        assert one.se == pytest.approx(errors, rel=0.002)
    assert len(rows) == len(MODELS)


def test_one_row_disagrees_and_no_other():
    """With the paper's rounding one model alone has a row that the AICs' rounding does not allow."""
    differing = [one.model.name for one in derive_all("half-up") if least_deviation(one) > 1]
    assert differing == ["DeepSeek-R1-Distill-Qwen-32B"]


def test_favourable_rounding_mends_little():
    """The least deviation is no larger than the other, and not far below it where the AICs are sharp."""
    one = derive_each([(BY_NAME["QwQ-32B"], ())], "nominal")[0]
    assert 1 < least_deviation(one) <= one.max_deviation < least_deviation(one) + 0.2


def test_ways_to_miss_puzzles():
    """Two puzzles of one condition are missed in 28 ways, two of different ones in 49, none in one."""
    counts = {name: len(missing_ratios(BY_NAME[name])) for name in ("Qwen3-1.7B", "o3-2025-04-16", "QwQ-32B")}
    assert counts == {"Qwen3-1.7B": 28, "o3-2025-04-16": 49, "QwQ-32B": 1}


def test_a_threshold_where_none_is_printed_deviates_without_bound():
    """The printed coefficients of a row lead back to it; a missing NT50 is no small deviation, but two missing are."""
    row = load_table("table2").set_index("model").loc["QwQ-32B"]
    beta, points = row[list(BETAS)].to_numpy(float), row[list(POINTS)].to_dict()
    assert max(deviations("QwQ-32B", beta, points).values()) == 0
    assert deviations("QwQ-32B", beta, points | {"nt50": np.nan})["nt50"] == np.inf
    without = load_table("table2").query("nt50.isna()").iloc[0]
    assert deviations(without["model"], without[list(BETAS)], without[list(POINTS)].to_dict())["nt50"] == 0
