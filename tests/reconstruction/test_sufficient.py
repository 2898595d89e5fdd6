"""Sufficient statistics: the optimiser against statsmodels, and what the printed tables settle."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cogniload_repro.models import BY_NAME, MODELS
from cogniload_repro.published import load_table
from cogniload_repro.reconstruction import sufficient
from cogniload_repro.statistics.design import (
    GRID,
    QUADRATIC,
    X,
    grid_means,
    many_points,
    roots_along_rho,
)
from cogniload_repro.statistics.likelihood import maximise, solve_aic

pytestmark = pytest.mark.filterwarnings("error")


def draw(n, seed):
    """Random counts of the 140 cells around a plausible regression."""
    p = 1 / (1 + np.exp(-(6 - 0.2 * X[:, 1] - 2.3 * X[:, 2] - 3 * X[:, 3] + 3 * X[:, 4])))
    return np.random.default_rng(seed).binomial(n, p)


@pytest.mark.parametrize(("n", "seed"), [(10, 1), (100, 2)])
def test_derivatives_are_finite_differences(n, seed):
    """Every derivative of every printed number agrees with a central difference."""
    n = np.full(len(GRID), float(n))
    T = X.T @ draw(n.astype(int), seed)
    values, jacobian = sufficient.predict(n, T)
    assert values.shape == (len(sufficient.PRINTED),)
    assert jacobian.shape == (len(sufficient.PRINTED), len(sufficient.OPEN_COLUMNS))
    for place, column in enumerate(sufficient.OPEN_COLUMNS):
        step = np.zeros(9)
        step[column] = 1e-7 * abs(T[column])
        slope = (sufficient.predict(n, T + step)[0] - sufficient.predict(n, T - step)[0]) / (
            2 * step[column]
        )
        assert (np.abs(jacobian[:, place] - slope) < 1e-5 * np.abs(jacobian).max(axis=1)).all()


@pytest.mark.parametrize("name", ["o4-mini-2025-04-16", "DeepSeek-R1-Distill-Qwen-32B"])
def test_recovered_statistics_print_what_is_printed(name):
    """The recovered statistics give Tables 2, 3 and 6, and 500 T_rho is a whole number."""
    model = BY_NAME[name]
    recovered = sufficient.recover(model)
    assert recovered.max_deviation <= 1
    values, widths = sufficient.printed_windows(name)
    predicted, _ = sufficient.predict(recovered.n, recovered.T)
    assert np.abs((predicted - values) / widths).max() <= 1
    assert 500 * recovered.T[3] == pytest.approx(round(500 * recovered.T[3]), abs=1e-9)
    np.testing.assert_allclose(recovered.T[:3], sufficient.exact_statistics(name))
    assert len(recovered.missing_ratios) == len(model.missing)
    assert recovered.n.sum() == 140 * model.puzzles_per_cell - len(model.missing)
    beta, _ = maximise(X[:, QUADRATIC], recovered.n, recovered.T[list(QUADRATIC)])
    points = {point: at[0] for point, at in many_points(beta[None], grid_means(GRID)).items()}
    points["ecl50"] = 10 ** points["ecl50"]
    assert max(sufficient.deviations(name, beta, points).values()) <= 1


def test_replaced_aics_agree_with_everything_else_that_is_printed():
    """With both AICs about 4 higher, Table 2 and the page's root and ID50 follow."""
    (name,) = sufficient.REPLACED_AICS
    page = load_table("results_page").set_index("model").loc[name]
    printed = load_table("table6").set_index("model").loc[name].drop("p_lr").to_numpy(float)
    agreements = {}
    for which, aics in {"printed": printed, "replaced": sufficient.REPLACED_AICS[name]}.items():
        beta, points = refit(name, np.array(aics, float))
        deviation = max(sufficient.deviations(name, beta, points).values())
        (root, _), *_ = 100 * roots_along_rho(beta[None], grid_means(GRID))
        agreements[which] = (
            deviation <= 1,
            f"{root:.1f}" == f"{page['nt50_pct']:.1f}",
            f"{points['id50']:.1f}" == f"{page['id50']:.1f}",
        )
    assert agreements == {"printed": (False, False, False), "replaced": (True, True, True)}
    assert sufficient.uses_table2(name)
    assert not sufficient.uses_table2("QwQ-32B")
    higher = np.subtract(sufficient.REPLACED_AICS[name], printed)
    assert higher == pytest.approx([4.1, 4.5], abs=0.1)


