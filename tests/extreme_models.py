"""Answers of made-up models whose results are known.

Perfect, the last clause, guessing, cut off; and a few answers.

As a script it prints them for a build: `python tests/extreme_models.py extreme >
answers.jsonl`, or few, or small.
"""

import json
import random
import sys
from collections.abc import Iterator

from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.baselines import find_last_value
from cogniload_repro.puzzles.sets import PuzzleSet, draw_rows

PERFECT = "mine-perfect"
CLAUSE = "mine-last-clause"
GUESS = "mine-guess"
CUT = "mine-cut"
WHOLE = "N=20,50,100,250 ratio=5,10,25,50,75,90,95 d=1,3,5,7,10"
SMALL = "N=20,50 ratio=5,50,95 d=1,5"


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


def extreme_rows(
    grid: str = SMALL, puzzles: int = 5, names=(PERFECT, CLAUSE, GUESS, CUT)
) -> Iterator[dict]:
    """Answers of the four models to the same puzzles."""
    rng = random.Random(3)
    drawn = list(draw_rows(PuzzleSet(grid_cells(grid), puzzles, 5)))
    for model in names:
        for puzzle in drawn:
            stopped = "length" if model == CUT else "stop"
            response = answer_as(model, puzzle, rng)
            yield {
                "model": model,
                "name": puzzle["name"],
                "response": response,
                "finish_reason": stopped,
            }


def few_rows() -> Iterator[dict]:
    """Eighteen answers of a model that some server names, one per cell, of which five are right."""
    drawn = draw_rows(PuzzleSet(grid_cells("N=20,50 ratio=5,50,95 d=1,3,5"), 1, 7))
    yield from answer_some("openai-api/local/tiny", drawn, 4)


def small_rows() -> Iterator[dict]:
    """Two answers in each cell of short and middle length, one in five right, a few unreadable."""
    cells = grid_cells("N=20,50,100 ratio=5,10,25,50,75,90,95 d=1,3,5,7,10")
    yield from answer_some(
        "openai-api/local/small", draw_rows(PuzzleSet(cells, 2, 8)), 5
    )


def answer_some(model: str, drawn, every: int) -> Iterator[dict]:
    """Answers of which every so many is right.

    The next one names no value, the others another value.
    """
    for number, puzzle in enumerate(drawn):
        others = [value for value in puzzle["domain"] if value != puzzle["gold"]]
        value = puzzle["gold"] if number % every == 0 else others[number % len(others)]
        answer = (
            "I cannot say." if number % every == 1 else f"So {puzzle['poi']}: {value}."
        )
        yield {"model": model, "name": puzzle["name"], "response": answer}


ROWS = {"extreme": lambda: extreme_rows(WHOLE), "few": few_rows, "small": small_rows}

if __name__ == "__main__":
    for row in ROWS[sys.argv[1]]():
        print(json.dumps(row))
