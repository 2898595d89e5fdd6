"""A puzzle: what was drawn or read, in numbers; its text, its statements in words, its states."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from cogniload_repro.puzzles.draws import Move
from cogniload_repro.puzzles.draws import State as Values
from cogniload_repro.puzzles.ontology import PHRASES, ontology

INSTRUCTION = (
    "Solve this logic puzzle. You MUST finalize your response with a single sentence about the asked "
    'property (eg "Peter is in the livingroom.", "Peter is wearing blue socks",.. ). '
    "Solve the puzzle by reasoning through the statements in a strictly sequential order :"
)

Facts = tuple[tuple[str, str], ...]
State = dict[str, str]


class Statement(NamedTuple):
    """One rule: everybody who meets all conditions takes all updates (paper, section 2.1.3).

    Facts are pairs of category and value in the order of the wording. ``reference`` is the person whose values the
    conditions were taken from; None when read from a text, which does not name anybody.
    """

    conditions: Facts
    updates: Facts
    reference: str | None = None

    def holds(self, state: State) -> bool:
        """Return whether a person in this state meets every condition."""
        return all(state[category] == value for category, value in self.conditions)


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
        Initial value of each person and category, as indices into the domains.
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
    start: list[Values]
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
        """``N_d_needles_id_solution``, the key of every table of puzzles; one read from a text has none."""
        if self.puzzle_id is None:
            raise ValueError("a puzzle read from a text has no id and so no name; take the name from its source")
        return f"{self.N}_{self.d}_{self.needles}_{self.puzzle_id}_{self.solution}"

    @cached_property
    def statements(self) -> list[Statement]:
        """The statements in words, in the order of the text."""
        facts = [[(category, value) for value in values] for category, values in self.domains.items()]
        return [
            Statement(
                tuple([facts[at][before[at]] for at in conditions]),
                tuple([facts[at][after[at]] for at in updates]),
                None if reference is None else self.people[reference],
            )
            for reference, before, conditions, after, updates in self.moves
        ]

    @property
    def initial_states(self) -> dict[str, State]:
        """Everybody's state before the first statement, people without an initial line included."""
        return next(self.states())

    def replay(self) -> Iterator[list[Values]]:
        """Yield everybody's values, as indices into the domains, at the start and after each statement.

        The list of somebody to whom a statement applies is replaced; nothing is changed, so snapshots may be kept.
        """
        states = self.start
        yield states
        for _, before, conditions, after, updates in self.moves:
            states = states[:]
            for person, state in enumerate(states):
                for at in conditions:
                    if state[at] != before[at]:
                        break
                else:
                    states[person] = state = state[:]
                    for at in updates:
                        state[at] = after[at]
            yield states

    def states(self) -> Iterator[dict[str, State]]:
        """Yield everybody's state at the start and after each statement: N + 1 snapshots, oldest first."""
        domains = self.domains.items()
        for values in self.replay():
            yield {
                person: {category: words[at] for (category, words), at in zip(domains, state, strict=True)}
                for person, state in zip(self.people, values, strict=True)
            }

    @cached_property
    def text(self) -> str:
        """The puzzle as a model reads it."""
        initial, condition, update = (
            [[clauses(kind)[category][value] for value in values] for category, values in self.domains.items()]
            for kind in ("initial", "condition", "update")
        )
        join = " and ".join
        lines = [
            f"{self.people[person]} {join([initial[at][self.start[person][at]] for at in order])}."
            for person, order in self.lines
        ]
        for number, (_, before, conditions, after, updates) in enumerate(self.moves, 1):
            lines.append(
                f"{number}. The people {join([condition[at][before[at]] for at in conditions])} "
                f"{join([update[at][after[at]] for at in updates])}"
            )
        question = PHRASES[self.category].question.replace("{}", self.poi)
        parts = [self.instruction, "\n".join(lines), question]
        return "\n\n".join(part for part in parts if part)


@cache
def clauses(kind: str) -> dict[str, dict[str, str]]:
    """Return the wording of every value, by category and value; `kind` is initial, condition or update."""
    return {
        category: {value: getattr(PHRASES[category], kind).replace("{}", value) for value in values}
        for category, values in ontology().values.items()
    }
