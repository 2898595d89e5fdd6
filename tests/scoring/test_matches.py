"""Values in a sentence."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference_scorer import alt_flag, check_correct_answer

from cogniload_repro.scoring.matches import BOUNDARIES, SPELLINGS, find_mention, has_alternative, is_mentioned

VALUES = ["red", "green", "fiction", "non-fiction", "sci-fi", "camp", "campground", "livingroom", "bar", "barn", "Red"]
PIECES = [*VALUES, "bored", "living room", "science fiction", "reggae", *BOUNDARIES, *"-`\t\xa0“"]
SENTENCES = st.lists(st.sampled_from(PIECES)).map("".join)


@pytest.mark.parametrize("before", [*BOUNDARIES, *"`'-/:\t\xa0“‘x.,\n"])
def test_a_value_is_found_after_a_boundary(before):
    """Seven characters and no other may stand before a value inside a sentence."""
    assert is_mentioned("green", f"in the{before}green") is (before in BOUNDARIES)


def test_a_value_is_looked_for_as_it_stands():
    """A longer word that begins with the value gives the value, as in the paper; a gold value is not lowered."""
    assert is_mentioned("bar", "in the barn")
    assert is_mentioned("bar", "barn")
    assert not is_mentioned("Red", "it is red")


@pytest.mark.parametrize(("value", "spelling"), [(v, s) for v, spellings in SPELLINGS.items() for s in spellings])
def test_synonyms_are_accepted_one_way(value, spelling):
    """Six values have other spellings; a spelling that is no value of the six stands for itself only."""
    assert is_mentioned(value, f"it is {spelling}")
    if spelling not in SPELLINGS and not value.startswith(spelling):
        assert not is_mentioned(spelling, f"it is {value} ")


@given(st.sampled_from([*VALUES, ""]), SENTENCES)
def test_mention_equals_the_literal_check(value, sentence):
    """The fast search says what CheckCorrectAnswer says, and the span it gives is a spelling of the value."""
    expected = check_correct_answer(value, sentence)
    assert is_mentioned(value, sentence) == expected
    span = find_mention(value, sentence)
    assert (span is not None) == expected
    if span:
        assert sentence[slice(*span)] in SPELLINGS.get(value, (value,))


@given(SENTENCES.map(str.lower), st.lists(st.sampled_from(VALUES), unique=True), st.sampled_from(VALUES))
@example("at the campground", ["campground"], "camp")
def test_flag_equals_the_literal_one(sentence, domain, gold):
    """Testing the enclosure first changes no flag."""
    alternatives = [value for value in domain if value != gold]
    assert has_alternative(sentence, alternatives, gold) == alt_flag(sentence, alternatives, gold)


@pytest.mark.parametrize(
    ("sentence", "gold", "flag", "last"),
    [
        ("it is blue", "red", True, True),
        ("it is red", "red", False, False),
        ("from blue to red", "red", False, False),
        ("red, not blue", "red", False, True),
        ("bored of blue", "red", False, True),
        ("a non-fiction book", "fiction", True, True),
        ("non-fiction", "fiction", True, True),
        ("fiction, then non-fiction", "fiction", True, True),
        ("non-fiction, then fiction", "fiction", False, False),
        ("from blue to the living room", "livingroom", True, False),
        ("the living room, not blue", "livingroom", True, True),
    ],
)
def test_flag(sentence, gold, flag, last):
    """Gold anywhere clears the flag, by raw search without synonyms, unless an alternative encloses it.

    In the prose reading the value that is mentioned last decides.
    """
    assert has_alternative(sentence, ["blue", "non-fiction"], gold) is flag
    assert has_alternative(sentence, ["blue", "non-fiction"], gold, last_mention=True) is last
