"""Rows of two versions compared, and explanations that are recognised where they are true."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.companions import versions
from cogniload_repro.companions.versions import EXPLANATIONS, TERMS, compare_rows, switch_rules
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
    implied = np.sqrt(np.diag(versions._covariance(fit.coef) - versions._ROUNDING))
    assert implied == pytest.approx(np.sqrt(np.diag(fit.covariance)), rel=0.02)


def test_implied_accuracy_is_the_models():
    """A printed row gives back the model's share of right answers, to what its two decimals leave."""
    table = compare_rows().set_index("model")
    sums = CELLS.groupby("model")[["correct", "n"]].sum()
    share = (sums["correct"] / sums["n"])[table.index]
    assert (table["accuracy_now"] - share).abs().max() < 0.01


def _then(beta: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame([beta], index=pd.Index(["QwQ-32B"], name="model"), columns=list(TERMS))


@pytest.mark.parametrize("truth", ["chance", "nominal ratio", "overflows left out", "answers unread"])
def test_the_true_explanation_is_the_nearest(monkeypatch, truth):
    """A row made by one rule is explained by it, and a fitted share is found."""
    own = CELLS[CELLS["model"] == "QwQ-32B"].reset_index(drop=True)
    changed = {
        "chance": own,
        "nominal ratio": own.assign(rho=own["ratio_pct"] / 100),
        "overflows left out": own.assign(n=own["n"] - own["ctx"]),
        "answers unread": own.assign(correct=np.round(own["correct"] * 0.8).astype(int)),
    }[truth]
    monkeypatch.setattr(versions, "load_submission", lambda: _then(fit_glm(changed).coef))
    found = switch_rules(own).set_index("explanation")
    assert list(found.index) == list(EXPLANATIONS)
    assert found.loc[truth, "p"] > 0.9
    if truth == "answers unread":
        assert found.loc[truth, "share"] == pytest.approx(0.2, abs=0.01)
        assert found["distance"].drop([truth, "left out and unread"]).min() > 50


def test_cells_in_any_order_are_the_same():
    """Rows are matched to the grid, not counted off."""
    own = CELLS[CELLS["model"].isin(["QwQ-32B"])]
    assert len(own) == len(GRID)
    pd.testing.assert_frame_equal(switch_rules(own), switch_rules(own.sample(frac=1, random_state=0)))
