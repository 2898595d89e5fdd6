"""Values in a sentence."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference_scorer import alt_flag, check_correct_answer

from cogniload_repro.scoring.matches import BOUNDARIES, SPELLINGS, find_mention, has_alternative, is_mentioned

VALUES = ["red", "green", "fiction", "non-fiction", "sci-fi", "camp", "campground", "livingroom", "bar", "barn", "Red"]
PIECES = [*VALUES, "bored", "living room", "science fiction", "reggae", *BOUNDARIES, *"-`\t\xa0“"]
SENTENCES = st.lists(st.sampled_from(PIECES)).map("".join)


def test_a_value_is_found_after_a_boundary():
    """Seven characters and no other may stand before a value inside a sentence; a longer word behind them gives it."""
    before = {char for char in map(chr, range(0x3000)) if is_mentioned("bar", f"in the{char}barn")}
    assert before == set(BOUNDARIES) == set(' ["*_{(')


@settings(max_examples=100)
@given(st.sampled_from([*VALUES, ""]), SENTENCES)
def test_mention_equals_the_literal_check(value, sentence):
    """The fast search says what CheckCorrectAnswer says, and the span it gives is a spelling of the value."""
    expected = check_correct_answer(value, sentence)
    assert is_mentioned(value, sentence) == expected
    span = find_mention(value, sentence)
    assert (span is not None) == expected
    if span:
        assert sentence[slice(*span)] in SPELLINGS.get(value, (value,))


@settings(max_examples=100)
@given(SENTENCES.map(str.lower), st.lists(st.sampled_from(VALUES), unique=True), st.sampled_from(VALUES), st.booleans())
@example("at the campground", ["campground", "camp"], "camp", True)
@example("the living room", ["bar", "livingroom"], "livingroom", False)
@example("fiction, then non-fiction", ["fiction", "non-fiction"], "fiction", True)
@example("non-fiction, then fiction", ["fiction", "non-fiction"], "fiction", True)
@example("non-fiction", ["fiction", "non-fiction"], "fiction", False)
@example("red, not blue", ["red", "blue"], "red", True)
def test_flag_equals_the_literal_one(sentence, domain, gold, last):
    """Testing the enclosure first changes no flag, whether or not the value that is mentioned last decides."""
    expected = alt_flag(sentence, [value for value in domain if value != gold], gold, last)
    assert has_alternative(sentence, domain, gold, last_mention=last) == expected
