"""The roots on the authors' results page, which they published after the paper."""

import numpy as np
import pytest
from scipy.special import expit

from cogniload_repro.published import load_table
from cogniload_repro.reconstruction import sufficient
from cogniload_repro.reconstruction.roots import smaller_root_range
from cogniload_repro.statistics.design import GRID, X, grid_means, many_points, roots_along_rho

#: The model whose Table 6 contradicts its Table 2, and which is therefore no test.
ODD = "DeepSeek-R1-Distill-Qwen-32B"
PAGE = load_table("results_page").query("in_paper == 'yes'").set_index("model")["nt50_pct"].dropna()
MEANS = grid_means(GRID)


@pytest.fixture(scope="module")
def predictions():
    """The smaller roots (%) that Tables 4 to 6 imply, by coding of rho and model."""
    roots = {}
    for rule in sufficient.RULES:
        rows = sufficient.derive_all(rule)
        smaller = 100 * roots_along_rho(np.array([row.beta for row in rows]), MEANS)[:, 0]
        roots[rule] = dict(zip([row.model.name for row in rows], smaller, strict=True))
    return roots


def test_tables_4_to_6_predict_the_published_roots_only_with_halves_rounded_up(predictions):
    """Five of five roots follow to the published digit; with another coding of rho none does."""
    agree = {
        rule: [name for name in PAGE.index if f"{roots[name]:.1f}" == f"{PAGE[name]:.1f}"]
        for rule, roots in predictions.items()
    }
    assert len(PAGE) == 6
    assert agree == {
        "half-up": [name for name in PAGE.index if name != ODD],
        "half-even": [],
        "nominal": [],
    }


def test_printed_coefficients_are_too_coarse_to_predict_the_published_roots():
    """From the two decimals of Table 2 no root agrees with the page to its digit."""
    table2 = load_table("table2").set_index("model")
    beta = table2.loc[PAGE.index, list(sufficient.BETAS)].to_numpy(float)
    roots = 100 * roots_along_rho(beta, MEANS)[:, 0]
    assert np.abs(roots - PAGE).min() > 0.05


def test_table_2_excludes_what_table_6_implies_of_one_model(predictions):
    """Its row of Table 2 allows the page's root, but not the one that follows from Table 6."""
    low, high = smaller_root_range(ODD)
    assert 100 * low < PAGE[ODD] < 100 * high
    assert predictions["half-up"][ODD] < 100 * low
    for name in PAGE.index.drop(ODD):  # of the others Tables 2 and 6 agree
        low, high = smaller_root_range(name)
        assert low < predictions["half-up"][name] / 100 < high


@pytest.mark.parametrize("name", ["QwQ-32B", "Phi-4-reasoning-plus"])
def test_no_coefficients_that_print_as_table_2_have_a_root_outside_of_the_range(name):
    """Random coefficients within the rounding of a row of Table 2 have roots inside, up to the ends."""
    rng = np.random.default_rng(1)
    printed = load_table("table2").set_index("model").loc[name]
    half_units = sufficient.HALF_UNITS
    centre = next(row.beta for row in sufficient.derive_all() if row.model.name == name)
    # directions that hardly change the capacity points are those of the fit's own uncertainty
    p = expit(X[:, :5] @ centre)
    spread = np.linalg.cholesky(np.linalg.inv(X[:, :5].T @ (X[:, :5] * (p * (1 - p))[:, None])))
    scales = rng.uniform(0, 0.05, size=(40_000, 1))
    beta = centre + scales * rng.normal(size=(40_000, 5)) @ spread.T
    points = many_points(beta, MEANS)
    points["ecl50"] = 10 ** points["ecl50"]
    fits = np.abs(beta - printed[list(sufficient.BETAS)].to_numpy(float)).max(axis=1) <= 0.005
    for point in sufficient.POINTS:
        fits &= np.abs(points[point] - printed[point]) <= half_units[point]
    roots = roots_along_rho(beta[fits], MEANS)[:, 0]
    low, high = smaller_root_range(name)
    assert len(roots) > 20
    assert low <= roots.min() < roots.max() <= high
    assert roots.max() - roots.min() > 0.3 * (high - low)  # and the range is not far too wide
