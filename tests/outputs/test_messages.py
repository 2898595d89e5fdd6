"""Texts of messages."""

import pytest

from cogniload_repro.outputs.messages import Texts, read_content, read_message

TRACE = {"type": "reasoning", "reasoning": "Red?"}
ENCRYPTED = {"type": "reasoning", "reasoning": "eNrT0", "redacted": True}
ANSWER = {"type": "text", "text": "Blue."}


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (None, Texts()),
        ("Blue.", Texts(answer="Blue.")),
        ([], Texts()),
        (["a", "b"], Texts(answer="a\n\nb")),
        ([TRACE, ANSWER], Texts("Red?", "Blue.")),
        # a text between two parts of reasoning belongs to the reasoning
        ([TRACE, ANSWER, TRACE, ANSWER], Texts("Red?\n\nBlue.\n\nRed?", "Blue.")),
        # encrypted reasoning is never scored, its summary is
        ([ENCRYPTED, ANSWER], Texts(answer="Blue.")),
        ([ENCRYPTED | {"summary": "Red?"}], Texts("Red?")),
        ([TRACE | {"reasoning": "", "summary": "Red?"}], Texts("Red?")),
        ([{"type": "redacted_thinking", "data": "eNrT0"}], Texts()),
        # Gemini's parts have no type
        (
            [{"text": "Red?", "thought": True}, {"text": "Blue."}],
            Texts("Red?", "Blue."),
        ),
        ([{"text": "", "thought_signature": "Eq"}], Texts()),
        ([{"thinking": "Red?"}, {"text": "Blue."}], Texts("Red?", "Blue.")),
        ([{"type": "refusal", "refusal": "No."}], Texts(answer="No.")),
        (
            [{"type": "image_url", "image_url": {"url": "x"}}],
            Texts(unread=("image_url",)),
        ),
        ([{"executable_code": {"code": "1"}}], Texts(unread=("executable_code",))),
        (5, Texts(unread=("int",))),
    ],
)
def test_a_content_is_reasoning_and_answer(content, texts):
    """A string, or parts of all programs; what is no text of a known place is named."""
    assert read_content(content) == texts


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        ({"content": "Blue.", "reasoning": "Red?"}, Texts("Red?", "Blue.")),
        # the same reasoning under two names is read once
        (
            {
                "content": "Blue.",
                "reasoning": "Red?",
                "reasoning_details": [{"text": "Red?"}],
            },
            Texts("Red?", "Blue."),
        ),
        (
            {"content": "Blue.", "reasoning_content": "", "thinking": "Red?"},
            Texts("Red?", "Blue."),
        ),
        (
            {"content": [TRACE, ANSWER], "reasoning": "Red? Long."},
            Texts("Red?", "Blue."),
        ),
        ({"content": None, "refusal": "No."}, Texts(answer="No.")),
        (
            {"content": "", "role": "assistant", "tool_calls": [], "audio": None},
            Texts(),
        ),
        (
            {"content": None, "audio": {"transcript": "It is red."}},
            Texts(unread=("audio",)),
        ),
    ],
)
def test_reasoning_may_stand_beside_the_content(message, texts):
    """Under the names of several programs; the first one with a text counts."""
    assert read_message(message) == texts
