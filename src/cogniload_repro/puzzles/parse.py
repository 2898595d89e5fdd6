"""Read puzzles from their texts and solve them.

This module knows the wordings, but not how puzzles are drawn.
"""

import re
from dataclasses import replace
from functools import cache
from itertools import pairwise

from cogniload_repro.puzzles.draws import Move
from cogniload_repro.puzzles.ontology import PHRASES
from cogniload_repro.puzzles.puzzle import Puzzle, State, clauses


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
    """Read a puzzle from its text and solve it, without knowing how puzzles are drawn.

    Statements never name people, so a person without an initial line matters only if asked
    about. The part before the initial lines may differ from the benchmark's instruction, or be
    missing.

    Parameters
    ----------
    text : str
        Lines end in LF or CRLF; white space at their ends and around the text is ignored.
    puzzle_id : int, optional
        The id, if known from elsewhere; a text does not contain it.

    Returns
    -------
    Puzzle
        Its `text` reproduces the text read. People and domains are those that occur in it.

    Raises
    ------
    ValueError
        If a line cannot be read or contradicts another, or no initial line states the attribute
        asked about; the message quotes the line.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> puzzle = cl.read_puzzle(cl.draw_puzzle(N=3, d=1, needles=1, puzzle_id=7).text)
    >>> puzzle
    <Puzzle N=3 d=1 needles=1 puzzle_id=None>
    >>> puzzle.solution
    'white'
    """
    instruction, lines_of_body, question = _split_text(text)
    poi, category = read_question(question)
    body = _Body(lines_of_body)
    if poi not in body.people or category not in body.domains:
        cause = (
            f"the question asks for {category} of {poi}, which no initial line states"
        )
        raise ValueError(f"{cause}; add the line or ask for something else")
    start = []
    lines = []
    for person, values in enumerate(body.people.values()):
        start.append([values[at] for at in sorted(values)])
        lines.append((person, list(values)))
    puzzle = Puzzle(
        people=list(body.people),
        poi=poi,
        category=category,
        solution="",
        domains=body.domains,
        needles=0,
        puzzle_id=puzzle_id,
        start=start,
        lines=lines,
        moves=body.moves,
        instruction=instruction,
    )
    return _add_solution(puzzle)


def _add_solution(puzzle: Puzzle) -> Puzzle:
    """Return a puzzle with its solution and the number of its needles."""
    poi = puzzle.people.index(puzzle.poi)
    history = [everybody[poi] for everybody in puzzle.replay()]
    needles = sum(after is not before for before, after in pairwise(history))
    at = puzzle.categories.index(puzzle.category)
    domain = puzzle.domains[puzzle.category]
    return replace(puzzle, solution=domain[history[-1][at]], needles=needles)


def read_question(line: str) -> tuple[str, str]:
    """Return the person and the category that a question asks about (Appendix D.2)."""
    for category, phrases in PHRASES.items():
        before, after = phrases.question.split("{}")
        person = line.removeprefix(before).removesuffix(after)
        if line == before + person + after and person and " " not in person:
            return person, category
    remedy = "end the text with one"
    raise ValueError(f"{line[:80]!r} is not one of the benchmark's questions; {remedy}")


def _split_text(text: str) -> tuple[str, list[str], str]:
    """Return the instruction, the lines of the body, and the question."""
    lines = [line.rstrip() for line in re.split(r"\r\n|\r|\n", text.strip())]
    blocks = re.split(r"\n{2,}", "\n".join(lines))
    if len(blocks) < 2:
        cause = "the text has no blank line before a question"
        raise ValueError(f"{cause}; give the whole text of a puzzle")
    *instruction, body, question = blocks
    return "\n\n".join(instruction), body.split("\n"), question


#: Updates begin at the first update verb; "read a" also ends the condition "which most recently
#: read a".
_UPDATE_VERBS = sorted(
    {phrases.update.partition("{}")[0].strip() for phrases in PHRASES.values()}
)
_STATEMENT = re.compile(
    rf"The people (.+?)(?<! recently) ((?:{'|'.join(_UPDATE_VERBS)}) .+)"
)
_NUMBERED = re.compile(r"(\d+)\. ", re.ASCII)
_OTHER_CATEGORIES = (
    "categories differ from those of the first initial line; use the same ones"
)


class _Body:
    """The initial lines and statements of a text, encoded as numbers.

    Categories are numbered in the order of the first initial line, the values of a category in the
    order of their first occurrence.
    """

    def __init__(self, lines: list[str]):
        self.people: dict[str, dict[int, int]] = {}
        self.moves: list[Move] = []
        self.domains: dict[str, list[str]] = {}
        self.places: dict[str, int] = {}
        for line in lines:
            self._read_line(line)
        if not self.moves:
            cause = "the text has no initial lines or no statements"
            raise ValueError(f"{cause}; give the whole text of a puzzle")

    def _read_line(self, line: str) -> None:
        numbered = _NUMBERED.match(line)
        if numbered:
            self._read_statement(numbered[1], line[numbered.end() :])
        else:
            self._read_initial_line(line)

    def _read_initial_line(self, line: str) -> None:
        person, _, rest = line.partition(" ")
        if self.moves or not rest.endswith("."):
            remedy = (
                "number it" if self.moves else "write a name, clauses and a full stop"
            )
            raise ValueError(
                f"{line[:80]!r} is neither an initial line nor a statement; {remedy}"
            )
        if person in self.people:
            raise ValueError(f"a second initial line for {person}; keep one")
        state = _read_clauses("initial", rest[:-1])
        if not self.people:
            self.domains = {category: [] for category in state}
            self.places = {category: at for at, category in enumerate(state)}
        if state.keys() != self.places.keys():
            raise ValueError(f"{line[:80]!r}: its {_OTHER_CATEGORIES}")
        self.people[person] = self._encode(state)

    def _read_statement(self, number: str, text: str) -> None:
        due = len(self.moves) + 1
        if number != str(due):
            raise ValueError(f"found statement {number}, expected {due}; restore {due}")
        parts = _STATEMENT.fullmatch(text)
        if not parts:
            remedy = "write 'The people', conditions and updates"
            raise ValueError(f"{text[:80]!r} is not a statement; {remedy}")
        before = self._encode(_read_clauses("condition", parts[1]))
        after = self._encode(_read_clauses("update", parts[2]))
        self.moves.append((None, before, list(before), after, list(after)))

    def _encode(self, state: State) -> dict[int, int]:
        """Return a state with its categories and values as numbers."""
        if not state.keys() <= self.places.keys():
            raise ValueError(
                f"statement {len(self.moves) + 1}: its {_OTHER_CATEGORIES}"
            )
        numbers = {}
        for category, value in state.items():
            values = self.domains[category]
            if value not in values:
                values.append(value)
            numbers[self.places[category]] = values.index(value)
        return numbers


def _read_clauses(kind: str, text: str) -> State:
    """Return the value of each category named in clauses joined by "and"."""
    known = _known_clauses(kind)
    state: State = {}
    for clause in text.split(" and "):
        if clause not in known:
            remedy = "check its value and wording"
            raise ValueError(
                f"{clause[:80]!r} is not a {kind} clause of the benchmark; {remedy}"
            )
        category, value = known[clause]
        if category in state:
            raise ValueError(f"{text[:80]!r} names a category twice; name each once")
        state[category] = value
    return state


@cache
def _known_clauses(kind: str) -> dict[str, tuple[str, str]]:
    """Return the category and value of every wording: the inverse of `clauses`."""
    known = {}
    for category, wordings in clauses(kind).items():
        for value, clause in wordings.items():
            known[clause] = (category, value)
    return known
