"""Formulas: what they may say, and that nothing else is ever evaluated."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.statistics.formulas import (
    COVARIATES,
    FUNCTIONS,
    build_design,
    expand_design,
    name_covariates,
    read_formula,
)

GRID = pd.DataFrame(
    [(c.N, c.d, float(c.ratio_pct), c.needles, c.rho) for c in PAPER_GRID],
    columns=["N", "d", "ratio_pct", "needles", "rho"],
)


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
        ("correct ~ C(d) - 1", 5),
        ("correct ~ 1", 1),
        ("correct ~ np.maximum(d - 3, 0) + I(N > 50)", 3),
        ("correct ~ poly(d, 3) + center(rho):scale(N)", 5),
    ],
)
def test_documented_formulas_have_columns(formula, columns):
    """Factors, splines, functions, products and formulas without intercept give one column a coefficient."""
    design, spec = build_design(GRID, formula)
    assert design.shape == (140, columns)
    assert np.array_equal(expand_design(GRID.iloc[3:9], spec), design.iloc[3:9])


@pytest.mark.parametrize(
    ("formula", "complaint"),
    [
        ("d + rho", "must read 'correct ~"),
        ("", "must read 'correct ~"),
        ("correct ~", "must read 'correct ~"),
        ("accuracy ~ d", "must read 'correct ~"),
        ("rho ~ correct", "must read 'correct ~"),
        ("log(correct) ~ d", "must read 'correct ~"),
        ("correct ~ tokens", "says 'tokens', which is neither a covariate"),
        ("correct ~ model", "says 'model'"),
        ("correct ~ correct", "says 'correct'"),
        ("correct ~ prompt_mean", "names prompt_mean; these cells have only d, N, log10_N"),
        ("correct ~ d +", "cannot be read"),
        ("correct ~ d + (rho", "cannot be read"),
        ("correct ~ I(rho**)", "cannot be read"),
        ("correct ~ d; import os", "cannot be read"),
        ("correct ~ 'a'", "cannot be read"),
        ("correct ~ .", "cannot be read"),
        ("correct ~ d ~ rho", "more than one right side"),
        ("correct ~ d | rho", "more than one right side"),
        ("correct ~ 0", "no term"),
        ("correct ~ np.log(d - 1)", "not finite"),
        ("correct ~ log(rho - 1)", "not finite"),
        ("correct ~ bs(rho, df=1)", "cannot be built"),
        ("correct ~ I(5**5**5)", "power that is not a number up to 6"),
        ("correct ~ bs(d, df=9999999)", r"asks bs\(\) for more than 20 columns"),
        ("correct ~ poly(d, 999999)", r"asks poly\(\) for more than 20 columns"),
        ("correct ~ (d + rho)**40", "power above 6"),
    ],
)
def test_a_formula_that_cannot_be_built_is_refused(formula, complaint):
    """The complaint is one line and quotes the formula."""
    with pytest.raises(ValueError, match=complaint) as refusal:
        build_design(GRID, formula)
    assert repr(formula) in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "part",
    [
        "I(__import__('os').mkdir({place!r}))",
        "I(open({place!r}, 'w'))",
        "I(().__class__.__base__.__subclasses__())",
        "I(np.os.mkdir({place!r}))",
        "np.save({place!r}, d)",
        "d.to_csv({place!r})",
        "I((lambda: open({place!r}, 'w'))())",
        "I([open(p, 'w') for p in [{place!r}]])",
        "I(f'{{d.to_csv({place!r})}}')",
        "{{open({place!r}, 'w')}}",
        "`d.to_csv`",
        "I(d if exec({place!r}) else d)",
        "I((x := d))",
        "bs(*d)",
        "C(d).to_csv({place!r})",
        "I(d[open({place!r}, 'w')])",
        "Q('d')",
        "hashed(d)",
        "I(eval)",
    ],
)
def test_nothing_but_arithmetic_is_evaluated(part, tmp_path):
    """Attributes, names, calls and expressions of other kinds are refused before anything happens."""
    place = tmp_path / "made"
    with pytest.raises(ValueError, match="formula"):
        build_design(GRID, "correct ~ d + " + part.format(place=str(place)))
    assert not place.exists()


@given(st.text(alphabet="dNrho0123456789 +-*/:^()[]{}`'\"~|.,;=_I\\\n", max_size=40))
def test_any_text_is_a_formula_or_a_sentence(text):
    """Whatever is typed gives a design of finite numbers or a ValueError of one line."""
    refusal = ""
    try:
        design, _ = build_design(GRID, f"correct ~ {text}")
        assert np.isfinite(design.to_numpy()).all()
    except ValueError as error:
        refusal = str(error)
    assert "\n" not in refusal


def test_named_covariates_are_found_inside_functions():
    """Names count wherever they stand, in the order of the documentation."""
    assert name_covariates("correct ~ C(N):d + np.log10(prompt_mean)") == ("d", "N", "prompt_mean")


def test_reading_evaluates_nothing():
    """A formula can be read without any cells."""
    assert len(list(read_formula("correct ~ d + bs(rho, df=1)"))) == 3


def test_the_page_documents_every_name_and_function():
    """book/edit-a-regression.md lists the covariates and the functions that exist, and no others."""
    page = (Path(__file__).parents[2] / "book" / "edit-a-regression.md").read_text("utf-8")
    names = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `") and "Formula" not in line]
    assert set(COVARIATES) <= set(names)
    words = page.partition("Functions: ")[2].partition("\n\n")[0].split("`")[1::2]
    assert sorted(word for word in words if word.endswith("()")) == sorted(f"{name}()" for name in FUNCTIONS)
