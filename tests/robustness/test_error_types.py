"""Error types by d and N: compared with another program, and on counts whose answer is known."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.discrete.discrete_model import MNLogit

from cogniload_repro.published import load_table
from cogniload_repro.robustness.error_types import COMMONEST, error_slopes
from cogniload_repro.statistics.cell_tables import load_cells

CELLS = load_cells()


def test_slopes_are_those_of_statsmodels_on_the_printed_counts():
    """For one model the printed rows of Table 5, one per error, give statsmodels the same slopes and errors."""
    name = "DeepSeek-R1-Distill-Qwen-7B"
    printed = load_table("table5").query("model == @name")
    kinds = [COMMONEST, "poi_logic", "last_logic", "other"]
    counts = printed[kinds].to_numpy(int)
    outcomes = np.concatenate([np.repeat(range(4), row) for row in counts])
    x = np.repeat(np.log10(printed["N"].to_numpy(float)), counts.sum(axis=1))
    expected = MNLogit(outcomes, np.column_stack([np.ones(len(x)), x])).fit(disp=False)
    own = error_slopes(CELLS[CELLS["model"] == name]).query("load == 'N'").set_index("type")
    assert own.loc[kinds[1:], "slope"].to_list() == pytest.approx(expected.params[1], rel=1e-5)
    assert own.loc[kinds[1:], "se"].to_list() == pytest.approx(expected.bse[1], rel=1e-4)


def test_errors_of_one_mix_do_not_drift():
    """Twice the errors in the same mix at each step: no slope; a type that doubles on top has log 2 by log N."""
    rows = [
        {"model": "m", "N": N, "d": 1, "total": 1000, "correct": 1000 - 6 * size, "ctx": 0, "valid_logic": 3 * size,
         "poi_logic": 0, "last_logic": size, "other": size * factor}
        for N, size, factor in ((10, 20, 1), (20, 40, 2), (40, 80, 4))
    ]  # fmt: skip
    slopes = error_slopes(pd.DataFrame(rows)).set_index("type")
    assert slopes.loc["last_logic", "slope"] == pytest.approx(0, abs=1e-9)
    assert slopes.loc["other", "slope"] == pytest.approx(np.log(2) / np.log10(2))
    assert set(slopes["load"]) == {"N"}  # one d has no slope


def test_a_type_at_one_end_only_is_left_out():
    """Errors that occur at the longest N alone leave no finite slope, and the model has none."""
    own = CELLS[CELLS["model"] == "QwQ-32B"].copy()
    own["other"] = np.where(own["N"] == 250, 30, 0)
    assert "N" not in set(error_slopes(own)["load"])
    assert "d" in set(error_slopes(own)["load"])
