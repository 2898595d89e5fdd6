"""Formulas: what they may say, and that nothing else is ever evaluated."""

import contextlib
import re
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.formulas import (
    COVARIATES,
    FUNCTIONS,
    build_design,
    expand_design,
    name_covariates,
    read_formula,
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
        ("correct ~ cr(rho, df=3, constraints='center') + poly(d, degree=2, raw=True)", 6),
        ("correct ~ bs(rho, knots=[0.2, 0.6], degree=2, include_intercept=False)", 5),
        ("correct ~ I((d > 3) & (N <= 100)) + I(-d // 2 % 3)", 3),
        ("correct ~ (d + N + rho + needles)**3", 15),
    ],
)
def test_documented_formulas_have_columns(formula, columns):
    """Factors, splines, functions, products and formulas without intercept give one column a coefficient."""
    design, spec = build_design(GRID, formula)
    assert design.shape == (140, columns)
    assert np.array_equal(expand_design(GRID.iloc[3:9], spec), design.iloc[3:9])


#: What formulas are refused for, and formulas that are.
REFUSED = {
    "must read 'correct ~": [
        "d + rho", "", "correct ~", "accuracy ~ d", "rho ~ correct", "log(correct) ~ d",
    ],
    "more than one right side": [
        "correct ~ d ~ rho", "correct ~ d | rho",
    ],
    "cannot be read": [
        "correct ~ d +", "correct ~ d + (rho", "correct ~ I(rho**)", "correct ~ d; import os", "correct ~ 'a'",
        "correct ~ .", "correct ~ (d + rho)**N", "correct ~ d" + "+d" * 2000,
    ],
    "names prompt_mean; these cells have only d, N, log10_N": [
        "correct ~ prompt_mean",
    ],
    "no term": [
        "correct ~ 0", "correct ~ np.log(d - 1)", "correct ~ log(rho - 1)",
    ],
    "cannot be built": [
        "correct ~ bs(rho, df=1)",
    ],
    "a power is a covariate's, by a number up to 6": [
        "correct ~ I(5**5**5)", "correct ~ I(" + "(" * 30 + "9**6" + ")**6" * 30 + ")", "correct ~ I(d * 9**6)",
    ],
    "power above 6": [
        "correct ~ (d + rho)**40",
    ],
    "multiplies out to more than 20,000 terms": [
        "correct ~ " + "*".join(f"I(d+{n})" for n in range(24)),
        "correct ~ (" + "+".join(f"I(d+{n})" for n in range(60)) + ")**6", "correct ~ ((((d+rho)**6)**6)**6)**6",
    ],
    "use at most 5,000": [
        "correct ~ " + "(" * 2400 + "d" + ")" * 2400 + "+d" * 99 + " " * 200,
    ],
    "no arithmetic": [
        "correct ~ I(1 << 999999999)", "correct ~ I(d @ d)", "correct ~ I(d in [1])",
    ],
    "neither a covariate": [
        "correct ~ tokens", "correct ~ model", "correct ~ correct", "correct ~ I([0] * 3 * 10)",
        "correct ~ I((d, d))", "correct ~ d + I(rho + (1=='`<img src=x>`'))", "correct ~ I('a' * 10)",
        "correct ~ I(None)", "correct ~ I(True)", "correct ~ I(1j*d)", "correct ~ I(...)",
    ],
    "and as options": [
        "correct ~ bs(d, df=9999999)", "correct ~ poly(d, 999999)", "correct ~ np.exp(rho, where=False)",
        "correct ~ C(d, levels=[1, 3])", "correct ~ scale(d, ddof=99)", "correct ~ bs(rho, df=10*10*10)",
        "correct ~ bs(rho, df=4, _state={})", "correct ~ bs(rho, df=4.0)",
        "correct ~ bs(rho, df=-4)", "correct ~ bs(rho, df=0)", "correct ~ d + bs(rho, degree=0)",
        "correct ~ d + poly(d, 0)", "correct ~ poly(d, 10*10)", "correct ~ poly(d, d)",
        "correct ~ bs(rho, knots=" + str([n / 99 for n in range(1, 60)]) + ")", "correct ~ bs(rho, knots=[N])",
        "correct ~ bs(rho, 4, extrapolation='`x`')", "correct ~ cr(rho, df=4, constraints='none')",
        "correct ~ bs(d, **d)", "correct ~ np.exp(rho, d)", "correct ~ np.maximum(rho, d, N)",
        "correct ~ np.maximum(rho)", "correct ~ log()", "correct ~ C(d, contr.treatment)", "correct ~ center(d, {})",
        "correct ~ poly(d, 2, False)",
    ],
    "inside of something else": [
        "correct ~ I(bs(d, 20)):I(bs(rho, 20)):I(bs(N, 20))", "correct ~ center(poly(d, 4))", "correct ~ C(C(d))",
    ],
    "columns; use at most 1,000": [
        "correct ~ bs(d, 20):bs(rho, 20):bs(N, 20)", "correct ~ C(N):C(d):C(ratio_pct):C(needles)",
    ],
    "has a comment": [
        "correct ~ I(rho**2 # not rho**3\n)",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("complaint", "formula"), [(complaint, formula) for complaint, formulas in REFUSED.items() for formula in formulas]
)
def test_a_formula_that_cannot_be_built_is_refused(complaint, formula):
    """The complaint is one line, quotes the formula and says what kind of thing is wrong."""
    with pytest.raises(ValueError, match=re.escape(complaint)) as refusal:
        build_design(GRID, formula)
    assert repr(formula)[:60] in str(refusal.value)
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


def test_what_would_take_for_ever_is_refused_at_once():
    """Terms are counted before they are multiplied out: each refusal comes long before they would be."""
    parts = [f"I(d+{number})" for number in range(60)]
    for bomb in ("*".join(parts[:24]), "/".join(parts), f"({'+'.join(parts)})**6", " %in% ".join(parts)):
        start = time.monotonic()
        with contextlib.suppress(ValueError):
            read_formula(f"correct ~ {bomb}")
        assert time.monotonic() - start < 20, bomb


def test_a_design_fits_into_memory():
    """The more rows a table has, the fewer columns a formula may ask for."""
    many = pd.concat([GRID] * 300, ignore_index=True)
    build_design(many, "correct ~ C(d):C(ratio_pct)")
    with pytest.raises(ValueError, match="columns; use at most 476"):
        build_design(many, "correct ~ C(d):C(ratio_pct):bs(rho, df=20)")


def test_whole_numbers_do_not_overflow():
    """A power beyond what integers hold has its value, not what is left of its bits."""
    design, spec = build_design(GRID, "correct ~ I(N**6 * N**6)")
    assert design.iloc[:, 1].to_numpy() == pytest.approx(GRID["N"].astype(float) ** 12)
    assert np.array_equal(expand_design(GRID, spec), design)


def test_levels_of_factors_are_called_as_they_are_written():
    """Terms of whole levels have no decimals."""
    design, _ = build_design(GRID, "correct ~ C(d) + C(ratio_pct) + C(rho):N")
    assert "C(d)[T.3]" in design
    assert "C(ratio_pct)[T.95]" in design
    assert "C(rho)[0.05]:N" in design


def test_a_level_that_the_fit_does_not_know_is_no_other_level():
    """It was counted as the reference before; now it is refused."""
    _, spec = build_design(GRID[GRID["d"] < 5], "correct ~ C(d)")
    with pytest.raises(ValueError, match="the fit does not reach all of these cells"):
        expand_design(GRID, spec)


@pytest.mark.filterwarnings("error")
def test_libraries_do_not_warn_the_reader():
    """What a formula is refused for is said in one sentence, and what it is not refused for needs none."""
    for formula in ("correct ~ C(d) + np.log(rho)", "correct ~ cr(d, df=4) - 1", "correct ~ np.log(d - 1)"):
        with contextlib.suppress(ValueError):
            build_design(GRID, formula)


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
    """Names count wherever they stand, in the order of the documentation; nothing is evaluated for it."""
    assert name_covariates("correct ~ C(N):d + np.log10(prompt_mean)") == ("d", "N", "prompt_mean")


def test_the_page_documents_every_name_and_function():
    """book/edit-a-regression.md lists the covariates and the functions that exist, and no others."""
    page = (Path(__file__).parents[2] / "book" / "edit-a-regression.md").read_text("utf-8")
    names = {name for line in page.splitlines() if line.startswith("| `") for name in line.split("`")[1::2]}
    assert set(COVARIATES) <= names
    words = page.partition("Functions: ")[2].partition("\n\n")[0].split("`")[1::2]
    assert {word for word in words if word.endswith("()")} == {f"{name}()" for name in FUNCTIONS}
