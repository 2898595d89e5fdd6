"""The paper's conclusions: verdicts follow from the analyses, by rules that are the same for claims of one kind."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.published import load_claims, load_conclusions, load_contradictions
from cogniload_repro.robustness.conclusions import (
    DEFINITION,
    FAILS,
    HOLDS,
    KINDS,
    LEADERS,
    PARTLY,
    RULES,
    VERDICTS,
    Analyses,
    analyse,
    judge_conclusions,
)
from cogniload_repro.statistics.cell_tables import load_cells
from cogniload_repro.statistics.reconstructions import each_reconstruction

CELLS = load_cells()


@cache
def analyses():
    """The analyses of the reconstruction."""
    return analyse(CELLS)


@cache
def judged():
    """The conclusions of the reconstruction, by their rule."""
    return judge_conclusions(analyses()).set_index("rule")


def verdict(rule, **changed):
    """The verdict of one rule, with some of the analyses replaced."""
    found = Analyses(CELLS)
    names = "intervals troughs ecl50_pairs loads slopes dispersion heterogeneity tests spans"
    for name in names.split():
        setattr(found, name, changed.get(name, getattr(analyses(), name)))
    return RULES[rule].judge(found)[0]


def test_every_conclusion_is_judged_by_its_rule():
    """Each statement of the file has one rule of a known kind, a verdict and a finding; no rule is left over."""
    table = judged()
    assert set(table.index) == set(RULES)
    assert set(table["verdict"]) == set(VERDICTS)
    assert set(table["kind"]) == set(KINDS)
    assert set(table["evidence"]) <= {"identified", "bounded", "published"}
    assert (table["verdict"] == DEFINITION).tolist() == (table["kind"] == "definition").tolist()
    assert table["statement"].is_unique
    assert not table["statement"].str.contains(r"[{}]").any()
    assert not table["finding"].str.contains(r"\bnan\b|\binf\b|[{}]").any()


def test_what_the_paper_states_comes_from_its_claims():
    """Ids name claims, and the numbers in a statement are those of the claims."""
    known = set(load_claims()["id"])
    assert set(" ".join(load_conclusions()["claims"]).split()) <= known
    statements = load_conclusions().set_index("rule")["statement"]
    assert statements["d_by_rho"] == "Difficulty amplifies the harm of distractors (d × ρ negative in 13 of 22)."
    assert statements["trough"] == "Accuracy is lowest at a ρ of 25 to 50%."


def test_contradictions_in_main_results_are_verdicts():
    """What the paper's own tables contradict in a main result is not supported among the conclusions either."""
    main = load_contradictions().query("affects == 'main result'")
    assert len(main)
    assert (judged().loc[main["conclusion"], "verdict"] == FAILS).all()


def test_the_verdicts_of_the_audit():
    """Verdicts that an independent audit recomputed."""
    expected = {"slopes": HOLDS, "classes": PARTLY, "id50_range": DEFINITION, "narrow_range": HOLDS, "trough": PARTLY,
                "d_by_N_leaders": FAILS, "larger_models": HOLDS, "steepest": HOLDS, "overflows": FAILS}  # fmt: skip
    assert judged().loc[list(expected), "verdict"].to_dict() == expected
    finding = judged()["finding"]
    for rule, words in {"slopes": "8.3 times", "larger_models": "Spearman 0.89", "steepest": "in 15 of 22",
                        "narrow_range": "70%", "lower_bound": "0.17 to 0.77", "overflows": "723 of 11,319",
                        "budget": "33,836 tokens"}.items():  # fmt: skip
        assert words in finding[rule]


def test_every_reconstruction_has_the_same_verdicts_and_sentences():
    """Only identified, bounded and printed numbers decide: another table of counts changes no verdict."""
    other = judge_conclusions(analyse(list(each_reconstruction(CELLS))[12])).set_index("rule")
    assert other["verdict"].to_dict() == judged()["verdict"].to_dict()
    for rule in RULES:
        ours, theirs = (re.findall(r"\d+\.?\d*", table.loc[rule, "finding"]) for table in (judged(), other))
        assert [float(one) for one in theirs] == pytest.approx([float(one) for one in ours], rel=0.05), rule


