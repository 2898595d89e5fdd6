"""Four planning puzzles, searched state by state: fewest moves and states that can be reached.

The puzzles are those of Shojaee et al. (2025), "The Illusion of Thinking", as the post "Why Some Puzzles Are Hard for
LLMs: A Framework for Cognitive Load" (2025-06-08) states their rules, section "A Look at the Puzzles".
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import combinations
from typing import NamedTuple, TypeVar

State = TypeVar("State", bound=Hashable)


class Search(NamedTuple):
    """What a search found.

    Attributes
    ----------
    moves : int or None
        Fewest moves from start to goal; None if the goal cannot be reached.
    reachable : int
        States that can be reached from the start, itself included.
    """

    moves: int | None
    reachable: int


def search(start: State, goal: State, moves: Callable[[State], Iterable[State]]) -> Search:
    """Search breadth first until no state is new."""
    seen, front, depth, found = {start}, [start], 0, None
    while front:
        found = depth if goal in front and found is None else found
        front = [state for state in dict.fromkeys(next_ for old in front for next_ in moves(old)) if state not in seen]
        seen.update(front)
        depth += 1
    return Search(found, len(seen))


def search_hanoi(n: int) -> Search:
    """Move n disks from the first of three pegs to the third; a state is the peg of every disk, smallest first."""

    def moves(pegs: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        tops: dict[int, int] = {}
        for disk, peg in enumerate(pegs):
            tops.setdefault(peg, disk)
        for source, disk in tops.items():
            for target in range(3):
                if tops.get(target, n) > disk and target != source:
                    yield (*pegs[:disk], target, *pegs[disk + 1 :])

    return search((0,) * n, (2,) * n, moves)


def search_checkers(n: int) -> Search:
    """Swap n red checkers (moving right) with n blue ones (moving left) around one empty square."""

    def moves(line: str) -> Iterator[str]:
        gap = line.index("_")
        for checker, way, other in (("R", -1, "B"), ("B", 1, "R")):
            for reach in (1, 2):
                place = gap + way * reach
                jumped = reach == 1 or line[gap + way : gap + way + 1] == other
                if 0 <= place < len(line) and line[place] == checker and jumped:
                    squares = list(line)
                    squares[gap], squares[place] = checker, "_"
                    yield "".join(squares)

    return search("R" * n + "_" + "B" * n, "B" * n + "_" + "R" * n, moves)


def search_river(n: int, capacity: int | None = None, boat_is_a_place: bool = True) -> Search:
    """Bring n actors and their n agents over a river; a boat holds two where n is 2 or 3, and three from 4 on.

    Nobody's actor may be with another's agent without their own: on either bank once the boat has landed and, where
    the boat is a place, in the boat as well. The post names no places.

    Parameters
    ----------
    n : int
        Pairs. A state is the set of people on the near bank and the boat's side.
    capacity : int, optional
        Of the boat, in place of the post's.
    boat_is_a_place : bool
        Whether the rule holds in the boat.
    """
    capacity = capacity or (2 if n <= 3 else 3)
    everybody = frozenset((pair, role) for pair in range(n) for role in ("actor", "agent"))

    def is_safe(group: Iterable[tuple[int, str]]) -> bool:
        agents = {pair for pair, role in group if role == "agent"}
        return not agents or all(pair in agents for pair, role in group if role == "actor")

    def moves(state: tuple[frozenset, bool]) -> Iterator[tuple[frozenset, bool]]:
        near, boat_near = state
        bank = sorted(near if boat_near else everybody - near)
        for size in range(1, capacity + 1):
            for group in combinations(bank, size):
                left = near - set(group) if boat_near else near | set(group)
                if is_safe(left) and is_safe(everybody - left) and (not boat_is_a_place or is_safe(group)):
                    yield left, not boat_near

    return search((everybody, True), (frozenset(), False), moves)


def search_blocks(n: int) -> Search:
    """Reverse one stack of n blocks; a state is the set of stacks, wherever they stand."""

    def moves(stacks: frozenset[tuple[int, ...]]) -> Iterator[frozenset[tuple[int, ...]]]:
        for source in stacks:
            rest = stacks - {source}
            lowered = rest | {source[:-1]} if len(source) > 1 else rest
            if len(source) > 1:
                yield lowered | {source[-1:]}
            for target in rest:
                yield (lowered - {target}) | {(*target, source[-1])}

    return search(frozenset([tuple(range(n))]), frozenset([tuple(range(n))[::-1]]), moves)
