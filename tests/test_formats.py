"""Numbers in printed form."""

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro import formats


def test_a_name_is_one_line_of_printable_characters():
    """It is anybody's text; one without any printable character has a name for readers too."""
    assert formats.format_name("my\n model\x1b[31m") == "my model [31m"
    assert formats.format_name("\n\u200b") == "unnamed"


def test_a_p_value_at_a_level_earns_no_star():
    """Stars stand for p-values below 0.05, 0.01 and 0.001."""
    assert formats.stars(0.05) == ""
    assert formats.stars(0.0499) == "*"
    assert formats.stars(0.01) == "*"
    assert formats.stars(0.001) == "**"
    assert formats.stars(0.00099) == "***"


def test_differences_of_accuracies_are_in_points():
    """With their interval and a sign."""
    assert formats.format_points(0.5, 0.25, 1) == "+50.0 (+25.0 to +100.0)"
    assert formats.format_points(math.nan, math.nan, math.nan) == "--"


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


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0009, "p < 0.001"),
        (0.0012, "p = 0.0012"),
        (0.04, "p = 0.04"),
        (0.3, "p = 0.3"),
    ],
)
def test_a_p_value_is_described_by_its_size(p, text):
    """Only what is below 0.001 is not written as a number."""
    assert formats.describe_p(p) == text


def test_a_frame_is_printed_column_by_column():
    """Decimals, formats, functions of several columns; what is unknown or without limit is said."""
    frame = pd.DataFrame(
        {
            "model": ["a", "b"],
            "x": [0.004, math.nan],
            "low": [1.0, math.nan],
            "high": [math.inf, 1.0],
        }
    )
    printed = formats.format_frame(
        frame,
        {
            "x": ("X", 2),
            ("low", "high"): ("Range", 1),
            ("model", "low"): ("Both", "{}={}".format),
            "low": ("P", ".1%"),
        },
    )
    assert printed.columns.tolist() == ["X", "Range", "Both", "P"]
    assert printed.to_numpy().tolist() == [
        ["4e-03", "1.0 to no limit", "a=1.0", "100.0%"],
        ["--", "--", "b=nan", "--"],
    ]
