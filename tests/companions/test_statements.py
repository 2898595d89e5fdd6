"""The documents' numbers: a whole list, and checks that can fail."""

from cogniload_repro.companions import statements
from cogniload_repro.companions.statements import VERDICTS, check_statements, load_statements


def test_what_is_known_to_hold_and_to_differ():
    """The worked loads hold; the recursion's depth and the count of invertible perturbations do not."""
    checked = check_statements().set_index("id")
    assert checked.index.is_unique
    assert set(checked["verdict"]) == set(VERDICTS)
    by_text = checked.set_index("statement")["verdict"]
    assert (
        by_text[["load", "fewest moves", "load of Tower of Hanoi over n^2"]] == "holds"
    ).all()  # 1.58 x 3
    assert (
        by_text[by_text.index.str.startswith("state bits of")] == "holds"
    ).all()  # by the post's own definitions
    differs = checked[checked["verdict"] == "differs"].set_index("check")["found"].to_dict()
    assert differs == {"hanoi_steps": "1023", "three_digits": "900", "invertible": "7"}


def test_a_changed_value_changes_the_verdict(monkeypatch):
    """Each check is held against the printed value: with another value no row holds."""
    rows = load_statements()
    changed = rows.assign(
        value=rows["value"].where(
            rows["check"] == "", rows["value"].str.replace(r"\d", "8", regex=True)
        )
    )
    monkeypatch.setattr(statements, "load_statements", lambda: changed)
    again = check_statements().set_index("id")
    circular = ["output tokens", "Snake Vertical, Qwen", "models evaluated"]
    own = again[(again["check"] != "") & ~again["statement"].str.startswith(tuple(circular))]
    assert (own["verdict"] == "differs").all()
