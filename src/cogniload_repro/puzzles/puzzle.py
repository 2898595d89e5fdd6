"""A puzzle: its encoding in numbers, and its text, statements and states in words."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from cogniload_repro.puzzles.draws import Move, Values, apply_move
from cogniload_repro.puzzles.ontology import PHRASES, ontology

INSTRUCTION = (
    "Solve this logic puzzle. You MUST finalize your response with a single sentence about the "
    'asked property (eg "Peter is in the livingroom.", "Peter is wearing blue socks",.. ). '
    "Solve the puzzle by reasoning through the statements in a strictly sequential order :"
)

#: Pairs of category and value.
Facts = tuple[tuple[str, str], ...]
#: A person's value of each category.
State = dict[str, str]


class Statement(NamedTuple):
    """One rule: everybody who meets all conditions takes all updates (paper, section 2.1.3).

    Facts are in the order of the wording. ``reference`` is the person whose values the conditions
    were taken from; None when read from a text, which does not name anybody.
    """

    conditions: Facts
    updates: Facts
    reference: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Puzzle:
    """One puzzle, drawn from an id or read from a text.

    Attributes
    ----------
    people : list of str
        In drawn order; if read from a text, only those with an initial line, in that order.
    poi : str
        The person of interest.
    category, solution : str
        What is asked about the person of interest, and the answer.
    domains : dict of str to list of str
        Values of each category, both in drawn order; if read from a text, the values in it.
    needles : int
        Number of statements that apply to the person of interest.
    puzzle_id : int or None
        The seed it was drawn from; None when read from a text.
    start : list of list of int
        Initial value of each person and category, as indices into the domains.
    lines : list of (int, list of int)
        Initial lines of the text: the person, and the categories in their order in the line.
    moves : list of Move
        The statements as numbers; `statements` has them in words.
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
    def rho(self) -> float:
        """Actual needle ratio, a fraction."""
        return self.needles / self.N

    @property
    def categories(self) -> list[str]:
        """The categories in drawn order."""
        return list(self.domains)

    @property
    def name(self) -> str:
        """``N_d_needles_id_solution``, the key of every table of puzzles."""
        if self.puzzle_id is None:
            cause = "a puzzle read from a text has no id and so no name"
            raise ValueError(f"{cause}; take the name from its source")
        return f"{self.N}_{self.d}_{self.needles}_{self.puzzle_id}_{self.solution}"

    @cached_property
    def statements(self) -> list[Statement]:
        """The statements in words, in the order of the text."""
        facts = []
        for category, values in self.domains.items():
            facts.append([(category, value) for value in values])
        statements = []
        for reference, before, conditions, after, updates in self.moves:
            person = None if reference is None else self.people[reference]
            met = tuple([facts[at][before[at]] for at in conditions])
            changed = tuple([facts[at][after[at]] for at in updates])
            statements.append(Statement(met, changed, person))
        return statements

    def replay(self) -> Iterator[list[Values]]:
        """Yield everybody's values at the start and after each statement.

        Values are indices into the domains. A statement replaces the lists of the people it applies
        to and modifies none, so that snapshots may be kept.
        """
        everybody = self.start
        yield everybody
        for move in self.moves:
            everybody = apply_move(everybody, move)
            yield everybody

    def states(self) -> Iterator[dict[str, State]]:
        """Yield everybody's state at the start and after each statement: N + 1 snapshots."""
        for everybody in self.replay():
            people = zip(self.people, everybody, strict=True)
            yield {person: self._word_state(values) for person, values in people}

    def _word_state(self, values: Values) -> State:
        domains = zip(self.domains.items(), values, strict=True)
        return {category: domain[value] for (category, domain), value in domains}

    @cached_property
    def text(self) -> str:
        """The puzzle as a model reads it."""
        lines = [*self._write_initial_lines(), *self._write_statements()]
        question = PHRASES[self.category].question.replace("{}", self.poi)
        parts = [self.instruction, "\n".join(lines), question]
        return "\n\n".join(part for part in parts if part)

    def _write_initial_lines(self) -> Iterator[str]:
        initial = self._list_clauses("initial")
        for person, order in self.lines:
            values = self.start[person]
            facts = " and ".join([initial[at][values[at]] for at in order])
            yield f"{self.people[person]} {facts}."

    def _write_statements(self) -> Iterator[str]:
        condition = self._list_clauses("condition")
        update = self._list_clauses("update")
        for number, move in enumerate(self.moves, 1):
            _, before, conditions, after, updates = move
            met = " and ".join([condition[at][before[at]] for at in conditions])
            changed = " and ".join([update[at][after[at]] for at in updates])
            yield f"{number}. The people {met} {changed}"

    def _list_clauses(self, kind: str) -> list[list[str]]:
        """Return the wordings of this puzzle's values, in the order of its domains."""
        words = clauses(kind)
        lists = []
        for category, values in self.domains.items():
            lists.append([words[category][value] for value in values])
        return lists


@cache
def clauses(kind: str) -> dict[str, dict[str, str]]:
    """Return the wording of every value by category; ``kind`` is initial, condition or update."""
    wordings = {}
    for category, values in ontology().values.items():
        form = getattr(PHRASES[category], kind)
        wordings[category] = {value: form.replace("{}", value) for value in values}
    return wordings
