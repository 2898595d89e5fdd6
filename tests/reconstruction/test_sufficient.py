"""Sufficient statistics: the optimiser against statsmodels, and what the printed tables settle."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cogniload_repro.models import BY_NAME, MODELS
from cogniload_repro.published import load_table
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.reconstruction.sufficient import (
    BETAS,
    HALF_UNITS,
    OPEN_COLUMNS,
    POINTS,
    PRINTED,
    RULES,
    centre_step,
    compare_codings,
    compare_table2,
    derive_all,
    derive_each,
    deviations,
    exact_statistics,
    lattice_step,
    least_deviation,
    missing_ratios,
    needle_shares,
    on_lattice,
    predict,
    printed_windows,
    puzzles_per_cell,
    recover,
)
from cogniload_repro.statistics.design import GRID, PRODUCTS, QUADRATIC, X, grid_means, many_points
from cogniload_repro.statistics.fits import glm_table
from cogniload_repro.statistics.likelihood import maximise
from cogniload_repro.statistics.regression import fit_glm

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
    values, jacobian = predict(n, T)
    assert values.shape == (len(PRINTED),)
    assert jacobian.shape == (len(PRINTED), len(OPEN_COLUMNS))
    for place, column in enumerate(OPEN_COLUMNS):
        step = np.zeros(9)
        step[column] = 1e-7 * abs(T[column])
        slope = (predict(n, T + step)[0] - predict(n, T - step)[0]) / (2 * step[column])
        assert (np.abs(jacobian[:, place] - slope) < 1e-5 * np.abs(jacobian).max(axis=1)).all()


def test_predictions_are_those_of_the_regressions():
    """AICs, interaction coefficients and p-values predicted from X'y are those of the fitted counts."""
    k = draw(np.full(len(GRID), 50), 5)
    cells = GRID.assign(total=50, correct=k)
    values = dict(zip(PRINTED, predict(np.full(len(GRID), 50.0), X.T @ k)[0], strict=True))
    linear, quadratic = fit_glm(cells, "correct ~ d + log10_N + rho"), fit_glm(cells)
    full = fit_glm(cells, "correct ~ d * log10_N * rho + I(rho**2)")
    assert values["aic_linear"] == pytest.approx(linear.aic, abs=1e-6)
    assert values["aic_quadratic"] == pytest.approx(quadratic.aic, abs=1e-6)
    names = dict(zip(("d:log10_N", "d:rho", "log10_N:rho", "d:log10_N:rho"), PRODUCTS, strict=True))
    for term, name in names.items():
        assert values[f"beta_{name}"] == pytest.approx(full.coef[full.terms.index(term)], abs=1e-7)


@pytest.mark.parametrize("model", [BY_NAME["QwQ-32B"], BY_NAME["gpt-5-2025-08-07"]], ids=lambda m: m.name)
def test_exact_statistics_are_those_of_any_table_with_the_printed_sums(model):
    """Sums over d, weighted by d and log10 N, come from Tables 4 and 5 alone, and both tables agree on the total."""
    total, by_d, by_N = exact_statistics(model.name)
    errors = ["ctx", "valid_logic", "poi_logic", "last_logic", "other"]
    for table, key, weighted in (("table4", "d", by_d), ("table5", "N", by_N)):
        own = load_table(table)
        own = own[own["model"] == model.name]
        correct = own["samples"] - own[errors].sum(axis=1)
        weights = own[key] if key == "d" else np.log10(own[key])
        assert correct.sum() == total
        assert (correct * weights).sum() == pytest.approx(weighted, rel=1e-14)


