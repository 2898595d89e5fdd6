"""The paper's conclusions: verdicts and numbers follow from the analyses."""

from dataclasses import replace
from functools import cache

import pytest

from cogniload_repro.published import load_claims, load_conclusions
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness import conclusions
from cogniload_repro.robustness.conclusions import FAILS, HOLDS, PARTLY, RULES, analyse, judge_conclusions
from cogniload_repro.robustness.uncertainty import capacity_intervals

CELLS = load_counts()


@cache
def analyses():
    """The analyses of the reconstruction, with few replicates."""
    return analyse(CELLS, intervals=capacity_intervals(CELLS, replicates=100))


def rows(found):
    """The judged conclusions, by their rule."""
    return judge_conclusions(found).set_index("rule")


def test_every_conclusion_is_judged_by_its_rule():
    """Each statement of the file has one rule, numbers and one of three verdicts; no rule is left over."""
    table = judge_conclusions(analyses())
    assert set(table["rule"]) == set(RULES)
    assert set(table["verdict"]) <= {HOLDS, PARTLY, FAILS}
    assert table["numbers"].map(len).min() > 0
    assert table["statement"].is_unique
    assert not table["statement"].str.contains(r"[{}]").any()


def test_what_the_paper_states_comes_from_its_claims():
    """Ids name claims, and the numbers in a statement are those of the claims."""
    known = set(load_claims()["id"])
    assert set(" ".join(load_conclusions()["claims"]).split()) <= known
    statements = load_conclusions().set_index("rule")["statement"]
    assert statements["d_by_rho"] == "d x rho is negative and significant in 13 of 22."
    assert statements["trough"] == "Accuracy is lowest at a rho of 25 to 50%."


def test_numbers_are_those_of_the_analyses():
    """Interval ends and counts of models are taken from the tables."""
    table, found = rows(analyses()), analyses()
    o3 = found.intervals.query("point == 'ecl50' and model == 'o3-2025-04-16'").iloc[0]
    ends = (o3["profile_low"], o3["profile_high"])
    assert table.loc["leaders", "numbers"]["intervals"]["o3-2025-04-16"] == ends
    apart = found.loads["p_holm"] < 0.05
    numbers = table.loc["dominant_load", "numbers"]
    assert numbers["length"] == (apart & (found.loads["difference"] > 0)).sum()
    assert numbers["difficulty"] == (apart & (found.loads["difference"] < 0)).sum()
    assert numbers["open"] == (~apart).sum()


def test_verdicts_follow_the_numbers():
    """Were the numbers others, so would be the verdicts."""
    found = analyses()
    assert rows(found).loc["d_by_N_leaders", "verdict"] == FAILS
    silent = replace(found, interactions=found.interactions.assign(p_pairs=0.5))
    assert rows(silent).loc["d_by_N_leaders", "verdict"] == HOLDS
    assert rows(found).loc["trough", "verdict"] == PARTLY
    inside = replace(found, troughs=found.troughs.assign(trough=0.4, low=0.3, high=0.5))
    assert rows(inside).loc["trough", "verdict"] == HOLDS
    always = replace(found, loads=found.loads.assign(difference=0.3, p_holm=0.001))
    assert rows(always).loc["dominant_load", "verdict"] == HOLDS
    never = replace(found, loads=found.loads.assign(difference=-0.3, p_holm=0.001))
    assert rows(never).loc["dominant_load", "verdict"] == FAILS


def test_part_of_the_models_allows_no_conclusions():
    """Conclusions about 22 models are not drawn from fewer."""
    found = analyses()
    fewer = replace(found, intervals=found.intervals[found.intervals["model"] != "o3-2025-04-16"])
    with pytest.raises(ValueError, match="need a finite fit of o3-2025-04-16"):
        judge_conclusions(fewer)


def test_a_leader_that_is_beaten_does_not_lead():
    """One pair in which another model is ahead of a leader is enough, however sure the other pairs are."""
    found = analyses()
    assert rows(found).loc["leaders", "numbers"]["lead"]
    pairs = found.ecl50_pairs.copy()
    row = pairs.index[(pairs["first"] == "gpt-5-2025-08-07") & (pairs["second"] == "QwQ-32B")]
    assert len(row) == 1
    pairs.loc[row, ["first", "second"]] = ["QwQ-32B", "gpt-5-2025-08-07"]
    beaten = rows(replace(found, ecl50_pairs=pairs)).loc["leaders"]
    assert not beaten["numbers"]["lead"]
    assert beaten["verdict"] == FAILS


def test_verdicts_are_measured_against_what_the_paper_states(monkeypatch):
    """With another number in the published claims the same count is judged otherwise."""
    found = analyses()
    assert rows(found).loc["d_by_N", "verdict"] == HOLDS
    claims = conclusions.load_claims()
    other = claims.assign(value=claims["value"].mask(claims["id"] == "C075", "8"))
    monkeypatch.setattr(conclusions, "load_claims", lambda: other)
    assert rows(found).loc["d_by_N", "verdict"] == FAILS
