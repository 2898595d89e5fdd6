"""Drawn puzzles taken apart: every statement, every attempt that failed and every cast, as tables of counts.

The puzzles are drawn again from their ids, because a text tells neither who a statement was made from nor what
was tried before it. Only what draws to the very same text is measured.
"""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from cogniload_repro.puzzles.catalog import find_edition
from cogniload_repro.puzzles.draws import Failure, Move
from cogniload_repro.puzzles.editions import PORT, Edition
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.ontology import CATEGORIES
from cogniload_repro.puzzles.puzzle import Puzzle

#: Why an attempt fails, in the order of the checks.
REASONS = ("hay reaches the PoI", "needle reaches everybody", "somebody equals the PoI")
_FEWEST = 5  # expected, for a chi-square test
CELL = ["N", "d", "ratio_pct"]
_PUZZLES = [*CELL, "needles", "people", "lines", "poi_place", "asked_place", "categories", "space", "smallest",
            "largest", "states", "poi_states", "pairs", "pairs_apart"]  # fmt: skip
_STATEMENTS = ["puzzle", "place", "needle", "conditions", "updates", "affected", "repeats", "idle", "distinct"]
_FAILURES = ["puzzle", "place", "needle", "conditions", "updates", "reason", "alike", "others"]

States = list[list[int]]


class Measures(NamedTuple):
    """What `measure_puzzles` finds.

    Attributes
    ----------
    puzzles : DataFrame
        One row a puzzle: N, d, ratio_pct, needles, people (in the cast), lines (people with an initial line),
        poi_place and asked_place (from 0), categories (tuple), space (product of the domains' sizes), smallest and
        largest (domain), states and poi_states (different ones that anybody, and the PoI, passes through), pairs
        (of people) and pairs_apart (different in every category at the start).
    statements : DataFrame
        One row a statement: puzzle (row of the former), place (from 0), needle (bool), conditions and updates
        (counts), affected (people), repeats (expected number of updates that would give the reference person its
        own value again, were values drawn by section 2.1.3), idle (chance that all of them would), distinct
        (different states among the others afterwards); and N, d, ratio_pct.
    failures : DataFrame
        One row a failed attempt: puzzle, place, needle, conditions, updates, reason (of `REASONS`), alike (others
        who would have equalled the PoI), others (their number); and N, d, ratio_pct.
    asked : int
        How many puzzles were to be measured; those left out are not drawn from their ids by the edition.
    edition : Edition
        The edition of the generator that they were drawn again with.
    """

    puzzles: pd.DataFrame
    statements: pd.DataFrame
    failures: pd.DataFrame
    asked: int
    edition: Edition


def measure_puzzles(table: pd.DataFrame, per_cell: int) -> Measures:
    """Measure the first puzzles of every cell of a set, drawn again by the edition that draws most cells' first one.

    Parameters
    ----------
    table : DataFrame
        Columns name, N, d, ratio_pct, needles, puzzle_id, text of a puzzles table.
    per_cell : int
        At most so many of each (N, d, ratio_pct).
    """
    chosen = table.groupby(CELL, sort=False).head(per_cell)
    first = chosen.drop_duplicates(CELL)
    fits = find_edition(first["name"], dict(zip(first["name"], first["text"], strict=True)))
    edition = fits[0].edition if fits else PORT
    puzzles, statements, failures = list[tuple](), list[tuple](), list[tuple]()
    for row in chosen.itertuples():
        if (drawn := _draw_again(row, edition)) is None:
            continue
        puzzle, failed = drawn
        number, history = len(puzzles), list(puzzle.replay())
        puzzles.append((row.N, row.d, row.ratio_pct, *_measure_cast(puzzle, history)))
        statements += [(number, *found) for found in _measure_statements(puzzle, history)]
        failures += [(number, *_measure_failure(puzzle, failure, history[failure.index])) for failure in failed]
    cast = pd.DataFrame(puzzles, columns=_PUZZLES)
    parts = (
        pd.DataFrame(rows, columns=names).astype({"puzzle": int, "needle": bool}).join(cast[CELL], on="puzzle")
        for rows, names in ((statements, _STATEMENTS), (failures, _FAILURES))
    )
    return Measures(cast, next(parts), next(parts), len(chosen), edition)


