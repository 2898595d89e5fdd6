"""The paper's conclusions: verdicts follow from the analyses, by rules that are the same for claims of one kind."""

import os
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.published import load_conclusions, load_contradictions
from cogniload_repro.robustness import conclusions
from cogniload_repro.robustness.verdicts import NOT_SUPPORTED, PARTLY, SUPPORTED, UNKNOWN
from cogniload_repro.statistics.cell_tables import load_cells

CELLS = load_cells()


@cache
def analyses():
    """The analyses of the reconstruction."""
    return conclusions.analyse(CELLS)


@cache
def judged():
    """The conclusions of the reconstruction, by their rule."""
    return conclusions.judge_conclusions(analyses()).set_index("rule")


def verdict(rule, **changed):
    """The verdict of one rule, with some of the analyses replaced."""
    found = conclusions.Analyses(CELLS)
    names = "intervals troughs ecl50_pairs loads slopes dispersion heterogeneity tests"
    for name in names.split():
        setattr(found, name, changed.get(name, getattr(analyses(), name)))
    return conclusions.RULES[rule](found)[0]


def test_every_conclusion_is_judged_by_its_rule():
    """Each statement of the file has one rule and every rule a statement; findings have all their numbers."""
    table = judged()
    assert set(table.index) == set(conclusions.RULES)
    assert set(table["verdict"]) == set(conclusions.VERDICTS)
    assert set(table["kind"]) == {"each", "most", "interaction", "absence", "definition"}
    assert set(table["evidence"]) == {"identified", "bounded", "searched", "published"}
    assert (table["verdict"] == conclusions.DEFINITION).tolist() == (
        table["kind"] == "definition"
    ).tolist()
    assert table["statement"].is_unique
    assert not table["finding"].str.contains(r"\bnan\b|\binf\b|[{}]").any()


@pytest.mark.skipif(
    "COGNILOAD_PAPER" not in os.environ, reason="needs the paper's text: COGNILOAD_PAPER=FILE"
)
def test_statements_and_passages_are_the_papers_words():
    """What stands in quotation marks is in the paper, but for spaces and the marks of mathematics."""

    def plain(text):
        for sign, macro in zip(
            "×ρβ≈∈", (r"\times", r"\rho", r"\beta", r"\approx", r"\in "), strict=True
        ):
            text = text.replace(macro, sign)
        return re.sub(r"[\s$*{}|\\]", "", text)

    paper, contradictions = (
        plain(Path(os.environ["COGNILOAD_PAPER"]).read_text("utf-8")),
        load_contradictions(),
    )
    quoted = [
        *load_conclusions()["statement"],
        *contradictions["passage_1"],
        *contradictions["passage_2"],
    ]
    assert [
        text for text in quoted if plain(text) not in paper and not re.search(r"\d \d", text)
    ] == []


def test_contradictions_in_main_results_are_verdicts():
    """What the paper's own tables contradict in a main result is not supported among the conclusions either."""
    main = load_contradictions().query("affects == 'main result'")
    assert len(main)
    assert judged().loc[main["conclusion"], "verdict"].isin([NOT_SUPPORTED, PARTLY]).all()


def test_the_verdicts_of_the_audits():
    """Verdicts and numbers that independent audits recomputed."""
    expected = {
        "slopes": SUPPORTED,
        "classes": PARTLY,
        "narrow_range": SUPPORTED,
        "trough": PARTLY,
        "d_by_n_leaders": conclusions.DEPENDS,
        "d_by_rho_leaders": conclusions.DEPENDS,
        "d_by_rho": PARTLY,
        "larger_models": PARTLY,
        "steepest": SUPPORTED,
        "overflows": NOT_SUPPORTED,
        "appendix_a": PARTLY,
        "u_shape": SUPPORTED,
        "budget": NOT_SUPPORTED,
    }
    assert judged().loc[list(expected), "verdict"].to_dict() == expected
    words = {
        "slopes": ["8.3 times", "-0.18"],
        "larger_models": ["0.89", "0.62 (p = 0.018)", "over 14 models", "0.24 (p = 0.27)"],
        "steepest": ["in 15 of 22"],
        "narrow_range": ["70%"],
        "lower_bound": ["0.17 to 0.77"],
        "overflows": ["37%", "45%"],
        "budget": ["29 of 70", "33,836 tokens"],
        "trough": ["in 15 of 17", "inside in 7 and above 50% in 10", "above 50% in 8"],
        "u_shape": ["in 17 of 22", "14 and 16"],
        "d_by_n_leaders": ["p = 0.015", "p = 0.0051"],
        "appendix_a": ["fall is longer in 10", "none and shorter in 13", "longer in 14"],
    }
    finding = judged()["finding"]
    assert [
        (rule, word) for rule, all_ in words.items() for word in all_ if word not in finding[rule]
    ] == []


