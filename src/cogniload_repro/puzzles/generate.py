"""Draw puzzles: one from its id, whole grids along the id chain.

Byte for byte what the authors' released Python code draws; every choice below keeps the order of its draws.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple, cast

from cogniload_repro.grid import MAX_STATEMENTS, Cell, check_count
from cogniload_repro.puzzles.editions import PORT, Draws, Edition, resolve_edition
from cogniload_repro.puzzles.ontology import CATEGORIES, ontology
from cogniload_repro.puzzles.puzzle import Move, Puzzle

#: The chain's ids are drawn from this range, both ends included.
FIRST_ID, LAST_ID = 100_000, 999_999

#: A statement that fails more often than this in a row stops the puzzle.
MAX_FAILURES = 50

Request = tuple[int, int, int, int]


class Failure(NamedTuple):
    """An attempt at a statement that was not allowed.

    Attributes
    ----------
    place : int
        How many statements stand before the one that was attempted.
    move : Move
    after : list of list of int
        Everybody's values, had it been allowed.
    """

    place: int
    move: Move
    after: list[list[int]]


def draw_puzzle(
    N: int,
    d: int,
    needles: int,
    puzzle_id: int,
    failed: list[Failure] | None = None,
    *,
    edition: str | Edition = PORT,
    key_order: str | None = None,
) -> Puzzle:
    """Draw the puzzle of one id (paper, section 2.1).

    Parameters
    ----------
    N, d, needles : int
        Statements (1 to 1,000,000), intrinsic difficulty (1 to 12), needles (1 to N).
    puzzle_id : int
        Seed of the puzzle, not negative; for Elixir from 100,000 to 999,999.
    failed : list, optional
        Receives the attempts that were not allowed, in their order.
    edition, key_order : str, optional
        The edition of the generator, by default the authors' Python port; see `resolve_edition`.

    Raises
    ------
    ValueError
        If an argument is outside its range, or no statement is allowed in 51 attempts.

    Examples
    --------
    >>> draw_puzzle(20, 1, 1, 770487).name
    '20_1_1_770487_red'
    >>> draw_puzzle(20, 1, 1, 102133, edition="elixir").name
    '20_1_1_102133_disco'
    """
    edition = resolve_edition(edition, key_order)
    N = check_count("N", N, 1, MAX_STATEMENTS)
    return _draw(
        edition.draws(),
        edition,
        N,
        check_count("d", d, 1, len(CATEGORIES)),
        check_count("needles", needles, 1, N),
        check_count("puzzle_id", puzzle_id, *((0,) if edition == PORT else (FIRST_ID, LAST_ID))),
        failed,
    )


def draw_grid(
    cells: Iterable[Cell | tuple],
    puzzles_per_cell: int,
    seed: int,
    *,
    edition: str | Edition = PORT,
    key_order: str | None = None,
) -> Iterator[Puzzle]:
    """Draw whole cells along the id chain: each id comes from the state that the puzzle before it left.

    Parameters
    ----------
    cells : iterable of Cell or (N, ratio_pct, d)
        In the order of the chain; tuples are cells under the paper's rounding.
    puzzles_per_cell : int
        At least 1.
    seed : int
        Seed of the whole grid, not negative.
    edition, key_order : str, optional
        As for `draw_puzzle`.

    Yields
    ------
    Puzzle
        `puzzles_per_cell` puzzles of the first cell, then of the next.

    Raises
    ------
    ValueError
        If an argument is outside its range, or no statement is allowed in 51 attempts.
    """
    chain = [cell if isinstance(cell, Cell) else Cell(*cell) for cell in cells]
    puzzles_per_cell = check_count("puzzles_per_cell", puzzles_per_cell, 1)
    return _follow_chain(chain, puzzles_per_cell, check_count("seed", seed, 0), resolve_edition(edition, key_order))


def draw_ids(
    cells: Iterable[Cell | tuple], puzzles_per_cell: int, seed: int, *, edition: str | Edition = PORT
) -> list[int]:
    """Return only the ids of `draw_grid`, in its order; every puzzle has to be drawn to find the next id."""
    puzzles = draw_grid(cells, puzzles_per_cell, seed, edition=edition)
    return [puzzle.puzzle_id for puzzle in puzzles if puzzle.puzzle_id is not None]


def _follow_chain(cells: list[Cell], puzzles_per_cell: int, seed: int, edition: Edition) -> Iterator[Puzzle]:
    draws = edition.draws()
    draws.seed(seed)
    for cell in cells:
        for _ in range(puzzles_per_cell):
            yield _draw(draws, edition, cell.N, cell.d, cell.needles, draws.between(FIRST_ID, LAST_ID))


def _draw(
    draws: Draws,
    edition: Edition,
    N: int,
    d: int,
    needles: int,
    puzzle_id: int,
    failed: list[Failure] | None = None,
) -> Puzzle:
    """Draw the puzzle of one id and leave `draws` in the state that the chain goes on from."""
    draws.seed(puzzle_id)
    people = ontology().people
    categories = draws.sample(edition.categories, d)
    keys, ranks = edition.order_keys(categories)
    drawn = draws.sample(people, d)
    if d == 1:
        drawn += draws.sample([person for person in people if person not in drawn], 1)
    poi = draws.below(len(drawn))
    domains = {category: _draw_domain(draws, ontology().values[category], d) for category in categories}
    sizes = [len(values) for values in domains.values()]
    start = [[i % size for size in sizes] for i in range(len(drawn))]
    try:
        moves, states = _draw_moves(draws, ranks, sizes, start, poi, N, needles, failed)
    except _StuckError as stuck:
        raise ValueError(
            f"N={N}, d={d}, needles={needles}, puzzle_id={puzzle_id}: statement {stuck} was not allowed in "
            f"{MAX_FAILURES + 1} attempts in a row; take another puzzle_id or seed"
        ) from None
    asked = keys[draws.below(d)]
    category = categories[asked]
    lines: list[tuple[int, list[int]]] = []
    for person in dict.fromkeys([move[0] for move in reversed(moves) if move[0] is not None]):
        order = keys[:]
        draws.shuffle(order)
        lines.append((person, order))
    solution = domains[category][states[poi][asked]]
    return Puzzle(drawn, drawn[poi], category, solution, domains, needles, puzzle_id, start, lines, moves)


def _draw_domain(draws: Draws, values: tuple[str, ...], d: int) -> list[str]:
    """Draw the values that a category takes in one puzzle."""
    return draws.sample(values, min(len(values), 3 if d == 1 else d + 1))


class _StuckError(Exception):
    """No statement was allowed in a whole row of attempts; holds the statement's number."""


