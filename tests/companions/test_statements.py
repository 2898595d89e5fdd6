"""The documents' numbers: a whole list, and checks that can fail."""

import pandas as pd
import pytest

from cogniload_repro.companions import statements
from cogniload_repro.companions.statements import VERDICTS, check_statements, compare_shares, load_statements


@pytest.fixture(scope="module")
def checked() -> pd.DataFrame:
    """Every row with its verdict."""
    return check_statements().set_index("id")


def test_the_list_is_whole(checked):
    """Ids are unique, every row says where its value stands; without a check nothing holds or differs."""
    assert checked.index.is_unique
    assert (checked[["document", "where", "statement", "value", "kind"]] != "").all(axis=None)
    assert set(checked["verdict"]) == set(VERDICTS)
    assert not checked[checked["check"] == ""]["verdict"].isin(["holds", "differs"]).any()


def test_what_is_known_to_hold_and_to_differ(checked):
    """The worked loads hold; the recursion's depth and the count of invertible perturbations do not."""
    by_text = checked.set_index("statement")["verdict"]
    assert (by_text[["load", "fewest moves", "load of Tower of Hanoi over n^2"]] == "holds").all()  # 1.58 x 3
    assert (by_text[by_text.index.str.startswith("state bits of")] == "holds").all()  # by the post's own definitions
    differs = checked[checked["verdict"] == "differs"].set_index("check")["found"].to_dict()
    assert differs == {"hanoi_steps": "1023", "three_digits": "900", "invertible": "7"}


def test_a_changed_value_changes_the_verdict(monkeypatch, checked):
    """Each check is held against the printed value: with another value no row holds."""
    rows = load_statements()
    changed = rows.assign(
        value=rows["value"].where(rows["check"] == "", rows["value"].str.replace(r"\d", "8", regex=True))
    )
    monkeypatch.setattr(statements, "load_statements", lambda: changed)
    again = check_statements().set_index("id")
    circular = ["output tokens", "Snake Vertical, Qwen", "models evaluated"]
    own = again[(again["check"] != "") & ~again["statement"].str.startswith(tuple(circular))]
    assert (own["verdict"] == "differs").all()


def test_sampling_errors_are_those_of_shares():
    """Independent samples give the textbook error; alike ones count as one each."""
    row = compare_shares().iloc[0]
    error = ((0.99 * 0.01 + 0.65 * 0.35) / 240) ** 0.5
    assert row["z_independent"] == pytest.approx(0.34 / error)
    assert row["z_alike"] == pytest.approx(0.34 / error / 8**0.5)
    drop = compare_shares().iloc[2]  # 5 points between two averages over 13 perturbations, of 8 answers to 60 problems
    assert drop["z_independent"] == pytest.approx(0.05 / (2 * 0.25 * 14 / 13 / 480) ** 0.5)
    assert drop["z_alike"] == pytest.approx(0.05 / (4 * 0.25 / 60) ** 0.5)
    assert set(compare_shares()["verdict"]) == {"established", "depends", "not established"}
