"""The paper's conclusions: sentences and verdicts follow from the analyses."""

from dataclasses import replace
from functools import cache

import pytest

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness import conclusions
from cogniload_repro.robustness.conclusions import FAILS, HOLDS, PARTLY, analyse, draw_conclusions

CELLS = load_counts()


@cache
def analyses():
    """The analyses of the reconstruction, with few replicates."""
    return analyse(CELLS, replicates=100)


def rows(found):
    """The conclusions by their statement."""
    return draw_conclusions(found).set_index("statement")


def test_every_conclusion_has_a_verdict():
    """Each row has a place in the paper, a sentence with a number, one of three verdicts, and says if it is settled."""
    table = draw_conclusions(analyses())
    assert set(table["verdict"]) <= {HOLDS, PARTLY, FAILS}
    assert set(table["settled"]) <= {"yes", "no"}
    assert table["finding"].str.contains(r"\d").all()
    assert table["statement"].is_unique


def test_numbers_are_those_of_the_analyses():
    """The sentences quote the tables: interval ends, counts of models, coefficients."""
    table, found = rows(analyses()), analyses()
    o3 = found.intervals.query("point == 'ecl50' and model == 'o3-2025-04-16'").iloc[0]
    lead = table.loc["gpt-5 and o3 lead by a wide margin, with an ECL50 above 300.", "finding"]
    assert f"o3 {o3['profile_low']:.0f} to {o3['profile_high']:.0f}" in lead
    apart = found.loads["p_holm"] < 0.05
    length, difficulty = (
        (apart & (found.loads["difference"] > 0)).sum(),
        (apart & (found.loads["difference"] < 0)).sum(),
    )
    sentence = table.loc["Task length is the dominant stressor.", "finding"]
    assert f"in {length} models" in sentence
    assert f"in {difficulty} (Holm)" in sentence


def test_verdicts_follow_the_numbers():
    """Were the numbers others, so would be the verdicts."""
    found = analyses()
    statement = "gpt-5 and o3 show no detectable d x N interaction."
    assert rows(found).loc[statement, "verdict"] == FAILS
    silent = replace(found, interactions=found.interactions.assign(p_pairs=0.5))
    assert rows(silent).loc[statement, "verdict"] == HOLDS
    statement = "Accuracy is lowest at a rho of 25 to 50%."
    assert rows(found).loc[statement, "verdict"] == PARTLY
    inside = replace(found, troughs=found.troughs.assign(trough=0.4, low=0.3, high=0.5))
    assert rows(inside).loc[statement, "verdict"] == HOLDS
    statement = "Task length is the dominant stressor."
    always = replace(found, loads=found.loads.assign(difference=0.3, p_holm=0.001))
    assert rows(always).loc[statement, "verdict"] == HOLDS
    never = replace(found, loads=found.loads.assign(difference=-0.3, p_holm=0.001))
    assert rows(never).loc[statement, "verdict"] == FAILS


def test_part_of_the_models_allows_no_conclusions():
    """Conclusions about 22 models are not drawn from fewer."""
    found = analyses()
    fewer = replace(found, intervals=found.intervals[found.intervals["model"] != "o3-2025-04-16"])
    with pytest.raises(ValueError, match="need a finite fit of o3-2025-04-16"):
        draw_conclusions(fewer)


def test_a_leader_that_is_beaten_does_not_lead():
    """One pair in which another model is ahead of a leader is enough, however sure the other pairs are."""
    found, statement = analyses(), "gpt-5 and o3 lead by a wide margin, with an ECL50 above 300."
    assert "They lead all others" in rows(found).loc[statement, "finding"]
    pairs = found.ecl50_pairs.copy()
    row = pairs.index[(pairs["first"] == "gpt-5-2025-08-07") & (pairs["second"] == "QwQ-32B")]
    assert len(row) == 1
    pairs.loc[row, ["first", "second"]] = ["QwQ-32B", "gpt-5-2025-08-07"]
    beaten = rows(replace(found, ecl50_pairs=pairs)).loc[statement]
    assert beaten["finding"].startswith("They do not lead all others")
    assert beaten["verdict"] == FAILS


def test_the_paper_s_numbers_come_from_its_claims(monkeypatch):
    """A conclusion quotes the published claims, and its verdict is measured against them."""
    found = analyses()
    counted = "d x N is negative and significant (p < 0.01) in {} of 22."
    assert rows(found).loc[counted.format(17), "verdict"] == HOLDS
    claims = conclusions.load_claims()
    other = claims.assign(value=claims["value"].mask(claims["id"] == "C075", "8"))
    monkeypatch.setattr(conclusions, "load_claims", lambda: other)
    assert rows(found).loc[counted.format(8), "verdict"] == FAILS
