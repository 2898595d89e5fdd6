"""Puzzles read back from their text, and solved from it, knowing the wordings and nothing of how puzzles are drawn."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import groupby, islice

from cogniload_repro.puzzles.ontology import PHRASES
from cogniload_repro.puzzles.puzzle import Move, Puzzle
from cogniload_repro.puzzles.statement import Facts, Statement, clauses, replay


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
    instruction, initial, statements, (number, poi, category) = read_text(text)
    start = {person: dict(facts) for person, facts in initial.items()}
    if category not in start.get(poi, ()):
        raise AmbiguousPuzzleError(
            f"line {number}: the question asks for {category} of {poi}, which no initial line tells; "
            "add the line or ask for something else"
        )
    needles = 0
    states = start
    for statement, after in zip(statements, islice(replay(start, statements), 1, None), strict=True):
        needles += statement.holds(states[poi])
        states = after
    solution = states[poi][category]
    return _encode(initial, statements, (poi, category, solution), needles, puzzle_id, instruction)


def _encode(
    initial: dict[str, Facts],
    statements: list[Statement],
    asked: tuple[str, str, str],
    needles: int,
    puzzle_id: int | None,
    instruction: str,
) -> Puzzle:
    """Build the puzzle: categories as in the first line, values and people as they occur."""
    places = {category: place for place, (category, _) in enumerate(next(iter(initial.values())))}
    values: dict[str, dict[str, int]] = {category: {} for category in places}

    def encode(facts: Facts) -> dict[int, int]:
        return {places[name]: values[name].setdefault(value, len(values[name])) for name, value in facts}

    coded = [encode(facts) for facts in initial.values()]
    moves = []
    for statement in statements:
        before, after = encode(statement.conditions), encode(statement.updates)
        moves.append(Move(None, before, list(before), after, list(after)))
    return Puzzle(
        people=list(initial),
        poi=asked[0],
        category=asked[1],
        solution=asked[2],
        domains={category: list(seen) for category, seen in values.items()},
        needles=needles,
        puzzle_id=puzzle_id,
        start=[[places_of[place] for place in range(len(places))] for places_of in coded],
        lines=[(person, list(places_of)) for person, places_of in enumerate(coded)],
        moves=moves,
        instruction=instruction,
    )


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
    """Read the question: the person and the category asked about (Appendix D.2 tells them apart by start and end).

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