def test_conclusions_are_about_all_models_of_the_paper_and_no_other():
    """A reader's model, as bad as can be, moves no number; without one of the paper's nothing is concluded."""
    flat = CELLS[CELLS["model"] == "QwQ-32B"].assign(model="mine", correct=lambda rows: rows["total"] // 2)
    pd.testing.assert_frame_equal(analyse(pd.concat([flat, CELLS])).cells, CELLS)
    with pytest.raises(ValueError, match="need a finite fit of o3-2025-04-16"):
        analyse(CELLS[CELLS["model"] != LEADERS[1]])


def test_a_statement_about_most_models_is_a_sign_test():
    """All for it: supported; all against: not; as many for as against, or none significant: in part."""
    signs = np.where(np.arange(22) % 2, 0.3, -0.3)
    for difference, p, expected in (
        (0.3, 0.001, HOLDS),
        (-0.3, 0.001, FAILS),
        (signs, 0.001, PARTLY),
        (0.3, 0.5, PARTLY),
    ):
        assert verdict("dominant_load", loads=analyses().loads.assign(difference=difference, p_holm=p)) == expected


def test_absence_is_refuted_by_one_detection():
    """Silent at every tested level the null is supported; a detection at one level is enough against it."""
    slopes = analyses().slopes
    assert verdict("d_by_N_leaders", slopes=slopes.assign(p_holm=0.5)) == HOLDS
    one = (slopes["term"] == "dN") & (slopes["model"] == LEADERS[0]) & (slopes["level"] == 0.25)
    assert verdict("d_by_N_leaders", slopes=slopes.assign(p_holm=np.where(one, 0.01, 0.5))) == FAILS
    at_origin = one.to_numpy() & False | ((slopes["level"] == 0) & ~slopes["tested"])
    assert verdict("d_by_N_leaders", slopes=slopes.assign(p_holm=np.where(at_origin, 0.01, 0.5))) == HOLDS


def test_an_interaction_is_judged_at_the_tested_levels_after_holm():
    """Negative in most models at every level: supported; at none: not supported; raw p-values decide nothing."""
    slopes = analyses().slopes
    assert verdict("d_by_N", slopes=slopes.assign(p_holm=0.001, slope=-1.0)) == HOLDS
    assert verdict("d_by_N", slopes=slopes.assign(p_holm=0.5, p=0.001, slope=-1.0)) == FAILS
    assert verdict("d_by_rho", slopes=slopes.assign(p_holm=0.001, slope=1.0)) != FAILS


def test_a_leader_that_is_beaten_does_not_lead():
    """One pair in which another model is ahead of a leader is enough, however sure the other pairs are."""
    pairs = analyses().ecl50_pairs.copy()
    row = pairs.index[(pairs["first"] == LEADERS[0]) & (pairs["second"] == "QwQ-32B")]
    pairs.loc[row, ["first", "second"]] = ["QwQ-32B", LEADERS[0]]
    assert verdict("leaders") == HOLDS
    assert verdict("leaders", ecl50_pairs=pairs) == PARTLY


def test_one_pair_in_the_wrong_order_makes_classes_overlap():
    """A lower class's model ahead, or not significantly behind, counts; so do ties of models beside the classes."""
    pairs = analyses().ecl50_pairs
    one = (pairs["first"] == LEADERS[1]) & (pairs["second"] == "Qwen3-8B")
    beside = (pairs["first"] == LEADERS[0]) & (pairs["second"] == "gemini-2.5-flash")
    beside |= pairs[["first", "second"]].isin(["gemini-2.5-flash-lite", "EXAONE-Deep-32B"]).all(axis=1)  # no class
    turned = pairs.mask(one, pairs.rename(columns={"first": "second", "second": "first"}))
    assert verdict("classes", ecl50_pairs=turned) == FAILS
    assert verdict("classes", ecl50_pairs=pairs.assign(p_holm=pairs["p_holm"].mask(one, 0.3))) == FAILS
    found = Analyses(CELLS)
    found.intervals, found.ecl50_pairs = analyses().intervals, pairs.assign(p_holm=beside * 1.0)
    assert "All pairs" in RULES["classes"].judge(found)[1]
    assert "1 of the 3 models" in RULES["classes"].judge(found)[1]
