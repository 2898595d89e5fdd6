"""A puzzle as a task for reinforcement learning (paper, section 4): rewards of answers and of steps."""

from collections.abc import Iterable
from itertools import takewhile

from cogniload_repro.puzzles.puzzle import Puzzle, State
from cogniload_repro.scoring.verdict import CORRECT_BUCKETS, score_response


def reward(
    puzzle: Puzzle, response: str, *, prompt_tokens: int | None = None, response_tokens: int | None = None
) -> float:
    """Return 1.0 for a response that the paper's scorer calls correct (Appendix D), and 0.0 for any other.

    A response that hedges after a correct line is correct too, as the last lines that name the person decide.

    Parameters
    ----------
    puzzle : Puzzle
        As `draw_puzzle` or `read_puzzle` returns it. Read from a text, it knows only the values that occur there.
    response : str
        All that the model wrote, reasoning included.
    prompt_tokens, response_tokens : int, optional
        As for `score_response`: a response beyond the context budget earns nothing.

    Raises
    ------
    ValueError
        If the response is not text.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> puzzle = cl.draw_puzzle(N=20, d=1, needles=1, puzzle_id=770487)
    >>> cl.reward(puzzle, f"So {puzzle.poi} is wearing {puzzle.solution} underwear.")
    1.0
    >>> cl.reward(puzzle, f"So {puzzle.poi} is wearing a hat.")
    0.0
    """
    bucket = score_response(response, puzzle, prompt_tokens=prompt_tokens, response_tokens=response_tokens)
    return float(bucket in CORRECT_BUCKETS)


def trace(puzzle: Puzzle) -> list[dict[str, State]]:
    """Return everybody's state after each statement, in the order of the text; the last one holds the answer.

    Only people of whom the text tells something are in it: nobody can know the others.

    Returns
    -------
    list of dict
        For each of the N statements the values by category, by person.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> puzzle = cl.draw_puzzle(N=3, d=1, needles=1, puzzle_id=7)
    >>> [step[puzzle.poi][puzzle.category] for step in cl.trace(puzzle)][-1] == puzzle.solution
    True
    """
    told = [puzzle.people[person] for person, _ in puzzle.lines]
    _, *steps = puzzle.states()
    return [{person: dict(states[person]) for person in told} for states in steps]


def trace_credit(puzzle: Puzzle, claimed: Iterable[object]) -> float:
    """Return the share of a claimed trace before its first wrong state: correct steps from the start, over N.

    Nothing is earned by repeating a state: every statement of a drawn puzzle changes somebody. Whatever a model writes,
    nothing is raised.

    Parameters
    ----------
    puzzle : Puzzle
        As for `reward`.
    claimed : iterable
        For each statement the values by category, by person, such as parsed from a model's JSON.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> puzzle = cl.draw_puzzle(N=4, d=1, needles=1, puzzle_id=7)
    >>> cl.trace_credit(puzzle, cl.trace(puzzle)), cl.trace_credit(puzzle, cl.trace(puzzle)[:3])
    (1.0, 0.75)
    """
    steps = trace(puzzle)
    correct = takewhile(lambda pair: pair[0] == pair[1], zip(steps, claimed, strict=False))
    return sum(1 for _ in correct) / len(steps)
