"""Why models stopped, and reasoning joined with the answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.importing.endings import join_reasoning, read_stop
from cogniload_repro.scoring.reasoning import STOPS, take_answer
from cogniload_repro.scoring.response import score_response


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        *(pair for kind in STOPS for pair in [(kind, kind), (kind.upper(), kind)]),
        ("end_turn", "stop"),
        ("max_output_tokens", "length"),
        ("model_context_window_exceeded", "context"),
        ("content_filter", "refusal"),
        ("content-filter", "refusal"),
        ("LANGUAGE", "refusal"),
        ("FinishReason.MAX_TOKENS", "length"),
        ("maxTokens", "length"),
        ("aborted", "error"),
        ("engine_error", "error"),
        ("OTHER", "error"),
        ("pause_turn", "error"),
        (502, "error"),
        (503.0, "error"),
        (200, "unknown"),
        ("tool_calls", "unknown"),
        ("incomplete", "unknown"),
        (["stop"], "unknown"),
        ("", None),
        (None, None),
    ],
)
def test_words_of_servers_are_kinds(word, kind):
    """What is not known is unknown, what is not said is missing."""
    assert read_stop(word) == kind


@given(
    st.text(st.characters(exclude_characters="/_|)")),
    st.text(st.characters(exclude_characters="<[◁a)")),
)
def test_what_is_joined_comes_apart(reasoning, answer):
    """An answer is found again behind its reasoning; line breaks alone are neither."""
    joined = join_reasoning(reasoning, answer)
    expected = f"\n\n{answer}" if answer.strip("\n") else None
    if not reasoning.strip("\n"):
        expected = answer
    assert take_answer(joined) == expected


@pytest.mark.parametrize(
    ("reasoning", "answer", "bucket"),
    [
        ("\n", "", "wrong_max_context"),
        ("\n\n", "\n", "wrong_max_context"),
        ("\n", "It is red.", "correct_last_sentence"),
        ("Sue has red hair.", "", "correct_valid"),
        ("It is red.", "\n", "correct_last_sentence"),
        ("It is red.", "(as asked)", "correct_last_sentence"),
        ("(It is red)", "", "wrong_max_context"),
    ],
)
def test_marks_are_never_the_last_sentence(reasoning, answer, bucket):
    """Reasoning and answer that came apart are scored as if they had not."""
    question = {
        "poi": "Sue",
        "gold": "red",
        "domain": ["blue", "red"],
        "category": "hair",
    }
    assert score_response(join_reasoning(reasoning, answer), **question) == bucket
