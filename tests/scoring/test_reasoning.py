"""The answer after the reasoning."""

import pytest

from cogniload_repro.scoring.reasoning import take_answer


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("<think>a</think>b", "b"),
        ("a</think>b", "b"),
        ("a</think>" + 3000 * "b", 3000 * "b"),
        ("<thinking>a</thinking>b", "b"),
        ("<thought>a</thought>b", "b"),
        ("<reasoning>a</reasoning>b", "b"),
        ("<seed:think>a</seed:think>b", "b"),
        ("[THINK]a[/THINK]b", "b"),
        ("◁think▷a◁/think▷b", "b"),
        ("<|begin_of_thought|>a<|end_of_thought|>b", "b"),
        (
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b",
            "b",
        ),
        ("analysisWe need a.assistantfinalb", "analysisWe need a.assistantfinalb"),
        ("<think>a</think>b<think>c</think>d", "d"),
        ("no trace, x < y and [1]", "no trace, x < y and [1]"),
        ("analysis of the statements", "analysis of the statements"),
        ("", ""),
    ],
)
def test_the_answer_follows_the_reasoning(response, answer):
    """Marks of many models are known, and one may stand in the prompt."""
    assert take_answer(response) == answer


@pytest.mark.parametrize(
    "response",
    [
        "<think>a",
        "<think>a</think>b<think>c",
        "[THINK]a",
        "<reasoning>",
        "◁think▷a",
        "<|begin_of_thought|>a",
        "<|channel|>analysis<|message|>a",
    ],
)
def test_open_reasoning_has_no_answer(response):
    """The response was cut off before it."""
    assert take_answer(response) is None
