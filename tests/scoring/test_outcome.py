"""The rules of Appendix D: windows, the values in them, the outcome and the reason for it."""

import copy
import re
from dataclasses import asdict

import pytest
import reference_scorer
from endings import draw_question, draw_response, draw_tokens
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from reference_scorer import alt_flag, check_correct_answer, score
from reference_scorer import take_last_sentence as reference_take_last_sentence

from cogniload_repro.importing.endings import join_reasoning
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.ontology import CATEGORIES
from cogniload_repro.scoring.outcome import (
    BOUNDARIES,
    QUALIFIERS,
    SCORERS,
    SPELLINGS,
    Question,
    Windows,
    ends_correct,
    exceeds_budget,
    find_mention,
    find_windows,
    has_alternative,
    take_last_sentence,
)
from cogniload_repro.scoring.response import score_response

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
    "Ian hair\r\nblue",
    "ΟΔΟΣ.Ian",
    "x" * 3000,
    "(Ian",
    "hair)",
    "(Ian hair)",
]
CASE = {
    "poi": "Sue",
    "gold": "red",
    "domain": ["blue", "red", "green"],
    "category": "hair",
}
#: What is Raymond wearing: yellow, blue or red underwear?
PUZZLE = draw_puzzle(20, 1, 1, 770487)


@given(st.text(alphabet="a. \n"))
def test_last_sentence_equals_the_literal_split(line):
    """Cutting from the right gives what splitting the whole line gives."""
    assert take_last_sentence(line) == reference_take_last_sentence(line)


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
    lines = re.split("\r\n|\r|\n", response.lower())
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


@st.composite
def scored_cases(draw):
    """A response with what is asked and its token counts, chosen so that hypothesis can shrink."""
    rng = draw(st.randoms(use_true_random=False))
    question = draw_question(rng)
    response = draw_response(rng, question)
    return response, question | draw_tokens(rng)


@pytest.mark.parametrize("scorer", SCORERS)
@settings(
    suppress_health_check=[HealthCheck.too_slow]
)  # time is no promise on a busy machine
@given(case=scored_cases())
@example(case=("", CASE))
@example(case=("red", CASE | {"domain": []}))
@example(case=("It is not", CASE | {"domain": ["red", ""]}))
def test_outcome_equals_the_literal_algorithms(scorer, case):
    """The bucket is that of Algorithms 1 to 3, and the evidence belongs to it."""
    response, question = case
    rules = asdict(SCORERS[scorer])
    # the reference takes a minute for that
    assume(len(response) < 50_000 or not rules["last_mention"])
    outcome = score_response(response, **question, scorer=scorer)
    assert outcome == score(response, **question, **rules)
    assert outcome.is_correct == outcome.startswith("correct")
    assert outcome.answer in outcome.window
    if "" not in question["domain"]:
        has_no_answer = outcome in ("wrong_max_context", "wrong_other")
        assert (outcome.answer == "") == has_no_answer


@pytest.mark.parametrize(
    ("prompt_tokens", "response_tokens", "exceeded"),
    [
        (2_000, 30_747, False),
        (2_000, 30_748, True),
        (None, 40_000, False),
        (40_000, None, False),
        (None, None, False),
    ],
)
def test_the_budget_counts_twenty_tokens_more(prompt_tokens, response_tokens, exceeded):
    """The limit is met at prompt + response + 20 = 32,768, and comes before any match."""
    assert exceeds_budget(prompt_tokens, response_tokens) is exceeded
    tokens = {"prompt_tokens": prompt_tokens, "response_tokens": response_tokens}
    outcome = score_response("Sue has red hair.", **CASE, **tokens)
    assert outcome == ("wrong_max_context" if exceeded else "correct_valid")
    assert ("32,768" in outcome.reason) == exceeded


@pytest.mark.parametrize("end", ["\r\n", "\r"])
@given(lines=st.lists(st.sampled_from(["Sue: red.", "Hm (blue)", "(Sue)", ""])))
def test_line_ends_change_no_outcome(end, lines):
    """LF, CRLF and CR end a line."""
    outcome = score_response("\n".join(lines), **CASE)
    other = score_response(end.join(lines), **CASE)
    assert vars(other) == vars(outcome)
    assert other == outcome