@cache
def _free_values(size: int) -> list[list[tuple[int, int, list[int]]]]:
    """Table of the places of a domain that differ from two given ones: count, bits of the count, places.

    Domains have three values or more, so one is always left.
    """
    places = range(size)
    free = [[[at for at in places if at not in (one, two)] for two in places] for one in places]
    return [[(len(left), len(left).bit_length(), left) for left in row] for row in free]


def _draw_moves(
    draws: Draws,
    ranks: list[int] | None,
    sizes: list[int],
    states: list[list[int]],
    poi: int,
    N: int,
    needles: int,
    failed: list[Failure] | None = None,
) -> tuple[list[Move], list[list[int]]]:
    """Draw all statements; return them and the final states.

    Lists of values are replaced, never changed, so that moves can keep them. Two checks of the released code are
    implied by the others: nobody can become equal to the person of interest through a hay, whose updates avoid that
    person's values; and when nobody is equal after a needle, not everybody is.
    """
    others = [person for person in range(len(states)) if person != poi]
    attempt, shuffle = draws.attempts(poi, others, [_free_values(size) for size in sizes]), draws.shuffle
    n_others = len(others)
    moves: list[tuple] = []
    left, needles_left, failures = N, needles, 0
    while left:
        person, conditions, updates, moved = attempt(needles_left / left, states)
        before, poi_before, after = states[person], states[poi], states[:]
        after[person] = moved
        first = conditions[0]
        wanted = before[first]
        i = affected = 0
        for state in states:
            if state[first] == wanted:
                for place in conditions:
                    if state[place] != before[place]:
                        break
                else:
                    affected += 1
                    if i != person:
                        after[i] = state = state[:]
                        for place in updates:
                            state[place] = moved[place]
            i += 1  # noqa: SIM113
        is_needle = person == poi
        if affected > n_others or after.count(moved) > 1 if is_needle else after[poi] is not poi_before:
            failures += 1
            if failed is not None:
                failed.append(Failure(N - left, Move(person, before, conditions, moved, updates), after))
            if failures > MAX_FAILURES:
                raise _StuckError(N - left + 1)
            continue
        failures = 0
        if ranks:
            # keys of a map: in the order of the map, not in that in which they were drawn
            conditions.sort(key=ranks.__getitem__)
            updates.sort(key=ranks.__getitem__)
        shuffle(conditions, updates)
        moves.append((person, before, conditions, moved, updates))
        states = after
        left -= 1
        needles_left -= is_needle
    return cast("list[Move]", moves), states
