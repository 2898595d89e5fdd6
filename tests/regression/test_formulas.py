"""Formulas: the columns that they stand for, and what would silently be another regression."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.formulas import build_design


@pytest.mark.parametrize(
    ("formula", "columns"),
    [
        ("correct ~ d + rho", 3),
        ("correct~np.sqrt(rho)+N", 3),
        ("correct ~ C(d) + bs(rho, df=4)", 9),
        ("correct ~ cr(rho, df=4) - 1", 4),
        ("correct ~ ratio_pct * needles", 4),
        ("correct ~ np.log(N) + log10(N)", 3),
        ("correct ~ (d + log10_N + rho)**2 + I(rho**2)", 8),
        ("correct ~ d * log10_N * rho + I(rho**2) - d:rho", 8),
        ("correct ~ C(d) - 1", 5),
        ("correct ~ 1", 1),
        ("correct ~ I((d > 3) * (d - 3)) + I(N > 50)", 3),
        ("correct ~ poly(d, 3) + center(rho):scale(N)", 5),
        ("correct ~ C(d):d + d", 6),
        ("correct ~ C(ratio_pct)", 7),
        ("correct ~ sqrt(N) + exp(rho)", 3),
        ("correct ~ C(d, levels=[5, 1, 3, 7, 10])", 5),
        ("correct ~ bs(rho, knots=[0.25, 0.5])", 6),
    ],
)
def test_documented_formulas_have_columns(formula, columns):
    """Factors, splines, functions and products give one column a coefficient."""
    design = build_design(GRID, formula)
    assert design.x.shape == (140, columns)
    assert np.array_equal(design.expand(GRID.iloc[3:9]), design.x[3:9])


#: What formulas are refused for, and formulas that are.
REFUSED = {
    "must read 'correct ~": [
        "d + rho",
        "",
        "correct ~",
        "accuracy ~ d",
        "rho ~ correct",
        "log(correct) ~ d",
    ],
    "no term": ["correct ~ 0", "correct ~ np.log(d - 1)", "correct ~ log(rho - 1)"],
    "cannot be built": [
        "correct ~ d ~ rho",
        "correct ~ d | rho",
        "correct ~ d +",
        "correct ~ d + (rho",
        "correct ~ I(rho**)",
        "correct ~ d; import os",
        "correct ~ (d + rho)**N",
        "correct ~ bs(rho, df=1)",
        "correct ~ prompt_mean",
        "correct ~ C(d, levels=[1, 3])",
    ],
    "write I(rho**2)": [
        "correct ~ d + log10_N + rho + rho**2",
        "correct ~ rho^2",
    ],
    "write I(d**3)": ["correct ~ d**3 + rho"],
}


@pytest.mark.parametrize(
    ("complaint", "formula"),
    [
        (complaint, formula)
        for complaint, formulas in REFUSED.items()
        for formula in formulas
    ],
)
def test_a_formula_that_would_be_another_or_none_is_refused(complaint, formula):
    """The complaint is one line, quotes the formula and says what kind of thing is wrong."""
    with pytest.raises(ValueError, match=re.escape(complaint)) as refusal:
        build_design(GRID, formula)
    assert repr(formula) in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("term", ["factor(d)", "C(d, ref=3)", "relevel(d, 3)"])
def test_a_formula_of_r_is_refused_with_the_way_to_a_reference_level(term):
    """The form in the message is that of treatment contrasts."""
    with pytest.raises(ValueError, match="with 3 as the reference") as caught:
        build_design(GRID, f"correct ~ {term}")
    advised = re.search(r"C\(d, levels=\[.*?\]\)", str(caught.value))[0]
    expected = build_design(GRID, "correct ~ C(d, Treatment(reference=3))").x
    np.testing.assert_array_equal(
        build_design(GRID, f"correct ~ {advised}").x, expected
    )


def test_levels_of_factors_are_called_as_they_are_written():
    """Terms of whole levels have no decimals."""
    design, _ = build_design(GRID, "correct ~ C(d) + C(ratio_pct) + C(rho):N")
    assert {"C(d)[T.3]", "C(ratio_pct)[T.95]", "C(rho)[0.05]:N"} <= set(design)


def test_a_level_that_the_fit_does_not_know_is_no_other_level():
    """It is refused, not counted as the reference."""
    design = build_design(GRID[GRID["d"] < 5], "correct ~ C(d)")
    with pytest.raises(ValueError, match="the fit does not cover these cells"):
        design.expand(GRID)


@pytest.mark.filterwarnings("error")
@given(st.text(alphabet="dNrho012 +-*/:^()[]{}`'\"~|.,;=_I\\\n", max_size=40))
def test_any_text_is_a_formula_or_a_sentence(text):
    """Whatever is typed gives a design of finite numbers or a ValueError of one line."""
    refusal = ""
    try:
        design, _ = build_design(GRID, f"correct ~ {text}")
        assert np.isfinite(design.to_numpy()).all()
    except ValueError as error:
        refusal = str(error)
    assert "\n" not in refusal
