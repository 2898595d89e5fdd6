"""The verdict on one response."""

import doctest

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from reference_scorer import score

from cogniload_repro import scoring
from cogniload_repro.matching import SPELLINGS
from cogniload_repro.scoring import (
    BUCKETS,
    READINGS,
    Verdict,
    exceeds_budget,
    explain_response,
    find_reading,
    score_response,
)

CASE = {"poi": "Sue", "gold": "red", "domain": ["blue", "red", "green"], "category": "hair"}

# Questions whose names lie in other words, whose values lie in one another or have other spellings.
QUESTIONS = [
    {
        "poi": "Ali",
        "gold": "fiction",
        "domain": ["fiction", "non-fiction", "sci-fi"],
        "category": "recent_read",
    },
    {
        "poi": "Jan",
        "gold": "non-fiction",
        "domain": ["essay", "fiction", "non-fiction"],
        "category": "recent_read",
    },
    {"poi": "Ian", "gold": "camp", "domain": ["camp", "campground", "bar", "park"], "category": "location"},
    {
        "poi": "Mark",
        "gold": "marketplace",
        "domain": ["marketplace", "market", "livingroom"],
        "category": "location",
    },
    {"poi": "Hank", "gold": "livingroom", "domain": ["livingroom", "bar", "pier"], "category": "location"},
    {"poi": "Sue", "gold": "red", "domain": ["blue", "red", "gray"], "category": "clothes_hat"},
    {"poi": "Raymond", "gold": "reaggea", "domain": ["reaggea", "rap", "rock"], "category": "recent_listen"},
    {"poi": "Zoë", "gold": "sci-fi", "domain": ["sci-fi", "action", "drama"], "category": "recent_watch"},
    {"poi": "Chen", "gold": "Red", "domain": ["red", "Red", "blue"], "category": "hair"},
]
WRAPS = [
    "{}",
    "**{}**",
    "*{}*",
    "_{}_",
    '"{}"',
    "“{}”",
    "`{}`",
    "[{}]",
    "({})",
    "\\boxed{{{}}}",
    "\\text{{{}}}",
    "-{}",
]
CLAUSES = [
    "{poi} is wearing a {value} hat",
    "{poi}: {value}",
    "- {poi} was located at the {value}",
    "| {poi} | {value} |",
    "the final hair color of {poi} is {value}",
    "{poi} changes from {value} to {other}",
    "not {other} but {value}",
    "{value}",
    "**Answer:** {value}",
    "{poi} last read a {value} book, {other} before",
    "i cannot tell",
    "(so {poi} ends at {value})",
]
OTHERS = [
    "market values",
    "salience",
    "in January",
    "kitchen",
    "İstanbul",
    "\u212a {poi}",
    "ΟΔΟΣ",
    "\x00",
    "\ud800",
    "→ ’",
]
ENDS = [
    "",
    ".",
    "...",
    ". ",
    ".\n",
    "\r\n",
    "\n\n",
    "!",
    ". Done",
    "\n(as asked)",
    "\n(as asked)\n",
    "\n \n",
    "\n\t",
]


@st.composite
def scored_cases(draw):
    """Draw a question and a response that ends as models end theirs."""
    question = draw(st.sampled_from(QUESTIONS))
    domain = [*question["domain"], *SPELLINGS.get(question["gold"], ()), question["gold"].lower()]
    values = st.builds(str.format, st.sampled_from(WRAPS), st.sampled_from(domain))
    clauses = st.builds(
        lambda clause, poi, value, other: clause.format(poi=poi, value=value, other=other),
        st.sampled_from(CLAUSES + OTHERS),
        st.sampled_from([question["poi"], question["poi"].upper(), "Peter", "Alison"]),
        values,
        values,
    )
    lines = draw(st.lists(st.builds(str.__add__, clauses, st.sampled_from(ENDS)), max_size=8))
    response = draw(st.sampled_from(["\n", "\r\n", " ", ". "])).join(lines)
    padding = draw(st.sampled_from(["", "so on and on, line by line.\n" * 400, "in one line " * 3000]))
    tokens = st.none() | st.integers(0, 33_000)
    return padding + response, question, {"prompt_tokens": draw(tokens), "response_tokens": draw(tokens)}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # time is no promise on a busy machine
@given(scored_cases())
@example(("", QUESTIONS[0], {}))
def test_verdict_equals_the_literal_algorithms(case):
    """Whatever the ending, the bucket is that of Algorithms 1-3, and the evidence belongs to it."""
    response, question, tokens = case
    bucket = score_response(response, **question, **tokens)
    assert bucket == score(response, **question, **tokens)
    verdict = explain_response(response, **question, **tokens)
    assert verdict.bucket == bucket
    assert verdict.answer in verdict.window
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
