"""The 13 perturbations of the Robust Reasoning Benchmark (arXiv:2604.08571), each undone exactly.

Section 3, Appendix A.1 and Figure 2 of the document describe them. Where it leaves details open,
they are chosen so that each can be undone (see `substitutions`, `interleavings` and `grids`). The
reversals (Section 3.3) are in this module; each is its own inverse. Words are separated by single
spaces, so two spaces enclose an empty word. When sentences are reversed, periods keep their
positions, with the white space and periods after them.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from cogniload_repro.asking import grids, interleavings, substitutions

_RULES = substitutions.read_words("rules").set_index("name")


@dataclass(frozen=True)
class Perturbation:
    """How to perturb a text (or two, if ``pairs``) and how to restore it.

    ``rule`` is the rule that a model is told, "" for the perturbation that needs no decoding
    (Appendix A.1); ``group`` is the document's category.
    """

    rule: str
    group: str
    encode: Callable[..., str]
    decode: Callable[[str], str]
    pairs: bool = False


def _reverse_words(text: str) -> str:
    words = text.split(" ")
    return " ".join(reversed(words))


def _reverse_symbols(text: str) -> str:
    return _reverse_words(text[::-1])


def _reverse_sentences(text: str) -> str:
    """Reverse the order of sentences, separated by periods: "A. B." becomes "B. A."."""
    rest = re.sub(r"\A[.\s]*", "", text)
    start = len(text) - len(rest)
    # sentences, and between them a period with the periods and the white space that follow
    parts = re.split(r"(\.[.\s]*)", rest)
    # nothing follows a closing period
    end = len(parts) if parts[-1] else len(parts) - 1
    sentences = parts[0:end:2]
    parts[0:end:2] = reversed(sentences)
    return text[:start] + "".join(parts)


# how each perturbs and restores, and whether it needs a second text
_WAYS: dict[str, tuple] = {
    "not_not": (substitutions.negate_twice, substitutions.drop_negations),
    "opposites": (substitutions.swap_opposites, substitutions.restore_terms),
    "wrappers": (substitutions.wrap_terms, substitutions.restore_terms),
    "rail_fence": (grids.RAIL_FENCE.write, grids.RAIL_FENCE.read),
    "rectangle_perimeter": (grids.RECTANGLE.write, grids.RECTANGLE.read),
    "snake_horizontal": (grids.SNAKE.write, grids.SNAKE.read),
    "snake_vertical": (grids.VERTICAL_SNAKE.write, grids.VERTICAL_SNAKE.read),
    "interleave_line": (
        interleavings.interleave_lines,
        interleavings.restore_lines,
        True,
    ),
    "interleave_word": (
        partial(interleavings.interleave, " ", "words"),
        partial(interleavings.separate, " "),
        True,
    ),
    "interleave_symbol": (
        partial(interleavings.interleave, "", "symbols"),
        partial(interleavings.separate, ""),
        True,
    ),
    "reverse_sentences": (_reverse_sentences, _reverse_sentences),
    "reverse_words": (_reverse_words, _reverse_words),
    "reverse_symbols": (_reverse_symbols, _reverse_symbols),
}
#: Perturbations by name, in the document's order.
PERTURBATIONS = {
    name: Perturbation(_RULES["rule"][name], _RULES["group"][name], *way)
    for name, way in _WAYS.items()
}

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_BREAK = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
#: A backslash next to a letter with which it writes a control character, in either order, since a
#: reversal swaps them.
_ESCAPE = re.compile(r"\\(?=[ntbraf])|[ntbraf](?=\\)")


def perturb(name: str, text: str, other: str | None = None) -> str:
    """Perturb a text so that `restore` recovers it exactly.

    A text without a term to replace is returned unchanged. A text that `restore` would not recover
    is rejected: by ``not_not``, for example, one that contains "not not ".

    Parameters
    ----------
    name : str
        A key of `PERTURBATIONS`.
    text : str
        The statement to perturb, normally prepared by `prepare`, as in the document.
    other : str, optional
        A second statement, which the three interleavings need and the others ignore.

    Raises
    ------
    ValueError
        If there is no such perturbation, a second statement is missing, or the text could not be
        restored.

    Examples
    --------
    >>> perturb("reverse_symbols", "Where is Ada?")
    'erehW si ?adA'
    >>> perturb("interleave_word", "Where is Ada?", "What is 2+3?")
    'Where What is is Ada? 2+3?'
    """
    perturbation = find_perturbation(name)
    texts = [text]
    if perturbation.pairs:
        if other is None:
            raise ValueError(
                f"{name} needs a second statement to weave in; give it as `other`"
            )
        texts.append(other)
    perturbed = perturbation.encode(*texts)
    with suppress(ValueError):  # from a text that seems incomplete
        if perturbation.decode(perturbed) == text:
            return perturbed
    raise ValueError(
        f"{name} cannot be undone for the text that begins {text[:40]!r}; `prepare` it, or "
        "take another"
    )


def restore(name: str, text: str) -> str:
    """Undo a perturbation; of two interleaved statements, return the first.

    Raises
    ------
    ValueError
        If there is no such perturbation, or the text cannot be the result of it.

    Examples
    --------
    >>> restore("reverse_symbols", "erehW si ?adA")
    'Where is Ada?'
    """
    return find_perturbation(name).decode(text)


def find_perturbation(name: str) -> Perturbation:
    """Return the perturbation of this name."""
    if name not in PERTURBATIONS:
        known = ", ".join(PERTURBATIONS)
        raise ValueError(
            f"unknown perturbation {name[:40]!r}; the first argument is one of {known}"
        )
    return PERTURBATIONS[name]


def prepare(text: str) -> str:
    r"""Prepare a text for a perturbation, as the document does (Section 4).

    LaTeX comments are removed, line breaks become "; ", and a space separates every backslash from
    an n, t, b, r, a or f right before or after it, so that no reversal creates a control
    character. The document prepares its baseline in the same way.

    Examples
    --------
    >>> prepare("Let $n$ be even. % a hint\nFind $\\frac{1}{n}$.")
    'Let $n$ be even. ; Find $\\ frac{1}{n}$.'
    """
    without_comments = _COMMENT.sub(r"\1", text)
    flat = _BREAK.sub("; ", without_comments)
    return _ESCAPE.sub(lambda sign: sign[0] + " ", flat)
