"""The page on other papers: textbook regressions, rebuilt from printed coefficients.

Expected values are those of R 4 on its data sets, and on Bliss's beetles:
    glm(Admit == "Admitted" ~ Gender, binomial, as.data.frame(UCBAdmissions), weights = Freq)
    glm(Survived == "Yes" ~ Sex, binomial, as.data.frame(Titanic), weights = Freq)
"""

import numpy as np
import pytest
from reading import NOTEBOOKS, read_sources
from scipy.optimize import minimize
from scipy.special import expit

CELLS = read_sources("another_paper")


@pytest.fixture(scope="module")
def berkeley():
    """What the cells on Berkeley compute."""
    space = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(NOTEBOOKS)
        for name in ("parameters", "load", "sums", "refit", "decimals", "simpson"):
            exec(CELLS[name], space)  # our own notebook
    return space


@pytest.fixture(scope="module")
def others():
    """What the cells on the Titanic and the beetles compute."""
    space = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(NOTEBOOKS)
        for name in ("parameters", "load", "sums", "refit", "titanic", "beetles"):
            exec(CELLS[name], space)
        space["beetle_limits"] = space["dead"]
        exec(CELLS["deviances"], space)
        exec(CELLS["solution"], space)
    return space


def test_five_decimals_give_the_number_of_people_admitted(berkeley):
    """Each pair of limits holds one whole number, and it is the true one."""
    limits = berkeley["limits"]
    assert (limits["whole numbers"] == 1).all()
    truth = [1755, 557, 370, 322, 269, 147, 46]
    assert np.ceil(limits["least"]).tolist() == truth
    assert np.floor(limits["most"]).tolist() == truth


def test_a_regression_that_was_not_printed_is_that_of_r(berkeley):
    """Coefficients and standard errors on gender alone, to four decimals."""
    shown = berkeley["shown"]
    assert shown["printed: coefficient"].to_numpy() == pytest.approx(
        [-0.2201340, -0.6103524], abs=5e-5
    )
    assert shown["printed: error"].to_numpy() == pytest.approx(
        [0.0387881, 0.0638911], abs=5e-5
    )


@pytest.mark.parametrize("decimals", [2, 3])
def test_no_coefficients_that_print_alike_have_other_sums(berkeley, decimals):
    """The limits contain the sums of random points of the intervals; the ends are reached."""
    x = berkeley["x"].to_numpy()
    n = berkeley["n"].to_numpy()
    rounded = np.round(berkeley["printed"], decimals)
    half_unit = 0.5 * 10.0**-decimals
    limits = berkeley["find_limits"](berkeley["x"], n, rounded, decimals)
    shifts = np.random.default_rng(1).uniform(-half_unit, half_unit, (2000, 7))
    shifts[0] = -half_unit
    shifts[1] = half_unit
    sums = (n * expit((rounded + shifts) @ x.T)) @ x
    assert sums.min(axis=0) == pytest.approx(limits["least"].to_numpy())
    assert sums.max(axis=0) == pytest.approx(limits["most"].to_numpy())


def test_no_point_inside_the_intervals_has_a_larger_gap(berkeley):
    """A search from random starts finds nothing beyond the corners at two decimals."""
    x = berkeley["x"].to_numpy()
    n = berkeley["n"].to_numpy()
    women = x[:, 1] == 1
    rounded = np.round(berkeley["printed"], 2)

    def find_gap(beta):
        admitted = n * expit(x @ beta)
        return 100 * (
            admitted[women].sum() / n[women].sum()
            - admitted[~women].sum() / n[~women].sum()
        )

    row = berkeley["precision"].set_index("decimals").loc[2]
    box = list(zip(rounded - 0.005, rounded + 0.005, strict=True))
    starts = np.random.default_rng(2).uniform(-0.005, 0.005, (5, 7)) + rounded
    for start in starts:
        least = minimize(find_gap, start, bounds=box).fun
        largest = -minimize(lambda beta: -find_gap(beta), start, bounds=box).fun
        assert row["least gap"] <= least + 1e-6
        assert row["largest gap"] >= largest - 1e-6
    assert row["least gap"] < 100 * (557 / 1835 - 1198 / 2691) < row["largest gap"]


def test_a_single_department_is_not_in_the_sums(berkeley):
    """From none to all women of departments A and B may have been admitted."""
    women = berkeley["women"].set_index("department")
    assert women["least"].tolist() == pytest.approx([0] * 6, abs=1e-6)
    assert women.loc[["A", "B"], "most"].tolist() == pytest.approx([108, 25])
    assert (women["admitted"] <= women["most"]).all()


def test_the_survivors_of_the_titanic_are_exact(others):
    """Six whole numbers from four decimals, and the regression on sex of R."""
    survivors = others["survivors"]
    assert (survivors["whole numbers"] == 1).all()
    assert np.ceil(survivors["least"]).tolist() == [711, 118, 178, 212, 344, 654]
    assert others["by_sex"].params.to_numpy() == pytest.approx(
        [-1.312815, 2.317175], abs=5e-5
    )


def test_the_beetles_follow_from_coefficients_or_from_deviances(others):
    """291 deaths from two decimals; R's coefficients from the two deviances."""
    limits = others["beetle_limits"].iloc[0]
    assert limits["whole numbers"] == 1
    assert limits["least"] < 291 < limits["most"]
    intercept, slope = others["rows"]["total and deviances"][2:]
    assert (round(intercept, 3), round(slope, 3)) == (-60.717, 34.270)


def test_no_number_of_survivors_is_exact_with_two_decimals(others):
    """The solution of the exercise."""
    numbers = others["find_limits"](
        others["x"], others["titanic"]["people"], np.round(others["coefficients"], 2), 2
    )["whole numbers"]
    assert (numbers > 1).all()
