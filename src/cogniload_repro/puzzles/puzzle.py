"""A puzzle: what was drawn or read, in numbers; its text, statements and states; texts read back and solved.

Reading knows the wordings and nothing of how puzzles are drawn.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import groupby, pairwise
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
            raise ValueError(
                "a puzzle read from a text has no id and so no name; take the name from its source"
            )
        return f"{self.N}_{self.d}_{self.needles}_{self.puzzle_id}_{self.solution}"

    @cached_property
    def statements(self) -> list[Statement]:
        """The statements in words, in the order of the text."""
        facts = [
            [(category, value) for value in values] for category, values in self.domains.items()
        ]
        return [
            Statement(
                tuple([facts[at][before[at]] for at in conditions]),
                tuple([facts[at][after[at]] for at in updates]),
                None if reference is None else self.people[reference],
            )
            for reference, before, conditions, after, updates in self.moves
        ]

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
                person: {
                    category: words[at]
                    for (category, words), at in zip(domains, state, strict=True)
                }
                for person, state in zip(self.people, values, strict=True)
            }

    @cached_property
    def text(self) -> str:
        """The puzzle as a model reads it."""
        initial, condition, update = (
            [
                [clauses(kind)[category][value] for value in values]
                for category, values in self.domains.items()
            ]
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


def solve_text(text: str) -> str:
    """Return the answer that follows from a puzzle's text alone.

    Raises
    ------
    ValueError
        As `parse_puzzle`.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cl.solve_text(cl.draw_puzzle(N=3, d=1, needles=1, puzzle_id=7).text)
    'white'
    """
    return parse_puzzle(text).solution


def parse_puzzle(text: str, puzzle_id: int | None = None) -> Puzzle:
    """Read a puzzle from its text and solve it, knowing the wordings and nothing of how puzzles are drawn.

    Statements never name people, so somebody without an initial line cannot matter unless asked about. The
    part before the initial lines may differ from the benchmark's instruction, or be missing.

    Parameters
    ----------
    text : str
        Lines end in LF or CRLF; white space at their ends and around the text is ignored.
    puzzle_id : int, optional
        The id, where known from elsewhere; a text does not hold it.

    Returns
    -------
    Puzzle
        Its `text` gives back the text read. People and domains are those that occur in it.

    Raises
    ------
    ValueError
        If a line cannot be read or contradicts another, or what is asked has no initial value; the message names the
        line.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> puzzle = cl.read_puzzle(cl.draw_puzzle(N=3, d=1, needles=1, puzzle_id=7).text)
    >>> puzzle
    <Puzzle N=3 d=1 needles=1 puzzle_id=None>
    >>> puzzle.solution
    'white'
    """
    instruction, body, number, question = _split_text(text)
    initial, statements = _read_body(body)
    with _line(number):
        poi, category = read_question(question)
    if category not in dict(initial.get(poi, ())):
        raise ValueError(
            f"line {number}: the question asks for {category} of {poi}, which no initial line states; "
            "add the line or ask for something else"
        )
    values: dict[str, dict[str, int]] = {name: {} for name, _ in next(iter(initial.values()))}
    places = {name: place for place, name in enumerate(values)}

    def encode(facts: Facts) -> dict[int, int]:
        return {
            places[name]: values[name].setdefault(value, len(values[name])) for name, value in facts
        }

    coded = [encode(facts) for facts in initial.values()]
    rules = [(encode(conditions), encode(updates)) for conditions, updates in statements]
    moves = [Move(None, before, list(before), after, list(after)) for before, after in rules]
    people, domains = list(initial), {name: list(seen) for name, seen in values.items()}
    start = [[line[place] for place in range(len(places))] for line in coded]
    lines = [(person, list(line)) for person, line in enumerate(coded)]
    puzzle = Puzzle(
        people, poi, category, "", domains, 0, puzzle_id, start, lines, moves, instruction
    )
    states = [everybody[people.index(poi)] for everybody in puzzle.replay()]
    needles = sum(new is not old for old, new in pairwise(states))
    return replace(
        puzzle, solution=domains[category][states[-1][places[category]]], needles=needles
    )


@cache
def _facts(kind: str) -> dict[str, tuple[str, str]]:
    """Return `clauses` turned round: category and value of every wording."""
    return {
        clause: (category, value)
        for category, wordings in clauses(kind).items()
        for value, clause in wordings.items()
    }


def read_question(line: str) -> tuple[str, str]:
    """Read the question: the person and the category asked about (Appendix D.2), by its start and end."""
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
            raise ValueError(
                f"{clause[:80]!r} is no {kind} clause of the benchmark; check value and wording"
            )
    facts = tuple([known[clause] for clause in words])
    if len(dict(facts)) < len(facts):
        raise ValueError(f"{text[:80]!r} names a category twice; name each once")
    return facts


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
    blocks = [
        list(block) for filled, block in groupby(numbered, key=lambda item: bool(item[1])) if filled
    ]
    if len(blocks) < 2:
        raise ValueError(
            "the text has no blank line before a question; give the whole text of a puzzle"
        )
    *instruction, body, question = blocks
    if len(question) > 1:
        raise ValueError(
            f"line {question[1][0]}: the text goes on; end it with the question on one line"
        )
    first, last = (instruction[0][0][0], instruction[-1][-1][0]) if instruction else (1, 0)
    return "\n".join(lines[first - 1 : last]), body, *question[0]


def _read_body(body: list[tuple[int, str]]) -> tuple[dict[str, Facts], list[tuple[Facts, Facts]]]:
    """Read initial lines and statements, and check that they speak of the same categories."""
    initial: dict[str, Facts] = {}
    statements: list[tuple[Facts, Facts]] = []
    for number, line in body:
        with _line(number):
            counted = re.match(r"(\d+)\. ", line, re.ASCII)
            if counted:
                if counted[1] != str(len(statements) + 1):
                    raise ValueError(
                        f"statement {counted[1]} where {len(statements) + 1} is due; restore it"
                    )
                statements.append(_read_statement(line[counted.end() :]))
                facts = statements[-1][0] + statements[-1][1]
            else:
                person, _, rest = line.partition(" ")
                if statements or not rest.endswith("."):
                    wanted = "number it" if statements else "write a name, clauses and a full stop"
                    raise ValueError(f"{line[:80]!r} is no initial line and no statement; {wanted}")
                if person in initial:
                    raise ValueError(f"a second initial line for {person}; keep one")
                initial[person] = facts = _read_clauses("initial", rest[:-1])
            expected = dict(next(iter(initial.values()), ()))
            if not dict(facts).keys() <= expected.keys() or not (
                counted or len(facts) == len(expected)
            ):
                raise ValueError(
                    "other categories than in the first initial line; give everybody the same"
                )
    if not initial or not statements:
        raise ValueError(
            "the text has no initial lines or no statements; give the whole text of a puzzle"
        )
    return initial, statements


def _read_statement(line: str) -> tuple[Facts, Facts]:
    """Read the conditions and updates of a statement without its number."""
    parts = _STATEMENT.fullmatch(line)
    if not parts:
        raise ValueError(
            f"{line[:80]!r} is no statement; write 'The people', conditions and updates"
        )
    return _read_clauses("condition", parts[1]), _read_clauses("update", parts[2])
