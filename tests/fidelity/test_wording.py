"""Published numbers and words, and the verdicts on them."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.fidelity.results import NotComputableError
from cogniload_repro.fidelity.wording import Share, judge_claim, print_like


@pytest.mark.parametrize(
    ("published", "number", "printed"),
    [
        ("0.62", 0.6249, "0.62"), ("1.00", Fraction(279, 280), "1.00"), ("22.5", 22.51, "22.5"),
        ("+1.16", 1.1589, "+1.16"), ("+0.56", -0.561, "-0.56"), ("-9.15", -9.1486, "-9.15"),
        ("7.18e-5", 7.1849e-5, "7.18e-5"), ("1.25e-33", 1.2521e-33, "1.25e-33"), ("8.1e-13", 9.96e-13, "1.0e-12"),
        ("2541", 2541, "2541"), ("32K", 32_768, "32K"), ("1.644853627", 1.6448536269514722, "1.644853627"),
        ("0.97", Fraction(273, 280), "0.97"), ("0.38", Fraction(3, 8), "0.38"), ("0.53", Fraction(107, 200), "0.54"),
    ],
)  # fmt: skip
def test_numbers_print_like_the_published_one(published, number, printed):
    """Decimals, sign and exponent are those of the published number; halves go where Python's formatting takes them."""
    assert print_like(published, number) == printed


@given(st.integers(-9999, 9999), st.integers(0, 4))
def test_every_printed_number_is_a_fixed_point(digits, decimals):
    """A published number is printed as it stands."""
    published = f"{digits / 10**decimals:.{decimals}f}"
    assert print_like(published, float(published)) == published
    assert judge_claim(published, [float(published)]).verdict == "exact"


@pytest.mark.parametrize(
    ("published", "found", "shown", "verdict"),
    [
        ("0.62", [0.63], "0.63", "unit"),
        ("0.62", [0.64], "0.64", "differs"),
        ("7.18e-5", [7.19e-5], "7.19e-5", "unit"),
        ("7.18e-5", [7.18e-4], "7.18e-4", "differs"),
        ("14000", [13_998, 14_000], "13998 to 14000", "differs"),
        ("0.10-0.25", [0.0951, 0.2549], "0.10 to 0.25", "exact"),
        ("0.10-0.25", [0.0949, 0.2], "0.09 to 0.20", "differs"),
        ("25-50", [75], "75", "differs"),
        ("a few percent", [1.2, 5.0, 6.0], "2 of 3", "exact"),
        ("a few percent", [1.2, 5.1], "1 of 2", "differs"),
        ("mid-20000s", [24_000, 26_999.5, 27_000], "2 of 3", "exact"),
        ("mid-20000s", [24_000, 27_000], "1 of 2", "differs"),
    ],
)
def test_numbers_are_judged_in_print(published, found, shown, verdict):
    """A number or range about several things holds for each of them, at the published precision."""
    judged = judge_claim(published, found)
    assert (judged.shown, judged.verdict) == (shown, verdict)


@pytest.mark.parametrize(
    ("published", "found", "quantity", "shown", "verdict"),
    [
        (">300", 382.77, "ecl50", "382.8", "exact"),
        (">300", 300.0, "ecl50", "300.0", "differs"),
        (">=0.05", 0.05, "p_lr", "0.050", "exact"),
        (">0.3", 0.30001, "p_dN", "0.3", "exact"),
        ("<0", -0.001, "beta_Nrho", "-0.00", "exact"),
        ("<0", Fraction(0), "accuracy difference", "+0.000", "differs"),
        ("~0", Fraction(-49, 1000), "accuracy difference", "-0.049", "exact"),
        ("~0", Fraction(1, 20), "accuracy difference", "+0.050", "exact"),
        ("~0", Fraction(51, 1000), "accuracy difference", "+0.051", "differs"),
        ("not significant", 0.05, "beta_rho", "0.05", "exact"),
        ("not significant", 0.0499, "beta_rho", "0.0499", "differs"),
    ],
)
def test_bounds_are_judged_before_rounding(published, found, quantity, shown, verdict):
    """A bound or a word holds for the number itself; shown is the number as its table prints it."""
    assert judge_claim(published, [found], quantity) == (float(found), shown, verdict)


@pytest.mark.parametrize(
    ("published", "count", "verdict"),
    [("most", 12, "exact"), ("most", 11, "differs"), ("nearly all", 20, "exact"), ("nearly all", 19, "differs")],
)
def test_shares_show_the_count_behind_the_word(published, count, verdict):
    """Most is more than half; nearly all is all but two of 22."""
    assert judge_claim(published, Share(count, 22)) == (count, f"{count} of 22", verdict)


def test_numbers_of_models_and_of_most_of_them():
    """A count is a number; a range said of most shows how many lie inside; of several numbers none is recomputed."""
    assert judge_claim("18", Share(20, 22)) == (20, "20", "differs")
    assert judge_claim("18", Share(18, 22)) == (18, "18", "exact")
    assert judge_claim("0.20-0.30", [0.196, 0.25, 0.4], most=True) == (2, "2 of 3", "exact")
    assert judge_claim("0.20-0.30", [0.1, 0.25, 0.4], most=True).verdict == "differs"
    judged = judge_claim("0.10-0.25", [-0.03, 0.24])
    assert math.isnan(judged.recomputed)
    assert judged.shown == "-0.03 to 0.24"


@pytest.mark.parametrize(
    ("published", "found"),
    [("a lot", [1.0]), ("", [1.0]), ("nan", [1.0]), ("Infinity", [1.0]), ("1.2.3", [1.0]), (">0", Share(1, 22)),
     ("about", Share(1, 22)), ("0.5", [])],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(published, found):
    """An unknown word, or nothing to compare with, is no verdict."""
    with pytest.raises(NotComputableError):
        judge_claim(published, found)
