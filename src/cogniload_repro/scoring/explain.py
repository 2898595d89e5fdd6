"""Why a response has the score that it has: its windows, the values found in them, and the rule that decided."""

from dataclasses import dataclass

from cogniload_repro.endings import CONTEXT_TOKENS, RESERVED_TOKENS
from cogniload_repro.puzzles.catalog import redraw
from cogniload_repro.puzzles.draws import resolve_edition
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.scoring.verdict import (
    CONTEXT_BUCKET,
    OTHER_BUCKET,
    Question,
    exceeds_budget,
    find_verdict,
    take_question,
)
from cogniload_repro.scoring.windows import (
    QUALIFIERS,
    find_alternatives,
    find_mention,
    find_windows,
    has_alternative,
)

_SHOWN_CHARS = 300


@dataclass(frozen=True, repr=False)
class Explanation:
    """A score and what led to it; printed, it reads as text.

    The reason is the rule that decided. Windows are the texts in which the scorer looks, in its order: what each is,
    the text in lower case, the correct value as spelled there (empty if absent), and the other values mentioned there.
    """

    question: Question
    bucket: str
    reason: str
    windows: tuple[tuple[str, str, str, tuple[str, ...]], ...]

    def __repr__(self) -> str:
        others = ", ".join(find_alternatives(self.question.domain, self.question.gold))
        asked = f"{self.question.category} of {self.question.poi}"
        lines, before = [f"asked: {asked}; correct: {self.question.gold}; other: {others}"], ""
        for number, (what, text, gold, found) in enumerate(self.windows, 1):
            shown = repr(text if len(text) <= _SHOWN_CHARS else f"... {text[-_SHOWN_CHARS:]}")
            lines.append(
                f"{number}. {what}: {'none' if not text else 'the same' if text == before else shown}"
            )
            if text and text != before:
                lines.append(
                    f"   correct value: {gold or 'no'}; other values: {', '.join(found) or 'none'}"
                )
            before = text
        return "\n".join([*lines, f"{self.bucket}: {self.reason}"])


def explain(
    puzzle: Puzzle | str,
    response: str,
    *,
    prompt_tokens: int | None = None,
    response_tokens: int | None = None,
    edition: str = "python",
) -> Explanation:
    """Explain the score of a response: where the scorer looks, what it finds there, and which rule decides.

    Parameters
    ----------
    puzzle : Puzzle or str
        As `draw_puzzle` or `read_puzzle` returns it, or a name ``N_d_needles_puzzleId_gold``, from which it is drawn.
    response : str
        The model's whole output, the reasoning included.
    prompt_tokens, response_tokens : int, optional
        Token counts; the context budget is tested only where both are known.
    edition : str
        The generator's edition that a name is drawn with: python, or elixir-1.14, elixir-1.16, elixir-1.17.

    Raises
    ------
    TypeError
        If the puzzle is neither a puzzle nor a name, or the response is not text.
    ValueError
        If no such puzzle can be drawn.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cl.explain("20_1_1_770487_red", "Raymond is wearing red underwear.").bucket
    'correct_valid'
    """
    if not isinstance(response, str):
        raise TypeError(
            f"the response is a {type(response).__name__}; call explain(puzzle_or_name, response)"
        )
    try:
        question = take_question(
            redraw(puzzle, resolve_edition(edition)) if isinstance(puzzle, str) else puzzle
        )
    except ValueError as error:
        remedy = "name the generator's edition (--edition), or give the puzzle itself"
        raise ValueError(
            f"{str(puzzle)[:80]!r}, drawn with edition {edition}: {error}; {remedy}"
        ) from None
    verdict = find_verdict(response, question, prompt_tokens, response_tokens)
    texts = find_windows(response, question.poi, question.category)
    words = ", ".join(QUALIFIERS[question.category])
    names = (
        f"last line with {question.poi} and one of: {words}",
        f"last line with {question.poi}",
        "last sentence",
    )
    windows = []
    for name, text in zip(names, texts, strict=True):
        start, end = find_mention(question.gold, text) or (0, 0)
        others = [
            value
            for value in find_alternatives(question.domain, question.gold)
            if find_mention(value, text)
        ]
        windows.append((name, text, text[start:end], tuple(others)))
    if verdict.bucket == CONTEXT_BUCKET:
        spent = exceeds_budget(prompt_tokens, response_tokens)
        budget = f"prompt, response and {RESERVED_TOKENS} tokens reach {CONTEXT_TOKENS:,}"
        reason = budget if spent else "the last sentence is empty"
    elif verdict.bucket == OTHER_BUCKET:
        reason = "no window has the correct value on its own, or another value in place of it"
    else:
        reason = f"window {texts.index(verdict.window) + 1} has {verdict.answer!r}"
        if question.gold in verdict.window and has_alternative(
            verdict.window, question.domain, question.gold
        ):
            reason += ", another value, around the correct one"
    return Explanation(question, verdict.bucket, reason, tuple(windows))
