"""The paper's conclusions: verdicts follow from the analyses, by rules that are the same for claims of one kind."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.published import load_claims, load_conclusions
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness import conclusions
from cogniload_repro.robustness.conclusions import (
    FAILS,
    HOLDS,
    KINDS,
    OPEN,
    OTHERWISE,
    PARTLY,
    RULES,
    VERDICTS,
    analyse,
    judge_conclusions,
)
from cogniload_repro.robustness.uncertainty import capacity_intervals
from cogniload_repro.statistics.reconstructions import each_reconstruction

CELLS = load_counts()
GPT5, O3 = "gpt-5-2025-08-07", "o3-2025-04-16"


@cache
def analyses():
    """The analyses of the reconstruction, with few replicates."""
    return analyse(CELLS, intervals=capacity_intervals(CELLS, replicates=100))


@cache
def judged():
    """The conclusions of the reconstruction, by their rule."""
    return judge_conclusions(analyses()).set_index("rule")


def verdict(found, rule):
    """The verdict of one rule, with all models."""
    return RULES[rule].judge(found, "p").verdict


def test_every_conclusion_is_judged_by_its_rule():
    """Each statement of the file has one rule of a known kind, numbers and a verdict; no rule is left over."""
    table = judged()
    assert set(table.index) == set(RULES)
    assert set(table["verdict"]) <= set(VERDICTS)
    assert set(table["kind"]) <= set(KINDS)
    assert set(table["evidence"]) <= {"settled", "bound", "draw"}
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


def test_a_readers_model_changes_nothing():
    """The paper's conclusions are those about its models: another one, as bad as can be, moves no verdict or number."""
    flat = CELLS[CELLS["model"] == "QwQ-32B"].assign(model="mine", correct=lambda rows: rows["total"] // 2)
    with_mine = analyse(pd.concat([flat, CELLS]), intervals=analyses().intervals)
    for name in ("loads", "slopes", "ecl50_pairs", "pooled"):
        pd.testing.assert_frame_equal(getattr(with_mine, name), getattr(analyses(), name))


def test_part_of_the_models_allows_no_conclusions():
    """Conclusions about 22 models are not drawn from fewer."""
    fewer = capacity_intervals(CELLS[CELLS["model"] != O3], replicates=0)
    with pytest.raises(ValueError, match="need a finite fit of o3-2025-04-16"):
        analyse(CELLS, intervals=fewer)


def test_numbers_are_those_of_the_analyses():
    """Interval ends and counts of models are taken from the tables."""
    table, found = judged(), analyses()
    o3 = found.intervals.query("point == 'ecl50' and model == @O3").iloc[0]
    assert table.loc["leaders", "numbers"]["intervals"][O3] == (o3["profile_low"], o3["profile_high"])
    apart = found.loads["p_holm"] < 0.05
    numbers = table.loc["dominant_load", "numbers"]
    assert numbers["length"] == (apart & (found.loads["difference"] > 0)).sum()
    assert numbers["open"] == (~apart).sum()
    assert table.loc["d_by_rho", "numbers"]["levels"][250] == (4, 6)


def test_a_statement_about_most_models_is_put_to_a_sign_test():
    """All for it: it holds; all against: it does not; as many for as against, or none that tells: in part."""
    found = analyses()
    signs = np.where(np.arange(22) % 2, 0.3, -0.3)
    for difference, p, expected in (
        (0.3, 0.001, HOLDS),
        (-0.3, 0.001, FAILS),
        (signs, 0.001, PARTLY),
        (0.3, 0.5, PARTLY),
    ):
        loads = found.loads.assign(difference=difference, p_holm=p)
        assert verdict(replace(found, loads=loads), "dominant_load") == expected


def test_an_interaction_is_read_at_the_tested_levels():
    """Silent everywhere the null holds; heard everywhere it holds as tested only; if the paper's test hears it, not."""
    found = analyses()
    everywhere = replace(found, slopes=found.slopes.assign(p=0.5))
    assert verdict(everywhere, "d_by_N_leaders") == HOLDS
    nowhere = replace(found, slopes=found.slopes.assign(p=0.001))
    assert verdict(nowhere, "d_by_N_leaders") == OTHERWISE
    assert verdict(found, "d_by_N_leaders") == PARTLY
    heard = replace(found, interactions=found.interactions.assign(p_paper=0.001))
    assert verdict(heard, "d_by_N_leaders") == FAILS


def test_verdicts_are_measured_against_what_the_paper_states(monkeypatch):
    """With another number in the published claims the same count is judged otherwise."""
    assert verdict(analyses(), "d_by_N") == HOLDS
    stated = conclusions._stated_values() | {"C075": "8"}
    monkeypatch.setattr(conclusions, "_stated_values", lambda: stated)
    assert verdict(analyses(), "d_by_N") == FAILS


def test_a_leader_that_is_beaten_does_not_lead():
    """One pair in which another model is ahead of a leader is enough, however sure the other pairs are."""
    found = analyses()
    pairs = found.ecl50_pairs.copy()
    row = pairs.index[(pairs["first"] == GPT5) & (pairs["second"] == "QwQ-32B")]
    pairs.loc[row, ["first", "second"]] = ["QwQ-32B", GPT5]
    assert judged().loc["leaders", "numbers"]["lead"]
    assert not RULES["leaders"].judge(replace(found, ecl50_pairs=pairs), "p").numbers["lead"]


def test_no_verdict_hangs_on_one_model():
    """A verdict that leaving one model out would change is open: here one length-sensitive model makes the majority."""
    found = analyses()
    names = found.loads["model"]
    # nine for and two against are just not enough for a sign test; without one of those against they are
    loads = found.loads.assign(difference=np.where(names.isin(names[:2]), -0.3, 0.3), p_holm=1.0, p=1.0)
    loads.loc[:10, ["p", "p_holm"]] = 1e-9
    on_edge = replace(found, loads=loads)
    assert verdict(on_edge, "dominant_load") == PARTLY
    table = judge_conclusions(on_edge).set_index("rule")
    assert table.loc["dominant_load", "verdict"] == OPEN
    assert judged().loc["dominant_load", "verdict"] == PARTLY


@pytest.mark.slow
def test_nothing_settled_changes_between_tables_of_counts():
    """Every other committed table of counts that agrees with the paper leads to the same verdicts."""
    for number, cells in enumerate(each_reconstruction(CELLS)):
        found = analyse(cells, spans=analyses().spans, intervals=capacity_intervals(cells, replicates=0))
        for name, rule in RULES.items():
            assert rule.judge(found, "p").verdict == verdict(analyses(), name), (number, name)
