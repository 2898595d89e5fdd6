"""The comparison with the paper in words."""

import pandas as pd

from cogniload_repro.fidelity.ledger import COLUMNS, VERDICTS
from cogniload_repro.presentation import verdicts

_NAMES = [name for name in COLUMNS if name != "evidence"]
_ROWS = (
    ("table2", "QwQ-32B", "beta_0", "", "derived", "5.68", 5.681, "5.68", "exact", ""),
    ("table2", "QwQ-32B", "beta_d", "", "derived", "-0.21", -0.22, "-0.22", "unit", ""),
    ("table2", "QwQ-32B", "beta_d stars", "", "derived", "***", float("nan"), "***", "exact", ""),
    ("table2", "QwQ-32B", "ecl50", "", "derived", "48.0", 51.3, "51.3", "differs", ""),
    ("table2", "Qwen3-8B", "beta_d", "", "derived", "-0.26", None, "", "not_computable", "why"),
    ("table7", "QwQ-32B", "prompt_mean", "N=20 d=1, counted", "independent", "400", 401, "401", "within", ""),
    ("prose", "", "models", "C001", "derived", "22", float("nan"), "", "not_computable", "why"),
    ("table4", "QwQ-32B", "ctx", "d=1", "input", "2", 2.0, "2", "exact", ""),
)


def test_every_verdict_has_words():
    """The headings cover the verdicts that the comparison can give, in its order."""
    assert tuple(verdicts.WORDS) == VERDICTS


def test_the_summary_counts_nothing_twice():
    """Stars, capacity points, prose and inputs are no tests of their own; what cannot be computed is said."""
    sentence = verdicts.summarise(pd.DataFrame(_ROWS, columns=_NAMES))
    assert sentence.startswith("1 of 3 coefficients that were not used in the reconstruction are reproduced")
    assert "1 cannot be computed here. 1 of 1 printed prompt lengths agree" in sentence
    assert verdicts.summarise(pd.DataFrame(_ROWS[-1:], columns=_NAMES)) == (
        "These outputs test none of the printed numbers."
    )
