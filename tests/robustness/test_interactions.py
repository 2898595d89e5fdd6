"""Interactions, tested as the paper does and where the puzzles are."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.formats import format_beta, format_p
from cogniload_repro.published import load_printed
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.interactions import (
    count_interactions,
    count_slopes,
    interaction_tests,
    simple_slopes,
)
from cogniload_repro.statistics.capacity import grid_means
from cogniload_repro.statistics.regression import fit_glm, likelihood_ratio

CELLS = load_counts()
FEW = CELLS[CELLS["model"].isin(["QwQ-32B", "Qwen3-8B", "o3-2025-04-16"])]


@cache
def products():
    """Tests of the products, by model and term."""
    return interaction_tests(FEW).set_index(["model", "term"])


@cache
def slopes():
    """Simple slopes, by model, term and level."""
    return simple_slopes(FEW).set_index(["model", "term", "level"])


def test_paper_way_is_table_3():
    """Tested as the paper does, coefficients and p-values are the printed ones."""
    printed = load_printed("table3").set_index("model")
    for (model, term), row in products().iterrows():
        assert format_beta(row["beta_paper"]) == printed.loc[model, f"beta_{term}"]
        assert float(format_p(row["p_paper"])) == pytest.approx(float(printed.loc[model, f"p_{term}"]), rel=1e-2)


def test_values_at_the_mean_are_coefficients_of_centred_covariates():
    """The interaction with the third load at its mean is the coefficient after measuring loads from their means."""
    for model, own in FEW.groupby("model"):
        means = grid_means(own)
        centred = own.assign(d=own["d"] - means["d"], rho=own["rho"] - means["rho"])
        length = f"I(log10_N - {float(means['log10_N'])!r})"
        fit = fit_glm(centred, f"correct ~ d * {length} * rho + I(rho**2)")
        for term, name in (("dN", f"d:{length}"), ("drho", "d:rho"), ("Nrho", f"{length}:rho")):
            place = fit.terms.index(name)
            assert products().loc[(model, term), "beta_mean"] == pytest.approx(fit.coef[place], rel=1e-6)
            assert products().loc[(model, term), "p_mean"] == pytest.approx(fit.p[place], rel=1e-4)


def test_pairs_are_tested_without_the_triple():
    """The middle way drops one pair from the model with all pairs."""
    own = FEW[FEW["model"] == "o3-2025-04-16"]
    pairs = "correct ~ (d + log10_N + rho)**2 + I(rho**2)"
    expected = likelihood_ratio(fit_glm(own, pairs), fit_glm(own, f"{pairs} - d:log10_N"))
    assert products().loc[("o3-2025-04-16", "dN"), "p_pairs"] == pytest.approx(expected)
    assert np.isnan(products().loc[("o3-2025-04-16", "dNrho"), "p_pairs"])


def test_frontier_couples_length_and_difficulty_where_puzzles_are():
    """o3 has no d x N at rho = 0 and a clear one at the mean of rho; the printed tables settle both."""
    row = products().loc[("o3-2025-04-16", "dN")]
    assert row["p_paper"] > 0.3
    assert row["p_pairs"] < 0.001
    assert row["beta_pairs"] < 0


def test_counts_are_those_of_the_rows():
    """Every way of testing counts significant coefficients of either sign; the triple has two ways."""
    made = pd.DataFrame(
        {
            "term": ["dN", "dN", "dNrho"],
            "beta_paper": [-1.0, 2.0, 1.0], "p_paper": [0.01, 0.2, 0.01],
            "beta_pairs": [-1.0, 2.0, np.nan], "p_pairs": [0.01, 0.04, np.nan],
            "beta_mean": [1.0, 2.0, -1.0], "p_mean": [0.01, 0.04, 0.03],
        }
    ).assign(holm_paper=0.02, holm_pairs=0.2, holm_mean=0.01)  # fmt: skip
    corrected = count_interactions(made).set_index(["term", "way"])[["negative_holm", "positive_holm"]]
    assert corrected.loc[("dN", "pairs")].tolist() == [0, 0]
    assert corrected.loc[("dN", "paper")].tolist() == [1, 1]
    counted = count_interactions(made).set_index(["term", "way"])[["negative", "positive"]]
    assert counted.loc[("dN", "paper")].tolist() == [1, 0]
    assert counted.loc[("dN", "pairs")].tolist() == [1, 1]
    assert counted.loc[("dN", "mean")].tolist() == [0, 2]
    assert counted.loc[("dNrho", "mean")].tolist() == [1, 0]
    assert ("dNrho", "pairs") not in counted.index


def test_simple_slopes_are_coefficients_of_moved_covariates():
    """The interaction at a level is the coefficient after measuring the third load from there."""
    own = FEW[FEW["model"] == "QwQ-32B"]
    moved = own.assign(rho=own["rho"] - 0.75)
    fit = fit_glm(moved, "correct ~ d * log10_N * rho + I(rho**2)")
    at = fit.terms.index("d:log10_N")
    row = slopes().loc[("QwQ-32B", "dN", 0.75)]
    assert row["slope"] == pytest.approx(fit.coef[at], rel=1e-6)
    assert row["se"] == pytest.approx(fit.se[at], rel=1e-6)
    assert row["p"] == pytest.approx(fit.p[at], rel=1e-4)


def test_the_origin_is_where_table_3_tests():
    """At rho = 0, N = 1 and d = 0, outside the grid, the slopes are the printed coefficients."""
    printed = load_printed("table3").set_index("model")
    origin = slopes()[~slopes()["tested"]]
    assert set(origin.index.get_level_values("level")) == {0.0, 1.0}
    for (model, term, _), row in origin.iterrows():
        assert format_beta(row["slope"]) == printed.loc[model, f"beta_{term}"]
    tested = slopes()[slopes()["tested"]].index.get_level_values("level").unique()
    assert {0.05, 0.95, 20, 250, 1, 10} <= set(tested)


def test_difficulty_takes_from_needles_at_short_lengths_only():
    """The settled main point: d x rho is negative at N = 20 and positive at N = 250 for EXAONE-Deep-32B."""
    own = simple_slopes(CELLS[CELLS["model"] == "EXAONE-Deep-32B"]).query("term == 'drho'").set_index("level")
    assert own.loc[20, "slope"] < 0 < own.loc[250, "slope"]
    assert max(own.loc[20, "p"], own.loc[250, "p"]) < 0.05


def test_detectable_slopes_are_found_with_the_stated_power():
    """Of normal draws around a slope of the detectable size, four fifths are significant."""
    row = slopes().loc[("o3-2025-04-16", "dN", 0.0)]
    drawn = np.random.default_rng(1).normal(row["detectable"], row["se"], 20_000)
    assert np.mean(np.abs(drawn / row["se"]) > 1.959964) == pytest.approx(0.8, abs=0.01)


def test_slopes_are_counted_by_sign_at_each_level():
    """Raw and corrected counts of one level are those of its rows."""
    made = pd.DataFrame(
        {"term": "dN", "third": "rho", "level": 0.5, "tested": True, "slope": [-1.0, 2.0, 3.0],
         "p": [0.001, 0.04, 0.5], "p_holm": [0.003, 0.08, 0.5]}
    )  # fmt: skip
    row = count_slopes(made).iloc[0]
    assert row[["negative", "positive", "negative_holm", "positive_holm"]].to_list() == [1, 1, 1, 0]


def test_models_without_a_full_fit_are_left_out():
    """Two lengths and one d leave no interaction to fit; a table without answers has no rows."""
    own = FEW[FEW["d"] == 1]
    assert simple_slopes(own).empty
    assert interaction_tests(own).empty
    assert count_slopes(simple_slopes(own)).empty
