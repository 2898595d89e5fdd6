import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.puzzle import INSTRUCTION
from cogniload_repro.puzzles.text import AmbiguousPuzzleError, parse_puzzle, solve_text

EXAMPLES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "vectors" / "port_examples.jsonl").read_text(encoding="utf-8").splitlines()
]

CELLS = st.tuples(st.integers(1, 400), st.integers(1, 12)).flatmap(
    lambda pair: st.tuples(st.just(pair[0]), st.just(pair[1]), st.integers(1, pair[0]), st.integers(0, 10**6))
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


@settings(max_examples=30, deadline=None)
@given(CELLS)
def test_replayed_states_end_with_the_solution(cell):
    """The replay over all people ends with the solution, and nobody equals the person of interest on the way."""
    puzzle = draw_puzzle(*cell)
    count = needles = 0
    for states in puzzle.states():
        if count < puzzle.N:
            needles += puzzle.statements[count].holds(states[puzzle.poi])
        others = [state for person, state in states.items() if person != puzzle.poi]
        assert states[puzzle.poi] not in others
        count += 1
    assert count == puzzle.N + 1
    assert needles == puzzle.needles
    assert states[puzzle.poi][puzzle.category] == puzzle.solution


@pytest.mark.parametrize("ending", ["\r\n", "\r", " \n"])
def test_line_endings_do_not_matter(ending):
    """CRLF, CR and trailing blanks give the same puzzle."""
    text = EXAMPLES[0]["text"]
    assert parse_puzzle(f"\n{text}\n".replace("\n", ending)).text == text


def test_puzzle_without_instruction_is_solved():
    """The solver needs the puzzle only; what stands before it is kept as it is."""
    example = EXAMPLES[5]
    bare = example["text"].removeprefix(INSTRUCTION).lstrip()
    assert solve_text(bare) == example["solution"]
    assert parse_puzzle(bare).text == bare
    long = f"You are a solver.\n\nBe brief.\n\n{bare}"
    assert parse_puzzle(long).text == long


def test_question_about_somebody_unknown_is_ambiguous():
    """A person of interest without an initial line has no answer; anybody else may lack one."""
    example = EXAMPLES[3]
    lines = example["text"].split("\n")
    own = next(i for i, line in enumerate(lines) if line.startswith(f"{example['poi']} "))
    other = next(i for i, line in enumerate(lines[2:], 2) if i != own)
    assert solve_text("\n".join(lines[:other] + lines[other + 1 :])) == example["solution"]
    with pytest.raises(AmbiguousPuzzleError, match=rf"{example['poi']}, which no initial line states"):
        solve_text("\n".join(lines[:own] + lines[own + 1 :]))


def test_read_puzzle_without_id_has_no_name():
    """A name needs the id, which a text does not hold."""
    with pytest.raises(ValueError, match="no id"):
        parse_puzzle(EXAMPLES[0]["text"]).name  # noqa: B018