def test_puzzles_per_cell_leave_out_the_missing():
    """Missing puzzles are taken from the cells of the ratios chosen; two of one condition are missed in 28 ways."""
    counts = {name: len(missing_ratios(BY_NAME[name])) for name in ("Qwen3-1.7B", "o3-2025-04-16", "QwQ-32B")}
    assert counts == {"Qwen3-1.7B": 28, "o3-2025-04-16": 49, "QwQ-32B": 1}
    model = BY_NAME["o3-2025-04-16"]
    n = puzzles_per_cell(model, (50, 25))
    short = GRID[n < 10]
    assert n.sum() == 1398
    assert sorted(zip(short["d"], short["N"], short["ratio_pct"], strict=True)) == [(1, 250, 50), (5, 250, 25)]
    model = BY_NAME["Qwen3-1.7B"]
    assert puzzles_per_cell(model, (75, 75)).min() == 98


@pytest.mark.parametrize("name", ["o4-mini-2025-04-16", "DeepSeek-R1-Distill-Qwen-32B"])
def test_recovered_statistics_print_what_is_printed(name):
    """The recovered statistics give Tables 3 and 6, and 500 T_rho is a whole number."""
    model = BY_NAME[name]
    recovered = recover(model)
    assert recovered.max_deviation <= 1
    values, widths = printed_windows(name)
    predicted, _ = predict(recovered.n, recovered.T)
    assert np.abs((predicted - values) / widths).max() <= 1
    assert 500 * recovered.T[3] == pytest.approx(round(500 * recovered.T[3]), abs=1e-9)
    np.testing.assert_allclose(recovered.T[:3], exact_statistics(name))
    assert len(recovered.missing_ratios) == len(model.missing)
    assert recovered.n.sum() == 140 * model.puzzles_per_cell - len(model.missing)
    beta, _ = maximise(X[:, QUADRATIC], recovered.n, recovered.T[list(QUADRATIC)])
    points = {point: at[0] for point, at in many_points(beta[None], grid_means(GRID)).items()}
    misfit = max(deviations(name, beta, points | {"ecl50": 10 ** points["ecl50"]}).values())
    assert (misfit <= 1) == (name != "DeepSeek-R1-Distill-Qwen-32B")


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6))
def test_the_centring_step_cannot_be_improved(seed):
    """No other step makes the largest deviation smaller, by comparison with 200 random ones around it."""
    rng = np.random.default_rng(seed)
    residual, jacobian = rng.normal(size=9), rng.normal(size=(9, 4))
    assume(np.linalg.cond(jacobian) < 1e3)
    step = centre_step(residual, jacobian)
    least = np.abs(residual + jacobian @ step).max()
    others = step + rng.normal(size=(200, 4)) * rng.choice([1e-3, 0.1, 1], size=(200, 1))
    assert least <= np.abs(residual + others @ jacobian.T).max(axis=1).min() + 1e-7
    assert least <= np.abs(residual).max() + 1e-9


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


@pytest.fixture(scope="module")
def rows():
    """What the tables imply of Table 2."""
    return derive_all("half-up")


def test_derived_rows_are_those_of_the_reconstructed_answers(rows):
    """In the reconstructed counts statsmodels finds the rows derived from the tables, to the AICs' rounding."""
    fits = glm_table(load_counts()).set_index("model")
    for one in rows:
        own = fits.loc[one.model.name]
        assert one.beta == pytest.approx(own[list(BETAS)].to_numpy(float), abs=HALF_UNITS["beta_rho"])
        errors = own[[name.replace("beta", "se") for name in BETAS]].to_numpy(float)
        assert one.se == pytest.approx(errors, rel=0.002)


def test_one_row_disagrees_and_no_other(rows):
    """With the paper's rounding one model alone has a row that the AICs' rounding does not allow."""
    assert len(rows) == 22
    assert all(map(on_lattice, rows))
    assert [one.model.name for one in rows if one.max_deviation > 1] == ["DeepSeek-R1-Distill-Qwen-32B"]
    assert [one.model.name for one in rows if least_deviation(one) > 1] == ["DeepSeek-R1-Distill-Qwen-32B"]
    one = derive_each([(BY_NAME["QwQ-32B"], ())], "nominal")[0]  # favourable rounding mends little
    assert 1 < least_deviation(one) <= one.max_deviation < least_deviation(one) + 0.2


