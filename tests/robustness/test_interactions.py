"""Interactions, tested as the paper does and where the puzzles are."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.formats import format_beta, format_p
from cogniload_repro.published import load_printed
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.interactions import ALL_PAIRS, count_interactions, interaction_tests, select_forward
from cogniload_repro.statistics.capacity import grid_means
from cogniload_repro.statistics.regression import fit_glm, likelihood_ratio

CELLS = load_counts()
FEW = CELLS[CELLS["model"].isin(["QwQ-32B", "Qwen3-8B", "o3-2025-04-16"])]


@cache
def products():
    """Tests of the products, by model and term."""
    return interaction_tests(FEW).set_index(["model", "term"])


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
    expected = likelihood_ratio(fit_glm(own, ALL_PAIRS), fit_glm(own, f"{ALL_PAIRS} - d:log10_N"))
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
    )  # fmt: skip
    counted = count_interactions(made).set_index(["term", "way"])
    assert counted.loc[("dN", "paper")].tolist() == [1, 0]
    assert counted.loc[("dN", "pairs")].tolist() == [1, 1]
    assert counted.loc[("dN", "mean")].tolist() == [0, 2]
    assert counted.loc[("dNrho", "mean")].tolist() == [1, 0]
    assert ("dNrho", "pairs") not in counted.index


def test_selection_respects_the_order_of_products():
    """Products enter by the gain in likelihood, each significant, the three-way one only after all pairs."""
    steps = select_forward(FEW)
    for _, own in steps.groupby("model"):
        assert own["step"].tolist() == list(range(1, len(own) + 1))
        assert (own["p"] < 0.05).all()
        assert "dNrho" not in own["term"].to_list() or (own["term"].iloc[-1] == "dNrho" and len(own) == 4)
    first = steps[(steps["model"] == "o3-2025-04-16") & (steps["step"] == 1)].iloc[0]
    own = FEW[FEW["model"] == "o3-2025-04-16"]
    base = fit_glm(own)
    gains = {term: fit_glm(own, f"correct ~ d + log10_N + rho + I(rho**2) + {term}").loglik - base.loglik
             for term in ("d:log10_N", "d:rho", "log10_N:rho")}  # fmt: skip
    assert {"dN": "d:log10_N", "drho": "d:rho", "Nrho": "log10_N:rho"}[first["term"]] == max(gains, key=gains.get)
