"""Drawn puzzles taken apart: every statement, every attempt that failed and every cast, as tables of counts.

They are drawn for this, because a text states neither whom a statement was made from nor which attempts failed.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from cogniload_repro.grid import Cell
from cogniload_repro.puzzles.draws import Failure, State
from cogniload_repro.puzzles.editions import resolve_edition
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.ontology import CATEGORIES
from cogniload_repro.puzzles.puzzle import Puzzle

#: Why an attempt fails, in the order of the checks.
REASONS = ("hay reaches the PoI", "needle reaches everybody", "somebody equals the PoI")
_FEWEST = 5  # expected, for a chi-square test
CELL = ["N", "d", "ratio_pct"]
_PUZZLES = [*CELL, "needles", "people", "lines", "poi_index", "asked_index", "categories", "smallest", "pairs",
            "pairs_apart"]  # fmt: skip
_STATEMENTS = ["puzzle", "index", "needle", "conditions", "updates", "repeats", "distinct"]
_FAILURES = ["puzzle", "index", "needle", "conditions", "updates", "reason", "alike", "others"]


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
        failures += [(number, *_measure_failure(puzzle, failure, history[failure.position])) for failure in failed]
    cast = pd.DataFrame(puzzles, columns=_PUZZLES)
    parts = (
        pd.DataFrame(rows, columns=names).astype({"puzzle": int, "needle": bool}).join(cast[CELL], on="puzzle")
        for rows, names in ((statements, _STATEMENTS), (failures, _FAILURES))
    )
    return Measures(cast, next(parts), next(parts))


def check_draws(measures: Measures) -> pd.DataFrame:
    """Test whether what the generator draws at random has the chances that it should have.

    Numbers of conditions and updates and the type of statement are tested on all attempts: the rules then prefer some.
    Levels of which fewer than five are expected are left out.
    """
    shared = ["puzzle", "index", "needle", "conditions", "updates", *CELL]
    cast, tried = measures.puzzles, pd.concat([measures.statements[shared], measures.failures[shared]])
    rows = {
        "categories of a puzzle": _test_categories(cast),
        "position of the PoI in the cast": _test_even(cast["poi_index"], cast["people"]),
        "position of the category asked about": _test_even(cast["asked_index"], cast["d"]),
        "number of conditions of an attempt": _test_even(tried["conditions"] - 1, tried["d"]),
        "number of updates of an attempt": _test_even(tried["updates"] - 1, tried["d"]),
        "needle or hay, of an attempt": _test_types(measures, tried),
    }
    tests = pd.DataFrame([(draw, *found) for draw, found in rows.items()], columns=["draw", "total", "chi2", "df"])
    tests = tests[tests["df"] > 0].reset_index(drop=True)
    return tests.assign(p=stats.chi2.sf(tests["chi2"], tests["df"]))


def _test_even(indices: pd.Series, levels: pd.Series) -> tuple[int, float, int]:
    """Return number, chi-square and degrees of freedom of indices from 0 that should be equally frequent."""
    total, chi2, df = 0, 0.0, 0
    for count, group in indices.groupby(levels):
        expected = len(group) / count
        if expected >= _FEWEST:
            found = np.bincount(group, minlength=count)
            total, chi2, df = total + len(group), chi2 + ((found - expected) ** 2).sum() / expected, df + count - 1
    return total, chi2, df


def _test_categories(cast: pd.DataFrame) -> tuple[int, float, int]:
    """Do the same for categories, d different ones of which make one draw."""
    found = cast["categories"].explode().value_counts().reindex(CATEGORIES, fill_value=0)
    size = len(CATEGORIES)
    share = cast["d"] / size
    variance = (share * (1 - share)).sum() * size / (size - 1)
    if share.sum() < _FEWEST or variance == 0:
        return len(cast), 0.0, 0
    return len(cast), float(((found - share.sum()) ** 2).sum() / variance), size - 1


def _test_types(measures: Measures, tried: pd.DataFrame) -> tuple[int, float, int]:
    """Do the same for the type of statement, whose chance is the share of needles in what is left."""
    own = measures.statements
    done = own.groupby("puzzle")["needle"].cumsum() - own["needle"]
    left = own["puzzle"].map(measures.puzzles["needles"]) - done
    chances = own[["puzzle", "index"]].assign(chance=left / (own["N"] - own["index"]))
    merged = tried.merge(chances, on=["puzzle", "index"])
    variance = (merged["chance"] * (1 - merged["chance"])).sum()
    surplus = (merged["needle"] - merged["chance"]).sum()
    return len(merged), float(surplus**2 / variance) if variance else 0.0, int(variance >= _FEWEST)


def _measure_cast(puzzle: Puzzle) -> tuple:
    poi, start = puzzle.people.index(puzzle.poi), puzzle.start
    pairs = [(one, other) for i, one in enumerate(start) for other in start[:i]]
    apart = sum(all(a != b for a, b in zip(*pair, strict=True)) for pair in pairs)
    return (puzzle.needles, len(start), len(puzzle.lines), poi, puzzle.categories.index(puzzle.category),
            tuple(puzzle.categories), min(map(len, puzzle.domains.values())), len(pairs), apart)  # fmt: skip


def _measure_statements(puzzle: Puzzle, history: list[list[State]]) -> Iterator[tuple]:
    sizes = [len(values) for values in puzzle.domains.values()]
    poi = puzzle.people.index(puzzle.poi)
    for index, (reference, before, conditions, _, updates) in enumerate(puzzle.moves):
        states, after = history[index], history[index + 1]
        # chance of the reference person's own value: of all values for a needle, of all but the PoI's for a hay
        chances = [
            1 / sizes[at] if reference == poi else (before[at] != states[poi][at]) / (sizes[at] - 1) for at in updates
        ]
        distinct = len(set(map(tuple, after[:poi] + after[poi + 1 :])))
        yield index, reference == poi, len(conditions), len(updates), sum(chances), distinct


def _measure_failure(puzzle: Puzzle, failure: Failure, states: list[State]) -> tuple:
    index, move = failure
    poi = puzzle.people.index(puzzle.poi)
    needle = move.reference == poi
    meets = [all(state[at] == move.before[at] for at in move.conditions) for state in states]
    after = [
        [move.after[at] if at in move.updates else value for at, value in enumerate(state)] if met else state
        for state, met in zip(states, meets, strict=True)
    ]
    alike = after.count(after[poi]) - 1 if needle else 0
    reason = REASONS[0] if not needle else REASONS[1] if all(meets) else REASONS[2]
    return index, needle, len(move.conditions), len(move.updates), reason, alike, len(states) - 1
