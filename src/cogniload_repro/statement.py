"""Statements and their wording: initial lines, rules and questions, in words and back, and their replay."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import groupby
from typing import NamedTuple

from cogniload_repro.ontology import PHRASES, ontology

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


@cache
def _facts(kind: str) -> dict[str, tuple[str, str]]:
    """Return `clauses` turned round: category and value of every wording."""
    return {
        clause: (category, value) for category, wordings in clauses(kind).items() for value, clause in wordings.items()
    }


def read_initial(line: str) -> tuple[str, Facts]:
    """Read an initial line: a name and what holds for the person at the start.

    Raises
    ------
    ValueError
        If the line is cut short, or holds an unknown clause or one category twice.
    """
    person, _, rest = line.partition(" ")
    if not rest.endswith("."):
        raise ValueError(f"{line[:80]!r} is no initial line; write a name, clauses and a full stop")
    return person, _read_clauses("initial", rest[:-1])


def read_statement(line: str) -> Statement:
    """Read a statement without its number.

    Raises
    ------
    ValueError
        If it is not worded as the benchmark words them, or holds one category twice on a side.
    """
    parts = _STATEMENT.fullmatch(line)
    if not parts:
        raise ValueError(f"{line[:80]!r} is no statement; write 'The people', conditions and updates")
    return Statement(_read_clauses("condition", parts[1]), _read_clauses("update", parts[2]))


def read_question(line: str) -> tuple[str, str]:
    """Read the question: the person and the category asked about.

    Raises
    ------
    ValueError
        If it is none of the benchmark's twelve questions.
    """
    for category, phrases in PHRASES.items():
        before, after = phrases.question.split("{}")
        person = line.removeprefix(before).removesuffix(after)
        if line == before + person + after and person and " " not in person:
            return person, category
    raise ValueError(f"{line[:80]!r} is none of the benchmark's questions; end the text with one")


#: Updates begin at the first update verb; "read a" also ends the condition "which most recently read a".
_UPDATE_VERBS = sorted({phrases.update.partition("{}")[0].strip() for phrases in PHRASES.values()})
_STATEMENT = re.compile(rf"The people (.+?)(?<! recently) ((?:{'|'.join(_UPDATE_VERBS)}) .+)")


def _read_clauses(kind: str, text: str) -> Facts:
    known = _facts(kind)
    words = text.split(" and ")
    for clause in words:
        if clause not in known:
            raise ValueError(f"{clause[:80]!r} is no {kind} clause of the benchmark; check value and wording")
    facts = tuple([known[clause] for clause in words])
    if len(dict(facts)) < len(facts):
        raise ValueError(f"{text[:80]!r} names a category twice; name each once")
    return facts


def read_text(text: str) -> tuple[str, dict[str, Facts], list[Statement], tuple[int, str, str]]:
    """Read a whole puzzle.

    Returns
    -------
    instruction : str
        Whatever stands before the initial lines, perhaps nothing.
    initial : dict of str to facts
        By person, in the order of the lines.
    statements : list of Statement
    question : (int, str, str)
        Its line number, the person and the category asked about.

    Raises
    ------
    ValueError
        If a line cannot be read or contradicts another; the message names it.
    """
    instruction, body, number, question = _split_text(text)
    initial, statements = _read_body(body)
    with _line(number):
        return instruction, initial, statements, (number, *read_question(question))


@contextmanager
def _line(number: int) -> Iterator[None]:
    """Name the line in the message of an error."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from None


def _split_text(text: str) -> tuple[str, list[tuple[int, str]], int, str]:
    """Return the instruction, the body's lines with their numbers, and the question's number and line."""
    lines = [line.rstrip() for line in re.split(r"\r\n|\r|\n", text)]
    numbered = [(number, line) for number, line in enumerate(lines, 1)]
    blocks = [list(block) for filled, block in groupby(numbered, key=lambda item: bool(item[1])) if filled]
    if len(blocks) < 2:
        raise ValueError("the text has no blank line before a question; give the whole text of a puzzle")
    *instruction, body, question = blocks
    if len(question) > 1:
        raise ValueError(f"line {question[1][0]}: the text goes on; end it with the question on one line")
    first, last = (instruction[0][0][0], instruction[-1][-1][0]) if instruction else (1, 0)
    return "\n".join(lines[first - 1 : last]), body, *question[0]


def _read_body(body: list[tuple[int, str]]) -> tuple[dict[str, Facts], list[Statement]]:
    """Read initial lines and statements, and check that they speak of the same categories."""
    initial: dict[str, Facts] = {}
    statements: list[Statement] = []
    for number, line in body:
        with _line(number):
            counted = re.match(r"(\d+)\. ", line, re.ASCII)
            if counted:
                if counted[1] != str(len(statements) + 1):
                    raise ValueError(f"statement {counted[1]} where {len(statements) + 1} is due; restore it")
                statements.append(read_statement(line[counted.end() :]))
                facts = statements[-1].conditions + statements[-1].updates
            else:
                if statements:
                    raise ValueError(f"{line[:80]!r} stands among the statements; number it")
                person, facts = read_initial(line)
                if person in initial:
                    raise ValueError(f"a second initial line for {person}; keep one")
                initial[person] = facts
            expected = dict(next(iter(initial.values()), ()))
            if not dict(facts).keys() <= expected.keys() or not (counted or len(facts) == len(expected)):
                raise ValueError("other categories than in the first initial line; give everybody the same")
    if not initial or not statements:
        raise ValueError("the text has no initial lines or no statements; give the whole text of a puzzle")
    return initial, statements