@pytest.mark.parametrize(
    ("response", "bucket", "window", "answer"),
    [
        (
            "Sue: from Blue to **Red** hair",
            "correct_valid",
            "sue: from blue to **red** hair",
            "red",
        ),
        ("Hm. Sue cannot tell.", "wrong_other", "hm. sue cannot tell.", ""),
        ("", "wrong_max_context", "", ""),
    ],
)
def test_an_outcome_carries_its_evidence(response, bucket, window, answer):
    """Window and answer let a reader check any outcome; a copy has them too."""
    outcome = score_response(response, **CASE)
    assert outcome == bucket
    assert outcome.window == window
    assert outcome.answer == answer
    assert vars(copy.deepcopy(outcome)) == vars(outcome)


@pytest.mark.parametrize(
    ("response", "bucket", "reason"),
    [
        ("Raymond is wearing red underwear.", "correct_valid", "window 1 has 'red'"),
        (
            "Raymond is wearing blue underwear.\nIt is red",
            "correct_last_sentence",
            "window 3 has 'red'",
        ),
        ("Raymond: blue", "wrong_logic_poi", "window 2 has 'blue'"),
        ("Hm.", "wrong_other", "no window has the correct value"),
        ("Raymond: red...", "wrong_max_context", "the last sentence is empty"),
    ],
)
def test_an_outcome_explains_itself(response, bucket, reason):
    """The last line of the explanation has the bucket and the rule that decided."""
    outcome = score_response(response, PUZZLE)
    assert outcome == bucket
    assert outcome.reason.startswith(reason)
    assert outcome.explain().splitlines()[-1] == f"{bucket}: {outcome.reason}"


def test_an_explanation_shows_each_window_once_with_its_values():
    """Values are shown as they are spelled, and a long window by its end."""
    response = "Raymond is wearing blue, no, RED underwear."
    lines = score_response(response, PUZZLE).explain().splitlines()
    assert (
        lines[0]
        == "asked: clothes_underwear of Raymond; correct: red; other: yellow, blue"
    )
    assert lines[1].endswith(": 'raymond is wearing blue, no, red underwear.'")
    assert lines[2] == "   correct value: red; other values: blue"
    assert lines[3:5] == [
        "2. last line with Raymond: the same",
        "3. last sentence: 'raymond is wearing blue, no, red underwear'",
    ]


def test_another_scorer_may_decide_otherwise():
    """Prose and algorithms of the appendix differ."""
    response = "Sue had red hair. It is blue hair."
    assert score_response(response, **CASE) == "correct_valid"
    assert score_response(response, **CASE, scorer="prose") == "wrong_logic"


@pytest.mark.parametrize(
    ("text", "is_correct"),
    [
        ("Sue has red hair.", True),
        ("Sue has red hair.\nI am not sure.", False),
        ("Sue has red hair. She has blue hair.", False),
        ("Sue has red or blue hair.", True),
        ("", False),
    ],
)
def test_the_last_sentence_may_be_judged_by_itself(text, is_correct):
    """Lines before it do not count."""
    assert ends_correct(text, Question(**CASE)) == is_correct


@pytest.mark.parametrize(
    ("response", "changes", "message"),
    [
        (
            "It is red.",
            {"scorer": "mine"},
            "unknown scorer 'mine'; choose one of: pseudocode, prose",
        ),
        ("It is red.", {"gold": ""}, "gold value is empty"),
        (None, {}, "a response must be text"),
    ],
)
def test_what_cannot_be_scored_is_refused(response, changes, message):
    """An empty gold value would be in every text."""
    with pytest.raises(ValueError, match=message):
        score_response(response, **CASE | changes)


def test_a_huge_response_is_scored():
    """Fifty megabytes on one line are one window."""
    response = "red and so on " * 3_600_000
    assert score_response(response + "Sue has red hair", **CASE) == "correct_valid"


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(case=scored_cases(), cut=st.floats(0, 1))
@example(case=("\n", CASE), cut=1.0)
@example(case=("Sue: red(as asked)", CASE), cut=0.45)
def test_marks_around_reasoning_change_no_outcome(case, cut):
    """Whether a source keeps reasoning and answer apart or in a row, the outcome is the same."""
    response, question = case
    poi = question["poi"].lower()
    assume(not poi or poi not in "<think>\n</think>")
    place = int(cut * len(response))
    reasoning = response[:place]
    answer = response[place:]
    in_a_row = (
        f"{reasoning}\n\n{answer}" if reasoning and answer else reasoning or answer
    )
    joined = join_reasoning(reasoning, answer)
    assert score_response(joined, **question) == score_response(in_a_row, **question)
