"""Puzzles read back from their text, and solved from it, knowing the wordings and nothing of how puzzles are drawn."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import groupby, pairwise

from cogniload_repro.puzzles.draws import Move
from cogniload_repro.puzzles.ontology import PHRASES
from cogniload_repro.puzzles.puzzle import Facts, Puzzle, clauses


class AmbiguousPuzzleError(ValueError):
    """The text can be read, but does not determine one answer."""


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
    AmbiguousPuzzleError
        If what is asked has no initial value.
    ValueError
        If a line cannot be read or contradicts another; the message names it.

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
        raise AmbiguousPuzzleError(
            f"line {number}: the question asks for {category} of {poi}, which no initial line states; "
            "add the line or ask for something else"
        )
    places = {name: place for place, (name, _) in enumerate(next(iter(initial.values())))}
    values: dict[str, dict[str, int]] = {name: {} for name in places}

    def encode(facts: Facts) -> dict[int, int]:
        return {places[name]: values[name].setdefault(value, len(values[name])) for name, value in facts}

    coded = [encode(facts) for facts in initial.values()]
    moves = []
    for conditions, updates in statements:
        before, after = encode(conditions), encode(updates)
        moves.append(Move(None, before, list(before), after, list(after)))
    people, domains = list(initial), {name: list(seen) for name, seen in values.items()}
    start = [[line[place] for place in range(len(places))] for line in coded]
    lines = [(person, list(line)) for person, line in enumerate(coded)]
    puzzle = Puzzle(people, poi, category, "", domains, 0, puzzle_id, start, lines, moves, instruction)
    states = [everybody[people.index(poi)] for everybody in puzzle.replay()]
    needles = sum(new is not old for old, new in pairwise(states))
    return replace(puzzle, solution=domains[category][states[-1][places[category]]], needles=needles)


@cache
def _facts(kind: str) -> dict[str, tuple[str, str]]:
    """Return `clauses` turned round: category and value of every wording."""
    return {
        clause: (category, value) for category, wordings in clauses(kind).items() for value, clause in wordings.items()
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
            raise ValueError(f"{clause[:80]!r} is no {kind} clause of the benchmark; check value and wording")
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
    blocks = [list(block) for filled, block in groupby(numbered, key=lambda item: bool(item[1])) if filled]
    if len(blocks) < 2:
        raise ValueError("the text has no blank line before a question; give the whole text of a puzzle")
    *instruction, body, question = blocks
    if len(question) > 1:
        raise ValueError(f"line {question[1][0]}: the text goes on; end it with the question on one line")
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
                    raise ValueError(f"statement {counted[1]} where {len(statements) + 1} is due; restore it")
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
            if not dict(facts).keys() <= expected.keys() or not (counted or len(facts) == len(expected)):
                raise ValueError("other categories than in the first initial line; give everybody the same")
    if not initial or not statements:
        raise ValueError("the text has no initial lines or no statements; give the whole text of a puzzle")
    return initial, statements


def _read_statement(line: str) -> tuple[Facts, Facts]:
    """Read the conditions and updates of a statement without its number."""
    parts = _STATEMENT.fullmatch(line)
    if not parts:
        raise ValueError(f"{line[:80]!r} is no statement; write 'The people', conditions and updates")
    return _read_clauses("condition", parts[1]), _read_clauses("update", parts[2])