def refit(name, aics):
    """Coefficients and capacity points of a regression with these AICs and rising slopes."""
    n = np.full((1, len(GRID)), 100.0)
    sums = sufficient.exact_statistics(name)[None]
    for columns, aic in zip((4, 5), aics, strict=True):
        _, upper = solve_aic(X[:, :columns], n, sums, np.array([aic]))
        sums = np.column_stack([sums, upper])
    beta, _ = maximise(X[:, QUADRATIC], n[0], sums[0])
    points = {point: at[0] for point, at in many_points(beta[None], grid_means(GRID)).items()}
    return beta, points | {"ecl50": 10 ** points["ecl50"]}


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6))
def test_the_centring_step_cannot_be_improved(seed):
    """No other step makes the largest deviation smaller, by comparison with 200 random ones around it."""
    rng = np.random.default_rng(seed)
    residual, jacobian = rng.normal(size=9), rng.normal(size=(9, 4))
    assume(np.linalg.cond(jacobian) < 1e3)
    step = sufficient.centre_step(residual, jacobian)
    least = np.abs(residual + jacobian @ step).max()
    others = step + rng.normal(size=(200, 4)) * rng.choice([1e-3, 0.1, 1], size=(200, 1))
    assert least <= np.abs(residual + others @ jacobian.T).max(axis=1).min() + 1e-7
    assert least <= np.abs(residual).max() + 1e-9


@pytest.mark.parametrize("rule", sufficient.RULES)
def test_shares_lie_on_the_lattice_and_on_none_coarser(rule):
    """Every share is a whole number of steps, and those numbers have no common divisor."""
    steps = [share / sufficient.lattice_step(rule) for share in sufficient.needle_shares(rule)]
    assert all(step.denominator == 1 for step in steps)
    assert np.gcd.reduce([int(step) for step in steps]) == 1


def test_readings_of_rho():
    """The two rounding rules differ at exact halves alone; the nominal reading is the ratio itself."""
    paper, port, nominal = (sufficient.needle_shares(rule) for rule in sufficient.RULES)
    for N, ratio, up, even, share in zip(
        GRID["N"], GRID["ratio_pct"], paper, port, nominal, strict=True
    ):
        exact = Fraction(int(N) * int(ratio), 100)
        half = exact % 1 == Fraction(1, 2)
        assert up == (exact + Fraction(1, 2)) / N if half else abs(up * N - exact) < Fraction(1, 2)
        assert even == up or (half and even == (exact - Fraction(1, 2)) / N)
        assert share == Fraction(int(ratio), 100)
    assert paper != port
    with pytest.raises(
        ValueError, match="unknown coding 'up' of rho; codings are half-up, half-even, nominal"
    ):
        sufficient.needle_shares("up")


@pytest.fixture(scope="module")
def rows():
    """What the tables imply of Table 2."""
    return sufficient.derive_all("half-up")


def test_one_row_disagrees_and_no_other(rows):
    """With the paper's rounding one model alone has a row that the AICs' rounding does not allow."""
    assert len(rows) == 22
    assert all(map(sufficient.on_lattice, rows))
    assert [one.model.name for one in rows if one.max_deviation > 1] == [
        "DeepSeek-R1-Distill-Qwen-32B"
    ]
    assert [one.model.name for one in rows if sufficient.least_deviation(one) > 1] == [
        "DeepSeek-R1-Distill-Qwen-32B"
    ]
    one = sufficient.derive_each([(BY_NAME["QwQ-32B"], ())], "nominal")[
        0
    ]  # favourable rounding mends little
    assert (
        1
        < sufficient.least_deviation(one)
        <= one.max_deviation
        < sufficient.least_deviation(one) + 0.2
    )


def test_every_star_follows(rows):
    """The derived standard errors give all the stars that Table 2 prints, and 21 rows to the digit."""
    test = sufficient.compare_table2(rows)
    coefficients = test[test["se"].notna()]
    assert len(coefficients) == 110
    assert coefficients["stars"].tolist() == coefficients["printed_stars"].tolist()
    assert set(test.loc[test["deviation"] > 1, "model"]) == {"DeepSeek-R1-Distill-Qwen-32B"}
    assert len(test) == 8 * len(MODELS)


@pytest.mark.slow
def test_the_data_used_halves_up():
    """One coding gives every complete model a possible sum; the others about as many as chance would."""
    codings = sufficient.compare_codings(
        [one for rule in sufficient.RULES for one in sufficient.derive_all(rule)]
    ).set_index("rule")
    assert codings["step"].to_dict() == {
        "half-up": "1/500",
        "half-even": "1/500",
        "nominal": "1/20",
    }
    assert codings.loc["half-up", "possible"] == codings.loc["half-up", "complete"] == 19
    for rule in ("half-even", "nominal"):
        expected = codings.loc[rule, "by_chance"]
        assert abs(codings.loc[rule, "possible"] - expected) < 2 * np.sqrt(expected)
    assert codings.loc["half-up", "rows"] == 18
    assert codings.loc[["half-even", "nominal"], "rows"].max() < 6
