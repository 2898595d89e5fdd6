"""The printed tables compared with one another."""

import dataclasses

import numpy as np
import pytest

from cogniload_repro.models import BY_NAME, NAMES
from cogniload_repro.reconstruction.consistency import compare_codings, compare_table2, missing_choices
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.reconstruction.sufficient import RULES, derive_all, derive_each


def at(low, value, high, rule="half-up"):
    """Return a derivation whose sum of rho has this window, in steps."""
    step = {"half-up": 1 / 500, "nominal": 1 / 20}[rule]
    one = derive_each([(BY_NAME["QwQ-32B"], ())], rule)[0]
    T = np.append(one.T[:3], [value * step, one.T[4]])
    return dataclasses.replace(one, T=T, window=(low * step, high * step))


def test_windows_of_the_sum_of_rho():
    """A window agrees if it holds a whole step; its width is the chance that it does; wider than a step it is 1."""
    cases = [at(9.7, 9.9, 10.1), at(10.1, 10.3, 10.5), at(9.2, 10.4, 11.6), at(9.7, 9.9, 10.1, "nominal")]
    test = compare_codings(cases).set_index("rule")
    assert test["possible"].to_dict() == {"half-up": 2, "nominal": 1}
    assert test["by_chance"].to_dict() == pytest.approx({"half-up": 0.4 + 0.4 + 1, "nominal": 0.4})


def test_every_star_follows():
    """The derived standard errors give all the stars that Table 2 prints, and 21 rows to the digit."""
    test = compare_table2(derive_all("half-up"))
    coefficients = test[test["se"].notna()]
    assert len(coefficients) == 110
    assert coefficients["stars"].tolist() == coefficients["printed_stars"].tolist()
    assert set(test.loc[test["deviation"] > 1, "model"]) == {"DeepSeek-R1-Distill-Qwen-32B"}
    assert len(test) == 8 * len(NAMES)


@pytest.mark.slow
def test_the_data_used_halves_up():
    """One coding gives every complete model a possible sum; the others about as many as chance would."""
    codings = compare_codings([one for rule in RULES for one in derive_all(rule)]).set_index("rule")
    assert codings["step"].to_dict() == {"half-up": "1/500", "half-even": "1/500", "nominal": "1/20"}
    assert codings.loc["half-up", "possible"] == codings.loc["half-up", "complete"] == 19
    for rule in ("half-even", "nominal"):
        expected = codings.loc[rule, "by_chance"]
        assert abs(codings.loc[rule, "possible"] - expected) < 2 * np.sqrt(expected)
    assert codings.loc["half-up", "rows"] == 21
    assert codings.loc[["half-even", "nominal"], "rows"].max() < 6


@pytest.mark.parametrize("name", ["o3-2025-04-16", "o4-mini-2025-04-16"])
def test_choices_for_missing_puzzles(name):
    """Table 2 rules the balanced design out, and means over the answers; the choice in use is possible."""
    choices = missing_choices(BY_NAME[name])
    assert len(choices) == 50
    assert choices["ratios"].iloc[-1] == ()
    assert choices["max_deviation"].iloc[-1] == pytest.approx(choices["max_deviation_weighted"].iloc[-1])
    assert choices["max_deviation"].iloc[-1] > 25
    assert choices["max_deviation"].iloc[:-1].is_monotonic_increasing
    assert (choices["max_deviation_weighted"] > 1).all()
    possible = choices[(choices["max_deviation"] <= 1) & choices["possible"]]["ratios"].tolist()
    cells = load_counts()
    used = cells[(cells["model"] == name) & (cells["total"] < 10)].set_index("d")["ratio_pct"]
    assert tuple(used[d] for d, _ in BY_NAME[name].missing) in possible
    assert len(possible) == 1 or name != "o3-2025-04-16"
