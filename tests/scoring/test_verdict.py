"""The verdict on one response."""

import doctest
from dataclasses import asdict

import pytest
from endings import draw_question, draw_response, draw_tokens
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from reference_scorer import score

from cogniload_repro.scoring import verdict as scoring
from cogniload_repro.scoring.verdict import (
    BUCKETS,
    READINGS,
    Verdict,
    exceeds_budget,
    explain_response,
    find_reading,
    score_response,
)

CASE = {"poi": "Sue", "gold": "red", "domain": ["blue", "red", "green"], "category": "hair"}


@st.composite
def scored_cases(draw):
    """A response with what is asked and its token counts; hypothesis steers the choices, so that it can shrink them."""
    rng = draw(st.randoms(use_true_random=False))
    question = draw_question(rng)
    return draw_response(rng, question), question | draw_tokens(rng)


@pytest.mark.parametrize("reading", READINGS)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # time is no promise on a busy machine
@given(case=scored_cases())
@example(case=("", CASE))
@example(case=("red", CASE | {"domain": []}))
@example(case=("It is not", CASE | {"domain": ["red", ""]}))
def test_verdict_equals_the_literal_algorithms(reading, case):
    """Whatever the ending, the bucket is that of Algorithms 1-3 under each reading, and the evidence belongs to it."""
    response, asked = case
    assume(len(response) < 50_000 or not READINGS[reading].last_mention)  # the reference takes a minute for that
    bucket = score_response(response, **asked, reading=READINGS[reading])
    assert bucket == score(response, **asked, **asdict(READINGS[reading]))
    verdict = explain_response(response, **asked, reading=READINGS[reading])
    assert verdict.bucket == bucket
    assert verdict.answer in verdict.window
    if "" not in asked["domain"]:
        assert (verdict.answer == "") == (bucket in ("wrong_max_context", "wrong_other"))


@pytest.mark.parametrize(
    ("response", "bucket"),
    [
        ("Sue has red hair.", "correct_valid"),
        ("Sue: red", "correct_poi"),
        ("Sue's hair?\nIt is red", "correct_last_sentence"),
        ("Sue has blue hair.", "wrong_logic"),
        ("Sue: blue", "wrong_logic_poi"),
        ("It is blue", "wrong_logic_last_sentence"),
        ("I cannot tell", "wrong_other"),
        ("Sue has red hair...", "wrong_max_context"),
        ("", "wrong_max_context"),
        ("\n\n", "wrong_max_context"),
    ],
)
def test_every_bucket_is_reached(response, bucket):
    """One plain response for each rule of D.5."""
    assert score_response(response, **CASE) == bucket
    assert bucket in BUCKETS


def test_an_earlier_line_wins_over_the_last_sentence():
    """The line with name and qualifier decides first, even against a later sentence."""
    assert score_response("Sue has red hair.\nSo it is blue", **CASE) == "correct_valid"


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
    """The limit is met at prompt + response + 20 = 32,768, and unknown where a count is."""
    assert exceeds_budget(prompt_tokens, response_tokens) is exceeded


def test_a_right_answer_beyond_the_budget_is_a_context_failure():
    """The guard comes before every match."""
    assert score_response("Sue has red hair.", **CASE, prompt_tokens=1, response_tokens=32_747) == "wrong_max_context"


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        ("Sue: from Blue to **Red** hair", ("correct_valid", "sue: from blue to **red** hair", "red")),
        ("Sue: not green, Blue hair", ("wrong_logic", "sue: not green, blue hair", "blue")),
        ("Hm. Sue cannot tell.", ("wrong_other", "hm. sue cannot tell.", "")),
        ("", ("wrong_max_context", "", "")),
    ],
)
def test_the_verdict_carries_its_evidence(response, verdict):
    """Window and answer let a reader check any verdict."""
    assert explain_response(response, **CASE) == Verdict(*verdict)


@pytest.mark.parametrize(
    ("response", "buckets"),
    [
        ("Sue had red hair. It is blue hair.", ("correct_valid", "wrong_logic")),
        ("Sue's hair is red, not blue", ("correct_valid", "wrong_other")),
        ("Sue's hair went from blue to red", ("correct_valid", "correct_valid")),
    ],
)
def test_the_prose_may_read_otherwise(response, buckets):
    """The named readings move verdicts where the prose of D.3 and D.4 differs from the algorithms."""
    found = tuple(score_response(response, **CASE, reading=find_reading(name)) for name in ("pseudocode", "prose"))
    assert found == buckets


def test_a_late_drop_ignores_trailing_newlines():
    """With `late_drop` a remark in brackets goes although a newline follows."""
    response = "It is red\n(as asked)\n"
    assert score_response(response, **CASE) == "wrong_other"
    assert score_response(response, **CASE, reading=READINGS["late_drop"]) == "correct_last_sentence"


def test_an_unknown_reading_is_refused():
    """The message lists the readings."""
    with pytest.raises(ValueError, match="pseudocode, prose"):
        find_reading("mine")


def test_a_response_that_is_no_text_is_refused():
    """A missing response is not scored as an empty one."""
    with pytest.raises(ValueError, match="must be text"):
        score_response(None, **CASE)


def test_an_empty_gold_value_is_refused():
    """Every text would give it."""
    with pytest.raises(ValueError, match="gold value is empty"):
        score_response("It is red.", **{**CASE, "gold": ""})


def test_a_huge_response_is_scored():
    """Fifty megabytes on one line are one window."""
    response = "red and so on " * 3_600_000
    assert score_response(response + "Sue has red hair", **CASE) == "correct_valid"


def test_the_example_in_the_documentation_runs():
    """The doctest of the public function holds."""
    assert doctest.testmod(scoring).failed == 0
