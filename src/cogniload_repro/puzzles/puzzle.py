"""A puzzle: what was drawn or read, in numbers; its text, its statements in words, its states."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from cogniload_repro.puzzles.ontology import PHRASES
from cogniload_repro.puzzles.statement import State, Statement, clauses, replay

INSTRUCTION = (
    "Solve this logic puzzle. You MUST finalize your response with a single sentence about the asked "
    'property (eg "Peter is in the livingroom.", "Peter is wearing blue socks",.. ). '
    "Solve the puzzle by reasoning through the statements in a strictly sequential order :"
)


class Move(NamedTuple):
    """A statement in numbers: which person, which categories, which values.

    Categories are places in the puzzle's list of categories, values are places in the domain.
    """

    reference: int | None
    before: Sequence[int] | dict[int, int]
    conditions: list[int]
    after: Sequence[int] | dict[int, int]
    updates: list[int]


@dataclass(frozen=True, eq=False, repr=False)
class Puzzle:
    """One puzzle, drawn from an id or read from a text.

    Attributes
    ----------
    people : list of str
        As drawn; read from a text, only those with an initial line, in the order of the lines.
    poi : str
        The person of interest.
    category, solution : str
        What is asked about the person of interest, and the answer.
    domains : dict of str to list of str
        Values of each category, both in drawn order; read from a text, the values that occur in it.
    needles : int
        Number of statements that apply to the person of interest.
    puzzle_id : int or None
        The seed it was drawn from; None when read from a text.
    start : list of list of int
        Initial value of each person and category, as places in the domains.
    lines : list of (int, list of int)
        Initial lines of the text: the person and the order of the categories.
    moves : list of Move
        The statements in numbers; `statements` has them in words.
    instruction : str
        First part of the text.
    """

    people: list[str]
    poi: str
    category: str
    solution: str
    domains: dict[str, list[str]]
    needles: int
    puzzle_id: int | None
    start: list[list[int]]
    lines: list[tuple[int, list[int]]]
    moves: list[Move]
    instruction: str = INSTRUCTION

    def __repr__(self) -> str:
        return f"<Puzzle N={self.N} d={self.d} needles={self.needles} puzzle_id={self.puzzle_id}>"

    @property
    def N(self) -> int:  # noqa: N802
        """Number of statements."""
        return len(self.moves)

    @property
    def d(self) -> int:
        """Intrinsic difficulty: the number of categories."""
        return len(self.domains)

    @property
    def hays(self) -> int:
        """Number of statements that leave the person of interest alone."""
        return self.N - self.needles

    @property
    def rho(self) -> float:
        """Actual share of needles, a fraction."""
        return self.needles / self.N

    @property
    def categories(self) -> list[str]:
        """The categories in drawn order."""
        return list(self.domains)

    @property
    def name(self) -> str:
        """``N_d_needles_id_solution``, the key of every table of puzzles.

        Raises
        ------
        ValueError
            If the puzzle was read from a text and has no id.
        """
        if self.puzzle_id is None:
            raise ValueError("a puzzle read from a text has no id and so no name; take the name from its source")
        return f"{self.N}_{self.d}_{self.needles}_{self.puzzle_id}_{self.solution}"

    @cached_property
    def statements(self) -> list[Statement]:
        """The statements in words, in the order of the text."""
        facts = [[(category, value) for value in values] for category, values in self.domains.items()]
        return [
            Statement(
                tuple([facts[place][before[place]] for place in conditions]),
                tuple([facts[place][after[place]] for place in updates]),
                None if reference is None else self.people[reference],
            )
            for reference, before, conditions, after, updates in self.moves
        ]

    @property
    def initial_states(self) -> dict[str, State]:
        """Everybody's state before the first statement, people without an initial line included."""
        return {
            person: {category: values[at] for (category, values), at in zip(self.domains.items(), places, strict=True)}
            for person, places in zip(self.people, self.start, strict=True)
        }

    def states(self) -> Iterator[dict[str, State]]:
        """Yield everybody's state at the start and after each statement: N + 1 snapshots, oldest first."""
        return replay(self.initial_states, self.statements)

    @cached_property
    def text(self) -> str:
        """The puzzle as a model reads it."""
        initial, condition, update = (
            [[clauses(kind)[category][value] for value in values] for category, values in self.domains.items()]
            for kind in ("initial", "condition", "update")
        )
        join = " and ".join
        lines = [
            f"{self.people[person]} {join([initial[place][self.start[person][place]] for place in order])}."
            for person, order in self.lines
        ]
        for number, (_, before, conditions, after, updates) in enumerate(self.moves, 1):
            lines.append(
                f"{number}. The people {join([condition[place][before[place]] for place in conditions])} "
                f"{join([update[place][after[place]] for place in updates])}"
            )
        question = PHRASES[self.category].question.replace("{}", self.poi)
        parts = [self.instruction, "\n".join(lines), question]
        return "\n\n".join(part for part in parts if part)
