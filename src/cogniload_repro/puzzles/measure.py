"""Drawn puzzles measured: every statement, every attempt that failed, and every cast.

They are drawn for this, because a text states neither whom a statement was made from nor which
attempts failed.
"""

from collections.abc import Iterable
from itertools import combinations
from operator import is_, ne
from typing import NamedTuple

import pandas as pd

from cogniload_repro.grid import Cell
from cogniload_repro.puzzles.draws import Failure, Values, apply_move, resolve_edition
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.puzzle import Puzzle

#: Why an attempt fails, in the order of the checks.
REASONS = ("hay reaches the PoI", "needle reaches everybody", "somebody equals the PoI")


class Measures(NamedTuple):
    """Tables with one row per puzzle, per statement, and per failed attempt at one.

    Statements and failures name their puzzle by its row.
    """

    puzzles: pd.DataFrame
    statements: pd.DataFrame
    failures: pd.DataFrame


class _CastRow(NamedTuple):
    """``pairs_apart`` are pairs of people who differ in every category at the start."""

    N: int
    d: int
    ratio_pct: float
    needles: int
    people: int
    lines: int
    smallest: int
    pairs: int
    pairs_apart: int


class _StatementRow(NamedTuple):
    """``repeats`` is the expected number of updates that would repeat the person's own value.

    That is, were values drawn by section 2.1.3. ``distinct`` counts different states among the
    people other than the person of interest afterwards.
    """

    puzzle: int
    position: int
    needle: bool
    conditions: int
    updates: int
    repeats: float
    distinct: int


class _FailureRow(NamedTuple):
    """``alike`` are the others who would have equalled the person of interest."""

    puzzle: int
    conditions: int
    reason: str
    alike: int
    others: int


def measure_puzzles(cells: Iterable[Cell], per_cell: int, edition: str = "python") -> Measures:
    """Draw and measure the first puzzles of some cells of an edition's default set."""
    drawn_by = resolve_edition(edition)
    planned = PuzzleSet(tuple(cells), per_cell, scheme="default", edition=drawn_by)
    casts: list[_CastRow] = []
    statements: list[_StatementRow] = []
    failures: list[_FailureRow] = []
    requests = zip(planned.cell_of_each(), planned.ids() or (), strict=True)
    for number, (cell, puzzle_id) in enumerate(requests):
        failed: list[Failure] = []
        puzzle = draw_puzzle(cell.N, cell.d, cell.needles, puzzle_id, failed, edition=drawn_by)
        history = list(puzzle.replay())
        casts.append(_measure_cast(cell, puzzle))
        for position in range(puzzle.N):
            statements.append(_measure_statement(number, position, puzzle, history))
        for failure in failed:
            failures.append(_measure_failure(number, failure, puzzle, history))
    puzzles = pd.DataFrame(casts)
    levels = puzzles[["N", "d", "ratio_pct"]]
    statement_table = pd.DataFrame(statements)
    failure_table = pd.DataFrame(failures, columns=_FailureRow._fields).astype({"puzzle": int})
    return Measures(
        puzzles,
        statement_table.join(levels, on="puzzle"),
        failure_table.join(levels, on="puzzle"),
    )


def _measure_cast(cell: Cell, puzzle: Puzzle) -> _CastRow:
    sizes = [len(values) for values in puzzle.domains.values()]
    pairs = list(combinations(puzzle.start, 2))
    apart = [pair for pair in pairs if all(map(ne, *pair))]
    return _CastRow(
        N=cell.N,
        d=cell.d,
        ratio_pct=float(cell.ratio_pct),
        needles=puzzle.needles,
        people=len(puzzle.people),
        lines=len(puzzle.lines),
        smallest=min(sizes),
        pairs=len(pairs),
        pairs_apart=len(apart),
    )


def _measure_statement(
    number: int,
    position: int,
    puzzle: Puzzle,
    history: list[list[Values]],
) -> _StatementRow:
    reference, before, conditions, _, updates = puzzle.moves[position]
    poi = puzzle.people.index(puzzle.poi)
    is_needle = reference == poi
    poi_before = history[position][poi]
    repeats = 0.0
    for at, values in enumerate(puzzle.domains.values()):
        if at in updates and is_needle:  # any value is drawn
            repeats += 1 / len(values)
        elif at in updates and before[at] != poi_before[at]:  # any but the PoI's
            repeats += 1 / (len(values) - 1)
    others = history[position + 1].copy()
    del others[poi]
    return _StatementRow(
        puzzle=number,
        position=position,
        needle=is_needle,
        conditions=len(conditions),
        updates=len(updates),
        repeats=repeats,
        distinct=len(set(map(tuple, others))),
    )


def _measure_failure(
    number: int,
    failure: Failure,
    puzzle: Puzzle,
    history: list[list[Values]],
) -> _FailureRow:
    position, move = failure
    reference, _, conditions, _, _ = move
    poi = puzzle.people.index(puzzle.poi)
    before = history[position]
    after = apply_move(before, move)
    alike = 0
    if reference != poi:
        reason = REASONS[0]
    else:
        leaves_somebody = any(map(is_, before, after))
        reason = REASONS[2] if leaves_somebody else REASONS[1]
        alike = after.count(after[poi]) - 1
    return _FailureRow(number, len(conditions), reason, alike, others=len(before) - 1)
