"""Links between accuracy and the linear predictor."""

import numpy as np
import pandas as pd
import pytest

import cogniload_repro as cl

QWQ = cl.load_cells(models="QwQ-32B")
#: Regressions that the printed tables identify, and that they do not.
FORMULAS = ["correct ~ d", "correct ~ C(ratio_pct)"]
DOORS = {
    "fit": lambda formula, family: cl.fit(QWQ, formula, family),
    "glm": lambda formula, family: cl.glm(QWQ, None, formula, family),
    "compare_fits": lambda formula, family: cl.compare_fits(QWQ, formula, family),
}


@pytest.mark.parametrize(
    "family", ["binomial", "Logit", "logits", "", None, 1, ["logit"]]
)
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("door", DOORS)
def test_an_unknown_family_is_refused_at_every_door(door, formula, family):
    """The sentence names the families that there are."""
    with pytest.raises(ValueError, match=r"choose one of: logit, probit, cloglog$"):
        DOORS[door](formula, family)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("correct", [(60, 40, 0, 0, 0), (1, 2, 99, 100, 100)])
def test_a_complementary_log_log_fit_is_finite_at_any_predictor(correct):
    """exp(d) has values from 3 to 22,000, so that predictors lie far beyond -745 or 709."""
    steep = pd.DataFrame({"model": "steep", "N": 50, "d": [1, 3, 5, 7, 10]})
    steep = steep.assign(ratio_pct=50, total=100, correct=correct)
    fit = cl.fit(steep, "correct ~ exp(d)", "cloglog")
    assert (fit["status"] == "ok").all()
    assert np.isfinite(fit["se"]).all()