def merged_after(puzzle: Puzzle) -> int | None:
    """Return after which statement all people but the PoI are in one state, and stay so; None if they never are."""
    poi = puzzle.people.index(puzzle.poi)
    for number, states in enumerate(puzzle.replay()):
        if len(set(map(tuple, states[:poi] + states[poi + 1 :]))) == 1:
            return number
    return None


def attempts(measures: Measures) -> pd.DataFrame:
    """Return allowed and failed attempts together: the columns that both have, and failed (bool)."""
    shared = ["puzzle", "place", "needle", "conditions", "updates", *CELL]
    frames = [measures.statements[shared].assign(failed=False), measures.failures[shared].assign(failed=True)]
    return pd.concat(frames, ignore_index=True)


def check_draws(measures: Measures) -> pd.DataFrame:
    """Test whether what the generator draws at random has the chances that it should have.

    Returns
    -------
    DataFrame
        One row a draw: draw (words), n (draws), chi2, df, p. Numbers of conditions and updates and the type of
        statement are tested on all attempts, because the rules then prefer some to others. Levels of which fewer
        than five are expected are left out.
    """
    cast, tried = measures.puzzles, attempts(measures)
    rows = {
        "categories of a puzzle": _test_categories(cast),
        "place of the PoI in the cast": _test_even(cast["poi_place"], cast["people"]),
        "place of the category asked about": _test_even(cast["asked_place"], cast["d"]),
        "number of conditions of an attempt": _test_even(tried["conditions"] - 1, tried["d"]),
        "number of updates of an attempt": _test_even(tried["updates"] - 1, tried["d"]),
        "needle or hay, of an attempt": _test_types(measures, tried),
    }
    frame = pd.DataFrame([(draw, *found) for draw, found in rows.items()], columns=["draw", "n", "chi2", "df"])
    return frame[frame["df"] > 0].assign(p=lambda own: stats.chi2.sf(own["chi2"], own["df"])).reset_index(drop=True)


def count_failures(measures: Measures, *by: str) -> pd.DataFrame:
    """Return, by columns such as d and N: statements, failed (attempts), rate (failed a statement).

    One column a reason counts the attempts that failed by it.
    """
    statements = measures.statements.groupby(list(by)).size().rename("statements")
    failures = measures.failures
    reasons = {reason: failures[failures["reason"] == reason].groupby(list(by)).size() for reason in REASONS}
    counts = pd.DataFrame({"statements": statements} | reasons).fillna(0).astype(int)
    failed = counts[list(REASONS)].sum(axis=1)
    return counts.assign(failed=failed, rate=failed / counts["statements"]).reset_index()


def profile_places(measures: Measures) -> pd.DataFrame:
    """Count needles by difficulty and tenth of the puzzle.

    Returns
    -------
    DataFrame
        One row a d and tenth (1 to 10): needles, even (expected if they fell evenly), literal (expected by
        `needle_chances`), se (of needles, if even).
    """
    cast = measures.puzzles
    own = measures.statements.sort_values(["puzzle", "place"])
    chances = {key: needle_chances(*key) for key in set(zip(cast["N"], cast["needles"], strict=True))}
    literal = [chances[key] for key in zip(cast["N"], cast["needles"], strict=True)]
    own = own.assign(
        tenth=own["place"] * 10 // own["N"] + 1,
        even=own["puzzle"].map(cast["needles"] / cast["N"]),
        literal=np.concatenate(literal) if literal else [],
    )
    own["variance"] = own["even"] * (1 - own["even"])
    profile = own.groupby(["d", "tenth"])[["needle", "even", "literal", "variance"]].sum().reset_index()
    return profile.assign(se=np.sqrt(profile.pop("variance"))).rename(columns={"needle": "needles"})


def needle_chances(N: int, needles: int) -> np.ndarray:
    """Return the chance that statement t = 1 to N is a needle, if P = needles left / (N - t) is taken as printed.

    The number of needles is kept: a chance above one is one, and the last statement, for which the formula divides
    by zero, is whatever is left (paper, section 2.1.3).
    """
    left = np.arange(needles + 1)
    weights = np.zeros(needles + 1)
    weights[needles] = 1.0
    chances = []
    for t in range(1, N + 1):
        must = left >= N - t + 1
        chance = np.where(must, 1.0, np.minimum(left / max(N - t, 1), 1.0)) if t < N else np.minimum(left, 1.0)
        taken = weights * chance
        chances.append(taken.sum())
        weights = weights - taken
        weights[:-1] += taken[1:]
    return np.array(chances)


