"""Draw puzzles: one from its id, whole grids along the id chain.

Byte for byte what the authors' released Python code draws; every choice below keeps the order of its draws.
"""

import random
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from cogniload_repro.grid import MAX_STATEMENTS, Cell, check_count
from cogniload_repro.puzzles.mersenne import LARGEST_POOL, SAMPLE, SHUFFLE, below, sample, shuffle
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


def draw_puzzle(N: int, d: int, needles: int, puzzle_id: int, failed: list[Failure] | None = None) -> Puzzle:
    """Draw the puzzle of one id (paper, section 2.1).

    Parameters
    ----------
    N, d, needles : int
        Statements (1 to 1,000,000), intrinsic difficulty (1 to 12), needles (1 to N).
    puzzle_id : int
        Seed of the puzzle, not negative.
    failed : list, optional
        Receives the attempts that were not allowed, in their order.

    Raises
    ------
    ValueError
        If an argument is outside its range, or no statement is allowed in 51 attempts.

    Examples
    --------
    >>> draw_puzzle(20, 1, 1, 770487).name
    '20_1_1_770487_red'
    """
    N = check_count("N", N, 1, MAX_STATEMENTS)
    return _draw(
        random.Random(),
        N,
        check_count("d", d, 1, len(CATEGORIES)),
        check_count("needles", needles, 1, N),
        check_count("puzzle_id", puzzle_id, 0),
        failed,
    )


def draw_grid(cells: Iterable[Cell | tuple], puzzles_per_cell: int, seed: int) -> Iterator[Puzzle]:
    """Draw whole cells along the id chain: each id comes from the state that the puzzle before it left.

    Parameters
    ----------
    cells : iterable of Cell or (N, ratio_pct, d)
        In the order of the chain; tuples are cells under the paper's rounding.
    puzzles_per_cell : int
        At least 1.
    seed : int
        Seed of the whole grid, not negative.

    Yields
    ------
    Puzzle
        `puzzles_per_cell` puzzles of the first cell, then of the next.

    Raises
    ------
    ValueError
        If an argument is outside its range, or no statement is allowed in 51 attempts.
    """
    cells = [cell if isinstance(cell, Cell) else Cell(*cell) for cell in cells]
    puzzles_per_cell = check_count("puzzles_per_cell", puzzles_per_cell, 1)
    return _follow_chain(cells, puzzles_per_cell, check_count("seed", seed, 0))


def draw_ids(cells: Iterable[Cell | tuple], puzzles_per_cell: int, seed: int) -> list[int]:
    """Return only the ids of `draw_grid`, in its order; every puzzle has to be drawn to find the next id."""
    return [puzzle.puzzle_id for puzzle in draw_grid(cells, puzzles_per_cell, seed)]


def _follow_chain(cells: list[Cell], puzzles_per_cell: int, seed: int) -> Iterator[Puzzle]:
    rng = random.Random(seed)
    for cell in cells:
        for _ in range(puzzles_per_cell):
            yield _draw(rng, cell.N, cell.d, cell.needles, rng.randint(FIRST_ID, LAST_ID))


def _draw(
    rng: random.Random, N: int, d: int, needles: int, puzzle_id: int, failed: list[Failure] | None = None
) -> Puzzle:
    """Draw the puzzle of one id and leave `rng` in the state that the chain goes on from."""
    rng.seed(puzzle_id)
    bits = rng.getrandbits
    categories = sample(bits, CATEGORIES, d)
    people = rng.sample(ontology().people, d)
    if d == 1:
        people.append(rng.choice([person for person in ontology().people if person not in people]))
    poi = below(bits, len(people))
    domains = {category: _draw_domain(rng, ontology().values[category], d) for category in categories}
    sizes = [len(values) for values in domains.values()]
    start = [[i % size for size in sizes] for i in range(len(people))]
    try:
        moves, states = _draw_moves(rng, sizes, start, poi, N, needles, failed)
    except _StuckError as stuck:
        raise ValueError(
            f"N={N}, d={d}, needles={needles}, puzzle_id={puzzle_id}: statement {stuck} was not allowed in "
            f"{MAX_FAILURES + 1} attempts in a row; take another puzzle_id or seed"
        ) from None
    asked = below(bits, d)
    category = categories[asked]
    lines = []
    for person in dict.fromkeys([move[0] for move in reversed(moves)]):
        order = list(range(d))
        shuffle(bits, order)
        lines.append((person, order))
    solution = domains[category][states[poi][asked]]
    return Puzzle(people, people[poi], category, solution, domains, needles, puzzle_id, start, lines, moves)


def _draw_domain(rng: random.Random, values: tuple[str, ...], d: int) -> list[str]:
    """Draw the values that a category takes in one puzzle."""
    size = min(len(values), 3 if d == 1 else d + 1)
    return rng.sample(values, size) if len(values) > LARGEST_POOL else sample(rng.getrandbits, values, size)


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
    rng: random.Random,
    sizes: list[int],
    states: list[list[int]],
    poi: int,
    N: int,
    needles: int,
    failed: list[Failure] | None = None,
) -> tuple[list[Move], list[list[int]]]:
    """Draw all statements; return them and the final states.

    One long function, because calls would cost a sixth of the time: the loops over `SAMPLE` and `SHUFFLE` are
    `mersenne.sample` and `mersenne.shuffle` written out. Lists of values are replaced, never changed, so that
    moves can keep them. Two checks of the released code are implied by the others: nobody can become equal to
    the person of interest through a hay, whose updates avoid that person's values; and when nobody is equal
    after a needle, not everybody is.
    """
    bits, uniform = rng.getrandbits, rng.random
    others = [person for person in range(len(states)) if person != poi]
    n_others, n_places = len(others), len(sizes)
    width_others, width_places = n_others.bit_length(), n_places.bit_length()
    places, steps, free = list(range(n_places)), SAMPLE[n_places], [_free_values(size) for size in sizes]
    moves = []
    left, needles_left, failures = N, needles, 0
    while left:
        person = poi
        is_hay = uniform() > needles_left / left
        if is_hay:
            at = bits(width_others)
            while at >= n_others:
                at = bits(width_others)
            person = others[at]
        sampled = []
        for _ in range(2):
            count = bits(width_places)
            while count >= n_places:
                count = bits(width_places)
            pool, drawn = places[:], []
            for n, width, last in steps[count + 1]:
                at = bits(width)
                while at >= n:
                    at = bits(width)
                drawn.append(pool[at])
                pool[at] = pool[last]
            sampled.append(drawn)
        conditions, updates = sampled
        before, poi_before = states[person], states[poi]
        moved = before[:]
        for place in updates:
            n, width, values = free[place][before[place]][poi_before[place]]
            at = bits(width)
            while at >= n:
                at = bits(width)
            moved[place] = values[at]
        after = states[:]
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
        if after[poi] is not poi_before if is_hay else affected > n_others or after.count(moved) > 1:
            failures += 1
            if failed is not None:
                failed.append(Failure(N - left, Move(person, before, conditions, moved, updates), after))
            if failures > MAX_FAILURES:
                raise _StuckError(N - left + 1)
            continue
        failures = 0
        for drawn in sampled:
            for n, width, last in SHUFFLE[len(drawn)]:
                at = bits(width)
                while at >= n:
                    at = bits(width)
                drawn[last], drawn[at] = drawn[at], drawn[last]
        moves.append((person, before, conditions, moved, updates))
        states = after
        left -= 1
        needles_left -= person == poi
    return moves, states
