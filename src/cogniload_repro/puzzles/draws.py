"""Draw the statements of a puzzle one by one, in either edition of the generator."""

from functools import cache
from operator import is_
from typing import Any, NamedTuple

from cogniload_repro.puzzles.rng import ElixirDraws, PortDraws

PORT = "python"
ELIXIR = "elixir-1.17"
#: The editions of the generator, the most likely first: the authors' Python port, and their
#: original as run by Elixir 1.17 or later, which is also called elixir.
EDITIONS = (PORT, ELIXIR)

#: Most failed attempts at a statement; one more ends the drawing of the puzzle with an error.
MAX_FAILURES = 50

#: A person's values, one for each category of the puzzle, as indices into the domains.
Values = list[int]

#: A statement in numbers: the person from whose values it was drawn, the person's values before it,
#: the categories of its conditions, the person's values after it, and the categories of its
#: updates. A statement read from a text has no person (None) and only the values in the text. (A
#: named tuple would take five times as long to create.)
Move = tuple[int | None, Any, list[int], Any, list[int]]


class Failure(NamedTuple):
    """A rejected attempt at a statement, and the number of statements drawn before it."""

    position: int
    move: Move


def apply_move(everybody: list[Values], move: Move) -> list[Values]:
    """Return everybody's values after a statement.

    People who do not meet its conditions keep the same list object. Lists are replaced, never
    modified, so that callers may keep them.
    """
    reference, before, conditions, after, updates = move
    changed = everybody.copy()
    first = conditions[0]
    value = before[first]
    for person, values in enumerate(everybody):
        if values[first] != value:
            continue
        if person == reference:
            changed[person] = after
            continue
        for category in conditions:
            if values[category] != before[category]:
                break
        else:  # all conditions hold
            values = values.copy()
            for category in updates:
                values[category] = after[category]
            changed[person] = values
    return changed


class StatementDraws:
    """Draws the statements of a puzzle in turn and tracks everybody's values.

    ``ranks`` has each category's rank among the keys of an Elixir map; None for Python.
    """

    def __init__(
        self,
        draws: PortDraws | ElixirDraws,
        poi: int,
        everybody: list[Values],
        sizes: list[int],
        ranks: list[int] | None = None,
    ):
        self.draws = draws
        self.below = draws.below
        self.poi = poi
        self.everybody = everybody
        self.others = [person for person in range(len(everybody)) if person != poi]
        self.free = [free_values(size) for size in sizes]
        self.ranks = ranks

    def draw(
        self,
        N: int,
        needles: int,
        failed: list[Failure] | None = None,
    ) -> list[Move]:
        """Draw all statements; rejected attempts are appended to ``failed``."""
        share = self.draws.share
        shuffle = self.draws.shuffle
        moves: list[Move] = []
        failures = 0
        while statements_left := N - len(moves):
            is_needle = share() <= needles / statements_left
            move = self.attempt(is_needle)
            everybody = self.follow(move, is_needle)
            if everybody is None:
                failures += 1
                _reject(move, len(moves), failures, failed)
                continue
            failures = 0
            if is_needle:
                needles -= 1
            _, _, conditions, _, updates = move
            if self.ranks:
                conditions.sort(key=self.ranks.__getitem__)
                updates.sort(key=self.ranks.__getitem__)
            shuffle(conditions)
            shuffle(updates)
            moves.append(move)
            self.everybody = everybody
        return moves

    def attempt(self, is_needle: bool) -> Move:
        """Draw a needle from the person of interest's values, or a distractor from another's."""
        below = self.below
        everybody = self.everybody
        free = self.free
        d = len(free)
        person = self.poi if is_needle else self.others[below(len(self.others))]
        conditions = self.draws.indices(d)
        updates = self.draws.indices(d)
        before = everybody[person]
        poi_before = everybody[self.poi]
        after = before.copy()
        for category in updates:
            count, values = free[category][before[category]][poi_before[category]]
            after[category] = values[below(count)]
        return person, before, conditions, after, updates

    def follow(self, move: Move, is_needle: bool) -> list[Values] | None:
        """Return everybody's values after a statement, or None if it is not allowed."""
        before = self.everybody
        after = apply_move(before, move)
        poi_after = after[self.poi]
        if not is_needle:
            # a distractor must not change the person of interest. Its updates avoid that person's
            # values, so it cannot make anybody equal to the person of interest
            return after if poi_after is before[self.poi] else None
        if after.count(poi_after) > 1:
            return None
        return after if any(map(is_, after, before)) else None


def _reject(
    move: Move,
    position: int,
    failures: int,
    failed: list[Failure] | None,
) -> None:
    """Record a rejected attempt; raise ValueError after too many in a row."""
    if failed is not None:
        failed.append(Failure(position, move))
    if failures > MAX_FAILURES:
        cause = f"{failures} attempts in a row at statement {position + 1} failed"
        raise ValueError(f"{cause}; choose another puzzle_id or seed")


@cache
def free_values(size: int) -> list[list[tuple[int, list[int]]]]:
    """Return, for each pair of values of a domain (three or more), the values unlike both.

    Entry [first][second] has the number of these values, and their list.
    """
    values = range(size)
    table = []
    for first in values:
        row = []
        for second in values:
            free = [value for value in values if value not in (first, second)]
            row.append((len(free), free))
        table.append(row)
    return table


def resolve_edition(name: str) -> str:
    """Return the edition with this name; ValueError if there is none."""
    if name == "elixir":
        return ELIXIR
    if name not in EDITIONS:
        names = ", ".join([*EDITIONS, "elixir"])
        raise ValueError(f"edition is {name!r}; choose one of: {names}")
    return name
