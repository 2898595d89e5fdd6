"""Puzzles read back from their text and solved, against drawn ones, released ones and broken ones."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.puzzle import INSTRUCTION, parse_puzzle, solve_text

EXAMPLES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "vectors" / "port_examples.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]

CELLS = st.tuples(st.integers(1, 400), st.integers(1, 12)).flatmap(
    lambda pair: st.tuples(
        st.just(pair[0]), st.just(pair[1]), st.integers(1, pair[0]), st.integers(0, 10**6)
    )
)


def words(statements):
    """Statements without the reference, which texts do not tell."""
    return [(one.conditions, one.updates) for one in statements]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example["puzzle_id"]))
def test_released_puzzle_is_read_and_solved(example):
    """The authors' puzzles are solved from their text, and the text comes back from what was read."""
    puzzle = parse_puzzle(example["text"], example["puzzle_id"])
    assert solve_text(example["text"]) == puzzle.solution == example["solution"]
    assert puzzle.text == example["text"]
    assert (puzzle.poi, puzzle.category) == (example["poi"], example["category"])
    assert puzzle.name == "{N}_{d}_{needles}_{puzzle_id}_{solution}".format(**example)
    assert set(puzzle.people) <= set(example["people"])
    for category, values in puzzle.domains.items():
        assert set(values) <= set(example["domains"][category])


@settings(max_examples=60, deadline=None)
@given(CELLS)
def test_drawn_puzzle_equals_the_one_read_from_its_text(cell):
    """Over random cells, reading a text gives back its numbers, statements and solution."""
    drawn = draw_puzzle(*cell)
    read = parse_puzzle(drawn.text, drawn.puzzle_id)
    assert (read.name, read.poi, read.category) == (drawn.name, drawn.poi, drawn.category)
    assert (read.N, read.d, read.needles) == cell[:3]
    assert words(read.statements) == words(drawn.statements)
    assert read.text == drawn.text


@pytest.mark.parametrize("ending", ["\r\n", "\r", " \n"])
def test_line_endings_do_not_matter(ending):
    """CRLF, CR and trailing blanks give the same puzzle; what stands before it is kept; a name needs an id."""
    text = EXAMPLES[0]["text"]
    bare = text.removeprefix(INSTRUCTION).lstrip()
    for one in (text, bare, f"You are a solver.\n\nBe brief.\n\n{bare}"):
        puzzle = parse_puzzle(f"\n{one}\n".replace("\n", ending))
        assert (puzzle.text, puzzle.solution) == (one, EXAMPLES[0]["solution"])
    with pytest.raises(ValueError, match="no id"):
        puzzle.name  # noqa: B018


def test_question_about_somebody_unknown_is_ambiguous():
    """A person of interest without an initial line has no answer; anybody else may lack one."""
    example = EXAMPLES[3]
    lines = example["text"].split("\n")
    own = next(i for i, line in enumerate(lines) if line.startswith(f"{example['poi']} "))
    other = next(i for i, line in enumerate(lines[2:], 2) if i != own)
    assert solve_text("\n".join(lines[:other] + lines[other + 1 :])) == example["solution"]
    with pytest.raises(ValueError, match=rf"{example['poi']}, which no initial line states"):
        solve_text("\n".join(lines[:own] + lines[own + 1 :]))


TEXT = """Solve it.

Ann has red colored hair and is located at the zoo.
Bob is located at the bar and has blue colored hair.
1. The people having red hair move to the bar
2. The people located in the bar and having red hair color their hair to pink

What is the final hair color of Ann?"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2. The", "3. The", "line 6: statement 3 where 2 is due"),
        ("2. The", "The", "line 6: .*no initial line and no statement; number it"),
        ("red hair move", "reed hair move", "line 5: 'having reed hair' is no condition clause"),
        ("hair move to", "hair moves to", "line 5: .*is no statement"),
        ("to the bar\n", "to the bar and move to the zoo\n", "line 5: .*names a category twice"),
        ("zoo.", "zoo", "line 3: .*is no initial line"),
        ("is located at the bar", "last ate a pizza", "line 4: other categories"),
        ("move to the bar", "eat a pizza", "line 5: other categories"),
        ("Bob is", "Ann is", "line 4: a second initial line for Ann"),
        (
            "What is the final hair color",
            "What is the hair colour",
            "line 8: .*none of the benchmark's questions",
        ),
        ("\n\nWhat is the final hair color of Ann?", "", "line 4: the text goes on"),
    ],
)
def test_broken_text_is_refused_with_its_line(old, new, message):
    """A text that cannot be read stops with the number of the line and what is wrong there."""
    assert TEXT.count(old) >= 1
    with pytest.raises(ValueError, match=message):
        parse_puzzle(TEXT.replace(old, new, 1))


@given(st.text() | st.text().map(lambda noise: TEXT.replace("pink", noise)))
def test_any_text_is_read_or_refused(text):
    """Whatever the text, the reader returns or raises a ValueError, never anything else."""
    with suppress(ValueError):
        parse_puzzle(text)
    for bare in ("", "  \n", "Where is Ann?", "Solve it.\n\nWhere is Ann?"):
        with pytest.raises(ValueError, match=r"whole text of a puzzle|no initial"):
            parse_puzzle(bare)
