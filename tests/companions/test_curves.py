"""One curve in load against the paper's regression, on counts whose truth is known."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from cogniload_repro.companions.curves import compare_curves, fit_thresholds
from cogniload_repro.companions.load import cell_loads
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.regression import fit_glm


def _draw(log_odds: dict[str, np.ndarray], n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    parts = [
        GRID.assign(model=model, total=n, correct=rng.binomial(n, expit(values))) for model, values in log_odds.items()
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def one_load() -> pd.DataFrame:
    """Two models whose accuracy depends on load alone, with thresholds of 5,000 and 50,000."""
    load = cell_loads(GRID)["everybody"].to_numpy()
    return _draw({"QwQ-32B": -0.8 * (load - np.log(5e3)), "Qwen3-32B": -0.8 * (load - np.log(5e4))})


def test_thresholds_come_back(one_load):
    """Slopes and critical loads of the drawn counts are found, and equal exponents are not rejected."""
    found = fit_thresholds(one_load).set_index("model")
    assert found["slope"].to_numpy() == pytest.approx([-0.8, -0.8], abs=0.05)
    assert found.loc["QwQ-32B", "low"] < 5e3 < found.loc["QwQ-32B", "high"]
    assert found.loc["Qwen3-32B", "low"] < 5e4 < found.loc["Qwen3-32B", "high"]
    assert (found["p_equal"] > 0.01).all()


def test_counts_of_one_load_prefer_it(one_load):
    """Where load is all there is, it beats the paper's regression by AIC and on cells left out."""
    table = compare_curves(one_load).set_index("specification")
    assert table.loc["load", "models_better"] == 2
    assert table.loc["own thresholds", "aic"] < table.loc["load", "aic"] < table.loc["paper", "aic"]
    assert table.loc["load", "left_out"] < table.loc["paper", "left_out"]
    assert table.loc["one curve", "deviance"] > table.loc["own thresholds", "deviance"]
    assert table.loc["any falling curve", "deviance"] < table.loc["load", "deviance"]


def test_counts_of_the_papers_regression_prefer_that():
    """Where d, N and rho act each on its own, load loses, and its free exponents differ."""
    truth = 6 - 0.3 * GRID["d"] - 2.5 * np.log10(GRID["N"]) - 3 * GRID["rho"] + 3 * GRID["rho"] ** 2
    cells = _draw({"QwQ-32B": truth.to_numpy()})
    table = compare_curves(cells).set_index("specification")
    assert table.loc["paper", "aic"] < table.drop(index=["paper", "any falling curve"])["aic"].min()
    assert fit_thresholds(cells)["p_equal"].max() < 1e-6


def test_the_papers_regression_is_the_papers(one_load):
    """Its AIC here is the one that the paper's own pipeline gives."""
    own = one_load[one_load["model"] == "QwQ-32B"]
    assert compare_curves(own).set_index("specification").loc["paper", "aic"] == pytest.approx(fit_glm(own).aic)
