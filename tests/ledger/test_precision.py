"""Numbers printed like published ones, and compared with them in print."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.ledger.precision import format_like, judge


@given(st.integers(-10_000, 10_000), st.integers(-5, 5))
def test_verdicts_by_distance(hundredths, distance):
    """Exact is the same string; one unit is one of the last digit that either prints."""
    published = f"{hundredths / 100:.2f}"
    printed = f"{(hundredths + distance) / 100:.2f}"
    expected = {0: "exact", 1: "unit"}.get(abs(distance), "differs")
    assert judge(published, printed) == expected


@pytest.mark.parametrize(
    ("published", "shown", "verdict"),
    [
        ("-0.00", "0.00", "unit"),
        ("7.18e-05", "7.19e-05", "unit"),
        ("7.18e-05", "7.28e-05", "differs"),
        ("0.014", "0.0141", "unit"),
        ("--", "0.95", "differs"),
        ("", "*", "differs"),
        ("***", "***", "exact"),
    ],
)
def test_exponents_stars_and_dashes_are_compared(published, shown, verdict):
    """The unit is that of the finer of two numbers; what is no number is equal or different."""
    assert judge(published, shown) == verdict


@pytest.mark.parametrize(
    ("published", "number", "printed"),
    [
        ("0.62", 0.6249, "0.62"),
        ("1.00", Fraction(279, 280), "1.00"),
        ("22.5", 22.51, "22.5"),
        ("+1.16", 1.1589, "+1.16"),
        ("+0.56", -0.561, "-0.56"),
        ("-9.15", -9.1486, "-9.15"),
        ("7.18e-5", 7.1849e-5, "7.18e-5"),
        ("1.25e-33", 1.2521e-33, "1.25e-33"),
        ("8.1e-13", 9.96e-13, "1.0e-12"),
        ("2541", 2541, "2541"),
        ("32K", 32_768, "32K"),
        ("1.644853627", 1.6448536269514722, "1.644853627"),
        ("0.97", Fraction(273, 280), "0.97"),
        ("0.38", Fraction(3, 8), "0.38"),
        ("0.53", Fraction(107, 200), "0.54"),
    ],
)
def test_numbers_print_like_the_published_one(published, number, printed):
    """Decimals, sign and exponent are the published one's; halves go where Python takes them."""
    assert format_like(published, number) == printed
