"""Drawn puzzles taken apart: every statement, every attempt that failed and every cast, as tables of counts.

They are drawn for this, because a text states neither whom a statement was made from nor which attempts failed.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pandas as pd

from cogniload_repro.grid import Cell
from cogniload_repro.puzzles.draws import Failure, State, resolve_edition
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.puzzle import Puzzle

#: Why an attempt fails, in the order of the checks.
REASONS = ("hay reaches the PoI", "needle reaches everybody", "somebody equals the PoI")
CELL = ["N", "d", "ratio_pct"]
_PUZZLES = [*CELL, "needles", "people", "lines", "smallest", "pairs", "pairs_apart"]
_STATEMENTS = ["puzzle", "index", "needle", "conditions", "updates", "repeats", "distinct"]
_FAILURES = ["puzzle", "conditions", "reason", "alike", "others"]


class Measures(NamedTuple):
    """What `measure_puzzles` finds: one row per puzzle, per statement, and per failed attempt at one.

    Statements and failures name their puzzle by its row. ``pairs_apart`` are pairs of people who differ in every
    category at the start; ``repeats`` is the expected number of updates that would give the reference person its own
    value again, were values drawn by section 2.1.3; ``distinct`` counts different states among the others afterwards,
    ``alike`` the others who would have equalled the PoI.
    """

    puzzles: pd.DataFrame
    statements: pd.DataFrame
    failures: pd.DataFrame


def measure_puzzles(cells: Iterable[Cell], per_cell: int, edition: str = "python") -> Measures:
    """Draw and measure the first puzzles of every cell of the paper's grid, of the default set of an edition."""
    cells, resolved = list(cells), resolve_edition(edition)
    ids = PuzzleSet(tuple(cells), per_cell, scheme="default", edition=resolved).ids() or ()
    planned = [cell for cell in cells for _ in range(per_cell)]
    puzzles, statements, failures = list[tuple](), list[tuple](), list[tuple]()
    for number, (cell, puzzle_id) in enumerate(zip(planned, ids, strict=True)):
        failed: list[Failure] = []
        puzzle = draw_puzzle(cell.N, cell.d, cell.needles, puzzle_id, failed, edition=resolved)
        history = list(puzzle.replay())
        puzzles.append((cell.N, cell.d, float(cell.ratio_pct), *_measure_cast(puzzle)))
        statements += [(number, *found) for found in _measure_statements(puzzle, history)]
        failures += [
            (number, *_measure_failure(puzzle, failure, history[failure.position]))
            for failure in failed
        ]
    cast = pd.DataFrame(puzzles, columns=_PUZZLES)
    parts = (
        pd.DataFrame(rows, columns=names).astype({"puzzle": int}).join(cast[CELL], on="puzzle")
        for rows, names in ((statements, _STATEMENTS), (failures, _FAILURES))
    )
    return Measures(cast, *parts)


def _measure_cast(puzzle: Puzzle) -> tuple:
    start = puzzle.start
    pairs = [(one, other) for i, one in enumerate(start) for other in start[:i]]
    apart = sum(all(a != b for a, b in zip(*pair, strict=True)) for pair in pairs)
    return (
        puzzle.needles,
        len(start),
        len(puzzle.lines),
        min(map(len, puzzle.domains.values())),
        len(pairs),
        apart,
    )


def _measure_statements(puzzle: Puzzle, history: list[list[State]]) -> Iterator[tuple]:
    sizes = [len(values) for values in puzzle.domains.values()]
    poi = puzzle.people.index(puzzle.poi)
    for index, (reference, before, conditions, _, updates) in enumerate(puzzle.moves):
        states, after = history[index], history[index + 1]
        # chance of the reference person's own value: of all values for a needle, of all but the PoI's for a hay
        chances = [
            1 / sizes[at] if reference == poi else (before[at] != states[poi][at]) / (sizes[at] - 1)
            for at in updates
        ]
        distinct = len(set(map(tuple, after[:poi] + after[poi + 1 :])))
        yield index, reference == poi, len(conditions), len(updates), sum(chances), distinct


def _measure_failure(puzzle: Puzzle, failure: Failure, states: list[State]) -> tuple:
    move, poi = failure.move, puzzle.people.index(puzzle.poi)
    needle = move.reference == poi
    meets = [all(state[at] == move.before[at] for at in move.conditions) for state in states]
    after = [
        [move.after[at] if at in move.updates else value for at, value in enumerate(state)]
        if met
        else state
        for state, met in zip(states, meets, strict=True)
    ]
    alike = after.count(after[poi]) - 1 if needle else 0
    reason = REASONS[0] if not needle else REASONS[1] if all(meets) else REASONS[2]
    return len(move.conditions), reason, alike, len(states) - 1
