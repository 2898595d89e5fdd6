"""The verdict on one response, and the reason for it."""

import copy
from dataclasses import asdict

import pytest
from endings import draw_question, draw_response, draw_tokens
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from reference_scorer import score

from cogniload_repro.endings import join_reasoning
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.scoring.verdict import (
    SCORERS,
    exceeds_budget,
    is_unsure,
    reward,
    score_response,
)

CASE = {
    "poi": "Sue",
    "gold": "red",
    "domain": ["blue", "red", "green"],
    "category": "hair",
}
#: What is Raymond wearing: yellow, blue or red underwear?
PUZZLE = draw_puzzle(20, 1, 1, 770487)
#: Scorers that follow the appendix.
PAPER_SCORERS = [name for name, rules in SCORERS.items() if not rules.answer_only]


@st.composite
def scored_cases(draw):
    """A response with what is asked and its token counts, chosen so that hypothesis can shrink."""
    rng = draw(st.randoms(use_true_random=False))
    question = draw_question(rng)
    response = draw_response(rng, question)
    return response, question | draw_tokens(rng)


@pytest.mark.parametrize("scorer", PAPER_SCORERS)
@settings(
    suppress_health_check=[HealthCheck.too_slow]
)  # time is no promise on a busy machine
@given(case=scored_cases())
@example(case=("", CASE))
@example(case=("red", CASE | {"domain": []}))
@example(case=("It is not", CASE | {"domain": ["red", ""]}))
def test_verdict_equals_the_literal_algorithms(scorer, case):
    """The bucket is that of Algorithms 1 to 3, and the evidence belongs to it."""
    response, question = case
    rules = asdict(SCORERS[scorer])
    # the reference takes a minute for that
    assume(len(response) < 50_000 or not rules["last_mention"])
    del rules["answer_only"]
    verdict = score_response(response, **question, scorer=scorer)
    assert verdict == score(response, **question, **rules)
    assert verdict.is_correct == verdict.startswith("correct")
    assert verdict.answer in verdict.window
    if "" not in question["domain"]:
        has_no_answer = verdict in ("wrong_max_context", "wrong_other")
        assert (verdict.answer == "") == has_no_answer


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
    verdict = score_response("Sue has red hair.", **CASE, **tokens)
    assert verdict == ("wrong_max_context" if exceeded else "correct_valid")
    assert ("32,768" in verdict.reason) == exceeded


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
def test_a_verdict_carries_its_evidence(response, bucket, window, answer):
    """Window and answer let a reader check any verdict; a copy has them too."""
    verdict = score_response(response, **CASE)
    assert verdict == bucket
    assert verdict.window == window
    assert verdict.answer == answer
    assert vars(copy.deepcopy(verdict)) == vars(verdict)


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
def test_a_verdict_explains_itself(response, bucket, reason):
    """The last line of the explanation has the bucket and the rule that decided."""
    verdict = score_response(response, PUZZLE)
    assert verdict == bucket
    assert verdict.reason.startswith(reason)
    assert verdict.explain().splitlines()[-1] == f"{bucket}: {verdict.reason}"


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


@pytest.mark.parametrize(
    ("response", "paper", "scorer", "bucket"),
    [
        ("Sue had red hair. It is blue hair.", "correct_valid", "prose", "wrong_logic"),
        (
            "Sue has red hair.\nI am not sure.",
            "correct_valid",
            "answer_only",
            "wrong_other",
        ),
        (
            "<think>Sue has red hair.</think>\nShe has blue hair.",
            "correct_valid",
            "answer_only",
            "wrong_logic_last_sentence",
        ),
        (
            "<think>Sue has red hair.",
            "correct_valid",
            "answer_only",
            "wrong_max_context",
        ),
        ("Sue has red hair.", "correct_valid", "answer_only", "correct_last_sentence"),
    ],
)
def test_another_scorer_may_decide_otherwise(response, paper, scorer, bucket):
    """Scorers differ where prose and algorithms do, or look behind the reasoning alone."""
    assert score_response(response, **CASE) == paper
    assert score_response(response, **CASE, scorer=scorer) == bucket


@pytest.mark.parametrize("name", ["prompt_tokens", "response_tokens"])
@pytest.mark.parametrize("count", [-5, 1.5, float("nan"), True, "7"])
def test_a_number_of_tokens_is_a_whole_number(name, count):
    """Another value is refused by its name, since the budget would be tested with it in silence."""
    with pytest.raises(
        ValueError, match=f"{name} is .*; give a whole number of at least 0"
    ):
        score_response("Sue has red hair", **CASE, **{name: count})


@pytest.mark.parametrize(
    ("ending", "value"), [("{poi}: {gold}.", 1.0), ("{poi}: {other}.", 0.0), ("", 0.0)]
)
def test_a_reward_is_1_for_a_correct_response(ending, value):
    """A wrong and an empty response earn nothing."""
    other = next(
        value for value in PUZZLE.domains[PUZZLE.category] if value != PUZZLE.solution
    )
    response = ending.format(poi=PUZZLE.poi, gold=PUZZLE.solution, other=other)
    assert reward(PUZZLE, response) == value
    assert reward(PUZZLE, response, prompt_tokens=30_000, response_tokens=5_000) == 0.0


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


def test_a_puzzle_is_no_name():
    """A name does not say which edition of the generator draws it."""
    with pytest.raises(TypeError, match="the puzzle is a str; give what draw_puzzle"):
        score_response("red", "20_1_1_770487_red")


# all categories in place of one would be judged without a word
@pytest.mark.parametrize("domain", [PUZZLE.domains, "red", [1, 2], None])
def test_a_domain_is_the_values_of_the_asked_category(domain):
    """Another type is refused, and the sentence says where the values are."""
    with pytest.raises(
        TypeError, match="must be text, domain the values of the asked category"
    ):
        score_response("Sue: red", **CASE | {"domain": domain})


def test_a_huge_response_is_scored():
    """Fifty megabytes on one line are one window."""
    response = "red and so on " * 3_600_000
    assert score_response(response + "Sue has red hair", **CASE) == "correct_valid"


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(case=scored_cases(), cut=st.floats(0, 1))
@example(case=("\n", CASE), cut=1.0)
@example(case=("Sue: red(as asked)", CASE), cut=0.45)
def test_marks_around_reasoning_move_no_verdict(case, cut):
    """Whether a source keeps reasoning and answer apart or in a row, the verdict is the same."""
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


@pytest.mark.parametrize(
    ("text", "unsure"),
    [
        ("I am not entirely sure.", True),
        ("It cannot be determined from the statements.", True),
        ("I don't know.", True),
        ("I am unable to answer", True),
        ("Sue: red\nThere is not enough information.\n", True),
        ("I am not sure.\nSue: red", False),
        ("Sue has red hair, I am sure.", False),
        ("I was not sure" + " at first" * 100 + ": red", False),
        ("", False),
    ],
)
def test_an_answer_may_say_that_it_is_not_known(text, unsure):
    """Only the last sentence counts: doubts on the way are no answer."""
    assert is_unsure(text) is unsure