def test_a_threshold_where_none_is_printed_deviates_without_bound():
    """The printed coefficients of a row lead back to it; a missing NT50 is no small deviation, but two missing are."""
    row = load_table("table2").set_index("model").loc["QwQ-32B"]
    beta, points = row[list(BETAS)].to_numpy(float), row[list(POINTS)].to_dict()
    assert max(deviations("QwQ-32B", beta, points).values()) == 0
    assert deviations("QwQ-32B", beta, points | {"nt50": np.nan})["nt50"] == np.inf
    without = load_table("table2").query("nt50.isna()").iloc[0]
    assert deviations(without["model"], without[list(BETAS)], without[list(POINTS)].to_dict())["nt50"] == 0


def at(low, value, high, rule="half-up"):
    """Return a derivation whose sum of rho has this window, in steps."""
    step = {"half-up": 1 / 500, "nominal": 1 / 20}[rule]
    one = derive_each([(BY_NAME["QwQ-32B"], ())], rule)[0]
    T = np.append(one.T[:3], [value * step, one.T[4]])
    return dataclasses.replace(one, T=T, window=(low * step, high * step))


def test_windows_of_the_sum_of_rho():
    """A window agrees if it holds a whole step; its width is the chance that it does; wider than a step it is 1."""
    cases = [at(9.7, 9.9, 10.1), at(10.1, 10.3, 10.5), at(9.2, 10.4, 11.6), at(9.7, 9.9, 10.1, "nominal")]
    test = compare_codings(cases).set_index("rule")
    assert test["possible"].to_dict() == {"half-up": 2, "nominal": 1}
    assert test["by_chance"].to_dict() == pytest.approx({"half-up": 0.4 + 0.4 + 1, "nominal": 0.4})


def test_every_star_follows(rows):
    """The derived standard errors give all the stars that Table 2 prints, and 21 rows to the digit."""
    test = compare_table2(rows)
    coefficients = test[test["se"].notna()]
    assert len(coefficients) == 110
    assert coefficients["stars"].tolist() == coefficients["printed_stars"].tolist()
    assert set(test.loc[test["deviation"] > 1, "model"]) == {"DeepSeek-R1-Distill-Qwen-32B"}
    assert len(test) == 8 * len(MODELS)


@pytest.mark.slow
def test_the_data_used_halves_up():
    """One coding gives every complete model a possible sum; the others about as many as chance would."""
    codings = compare_codings([one for rule in RULES for one in derive_all(rule)]).set_index("rule")
    assert codings["step"].to_dict() == {"half-up": "1/500", "half-even": "1/500", "nominal": "1/20"}
    assert codings.loc["half-up", "possible"] == codings.loc["half-up", "complete"] == 19
    for rule in ("half-even", "nominal"):
        expected = codings.loc[rule, "by_chance"]
        assert abs(codings.loc[rule, "possible"] - expected) < 2 * np.sqrt(expected)
    assert codings.loc["half-up", "rows"] == 18
    assert codings.loc[["half-even", "nominal"], "rows"].max() < 6


@pytest.mark.parametrize("name", ["o3-2025-04-16", "o4-mini-2025-04-16"])
def test_choices_for_missing_puzzles(name):
    """The ratios in use for the missing puzzles print Table 2's row and its sum of rho; of o3 no others do."""
    model, cells = BY_NAME[name], load_counts()
    derived = derive_each([(model, choice) for choice in missing_ratios(model)])
    possible = [one.missing for one in derived if one.max_deviation <= 1 and on_lattice(one)]
    used = cells[(cells["model"] == name) & (cells["total"] < 10)].set_index("d")["ratio_pct"]
    assert tuple(used[d] for d, _ in model.missing) in possible
    assert len(derived) == 49
    assert len(possible) == 1 or name != "o3-2025-04-16"
