"""Answers of made-up models whose results are known.

Perfect, the last clause, guessing, cut off; and a few answers.
"""

import random
from collections.abc import Iterator

from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.baselines import find_last_value
from cogniload_repro.puzzles.sets import PuzzleSet, draw_rows

PERFECT = "mine-perfect"
CLAUSE = "mine-last-clause"
GUESS = "mine-guess"
CUT = "mine-cut"


def answer_as(model: str, puzzle: dict, rng: random.Random) -> str:
    """The answer of a made-up model to a puzzle."""
    value = puzzle["gold"]
    if model == CLAUSE:
        value = find_last_value(puzzle["text"], puzzle["category"])
    if model == GUESS:
        value = rng.choice(puzzle["domain"])
    if model == CUT:
        return "<think>\nLet me go through the statements one by one"
    return f"So {puzzle['poi']}: {value}."


def extreme_rows() -> Iterator[dict]:
    """Answers of the four models to the same puzzles."""
    rng = random.Random(3)
    cells = grid_cells("N=20,50 ratio=5,50,95 d=1,5")
    drawn = list(draw_rows(PuzzleSet(cells, 6, 5)))
    for model in (PERFECT, CLAUSE, GUESS, CUT):
        for puzzle in drawn:
            yield {
                "model": model,
                "name": puzzle["name"],
                "response": answer_as(model, puzzle, rng),
                "finish_reason": "length" if model == CUT else "stop",
            }


def few_rows() -> Iterator[dict]:
    """Eighteen answers of a model that some server names, one per cell, of which five are right.

    The answer after a right one names no value, the others another value.
    """
    cells = grid_cells("N=20,50 ratio=5,50,95 d=1,3,5")
    for number, puzzle in enumerate(draw_rows(PuzzleSet(cells, 1, 7))):
        others = [value for value in puzzle["domain"] if value != puzzle["gold"]]
        value = others[number % len(others)]
        if number % 4 == 0:
            value = puzzle["gold"]
        response = f"So {puzzle['poi']}: {value}."
        if number % 4 == 1:
            response = "I cannot say."
        name = puzzle["name"]
        yield {"model": "openai-api/local/tiny", "name": name, "response": response}
