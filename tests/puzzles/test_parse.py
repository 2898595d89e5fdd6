"""Puzzles read back from their texts and solved: drawn, released and broken ones."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import draw_requests, golden_puzzles

from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.parse import parse_puzzle, solve_text
from cogniload_repro.puzzles.puzzle import INSTRUCTION

EXAMPLES = golden_puzzles("port_examples.jsonl")
REQUESTS = draw_requests(10**6)


@pytest.mark.parametrize(
    "example", EXAMPLES, ids=lambda example: str(example["puzzle_id"])
)
def test_a_released_puzzle_is_solved_from_its_text(example):
    """The text comes back from what was read, and so does the name."""
    puzzle = parse_puzzle(example["text"], example["puzzle_id"])
    assert solve_text(example["text"]) == example["solution"]
    assert puzzle.text == example["text"]
    assert puzzle.poi == example["poi"]
    assert puzzle.category == example["category"]
    assert puzzle.name == "{N}_{d}_{needles}_{puzzle_id}_{solution}".format(**example)


@settings(max_examples=60, deadline=None)
@given(REQUESTS)
def test_a_drawn_puzzle_equals_the_one_read_from_its_text(request):
    """In numbers, statements, solution and text; a text does not tell whom a statement is about."""
    drawn = draw_puzzle(*request)
    read = parse_puzzle(drawn.text, drawn.puzzle_id)
    for part in ("name", "poi", "category", "N", "d", "needles", "text"):
        assert getattr(read, part) == getattr(drawn, part)
    statements = [statement._replace(reference=None) for statement in drawn.statements]
    assert read.statements == statements


@pytest.mark.parametrize("ending", ["\r\n", "\r", " \n"])
@pytest.mark.parametrize(
    "before", [f"{INSTRUCTION}\n\n", "", "You are a solver.\n\nBe brief.\n\n"]
)
def test_line_endings_and_the_instruction_do_not_matter(ending, before):
    """What stands before the puzzle is kept."""
    example = EXAMPLES[0]
    body = example["text"].removeprefix(INSTRUCTION).lstrip()
    text = before + body
    puzzle = parse_puzzle(f"\n{text}\n".replace("\n", ending))
    assert puzzle.text == text
    assert puzzle.solution == example["solution"]


TEXT = """Solve it.

Ann has red colored hair and is located at the zoo.
Bob is located at the bar and has blue colored hair.
1. The people having red hair move to the bar
2. The people located in the bar and having red hair color their hair to pink

What is the final hair color of Ann?"""
QUESTION = "\n\nWhat is the final hair color of Ann?"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2. The", "3. The", "found statement 3, expected 2"),
        ("2. The", "The", "'The people located .* nor a statement; number it"),
        (
            "red hair move",
            "reed hair move",
            "'having reed hair' is not a condition clause",
        ),
        ("hair move to", "hair moves to", "'The people .*is not a statement"),
        (
            "to the bar\n",
            "to the bar and move to the zoo\n",
            "'move to .*names a category twice",
        ),
        ("zoo.", "zoo", "'Ann has .*is neither an initial line"),
        ("is located at the bar", "last ate a pizza", "'Bob .*categories differ"),
        ("move to the bar", "eat a pizza", "statement 1: its categories differ"),
        ("Bob is", "Ann is", "a second initial line for Ann"),
        (
            "final hair color",
            "hair colour",
            "'What is the .*not one of the benchmark's questions",
        ),
        (QUESTION, "", "'Ann has .*not one of the benchmark's questions"),
    ],
)
def test_a_broken_text_is_refused_and_quoted(old, new, message):
    """The sentence says what is wrong there."""
    assert old in TEXT
    with pytest.raises(ValueError, match=message):
        parse_puzzle(TEXT.replace(old, new, 1))


@given(st.text() | st.text().map(lambda noise: TEXT.replace("pink", noise)))
def test_any_text_is_read_or_refused(text):
    """Whatever the text, nothing but a ValueError is raised."""
    with suppress(ValueError):
        parse_puzzle(text)