def test_conclusions_are_about_all_models_of_the_paper_and_no_other():
    """A reader's model, as bad as can be, moves no number; without one of the paper's nothing is concluded."""
    flat = CELLS[CELLS["model"] == "QwQ-32B"].assign(
        model="mine", correct=lambda rows: rows["total"] // 2
    )
    pd.testing.assert_frame_equal(conclusions.analyse(pd.concat([flat, CELLS])).cells, CELLS)
    without = conclusions.judge_conclusions(
        conclusions.analyse(CELLS[CELLS["model"] != conclusions.LEADERS[1]])
    )
    assert set(without["verdict"]) == {UNKNOWN}
    assert set(without["finding"]) == {"A finite fit is missing: o3-2025-04-16."}


def test_a_statement_about_most_models_is_a_sign_test():
    """All for it: supported; all against: not; as many for as against, or none significant: in part."""
    signs = np.where(np.arange(22) % 2, 0.3, -0.3)
    for difference, p, expected in (
        (0.3, 0.001, SUPPORTED),
        (-0.3, 0.001, NOT_SUPPORTED),
        (signs, 0.001, PARTLY),
        (0.3, 0.5, PARTLY),
    ):
        assert (
            verdict("dominant_load", loads=analyses().loads.assign(difference=difference, p_holm=p))
            == expected
        )


@pytest.mark.parametrize(
    ("rule", "term", "level", "expected"),
    [
        ("d_by_n_leaders", "dN", 0.5, conclusions.DEPENDS),
        ("d_by_rho_leaders", "drho", 100, conclusions.DEPENDS),
    ],
)
def test_absence_is_refuted_only_by_a_detection_that_survives_overflows_and_levels(
    rule, term, level, expected
):
    """Silent at every level the null is supported; a detection that overflows may explain leaves it open."""
    slopes = analyses().slopes
    assert verdict(rule, slopes=slopes.assign(p_holm=0.5)) == SUPPORTED
    one = (
        (slopes["term"] == term)
        & (slopes["model"] == conclusions.LEADERS[0])
        & (slopes["level"] == level)
    )
    assert verdict(rule, slopes=slopes.assign(p_holm=np.where(one, 0.01, 0.5))) == expected
    at_origin = ~slopes["tested"] & (slopes["term"] == term)
    assert verdict(rule, slopes=slopes.assign(p_holm=np.where(at_origin, 0.01, 0.5))) == SUPPORTED


def test_the_choice_of_the_level_counts_in_the_test_among_finished_answers(monkeypatch):
    """An effect that survives the overflows at one of four levels refutes the null only below a quarter of 5%."""
    ends = pd.DataFrame({"z_low": [-9.0], "z_high": [-9.0]})
    monkeypatch.setattr(conclusions.divisions, "finished_interactions", lambda *_: ends)
    assert verdict("d_by_rho_leaders") == NOT_SUPPORTED
    ends[["z_low", "z_high"]] = -3.0
    assert verdict("d_by_rho_leaders") == conclusions.DEPENDS


def test_an_interaction_is_judged_at_the_tested_levels_after_holm():
    """Negative in most models at every level: supported; at none: not supported; raw p-values decide nothing."""
    slopes = analyses().slopes
    assert verdict("d_by_n", slopes=slopes.assign(p_holm=0.001, slope=-1.0)) == SUPPORTED
    assert verdict("d_by_n", slopes=slopes.assign(p_holm=0.5, p=0.001, slope=-1.0)) == NOT_SUPPORTED
    assert verdict("d_by_rho", slopes=slopes.assign(p_holm=0.001, slope=1.0)) != NOT_SUPPORTED


def test_one_pair_in_the_wrong_order_counts():
    """A lower class's model ahead, or not significantly behind, is an overlap; a leader behind it does not lead."""
    pairs = analyses().ecl50_pairs
    one = (pairs["first"] == conclusions.LEADERS[1]) & (pairs["second"] == "Qwen3-8B")
    beside = (pairs["first"] == conclusions.LEADERS[0]) & (pairs["second"] == "gemini-2.5-flash")
    turned = pairs.mask(one, pairs.rename(columns={"first": "second", "second": "first"}))
    assert verdict("classes", ecl50_pairs=turned) == NOT_SUPPORTED
    assert (verdict("leaders"), verdict("leaders", ecl50_pairs=turned)) == (SUPPORTED, PARTLY)
    assert (
        verdict("classes", ecl50_pairs=pairs.assign(p_holm=pairs["p_holm"].mask(one, 0.3)))
        == NOT_SUPPORTED
    )
    assert (
        verdict("classes", ecl50_pairs=pairs.assign(p_holm=pairs["p_holm"].mask(beside, 0.3)))
        == PARTLY
    )
