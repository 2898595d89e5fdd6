"""Draw puzzles: one from its id, whole grids along the id chain.

Byte for byte what the authors' released Python code draws; every choice below keeps the order of its draws.
"""

from collections.abc import Iterable, Iterator

from cogniload_repro.grid import MAX_STATEMENTS, Cell, check_count
from cogniload_repro.puzzles.draws import (
    MAX_FAILURES,
    PORT,
    Edition,
    Elixir,
    Failure,
    Mersenne,
    StuckError,
    draw_moves,
    resolve_edition,
)
from cogniload_repro.puzzles.ontology import CATEGORIES, ontology
from cogniload_repro.puzzles.puzzle import Puzzle

#: The chain's ids are drawn from this range, both ends included.
FIRST_ID, LAST_ID = 100_000, 999_999


def draw_puzzle(
    N: int,
    d: int,
    needles: int,
    puzzle_id: int,
    failed: list[Failure] | None = None,
    *,
    edition: str | Edition = PORT,
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
    edition : str, optional
        The edition of the generator: python (the authors' port), elixir-1.14, elixir-1.16, elixir-1.17 or elixir.

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
    edition = resolve_edition(edition)
    N, d = check_count("N", N, 1, MAX_STATEMENTS), check_count("d", d, 1, len(CATEGORIES))
    needles = check_count("needles", needles, 1, N)
    puzzle_id = check_count(
        "puzzle_id", puzzle_id, *((FIRST_ID, LAST_ID) if edition.is_elixir else (0,))
    )
    return _draw(edition.draws(), edition, N, d, needles, puzzle_id, failed)


def draw_grid(
    cells: Iterable[Cell | tuple],
    puzzles_per_cell: int,
    seed: int,
    *,
    edition: str | Edition = PORT,
) -> Iterator[Puzzle]:
    """Draw whole cells along the id chain: each id comes from the state that the puzzle before it left.

    Yields `puzzles_per_cell` puzzles of the first cell, then of the next. Tuples (N, ratio_pct, d) are cells with
    halves rounded up. Arguments out of range are refused before anything is drawn.
    """
    chain = [cell if isinstance(cell, Cell) else Cell(*cell) for cell in cells]
    puzzles_per_cell = check_count("puzzles_per_cell", puzzles_per_cell, 1)
    return _follow_chain(
        chain, puzzles_per_cell, check_count("seed", seed, 0), resolve_edition(edition)
    )


def _follow_chain(
    cells: list[Cell], puzzles_per_cell: int, seed: int, edition: Edition
) -> Iterator[Puzzle]:
    draws = edition.draws()
    draws.seed(seed)
    for cell in cells:
        for _ in range(puzzles_per_cell):
            yield _draw(
                draws, edition, cell.N, cell.d, cell.needles, draws.between(FIRST_ID, LAST_ID)
            )


def _draw(
    draws: Mersenne | Elixir,
    edition: Edition,
    N: int,
    d: int,
    needles: int,
    puzzle_id: int,
    failed: list | None = None,
) -> Puzzle:
    """Draw the puzzle of one id and leave `draws` in the state that the chain goes on from."""
    draws.seed(puzzle_id)
    people = ontology().people
    categories = draws.sample(edition.categories, d)
    keys, ranks = list(range(d)), None
    if edition.is_elixir:
        ranks = [edition.categories.index(category) for category in categories]
        keys.sort(key=ranks.__getitem__)
    drawn = draws.sample(people, d)
    if d == 1:
        drawn += draws.sample([person for person in people if person not in drawn], 1)
    poi = draws.below(len(drawn))
    domains = {
        category: draws.sample(ontology().values[category], domain_size(category, d))
        for category in categories
    }
    sizes = [len(values) for values in domains.values()]
    start = [[i % size for size in sizes] for i in range(len(drawn))]
    try:
        moves, states = draw_moves(draws, N, needles, poi, start, sizes, ranks, failed)
    except StuckError as stuck:
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
    return Puzzle(
        drawn, drawn[poi], category, solution, domains, needles, puzzle_id, start, lines, moves
    )


def domain_size(category: str, d: int) -> int:
    """Return how many values of a category a puzzle has: d + 1, at least three, at most all."""
    return min(len(ontology().values[category]), max(3, d + 1))
