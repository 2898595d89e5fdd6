"""Rows of two versions compared."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import uniform

from cogniload_repro.companions import versions
from cogniload_repro.companions.versions import compare_rows
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
