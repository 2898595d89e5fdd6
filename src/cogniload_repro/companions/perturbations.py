"""The 13 perturbations of the Robust Reasoning Benchmark by name, each with its inverse and how to undo it.

Source: "Robust Reasoning Benchmark" (arXiv:2604.08571), Section 3, Appendix A.1 and Figure 2; the preparation of
texts is its Section 4, "Dataset Preprocessing and Sanitization". The instructions are worded anew, so that they say
what is done here, sizes and ends included.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from cogniload_repro.companions import transformations


class Perturbation(NamedTuple):
    """How to perturb a text (or two, if `pairs`) and to restore it, the rule a model is told, the document's category.

    The rule is empty for the perturbation that needs no decoding (Appendix A.1).
    """

    encode: Callable[..., str]
    decode: Callable[[str], str]
    rule: str
    group: str
    pairs: bool = False


_LEXICAL, _CONTEXT, _ORDER, _SPATIAL = "substitution", "contextual overload", "order", "spatial encoding"
_DEFINED = (
    "Some terms of the statement are replaced by others. A line in the middle of it, of the form "
    'defyn{let "new" mean "old", ...}., says what each new term means and is not part of the statement itself.'
)
_BREAKS = f" {transformations.LINE_BREAK} stands for a line break."
_MARKERS = "The lines between GRID START and GRID END are the rows of a grid, all of one length"
_FILLERS = (
    "What is left of it is filled with at least one filler, all of them dots, or spaces if the statement ends in a "
    "dot: the statement ends before the last run of equal symbols." + _BREAKS
)
_WORDS = "a word is whatever stands between two single spaces"
_OVERLOAD = "You see two problems, A and B, {} Solve only problem A. Where {} is the shorter one it starts over again"
_COUNTED = "; a last line then says how many of its {} are meant."

PERTURBATIONS = {
    "not_not": Perturbation(transformations.negate_twice, transformations.restore_negations, "", _LEXICAL),
    "opposites": Perturbation(transformations.swap_opposites, transformations.restore_opposites, _DEFINED, _LEXICAL),
    "wrappers": Perturbation(transformations.wrap_terms, transformations.restore_wrappers, _DEFINED, _LEXICAL),
    "rail_fence": Perturbation(
        transformations.rail_fence,
        transformations.restore_rail_fence,
        f"{_MARKERS}. Each column holds one symbol of the statement, a space perhaps, and dots elsewhere. From the "
        "first column to the last the symbols lie on a zigzag: down from the top row to the bottom row, up to the top "
        "row, and down again." + _BREAKS,
        _SPATIAL,
    ),
    "rectangle_perimeter": Perturbation(
        transformations.rectangle_perimeter,
        transformations.restore_rectangle_perimeter,
        f"{_MARKERS}, that draw a rectangle with dots inside. The statement runs clockwise along its edges, from the "
        f"top left corner. {_FILLERS}",
        _SPATIAL,
    ),
    "snake_horizontal": Perturbation(
        transformations.snake_horizontal,
        transformations.restore_snake_horizontal,
        f"{_MARKERS}. The statement runs through them from the top left: the first row from left to right, the second "
        f"from right to left, the third from left to right again. {_FILLERS}",
        _SPATIAL,
    ),
    "snake_vertical": Perturbation(
        transformations.snake_vertical,
        transformations.restore_snake_vertical,
        f"{_MARKERS}. The statement runs through its columns from the top left: down the first, up the second, down "
        f"the third again. {_FILLERS}",
        _SPATIAL,
    ),
    "interleave_line": Perturbation(
        transformations.interleave_lines,
        transformations.restore_lines,
        _OVERLOAD.format(
            "cut into segments of 60 symbols that take turns, each on a line after its problem's tag.", "A"
        )
        + ". A's first segment of fewer than 60 symbols, perhaps of none, is its last."
        + _BREAKS,
        _CONTEXT,
        pairs=True,
    ),
    "interleave_word": Perturbation(
        transformations.interleave_words,
        transformations.restore_words,
        _OVERLOAD.format(f"whose words take turns, A's first ({_WORDS}).", "A") + _COUNTED.format("words"),
        _CONTEXT,
        pairs=True,
    ),
    "interleave_symbol": Perturbation(
        transformations.interleave_symbols,
        transformations.restore_symbols,
        _OVERLOAD.format("whose symbols take turns, spaces and punctuation too, A's first.", "A")
        + _COUNTED.format("symbols"),
        _CONTEXT,
        pairs=True,
    ),
    "reverse_sentences": Perturbation(
        transformations.reverse_sentences,
        transformations.reverse_sentences,
        "The sentences stand in reverse order. A sentence is whatever stands between periods, without the white space "
        "after a period; the periods themselves have not moved.",
        _ORDER,
    ),
    "reverse_words": Perturbation(
        transformations.reverse_words,
        transformations.reverse_words,
        f"The words stand in reverse order; {_WORDS}.",
        _ORDER,
    ),
    "reverse_symbols": Perturbation(
        transformations.reverse_symbols,
        transformations.reverse_symbols,
        f"The symbols of every word stand in reverse order, the words in their own; {_WORDS}.",
        _ORDER,
    ),
}

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_BREAK = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
#: A backslash beside a letter that would make it a control character, in either order: a reversal turns it round.
_ESCAPE = re.compile(r"\\(?=[ntbraf])|[ntbraf](?=\\)")


def perturb(name: str, text: str, other: str | None = None) -> str:
    """Perturb a text so that `restore` brings it back exactly.

    Every text is in scope but for these, which are refused: with the symbol of a line break or a line break other than
    LF, for the four grids and ``interleave_line``; with "not not ", for ``not_not``; with a definition block, for
    ``opposites`` and ``wrappers``; with something like "3(x)", for ``wrappers``; two that together spell the closing
    line of ``interleave_word`` or ``interleave_symbol``. A text without a term to replace stays as it is.

    Parameters
    ----------
    name : str
        A key of `PERTURBATIONS`.
    text : str
        The statement to perturb; `prepare` brings it into the form in which the document perturbs.
    other : str, optional
        The statement woven in by the three interleavings, which need it; the others do not look at it.

    Raises
    ------
    ValueError
        If there is no such perturbation, a second statement is missing, or the text is out of scope.

    Examples
    --------
    >>> perturb("reverse_symbols", "Where is Ada?")
    'erehW si ?adA'
    >>> perturb("interleave_word", "Where is Ada?", "What is 2+3?")
    'Where What is is Ada? 2+3?'
    """
    perturbation = find_perturbation(name)
    if perturbation.pairs and other is None:
        raise ValueError(f"{name} weaves a second statement in, and none is given; give it as `other`")
    perturbed = perturbation.encode(text, other) if perturbation.pairs else perturbation.encode(text)
    if perturbation.decode(perturbed) != text:
        raise ValueError(f"{name} cannot be undone exactly for this text, which begins {text[:40]!r}; take another")
    return perturbed


def restore(name: str, text: str) -> str:
    """Undo a perturbation; of two statements woven together, return the first.

    Raises
    ------
    ValueError
        If there is no such perturbation, or the text is none that it can give.

    Examples
    --------
    >>> restore("reverse_symbols", "erehW si ?adA")
    'Where is Ada?'
    """
    return find_perturbation(name).decode(text)


def find_perturbation(name: str) -> Perturbation:
    """Return the perturbation of this name."""
    if name not in PERTURBATIONS:
        raise ValueError(f"unknown perturbation {name!r}; choose one of: {', '.join(PERTURBATIONS)}")
    return PERTURBATIONS[name]


def prepare(text: str) -> str:
    r"""Bring a text into the form in which the document perturbs it, and sets its baseline (Section 4).

    LaTeX comments are removed, line breaks become "; ", and a space separates every backslash from a neighbouring n,
    t, b, r, a or f, before or after it, so that no reversal makes a control character.

    Examples
    --------
    >>> prepare("Let $n$ be even. % a hint\nFind $\\frac{1}{n}$.")
    'Let $n$ be even. ; Find $\\ frac{1}{n}$.'
    """
    text = _COMMENT.sub(r"\1", text)
    return _ESCAPE.sub(lambda found: found[0] + " ", _BREAK.sub("; ", text))
