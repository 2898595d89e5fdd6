"""Statements: their wording, clause by clause, and their replay (paper, section 2.1.3)."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from cogniload_repro.puzzles.ontology import PHRASES, ontology

Facts = tuple[tuple[str, str], ...]
State = dict[str, str]


class Statement(NamedTuple):
    """One rule: everybody who meets all conditions takes all updates (paper, section 2.1.3).

    Attributes
    ----------
    conditions, updates : tuple of (category, value)
        In the order of the wording.
    reference : str or None
        Person whose values the conditions were taken from; None when read from a text, which does not tell.
    """

    conditions: Facts
    updates: Facts
    reference: str | None = None

    def holds(self, state: State) -> bool:
        """Tell whether a person in this state meets every condition."""
        return all(state[category] == value for category, value in self.conditions)


def replay(start: dict[str, State], statements: Iterable[Statement]) -> Iterator[dict[str, State]]:
    """Yield everybody's state at the start and after each statement, oldest first.

    A person's state is replaced, never changed, so snapshots may be kept.
    """
    states = dict(start)
    yield dict(states)
    for statement in statements:
        updates = dict(statement.updates)
        for person, state in states.items():
            if statement.holds(state):
                states[person] = state | updates
        yield dict(states)


@cache
def clauses(kind: str) -> dict[str, dict[str, str]]:
    """Return the wording of every value, by category and value; `kind` is initial, condition or update."""
    return {
        category: {value: getattr(PHRASES[category], kind).replace("{}", value) for value in values}
        for category, values in ontology().values.items()
    }
