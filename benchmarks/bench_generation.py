"""Measure the generator of puzzles against the plain reference beside it."""

import time
from collections.abc import Callable

import reference_generator

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.puzzles.generate import draw_grid

SEED = 42
TURNS = 5


def best_seconds(tasks: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the least processor time of each task.

    The tasks take turns, so that a busy machine slows all of them alike.
    """
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(TURNS):
        for name, task in tasks.items():
            begin = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - begin)
    return best


def draw_texts(draw: Callable) -> list[str]:
    """Return the text of one puzzle of each cell of the paper's grid."""
    return [puzzle.text for puzzle in draw(PAPER_GRID, 1, SEED)]


def measure() -> list[tuple[str, str]]:
    """Return rows of a measurement's name and its result."""
    if draw_texts(draw_grid) != draw_texts(reference_generator.draw_grid):
        raise SystemExit("the two generators differ, so their times cannot be compared")
    seconds = best_seconds(
        {
            "reference": lambda: draw_texts(reference_generator.draw_grid),
            "package": lambda: draw_texts(draw_grid),
        }
    )
    rate = len(PAPER_GRID) / seconds["package"]
    speedup = seconds["reference"] / seconds["package"]
    return [
        ("puzzles drawn with their texts, one core", f"{rate:,.0f} per second"),
        ("the same, compared with the plain reference", f"{speedup:.1f} times as fast"),
    ]
