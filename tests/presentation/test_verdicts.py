"""The pieces of pages that report the comparison with the paper."""

import pandas as pd

from cogniload_repro.fidelity.ledger import COLUMNS, VERDICTS
from cogniload_repro.presentation import verdicts
from cogniload_repro.published import load_claims


def _checks(*rows):
    return pd.DataFrame(rows, columns=[name for name in COLUMNS if name != "evidence"]).assign(evidence="identified")


_ROWS = (
    ("table2", "QwQ-32B", "beta_0", "", "derived", "5.68", 5.681, "5.68", "exact", ""),
    ("table2", "QwQ-32B", "beta_d", "", "derived", "-0.21", -0.22, "-0.22", "unit", ""),
    ("table2", "QwQ-32B", "ecl50", "", "derived", "48.0", 51.3, "51.3", "differs", ""),
    ("table2", "o3-2025-04-16", "beta_0", "", "constraint", "12.83", 12.83, "12.83", "exact", ""),
    ("table4", "QwQ-32B", "ctx", "d=1", "input", "2", 2.0, "2", "exact", ""),
    ("prose", "", "models", "C001", "derived", "22", float("nan"), "", "not_computable", "why"),
)


def test_every_verdict_has_words():
    """The headings cover the verdicts that the comparison can give, in its order."""
    assert tuple(verdicts.WORDS) == VERDICTS


def test_scoreboard_adds_up():
    """The scoreboard's rows hold every printed number once; samples have a column where there are any."""
    board = verdicts.scoreboard(_checks(*_ROWS))
    assert list(board["Where"]) == ["Table 2", "Table 2", "Table 4", "Prose"]
    assert board["Numbers"].sum() == len(_ROWS)
    counts = board.drop(columns=["Where", "Kind", "Numbers"])
    assert (counts.sum(axis=1) == board["Numbers"]).all()
    assert "Within sampling error" not in board
    counted = ("table7", "QwQ-32B", "prompt_mean", "N=20 d=1, counted", "independent", "400", 401, "401", "within", "")
    board = verdicts.scoreboard(_checks(*_ROWS, counted)).groupby("Where")["Within sampling error"].sum()
    assert board.to_dict() == {"Table 2": 0, "Table 4": 0, "Prose": 0, "Table 7": 1}


def test_the_summary_counts_nothing_twice():
    """Capacity points and inputs are no tests of their own; what differs and what cannot be computed is said."""
    rows = [*_ROWS[:3], ("table2", "Qwen3-8B", "beta_d", "", "derived", "-0.26", None, "", "not_computable", "why")]
    rows += [("table7", "QwQ-32B", "prompt_mean", "N=20 d=1, counted", "independent", "400", 401, "401", "within", "")]
    sentence = verdicts.summarise(_checks(*rows))
    assert sentence.startswith("1 of 3 coefficients that were not used in the reconstruction are reproduced")
    assert "1 cannot be computed here. 1 of 1 printed prompt lengths agree" in sentence
    assert verdicts.summarise(_checks(_ROWS[4])) == "These outputs test none of the printed numbers."


def test_claims_keep_their_verdicts():
    """Each statement of the prose stands beside its own verdict, found by its id; places choose the rows."""
    claims = load_claims()
    rows = [
        ("prose", row.model, row.quantity, f"{row.id}: {row.condition}", "derived", row.value, 0.0, f"of {row.id}",
         "exact", "")
        for row in claims.itertuples()
    ]  # fmt: skip
    listed = verdicts.list_claims(_checks(*rows[::-1]), "App. F", "App. C")
    own = claims[claims["location"].str.startswith(("App. F", "App. C"))]
    assert list(listed["Recomputed"]) == [f"of {claim}" for claim in own["id"]]
    assert list(listed["Statement"]) == list(own["claim"])


def test_what_cannot_be_computed_is_gathered_by_its_reason():
    """Each table and reason has one line; few models are named, many are counted."""
    rows = [("table4", f"m{n}", "ctx", "d=1", "input", "2", None, "", "not_computable", "no outputs") for n in range(9)]
    rows += [(*rows[0][:1], "m0", "ctx", "d=3", *rows[0][4:-1], "two cells only")] * 2
    listed = verdicts.list_unknown(_checks(*rows, _ROWS[0]))
    assert listed.to_numpy().tolist() == [
        ["Table 4", 9, "9 models", "no outputs"], ["Table 4", 2, "m0", "two cells only"],
    ]  # fmt: skip
    assert verdicts.list_unknown(_checks(_ROWS[0])).empty


def test_differences_are_what_is_computed_and_not_exact():
    """Numbers one unit apart and others that differ are listed, those not computable are not."""
    assert verdicts.list_differences(_checks(*_ROWS))["Quantity"].tolist() == ["beta_d", "ecl50"]


def test_stars_points_and_prose_are_no_tests_of_their_own():
    """Coefficients count; what follows from them does not."""
    names = ("beta_0", "beta_0 stars", "ecl50", "nt50")
    checks = _checks(*((("table2", "QwQ-32B", name, "", "derived", "1", 1, "1", "exact", "")) for name in names))
    checks.loc[len(checks)] = ["prose", "", "models", "C063: so", "derived", "22", 22, "22", "exact", "", "identified"]
    assert verdicts.follows(checks).tolist() == [False, True, True, True, True]
