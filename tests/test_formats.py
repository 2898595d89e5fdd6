"""Numbers in printed form."""

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro import formats
from cogniload_repro.published import load_printed, load_table

#: The functions that print each column of each table.
PRINTED = {
    formats.format_beta: {
        "table2": ["beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2"],
        "table3": ["beta_dN", "beta_drho", "beta_Nrho", "beta_dNrho"],
    },
    formats.format_ecl50: {
        "table2": ["ecl50"],
    },
    formats.format_point: {
        "table2": ["nt50", "id50"],
    },
    formats.format_p: {
        "table3": ["p_dN", "p_drho", "p_Nrho", "p_dNrho"],
    },
    formats.format_count: {
        "table4": ["samples", "acc_pct", "ctx"],
    },
    formats.format_thousandths: {
        "table6": ["p_lr", "aic_linear", "aic_quadratic"],
    },
}


@pytest.mark.parametrize("form", PRINTED, ids=lambda form: form.__name__)
def test_printed_numbers_are_fixed_points(form):
    """Every string that the paper prints comes back from its number."""
    for table, columns in PRINTED[form].items():
        printed = load_printed(table)[columns].replace("", formats.NONE)
        again = load_table(table)[columns].map(form)
        pd.testing.assert_frame_equal(again, printed)


def test_token_cells_are_fixed_points():
    """Every cell of Tables 7 to 10 in good order comes back as printed."""
    tokens = load_table("tokens")
    clean = tokens[~tokens["flag"].str.contains("repaired|doubtful|missing")]
    columns = ["prompt_mean", "prompt_p90", "output_mean", "output_p90"]
    again = [formats.format_tokens(*lengths) for lengths in clean[columns].to_numpy()]
    assert again == clean["raw"].tolist()
    assert len(clean) > 400


def test_a_p_value_at_a_level_earns_no_star():
    """Stars stand for p-values below 0.05, 0.01 and 0.001."""
    assert formats.stars(0.05) == ""
    assert formats.stars(0.0499) == "*"
    assert formats.stars(0.01) == "*"
    assert formats.stars(0.001) == "**"
    assert formats.stars(0.00099) == "***"


def test_a_small_negative_coefficient_keeps_its_sign():
    """Table 2 prints "-0.00"."""
    assert formats.format_beta(-0.001) == "-0.00"


def test_an_unknown_number_is_printed_as_dashes_or_a_question_mark():
    """So is a threshold that does not exist."""
    assert formats.format_ecl50(math.inf) == "--"
    assert formats.format_point(math.nan) == "--"
    assert formats.format_point(None) == "--"
    assert formats.format_tokens(20.0, 25.0, None, 31.0) == "P20[25]—O?[31]"
    assert formats.format_tokens(None, None, math.nan, None) == "--"


def test_a_length_beyond_any_puzzle_is_printed_in_powers_of_ten():
    """As Table 2 prints it."""
    assert formats.format_ecl50(2.5e17) == "2.5e+17"


def test_an_estimate_below_the_least_is_only_said_to_be_below_it():
    """An interval may begin there and end above."""
    assert formats.format_estimate(0.2, 0.1, 3.0, 1, least=1) == "< 1 (< 1 to 3.0)"
    assert formats.format_estimate(math.nan, 0.1, 3.0, 1) == "--"


@pytest.mark.parametrize(
    "form", [formats.format_beta, formats.format_thousandths, formats.stars]
)
def test_a_failed_fit_has_no_number_to_print(form):
    """Its status is shown in their place."""
    with pytest.raises(ValueError, match="status"):
        form(math.nan)


@given(st.floats(-1e5, 1e5))
def test_a_printed_number_is_the_nearest_with_its_decimals(number):
    """Read back, it prints the same, and lies within half a unit of its last digit."""
    units = {
        formats.format_beta: 0.01,
        formats.format_point: 0.01,
        formats.format_thousandths: 0.001,
    }
    for form, unit in units.items():
        text = form(number)
        assert form(float(text)) == text
        assert abs(float(text) - number) <= unit / 2 + 1e-9


@given(st.floats(1e-300, 1))
def test_a_printed_p_value_has_three_significant_digits(p):
    """Read back, it prints the same."""
    text = formats.format_p(p)
    assert formats.format_p(float(text)) == text
    assert float(text) == pytest.approx(p, rel=0.005)


@given(st.floats(allow_nan=True, allow_infinity=True), st.integers(0, 3))
def test_only_zero_is_printed_as_zero(number, decimals):
    """The unknown and the infinite are words."""
    text = formats.format_number(number, decimals)
    if math.isnan(number):
        assert text == formats.NONE
    elif math.isinf(number):
        assert text == "no limit"
    else:
        assert (float(text.replace(",", "")) == 0) == (number == 0)
