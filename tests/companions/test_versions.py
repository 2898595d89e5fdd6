"""Rows of two versions compared, and explanations that are recognised where they are true."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import uniform

from cogniload_repro.companions import versions
from cogniload_repro.companions.versions import EXPLANATIONS, compare_rows, switch_rules
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.regression import fit_glm

CELLS = pd.read_csv(versions.PUBLISHED.parent / "reconstructed" / "cells.csv")


def test_thirteen_models_are_in_both():
    """The fourteenth of the submission is not in the paper; Phi-4-reasoning has moved as printed."""
    table = compare_rows().set_index("model")
    assert len(table) == 13
    assert (table.loc["Phi-4-reasoning", "beta_0_then"], table.loc["Phi-4-reasoning", "beta_0_now"]) == (3.50, 9.11)


def test_standard_errors_are_those_of_a_fit():
    """The errors that a printed row implies are, but for rounding, those of the regression on its counts."""
    own = CELLS[CELLS["model"] == "QwQ-32B"]
    fit = fit_glm(own)
    assert np.diag(versions._ROUNDING) == pytest.approx(uniform(-0.005, 0.01).var())
    implied = np.sqrt(np.diag(versions._covariance(fit.coef) - versions._ROUNDING))
    assert implied == pytest.approx(np.sqrt(np.diag(fit.covariance)), rel=0.02)


def test_implied_accuracy_is_the_models():
    """A printed row gives back the model's share of right answers, to what its two decimals leave."""
    table = compare_rows().set_index("model")
    sums = CELLS.groupby("model")[["correct", "total"]].sum()
    share = (sums["correct"] / sums["total"])[table.index]
    assert (table["accuracy_now"] - share).abs().max() < 0.01


@pytest.mark.parametrize(
    ("truth", "model", "fitted"),
    [
        ("chance", "QwQ-32B", {}),
        ("nominal ratio", "QwQ-32B", {}),
        ("overflows left out", "Phi-4-reasoning", {}),
        ("overflows scored", "Phi-4-reasoning", {"scored": 0.6}),
        ("answers unread", "QwQ-32B", {"unread": 0.2}),
        ("scored and unread", "Phi-4-reasoning", {"scored": 0.6, "unread": 0.2}),
    ],
)
def test_the_true_explanation_is_the_nearest(monkeypatch, truth, model, fitted):
    """A row made by one rule is explained by it, what it was made with is found, and simpler rules are further away."""
    own = CELLS[CELLS["model"] == model].reset_index(drop=True)
    ordered = GRID.merge(own.drop(columns=["rho", "needles"]), how="left")
    right = (ordered["correct"] + fitted.get("scored", 0) * ordered["ctx"]) * (1 - fitted.get("unread", 0))
    changed = ordered.assign(
        correct=np.round(right).astype(int),
        total=ordered["total"] - ("left out" in truth) * ordered["ctx"],
        rho=ordered["ratio_pct"] / 100 if truth == "nominal ratio" else ordered["rho"],
    )
    then = pd.DataFrame([fit_glm(changed).coef], index=pd.Index([model], name="model"), columns=list(versions.BETAS))
    monkeypatch.setattr(versions, "load_submission", lambda: then)
    found = switch_rules(own).set_index("explanation")
    assert list(found.index) == list(EXPLANATIONS)
    assert found.loc[truth, "p"] > 0.9
    for name, value in fitted.items():
        assert found.loc[truth, name] == pytest.approx(value, rel=0.05)
    if fitted:
        assert found.loc["chance", "distance"] > 50


def test_cells_in_any_order_are_the_same():
    """Rows are matched to the grid, not counted off."""
    own = CELLS[CELLS["model"].isin(["QwQ-32B"])]
    assert len(own) == len(GRID)
    pd.testing.assert_frame_equal(switch_rules(own), switch_rules(own.sample(frac=1, random_state=0)))
