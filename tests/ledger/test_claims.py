"""The claims of the paper's prose, from reconstructed cells and from changed ones."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest
from samples import results_of

from cogniload_repro.ledger.claims import (
    CONSTANTS,
    GROUPS,
    describe_condition,
    evaluate_claims,
    judge_numbers,
    kind_of,
)
from cogniload_repro.models import MODELS, NAMES
from cogniload_repro.published import load_claims
from cogniload_repro.regression.cell_tables import load_cells

CLAIMS = load_claims()
GPT5 = "gpt-5-2025-08-07"
O3 = "o3-2025-04-16"
QWQ = "QwQ-32B"
QWEN7B = "DeepSeek-R1-Distill-Qwen-7B"


@cache
def results():
    """Fit the reconstructed cells; tokens are the printed ones."""
    return results_of(load_cells())


@cache
def baseline(provenance="scored"):
    """The claims of the results as they are.

    If they were a reconstruction, what only a draw answers is left open.
    """
    return evaluate_claims(CLAIMS, marked(results().cells, provenance))


def marked(cells, provenance):
    """The results with other cells, as if they came from there."""
    return replace(results(), cells=cells.assign(provenance=provenance))


def evaluated(**frames):
    """Evaluate the claims as of outputs, with some of the frames replaced, rows by claim id."""
    build = replace(results(), **frames)
    scored = build.cells.assign(provenance="scored")
    return evaluate_claims(CLAIMS, replace(build, cells=scored)).set_index("id")


def computed(frame):
    """The claims that could be settled."""
    return set(frame.index[frame["verdict"] != "not_computable"])


def with_values(name, models, **values):
    """Return a frame of the results with numbers of some models replaced."""
    frame = getattr(results(), name).copy()
    for column, value in values.items():
        frame.loc[frame["model"].isin(models), column] = value
    return frame


def moved(model, count, to="other", **levels):
    """Return cells in which answers of a model turn from correct to wrong.

    As many turn as a level's cells can give.
    """
    cells = results().cells.copy()
    rows = cells.index[
        (cells["model"] == model)
        & np.logical_and.reduce([cells[key] == at for key, at in levels.items()])
    ]
    for row in rows:
        here = min(count, int(cells.loc[row, "correct"]))
        cells.loc[row, "correct"] -= here
        cells.loc[row, to] += here
        count -= here
    assert count == 0, "the level does not have so many correct answers"
    return cells


def test_one_row_a_claim_in_file_order():
    """Every claim of the file has its row, with its words, kind and verdict."""
    rows = baseline("reconstructed")
    columns = ["id", "location", "claim", "model", "quantity"]
    pd.testing.assert_frame_equal(rows[columns], CLAIMS[columns])
    assert rows["published"].tolist() == CLAIMS["value"].tolist()
    judged = rows["evidence"] != "not identified"
    assert set(rows.loc[judged, "verdict"]) <= {"exact", "unit", "differs"}
    assert set(rows["kind"]) == {"input", "constraint", "derived"}
    assert (rows.loc[judged, "shown"] != "").all()


def test_verdicts_agree_with_the_transcriber():
    """Whatever Tables 2 to 10 settle comes out as the transcriber found, to the digit."""
    rows = baseline()
    check = CLAIMS["check"]
    assert set(rows.loc[check.str.startswith("differs"), "verdict"]) == {"differs"}
    agreeing = rows[check == "agrees"]
    assert set(agreeing["verdict"]) == {"exact"}
    tie = agreeing.set_index("id").loc[
        "C018", "recomputed"
    ]  # 273 of 280: the prose has 0.97, as Python prints it
    assert Fraction(tie).limit_denominator(1000) * 100 % 1 == Fraction(1, 2)
    assert len(agreeing) + check.str.startswith("differs").sum() == (check != "").sum()


@pytest.mark.parametrize(
    ("claim", "model", "count", "to", "levels"),
    [
        ("C011", QWQ, 100, "other", {"d": 1}),
        ("C027", "Qwen3-8B", 40, "other", {"N": 20}),
        ("C053", GPT5, 20, "other", {"ratio_pct": 5}),
        ("C118", "Qwen3-32B", 3, "valid_logic", {"N": 250}),
        ("C144", "Qwen3-1.7B", 8, "other", {"d": 10}),
    ],
)
def test_counts_decide(claim, model, count, to, levels):
    """Answers turned wrong make a claim about them wrong, and what is shown moves with them."""
    before = baseline().set_index("id").loc[claim]
    after = evaluated(cells=moved(model, count, to, **levels)).loc[claim]
    assert (before["verdict"], after["verdict"]) == ("exact", "differs")
    assert before["shown"] != after["shown"]


@pytest.mark.parametrize(
    ("claim", "frame", "models", "column", "value", "verdict"),
    [
        ("C062", "aic", [O3, "gemini-2.5-flash"], "aic_linear", 0.0, "exact"),
        ("C063", "glm", [GPT5, O3], "p_d", 0.05, "differs"),
        ("C065", "glm", [O3, "gemini-2.5-pro"], "p_rho2", 0.04, "exact"),
        ("C067", "glm", [O3], "p_rho", 0.0499, "differs"),
        ("C070", "glm", [GPT5], "ecl50", 300.0, "differs"),
        ("C074", "glm", [GPT5, O3], "id50", -0.1, "differs"),
        ("C075", "interactions", [GPT5, O3], "p_dN", 0.001, "differs"),
        ("C082", "interactions", [QWEN7B], "beta_Nrho", 0.01, "differs"),
        ("C106", "interactions", ["Qwen3-32B"], "p_Nrho", 0.106, "differs"),
        ("C152", "aic", [O3, "gemini-2.5-pro"], "p_lr", 0.01, "exact"),
        ("C172", "tokens", [QWQ], "prompt_mean", 4_001.0, "differs"),
        ("C174", "tokens", ["gemini-2.5-pro"], "output_p90", 20_000.0, "differs"),
    ],
)
def test_fits_and_tokens_decide(claim, frame, models, column, value, verdict):
    """A claim on Tables 2, 3, 6 or 7 to 10 follows the frame that holds their numbers."""
    assert baseline().set_index("id").loc[claim, "verdict"] != verdict
    changed = with_values(frame, models, **{column: value})
    assert evaluated(**{frame: changed}).loc[claim, "verdict"] == verdict


def with_trough(ratio, key, level):
    """Return cells with nothing right at one ratio and one level of d or N."""
    cells = results().cells
    here = (cells["ratio_pct"] == ratio) & (cells[key] == level)
    right = cells["correct"].where(here, 0)
    return cells.assign(correct=cells["correct"] - right, other=cells["other"] + right)


def test_one_model_settles_its_own_claims_only():
    """With a model's outputs every claim that names it is computed.

    No other claim is, but constants.
    """
    names = ("cells", "glm", "interactions", "aic", "tokens")
    frames = {name: getattr(results(), name).query("model == @O3") for name in names}
    constants = set(
        CLAIMS.loc[CLAIMS["quantity"].isin([*CONSTANTS, "samples_expected"]), "id"]
    )
    nothing = {name: frame.head(0) for name, frame in frames.items()}
    assert computed(evaluated(**nothing)) == constants
    named = set(CLAIMS.loc[CLAIMS["model"] == O3, "id"])
    assert computed(evaluated(**frames)) == named | constants


def claim_of(**changes):
    """A claim on the accuracy of QwQ-32B at d = 1, with some of its columns changed."""
    return CLAIMS.set_index("id").loc["C011"].to_dict() | {"id": "X"} | changes


def test_conditions_name_levels_groups_and_tests():
    """What distinguishes two claims stands in the ledger."""
    conditions = CLAIMS.set_index("id").apply(
        lambda claim: describe_condition(claim), axis=1
    )
    assert conditions["C155"] == "N=250 d=1"
    assert conditions["C178"] == "d=5 rho: low end minus high end"
    assert conditions["C075"] == "<0 p <0.01"
    assert conditions["C003"] == "(open weights)"
    assert conditions["C070"] == ""


def test_what_only_a_drawn_table_answers_is_not_judged():
    """Of a claim that rests on a draw the reason tells how other drawn tables answer.

    There is no verdict.
    """

    def judge(here, *others, provenance="reconstructed"):
        build = marked(here, provenance)
        (row,) = evaluate_claims(
            CLAIMS[CLAIMS["id"] == "C148"], build, others
        ).itertuples()
        return row

    inside = with_trough(50, "N", 20)
    outside = with_trough(90, "N", 20)
    claim = judge(inside, outside, with_trough(25, "N", 20), outside)
    assert claim.verdict == "not_computable"
    assert claim.shown == ""
    assert claim.evidence == "not identified"
    assert claim.reason == "not identified: holds in 1 of 3 reconstructions"
    verdicts = [
        judge(cells, provenance="scored").verdict for cells in (inside, outside)
    ]
    assert verdicts == ["exact", "differs"]


@pytest.mark.parametrize(
    ("value", "numbers", "stated", "shown", "verdict"),
    [
        ("0.62", [0.63], "", "0.63", "unit"),
        ("7.18e-5", [7.19e-5], "", "7.19e-5", "unit"),
        ("7.18e-5", [7.18e-4], "", "7.18e-4", "differs"),
        ("14000", [13_998, 14_000], "", "13998 to 14000", "differs"),
        ("0.10-0.25", [0.0951, 0.2549], "", "0.10 to 0.25", "exact"),
        ("0.10-0.25", [0.0949, 0.2], "", "0.09 to 0.20", "differs"),
        ("0.20-0.30", [0.2, 0.25, 0.4], "most", "2 of 3", "exact"),
        ("0.20-0.30", [0.2, 0.4], "most", "1 of 2", "differs"),
        ("0.93", [0.93, 0.97], "least", "0.93", "exact"),
        ("0.97", [0.93, 0.97], "largest", "0.97", "exact"),
    ],
)
def test_numbers_are_judged_in_print(value, numbers, stated, shown, verdict):
    """A number or range about several things holds for each of them, at the published precision."""
    judged = judge_numbers(claim_of(value=value, stated=stated), numbers)
    assert (judged.shown, judged.verdict) == (shown, verdict)


@pytest.mark.parametrize(
    ("value", "test", "number", "quantity", "shown", "verdict"),
    [
        (">300", "", 382.77, "ecl50", "382.8", "exact"),
        (">=0.05", "", 0.05, "p_lr", "0.050", "exact"),
        (">0.3", "", 0.3, "p_dN", "0.3", "differs"),
        ("<0", "", -0.001, "beta_Nrho", "-0.00", "exact"),
        ("<0", "", Fraction(0), "accuracy", "+0.000", "differs"),
        ("~0", ">=-0.05 <=0.05", Fraction(1, 20), "accuracy", "+0.050", "exact"),
        ("~0", ">=-0.05 <=0.05", Fraction(51, 1000), "accuracy", "+0.051", "differs"),
        ("not significant", ">=0.05", 0.05, "p_rho", "0.05", "exact"),
        ("not significant", ">=0.05", 0.0499, "p_rho", "0.0499", "differs"),
    ],
)
def test_bounds_are_judged_before_rounding(
    value, test, number, quantity, shown, verdict
):
    """A bound holds for the number itself; shown is the number as its table prints it."""
    claim = claim_of(value=value, test=test, quantity=quantity)
    assert judge_numbers(claim, [number]) == (float(number), shown, verdict, "")


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"d": "1"}, "input"),
        ({"d": "", "rho": "35"}, "derived"),
        ({"quantity": "ratio_of_lowest_accuracy"}, "derived"),
        ({"quantity": "beta_d"}, "derived"),
        ({"quantity": "p_drho"}, "constraint"),
    ],
)
def test_what_agreement_is_worth_goes_by_the_table_that_a_number_rests_on(
    changes, kind
):
    """Tables 4 and 5 are inputs, Table 3 is met; Table 2 and needle ratios follow."""
    assert kind_of(claim_of(**changes), reconstructed=True) == kind
    assert kind_of(claim_of(**changes), reconstructed=False) == "independent"


def test_groups_are_those_that_the_prose_describes():
    """They follow from the numbers of puzzles, the classes and the names of the models."""
    groups = GROUPS.groupby("group")["model"].agg(list).to_dict()
    few = [model.name for model in MODELS if model.puzzles_per_cell == 10]
    many = [model.name for model in MODELS if model.puzzles_per_cell == 100]
    assert groups["API"] == few
    assert groups["open weights"] == many
    assert groups["smaller or distilled"] == [name for name in many if name != QWQ]
    assert groups["low class"] == [
        model.name for model in MODELS if model.tier == "low"
    ]
    named = ("gemini-2.5", "gpt-5", "DeepSeek-R1-0528")
    assert groups["API, named in section 3"] == [
        name for name in few if name.startswith(named)
    ]
    assert set(groups["gpt-5 and o3"]) == {GPT5, O3}
    family = ("o3", "gpt-5")
    assert groups["o3 and gpt-5 family"] == [
        name for name in NAMES if name.startswith(family)
    ]
    assert set(groups["gemini-2.5-pro and gemini-2.5-flash"]) == {
        "gemini-2.5-pro",
        "gemini-2.5-flash",
    }
    assert set(CLAIMS["group"]) - {""} == set(groups)