def _test_even(places: pd.Series, levels: pd.Series) -> tuple[int, float, int]:
    """Return number, chi-square and degrees of freedom of places from 0 that should be equally frequent."""
    total, chi2, df = 0, 0.0, 0
    for count, own in places.groupby(levels):
        expected = len(own) / count
        if expected >= _FEWEST:
            found = np.bincount(own, minlength=count)
            total, chi2, df = total + len(own), chi2 + ((found - expected) ** 2).sum() / expected, df + count - 1
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
    chances = own[["puzzle", "place"]].assign(chance=left / (own["N"] - own["place"]))
    merged = tried.merge(chances, on=["puzzle", "place"])
    variance = (merged["chance"] * (1 - merged["chance"])).sum()
    surplus = (merged["needle"] - merged["chance"]).sum()
    return len(merged), float(surplus**2 / variance) if variance else 0.0, int(variance >= _FEWEST)


def _draw_again(row, edition: Edition) -> tuple[Puzzle, list[Failure]] | None:
    """Draw a puzzle of a table again, with its failed attempts; None if it comes out otherwise."""
    failed: list[Failure] = []
    try:
        puzzle = draw_puzzle(row.N, row.d, row.needles, row.puzzle_id, failed, edition=edition)
    except ValueError:
        return None
    return (puzzle, failed) if puzzle.text == row.text else None


def _measure_cast(puzzle: Puzzle, history: list[States]) -> tuple:
    sizes = [len(values) for values in puzzle.domains.values()]
    poi, start = puzzle.people.index(puzzle.poi), puzzle.start
    pairs = [(one, other) for i, one in enumerate(start) for other in start[:i]]
    apart = sum(all(a != b for a, b in zip(*pair, strict=True)) for pair in pairs)
    passed = {tuple(state) for states in history for state in states}
    own = {tuple(states[poi]) for states in history}
    asked = puzzle.categories.index(puzzle.category)
    return (puzzle.needles, len(start), len(puzzle.lines), poi, asked, tuple(puzzle.categories), float(prod(sizes)),
            min(sizes), max(sizes), len(passed), len(own), len(pairs), apart)  # fmt: skip


def _measure_statements(puzzle: Puzzle, history: list[States]) -> Iterator[tuple]:
    sizes = [len(values) for values in puzzle.domains.values()]
    poi = puzzle.people.index(puzzle.poi)
    for at, move in enumerate(map(Move._make, puzzle.moves)):
        states, after = history[at], history[at + 1]
        affected = sum(new is not old for new, old in zip(after, states, strict=True))
        chances = [_repeat_chance(move, states[poi], place, sizes[place], poi) for place in move.updates]
        distinct = len(set(map(tuple, after[:poi] + after[poi + 1 :])))
        yield (at, move.reference == poi, len(move.conditions), len(move.updates), affected, sum(chances),
               prod(chances), distinct)  # fmt: skip


def _repeat_chance(move: Move, poi_state: list[int], place: int, size: int, poi: int) -> float:
    """Return the chance of the reference person's own value: of all for a needle, of all but the PoI's for a hay."""
    if move.reference == poi:
        return 1 / size
    return 1 / (size - 1) if move.before[place] != poi_state[place] else 0.0


def _measure_failure(puzzle: Puzzle, failure: Failure, states: States) -> tuple:
    place, move = failure
    poi = puzzle.people.index(puzzle.poi)
    after = [_follow(move, state) for state in states]
    needle, others = move.reference == poi, len(after) - 1
    alike = after.count(after[poi]) - 1 if needle else 0
    everybody = all(state[at] == move.before[at] for state in states for at in move.conditions)
    reason = REASONS[0] if not needle else REASONS[1] if everybody else REASONS[2]
    return place, needle, len(move.conditions), len(move.updates), reason, alike, others


def _follow(move: Move, state: list[int]) -> list[int]:
    """Return a state after a statement, had it been allowed."""
    if any(state[at] != move.before[at] for at in move.conditions):
        return state
    state = state[:]
    for at in move.updates:
        state[at] = move.after[at]
    return state
