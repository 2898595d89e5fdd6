"""The numbers in the sentences on the generator."""

import pytest
from samples import table_of

from cogniload_repro.formats import NONE
from cogniload_repro.presentation import generation_facts as facts
from cogniload_repro.puzzles import measure as checks

ALL = (facts.describe_sample, facts.describe_needles, facts.describe_failures, facts.describe_values,
       facts.describe_people)  # fmt: skip


@pytest.fixture(scope="module")
def table():
    """Puzzles of d = 1 and d = 4 with nine needles in ten statements, so that people are missing."""
    return table_of(*[(20, d, 18, 10 * d + number) for d in (1, 4) for number in range(8)])


@pytest.fixture(scope="module")
def measures(table):
    """What is measured on them."""
    return checks.measure_puzzles(table, 8)


def test_rules_at_d_1_have_known_numbers(measures):
    """With three values, a third of needles and half of hays would change nothing by the paper's rule."""
    found = facts.describe_values(measures)
    assert (found["idle_needle_d1"], found["idle_hay_d1"]) == ("33.3", "50.0")


def test_shares_are_of_what_the_sentences_say(measures):
    """Attempts the paper would allow are counted among those at d > 1; missing people in the worst cell."""
    failures = measures.failures[measures.failures["reason"] == checks.REASONS[2]]
    some = failures[failures["alike"] < failures["others"]]
    found = facts.describe_failures(measures)
    assert set(some["d"]) == {4}
    assert (found["equal"], found["equal_some"]) == (f"{len(failures):,}", f"{len(some):,}")
    assert found["equal_some_pct"] == f"{100 * len(some) / (failures['d'] == 4).sum():.1f}"
    assert (found["d_first"], found["d_last"], found["give_up"]) == ("1", "4", "51")
    cast = measures.puzzles[measures.puzzles["d"] == 4]
    people = facts.describe_people(measures)
    assert people["missing_worst"] == "N = 20, d = 4 and a nominal 90%"
    assert people["missing_worst_pct"] == f"{100 * (1 - cast['lines'] / 4).mean():.0f}" != "0"
    assert people["pairs"] == people["pairs_apart"] == f"{8 * 1 + 8 * 6}"


def test_needles_are_exact(measures):
    """All puzzles have their needles, and the last statement's share is that of the statements."""
    found = facts.describe_needles(measures)
    last = measures.statements[measures.statements["place"] == 19]["needle"]
    assert found["needles_exact"] == "16"
    assert (found["last_needle"], found["last_even"]) == (f"{100 * last.mean():.1f}", "90.0")
    assert found["rho_largest"] == "0.0"


def test_every_fact_is_text_also_without_puzzles(table, measures):
    """The same keys come with and without puzzles; a number that does not exist is printed as such."""
    nothing = checks.measure_puzzles(table.assign(text=""), 8)
    for describe in ALL:
        some, none = describe(measures), describe(nothing)
        assert set(some) == set(none)
        assert all(isinstance(value, str) and "nan" not in value for value in (some | none).values())
        assert NONE not in some.values()
    assert facts.describe_values(nothing)["repeat_needle"] == NONE
