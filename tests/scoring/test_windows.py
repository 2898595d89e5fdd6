"""Windows, and the values in them."""

import pytest
import reference_scorer
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference_scorer import alt_flag, check_correct_answer
from reference_scorer import take_last_sentence as reference_take_last_sentence

from cogniload_repro.puzzles.ontology import CATEGORIES
from cogniload_repro.scoring.windows import (
    BOUNDARIES,
    QUALIFIERS,
    SPELLINGS,
    Windows,
    find_mention,
    find_windows,
    has_alternative,
    take_last_sentence,
)

VALUES = [
    "red",
    "green",
    "fiction",
    "non-fiction",
    "sci-fi",
    "camp",
    "campground",
    "livingroom",
    "bar",
    "barn",
    "Red",
]
PIECES = [
    *VALUES,
    "bored",
    "living room",
    "science fiction",
    "reggae",
    *BOUNDARIES,
    *"-`\t\xa0“",
]
SENTENCES = st.lists(st.sampled_from(PIECES)).map("".join)
LINES = [
    "Ian",
    "hair",
    "IAN blue hair",
    "İan Hair",
    "",
    *" \r",
    "ΟΔΟΣ.Ian",
    "x" * 3000,
    "(Ian",
    "hair)",
    "(Ian hair)",
]


@given(st.text(alphabet="a. \n"))
def test_last_sentence_equals_the_literal_split(line):
    """Cutting from the right gives what splitting the whole line gives."""
    assert take_last_sentence(line) == reference_take_last_sentence(line)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("it is green", "it is green"),
        ("a. it is green.", " it is green"),
        ("socks...", ""),
    ],
)
def test_the_last_sentence_stands_before_the_last_full_stop(line, sentence):
    """A line without a full stop is one sentence; dots at its end leave nothing."""
    assert take_last_sentence(line) == sentence


def test_the_words_are_those_of_the_appendix():
    """Stems of the twelve categories in the order of the draws, and the spellings of six values."""
    assert tuple(QUALIFIERS) == CATEGORIES
    for category, stems in reference_scorer.QUALIFIERS.items():
        assert set(QUALIFIERS[category]) == stems
    assert set(SPELLINGS) == set(reference_scorer.SPELLINGS)
    for value, spellings in reference_scorer.SPELLINGS.items():
        assert list(SPELLINGS[value]) == spellings


def test_an_unknown_category_is_refused():
    """A category without qualifiers is an error that lists the twelve."""
    with pytest.raises(ValueError, match=r"unknown category 'shoes'; .*clothes_socks"):
        find_windows("It is red.", "Sue", "shoes")


def reference_windows(response, poi, category):
    """Cut the windows as Algorithms 1 and 2 say."""
    lines = response.lower().split("\n")
    if lines[-1].startswith("(") and lines[-1].endswith(")"):
        lines.pop()
    lines = [line for line in lines if line != ""] or [""]
    named = [line for line in lines if poi.lower() in line]
    valid = []
    for line in named:
        if any(stem in line for stem in QUALIFIERS[category]):
            valid.append(line)
    return Windows(
        valid[-1] if valid else "",
        named[-1] if named else "",
        reference_take_last_sentence(lines[-1]),
    )


@settings(max_examples=120)
@given(
    lines=st.lists(st.sampled_from(LINES)),
    poi=st.sampled_from(["Ian", "İan", "Σ", "ς", "\u212a", "", "Ian\nhair"]),
    category=st.sampled_from(["hair", "location"]),
)
@example(
    lines=["Ian blue hair", "(Ian hair)", "Ian", "hair"], poi="Ian", category="hair"
)
def test_windows_equal_those_of_the_whole_text(lines, poi, category):
    """Lines from the end give the windows of the literal algorithm, in any script."""
    response = "\n".join(lines)
    assert find_windows(response, poi, category) == reference_windows(
        response, poi, category
    )


@given(
    st.text(alphabet="iI\u0130kK\u212aΣσς.' ΑA\n(\u0307\ud800", max_size=60),
    st.sampled_from(["i", "k", "ik", "σ", "ΑΣ"]),
)
def test_windows_equal_those_of_the_whole_text_for_awkward_letters(response, poi):
    """Characters whose lower case is longer, ASCII or dependent on context change nothing."""
    assert find_windows(response, poi, "hair") == reference_windows(
        response, poi, "hair"
    )


def test_a_value_is_found_after_a_boundary():
    """Only seven characters may stand before a value; a longer word behind them gives it."""
    signs = map(chr, range(0x3000))
    before = {sign for sign in signs if find_mention("bar", f"in the{sign}barn")}
    assert before == set(BOUNDARIES) == set(' ["*_{(')


@settings(max_examples=100)
@given(st.sampled_from([*VALUES, ""]), SENTENCES)
def test_mention_equals_the_literal_check(value, sentence):
    """The fast search says what CheckCorrectAnswer says, and finds a spelling of the value."""
    mention = find_mention(value, sentence)
    assert (mention is not None) == check_correct_answer(value, sentence)
    if mention:
        start, end = mention
        assert sentence[start:end] in SPELLINGS.get(value, (value,))


@settings(max_examples=100)
@given(
    SENTENCES.map(str.lower),
    st.lists(st.sampled_from(VALUES), unique=True),
    st.sampled_from(VALUES),
    st.booleans(),
)
@example("at the campground", ["campground", "camp"], "camp", True)
@example("the living room", ["bar", "livingroom"], "livingroom", False)
@example("fiction, then non-fiction", ["fiction", "non-fiction"], "fiction", True)
@example("non-fiction, then fiction", ["fiction", "non-fiction"], "fiction", True)
@example("non-fiction", ["fiction", "non-fiction"], "fiction", False)
@example("red, not blue", ["red", "blue"], "red", True)
def test_flag_equals_the_literal_one(sentence, domain, gold, last):
    """Whether or not the value that is mentioned last decides."""
    alternatives = [value for value in domain if value != gold]
    expected = alt_flag(sentence, alternatives, gold, last)
    assert has_alternative(sentence, domain, gold, last_mention=last) == expected
