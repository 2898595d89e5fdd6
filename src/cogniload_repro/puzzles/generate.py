"""Draw puzzles: one from its id, whole grids along the id chain.

Puzzles are byte for byte those of the authors' released code, so the order of the random draws
below must not change.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from cogniload_repro.grid import MAX_STATEMENTS, Cell, check_count
from cogniload_repro.puzzles.draws import (
    ELIXIR,
    PORT,
    Failure,
    Move,
    StatementDraws,
    Values,
    resolve_edition,
)
from cogniload_repro.puzzles.ontology import CATEGORIES, ontology
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.puzzles.rng import ElixirDraws, PortDraws

#: The chain's ids are drawn from this range, both ends included.
FIRST_ID = 100_000
LAST_ID = 999_999

#: The ids of a set by N, d and number of needles.
UsedIds = dict[tuple[int, int, int], set[int]]


def draw_puzzle(
    N: int,
    d: int,
    needles: int,
    puzzle_id: int,
    failed: list[Failure] | None = None,
    *,
    edition: str = PORT,
) -> Puzzle:
    """Draw the puzzle of one id (paper, section 2.1).

    Parameters
    ----------
    N, d, needles : int
        Statements (1 to 2,500), intrinsic difficulty (1 to 12), needles (1 to N).
    puzzle_id : int
        Seed of the puzzle, not negative; for Elixir from 100,000 to 999,999.
    failed : list, optional
        A list to which rejected attempts at statements are appended, in order.
    edition : str, optional
        The edition of the generator: python (the authors' port) or elixir (their original, as run
        by Elixir 1.17 and later).

    Raises
    ------
    ValueError
        If an argument is out of range, or 51 attempts at a statement fail in a row.

    Examples
    --------
    >>> draw_puzzle(20, 1, 1, 770487).name
    '20_1_1_770487_red'
    >>> draw_puzzle(20, 1, 1, 102133, edition="elixir").name
    '20_1_1_102133_disco'
    """
    edition = resolve_edition(edition)
    N = check_count("N", N, 1, MAX_STATEMENTS)
    d = check_count("d", d, 1, len(CATEGORIES))
    needles = check_count("needles", needles, 1, N)
    if edition == ELIXIR:
        puzzle_id = check_count("puzzle_id", puzzle_id, FIRST_ID, LAST_ID)
    else:
        puzzle_id = check_count("puzzle_id", puzzle_id, 0)
    return _Generator(edition).draw(N, d, needles, puzzle_id, failed)


def draw_grid(
    cells: Sequence[Cell],
    puzzles_per_cell: int,
    seed: int,
    *,
    edition: str = PORT,
) -> Iterator[Puzzle]:
    """Draw whole cells along the id chain: ``puzzles_per_cell`` of the first, then of the next.

    Each id is drawn from the random state that the previous puzzle left. An id that comes again is
    replaced (`find_unused`), so that all puzzles differ; the authors' programs draw repeats.
    ValueError for more puzzles than there are ids.
    """
    sizes: Counter[tuple[int, int, int]] = Counter()
    for cell in cells:
        sizes[cell.N, cell.d, cell.needles] += puzzles_per_cell
    count = max(sizes.values(), default=0)
    existing = LAST_ID - FIRST_ID + 1
    if count > existing:
        raise ValueError(
            f"the set has {count:,} puzzles of one N, d and number of needles, but only "
            f"{existing:,} exist; take fewer"
        )
    generator = _Generator(resolve_edition(edition))
    generator.draws.seed(seed)
    used: UsedIds = defaultdict(set)
    for cell in cells:
        for _ in range(puzzles_per_cell):
            drawn = generator.draws.between(FIRST_ID, LAST_ID)
            puzzle_id = find_unused(drawn, cell, used)
            yield generator.draw(cell.N, cell.d, cell.needles, puzzle_id)


def find_unused(puzzle_id: int, cell: Cell, used: UsedIds) -> int:
    """Return this id, or if it is used the next one that is not, and mark that as used.

    After `LAST_ID` comes `FIRST_ID`. ``used`` has the ids of a set by N, d and number of needles,
    as cells that differ in their nominal ratio only have the same puzzles.
    """
    ids = used[cell.N, cell.d, cell.needles]
    while puzzle_id in ids:
        puzzle_id = FIRST_ID if puzzle_id == LAST_ID else puzzle_id + 1
    ids.add(puzzle_id)
    return puzzle_id


class _Generator:
    """An edition of the generator, with the state of its random draws."""

    def __init__(self, edition: str):
        self.is_elixir = edition == ELIXIR
        self.draws = ElixirDraws() if self.is_elixir else PortDraws()

    def draw(
        self,
        N: int,
        d: int,
        needles: int,
        puzzle_id: int,
        failed: list[Failure] | None = None,
    ) -> Puzzle:
        """Draw the puzzle of one id; the chain continues from the random state it leaves."""
        draws = self.draws
        draws.seed(puzzle_id)
        categories = draws.sample(CATEGORIES, d)
        people = self._draw_people(d)
        poi = draws.below(len(people))
        domains = self._draw_domains(categories)
        sizes = [len(values) for values in domains.values()]
        start = [_deal_values(person, sizes) for person in range(len(people))]
        ranks = self._rank(categories)
        statements = StatementDraws(draws, poi, start, sizes, ranks)
        try:
            moves = statements.draw(N, needles, failed)
        except ValueError as error:
            request = f"N={N}, d={d}, needles={needles}, puzzle_id={puzzle_id}"
            raise ValueError(f"{request}: {error}") from None
        keys = list(range(d))
        if ranks:
            keys.sort(key=ranks.__getitem__)
        place = keys[draws.below(d)]
        lines = self._draw_lines(moves, keys)
        category = categories[place]
        last = statements.everybody[poi][place]
        return Puzzle(
            people=people,
            poi=people[poi],
            category=category,
            solution=domains[category][last],
            domains=domains,
            needles=needles,
            puzzle_id=puzzle_id,
            start=start,
            lines=lines,
            moves=moves,
        )

    def _draw_people(self, d: int) -> list[str]:
        """Draw d people, but at least two."""
        people = ontology().people
        cast = self.draws.sample(people, d)
        if d == 1:
            others = [person for person in people if person not in cast]
            cast += self.draws.sample(others, 1)
        return cast

    def _draw_domains(self, categories: list[str]) -> dict[str, list[str]]:
        """Draw the values that each category has in this puzzle."""
        values = ontology().values
        domains = {}
        for category in categories:
            size = domain_size(category, len(categories))
            domains[category] = self.draws.sample(values[category], size)
        return domains

    def _rank(self, categories: list[str]) -> list[int] | None:
        """Return each category's rank among the keys of an Elixir map; None for Python."""
        if not self.is_elixir:
            return None
        return [CATEGORIES.index(category) for category in categories]

    def _draw_lines(
        self, moves: list[Move], keys: list[int]
    ) -> list[tuple[int, list[int]]]:
        """Draw the order of the categories in the initial lines.

        Only people from whose values a statement was drawn have a line, the most recent first.
        """
        references = [person for person, *_ in reversed(moves) if person is not None]
        lines = []
        for person in dict.fromkeys(references):
            order = keys[:]
            self.draws.shuffle(order)
            lines.append((person, order))
        return lines


def _deal_values(person: int, sizes: list[int]) -> Values:
    """Return a person's initial values: the values of each domain are dealt out in turn."""
    return [person % size for size in sizes]


def domain_size(category: str, d: int) -> int:
    """Return how many values of a category a puzzle has: d + 1, at least three, at most all."""
    return min(len(ontology().values[category]), max(3, d + 1))
