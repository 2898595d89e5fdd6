"""The verdict on one response."""

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
    Verdict,
    exceeds_budget,
    explain_response,
    is_unsure,
    reward,
    score_response,
)

CASE = {"poi": "Sue", "gold": "red", "domain": ["blue", "red", "green"], "category": "hair"}


@st.composite
def scored_cases(draw):
    """A response with what is asked and its token counts; hypothesis steers the choices, so that it can shrink them."""
    rng = draw(st.randoms(use_true_random=False))
    question = draw_question(rng)
    return draw_response(rng, question), question | draw_tokens(rng)


@pytest.mark.parametrize("scorer", [name for name in SCORERS if name != "answer_only"])
@settings(suppress_health_check=[HealthCheck.too_slow])  # time is no promise on a busy machine
@given(case=scored_cases())
@example(case=("", CASE))
@example(case=("red", CASE | {"domain": []}))
@example(case=("It is not", CASE | {"domain": ["red", ""]}))
def test_verdict_equals_the_literal_algorithms(scorer, case):
    """Whatever the ending, the bucket is that of Algorithms 1-3 under each scorer, and the evidence belongs to it."""
    response, asked = case
    assume(
        len(response) < 50_000 or not SCORERS[scorer].last_mention
    )  # the reference takes a minute for that
    bucket = score_response(response, **asked, scorer=scorer)
    ways = {name: value for name, value in asdict(SCORERS[scorer]).items() if name != "answer_only"}
    assert bucket == score(response, **asked, **ways)
    verdict = explain_response(response, **asked, scorer=scorer)
    assert verdict.bucket == bucket
    assert verdict.answer in verdict.window
    if "" not in asked["domain"]:
        assert (verdict.answer == "") == (bucket in ("wrong_max_context", "wrong_other"))


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
    """The limit is met at prompt + response + 20 = 32,768, and unknown where a count is; it comes before any match."""
    assert exceeds_budget(prompt_tokens, response_tokens) is exceeded
    bucket = score_response(
        "Sue has red hair.", **CASE, prompt_tokens=prompt_tokens, response_tokens=response_tokens
    )
    assert bucket == ("wrong_max_context" if exceeded else "correct_valid")


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        (
            "Sue: from Blue to **Red** hair",
            ("correct_valid", "sue: from blue to **red** hair", "red"),
        ),
        ("Sue: not green, Blue hair", ("wrong_logic", "sue: not green, blue hair", "blue")),
        ("Hm. Sue cannot tell.", ("wrong_other", "hm. sue cannot tell.", "")),
        ("", ("wrong_max_context", "", "")),
    ],
)
def test_the_verdict_carries_its_evidence(response, verdict):
    """Window and answer let a reader check any verdict."""
    assert explain_response(response, **CASE) == Verdict(*verdict)


@pytest.mark.parametrize(
    ("response", "paper", "scorer", "bucket"),
    [
        ("Sue had red hair. It is blue hair.", "correct_valid", "prose", "wrong_logic"),
        ("Sue has red hair.\nI am not sure.", "correct_valid", "answer_only", "wrong_other"),
        ("<think>Sue has red hair.</think>\nShe has blue hair.", "correct_valid", "answer_only",
         "wrong_logic_last_sentence"),
        ("<think>Sue has red hair.", "correct_valid", "answer_only", "wrong_max_context"),
        ("Sue has red hair.", "correct_valid", "answer_only", "correct_last_sentence"),
    ],
)  # fmt: skip
def test_another_scorer_may_decide_otherwise(response, paper, scorer, bucket):
    """Scorers differ where the prose of D.3 and D.4 does from the algorithms, or look behind the reasoning alone."""
    assert score_response(response, **CASE) == paper
    assert score_response(response, **CASE, scorer=scorer) == bucket


@pytest.mark.parametrize("name", ["prompt_tokens", "response_tokens"])
@pytest.mark.parametrize("count", [-5, 1.5, float("nan"), True, "7"])
def test_a_number_of_tokens_is_a_whole_number(name, count):
    """Anything else is refused by its name, as a limit would be tested with it in silence."""
    with pytest.raises(ValueError, match=f"{name} is .*; give a whole number of at least 0"):
        score_response("Sue has red hair", **CASE, **{name: count})


def test_a_reward_is_the_scorers_verdict():
    """Right, wrong, unreadable and beyond the budget."""
    puzzle = draw_puzzle(20, 3, 5, 1)
    right = f"Therefore {puzzle.poi}: {puzzle.solution}."
    wrong = next(value for value in puzzle.domains[puzzle.category] if value != puzzle.solution)
    assert [reward(puzzle, text) for text in (right, f"Therefore {puzzle.poi}: {wrong}.", "")] == [
        1.0,
        0.0,
        0.0,
    ]
    assert reward(puzzle, right, prompt_tokens=30_000, response_tokens=5_000) == 0.0


def test_what_cannot_be_judged_is_refused():
    """A scorer that there is not, a missing response, and a gold value that every text would give."""
    for message, change in (
        ("pseudocode, prose", {"scorer": "mine"}),
        ("gold value is empty", {"gold": ""}),
    ):
        with pytest.raises(ValueError, match=message):
            score_response("It is red.", **CASE | change)
    with pytest.raises(ValueError, match="must be text"):
        score_response(None, **CASE)


def test_a_huge_response_is_scored():
    """Fifty megabytes on one line are one window."""
    response = "red and so on " * 3_600_000
    assert score_response(response + "Sue has red hair", **CASE) == "correct_valid"


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(case=scored_cases(), cut=st.floats(0, 1))
@example(case=("\n", CASE), cut=1.0)
@example(case=("Sue: red(as asked)", CASE), cut=0.45)
def test_marks_around_reasoning_move_no_verdict(case, cut):
    """Whether a source keeps reasoning and answer apart or in a row, the paper's rule finds the same."""
    response, asked = case
    assume(not asked["poi"] or asked["poi"].lower() not in "<think>\n</think>")
    place = int(cut * len(response))
    reasoning, answer = response[:place], response[place:]
    plain = f"{reasoning}\n\n{answer}" if reasoning and answer else reasoning or answer
    assert score_response(join_reasoning(reasoning, answer), **asked) == score_response(
        plain, **asked
    )


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
