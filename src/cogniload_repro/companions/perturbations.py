"""The 13 perturbations of the Robust Reasoning Benchmark (arXiv:2604.08571) by name, each undone exactly.

Its Section 3, Appendix A.1 and Figure 2 describe them. What it leaves open is decided so that each can be undone:

substitutions (3.1)
    The word lists (``data/companions``) and "every third term" are ours. A term is a run of letters, digits and
    underscores that is no LaTeX command.
interleaving (3.2)
    Repeating the shorter statement hides where it ends: "ab" and "abab" beside "wxyz" give one text. Here, in lines,
    the first segment of fewer than 60 symbols, perhaps of none, is the last; in words and symbols, a closing line says
    how many belong to problem A. A line's tag comes before the segment, as in Figure 2 (Appendix A.1: after it).
order (3.3)
    Each reversal is its own inverse. Words stand between single spaces, so that two spaces hold an empty word. Periods
    stay where they are, with the white space and periods after them.
grids (3.4)
    Sizes are those of Figure 2. Grids are filled with dots, which would hide whether a statement ends in one or two:
    here a snake or a perimeter ends in at least one filler, a space if the text ends in a dot. A line break of the
    text becomes a symbol of its own.
"""

import re
from collections.abc import Callable
from functools import cache, partial
from itertools import chain, cycle, islice
from typing import NamedTuple

import pandas as pd

from cogniload_repro.files import DATA

_NEGATION = "not not "
# each with one group, so that splitting gives what lies between the words and the words in turn
_TOKEN = re.compile(r"(?<!\S)([A-Za-z]+\b|\d)")
_TERM = re.compile(r"(?<![\\\w])(\w+)")
_WRAPPED = re.compile(r"(?<![\\\w])([2-9]\(\w+\))")
_OPEN = "defyn{"
_BLOCK = re.compile(r"\ndefyn\{([^{}]*)\}\.\n")
_MEANING = re.compile(r'let "([^"]*)" mean "([^"]*)"')


@cache
def _read_words(name: str) -> pd.DataFrame:
    return pd.read_csv(DATA / "companions" / f"{name}.csv", keep_default_na=False)


def _negate_twice(text: str) -> str:
    """Put "not not" before every number and every adjective of the list that begins a word."""
    adjectives = set(_read_words("adjectives")["adjective"])
    return _TOKEN.sub(
        lambda found: _NEGATION * (found[0].lower() in adjectives or found[0].isdigit()) + found[0],
        text,
    )


def _swap_opposites(text: str) -> str:
    """Replace every word of the list by its opposite, both ways, in small letters, with a capital, and in capitals."""
    pairs = _read_words("opposites")[["word", "opposite"]].to_numpy().tolist()
    both = [pair for one, other in pairs for pair in ((one, other), (other, one))]
    opposites = {
        form(one): form(other) for one, other in both for form in (str, str.capitalize, str.upper)
    }
    return _remap(text, lambda terms: [opposites.get(term, term) for term in terms])


def _wrap_terms(text: str) -> str:
    """Wrap every third term, as "3(term)", with heads from 2 to 9 in turn."""
    heads = cycle("23456789")
    return _remap(
        text,
        lambda terms: [t if index % 3 else f"{next(heads)}({t})" for index, t in enumerate(terms)],
    )


def _remap(text: str, rename: Callable[[list[str]], list[str]]) -> str:
    """Rename terms, and define the new names in a block at the space nearest after the middle."""
    parts = _TERM.split(text)
    terms = parts[1::2]
    parts[1::2] = new = rename(terms)
    renamed = "".join(parts)
    meanings = {word: term for word, term in zip(new, terms, strict=True) if word != term}
    if not meanings:
        return renamed
    block = ", ".join([f'let "{word}" mean "{term}"' for word, term in meanings.items()])
    middle = renamed.find(" ", len(renamed) // 2)
    middle = len(renamed) if middle < 0 else middle
    return f"{renamed[:middle]}\n{_OPEN}{block}}}.\n{renamed[middle:]}"


def _unmap(text: str, new: re.Pattern) -> str:
    """Remove the definition block, and put for every word that it defines its meaning."""
    block = _BLOCK.search(text)
    if not block:
        return text
    meanings = dict(_MEANING.findall(block[1]))
    return new.sub(
        lambda found: meanings.get(found[0], found[0]), text[: block.start()] + text[block.end() :]
    )


_SEGMENT_SYMBOLS = 60
_TAGS = "<Problem A> ", "<Problem B> "
_END = re.compile(r"\n<Problem A: first (0|[1-9][0-9]*) (?:words|symbols)>\Z")


def _interleave_lines(*statements: str) -> str:
    """Alternate segments of 60 symbols, each on a line after its problem's tag."""
    segments = []
    for tag, statement in zip(_TAGS, statements, strict=True):
        flat = statement.replace("\n", _LINE_BREAK)
        starts = range(0, len(flat) + 1, _SEGMENT_SYMBOLS)
        segments.append([tag + flat[start : start + _SEGMENT_SYMBOLS] for start in starts])
    return "\n".join(_take_turns(*segments))


def _restore_lines(text: str) -> str:
    """Return problem A: its segments up to the first of fewer than 60 symbols."""
    lines = text.split("\n")
    segments = [line.removeprefix(_TAGS[0]) for line in lines[0::2]]
    end = next(
        (index for index, segment in enumerate(segments) if len(segment) < _SEGMENT_SYMBOLS), None
    )
    if end is None or not all(
        line.startswith(tag) for line, tag in zip(lines, cycle(_TAGS), strict=False)
    ):
        raise ValueError(
            f"lines must begin with {_TAGS[0]!r} and {_TAGS[1]!r} in turn, and problem A ends in one of fewer than "
            f"{_SEGMENT_SYMBOLS} symbols; give all lines, whole"
        )
    return "".join(segments[: end + 1]).replace(_LINE_BREAK, "\n")


def _interleave(text: str, other: str, joint: str, unit: str) -> str:
    """Alternate the words or symbols (code points) of two statements."""
    own, others = _split(text, joint), _split(other, joint)
    mixed = joint.join(_take_turns(own, others))
    if len(own) < len(others):
        return f"{mixed}\n<Problem A: first {len(own)} {unit}>"
    if _END.search(mixed):
        raise ValueError(
            "the two statements together end like the line that marks the end of problem A; take another"
        )
    return mixed


def _take_first(text: str, joint: str) -> str:
    """Return problem A: every second part, from the first, up to its end."""
    end = _END.search(text)
    parts = _split(text[: end.start()] if end else text, joint)
    own = parts[0::2]
    if len(parts) % 2 or (end and int(end[1]) >= len(own)):
        raise ValueError(
            f"the text has {len(parts)} parts of both problems, not as many as it should; give all of it"
        )
    return joint.join(own[: int(end[1])] if end else own)


def _split(text: str, joint: str) -> list[str]:
    return text.split(joint) if joint else list(text)


def _take_turns(own: list[str], others: list[str]) -> list[str]:
    """Return the parts of both in turn; the shorter starts over again, and spaces stand for one without any."""
    pairs = zip(cycle(own or [" "]), cycle(others or [" "]), strict=False)
    return list(chain.from_iterable(islice(pairs, max(len(own), len(others)))))


def _reverse_words(text: str) -> str:
    return " ".join(text.split(" ")[::-1])


def _reverse_symbols(text: str) -> str:
    return _reverse_words(text[::-1])


def _reverse_sentences(text: str) -> str:
    """Reverse the order of sentences, which are what periods separate: "A. B." becomes "B. A."."""
    start = len(text) - len(re.sub(r"\A[.\s]*", "", text))
    parts = re.split(
        r"(\.[.\s]*)", text[start:]
    )  # sentences, and between them a period with what white space follows
    last = len(parts) if parts[-1] else len(parts) - 1  # nothing follows a closing period
    parts[0:last:2] = parts[0:last:2][::-1]
    return text[:start] + "".join(parts)


_START, _STOP = "GRID START", "GRID END"
_LINE_BREAK = "⏎"
_LINE_BREAKS = (
    "[⏎\r\v\f\x1c-\x1e\x85\u2028\u2029]"  # that symbol itself, and all that no grid can hold
)
#: The places of a text's symbols, row and column, in a grid of so many rows and columns.
Path = Callable[[int, int], list[tuple[int, int]]]


def _zigzag(rows: int, columns: int) -> list[tuple[int, int]]:
    return list(zip(cycle([*range(rows), *range(rows - 2, 0, -1)]), range(columns), strict=False))


def _perimeter(rows: int, columns: int) -> list[tuple[int, int]]:
    """Go clockwise along the edges, from the top left."""
    east, west = ([(row, column) for row in range(1, rows - 1)] for column in (columns - 1, 0))
    top, bottom = ([(row, column) for column in range(columns)] for row in (0, rows - 1))
    return top + east + bottom[::-1] + west[::-1]


def _snake(rows: int, columns: int) -> list[tuple[int, int]]:
    """Go through the rows: the first forwards, the second backwards, and so on."""
    return [
        (row, columns - 1 - at if row % 2 else at) for row in range(rows) for at in range(columns)
    ]


def _vertical_snake(rows: int, columns: int) -> list[tuple[int, int]]:
    return [(row, column) for column, row in _snake(columns, rows)]


def _write_grid(text: str, path: Path, shape: Callable[[int], tuple[int, int]]) -> str:
    """Write a text along the path through a grid whose shape its length decides; fill the path, and put dots beside."""
    text = text.replace("\n", _LINE_BREAK)
    rows, columns = shape(len(text))
    places = path(rows, columns)
    lines = [["."] * columns for _ in range(rows)]
    for (row, column), symbol in zip(
        places, text.ljust(len(places), " " if text.endswith(".") else "."), strict=True
    ):
        lines[row][column] = symbol
    return "\n".join([_START, *map("".join, lines), _STOP])


def _read_grid(grid: str, path: Path, least: int = 1, *, filled: bool = True) -> str:
    """Read a grid of any size, with at least so many rows, along its path, up to the fillers if there are any."""
    first, *rows, last = grid.split("\n") if "\n" in grid else ("", "")
    is_grid = (
        (first, last) == (_START, _STOP) and len(rows) >= least and len(set(map(len, rows))) == 1
    )
    places = path(len(rows), len(rows[0])) if is_grid else []
    text = "".join([rows[row][column] for row, column in places])
    dots_beside = sum(line.count(".") for line in rows) - text.count(".")
    is_path = len(set(places)) == len(places) == sum(map(len, rows)) - dots_beside
    if not is_grid or not is_path or (filled and not text.endswith((".", " "))):
        raise ValueError(
            f"the text is no grid of this kind: {least} rows or more of one length between the lines {_START!r} and "
            f"{_STOP!r}, dots beside the text, and a dot or a space at its end; give the whole grid, with its spaces"
        )
    return (text.rstrip(text[-1]) if filled else text).replace(_LINE_BREAK, "\n")


class Perturbation(NamedTuple):
    """How to perturb a text (or two, if `pairs`) and to restore it, the rule a model is told, the document's category.

    The rule is empty for the perturbation that needs no decoding (Appendix A.1). A text in which the regular expression
    `reserved` is found is out of scope.
    """

    encode: Callable[..., str]
    decode: Callable[[str], str]
    rule: str
    group: str
    reserved: str = r"(?!)"
    pairs: bool = False


GROUPS = ("substitution", "contextual overload", "order", "spatial encoding")
_RULES = _read_words("rules").set_index("name")


def _spatial(
    path: Path, shape: Callable[[int], tuple[int, int]], least: int = 1, *, filled: bool = True
) -> tuple:
    read = partial(_read_grid, path=path, least=least, filled=filled)
    return partial(_write_grid, path=path, shape=shape), read, _LINE_BREAKS


def _woven(joint: str, unit: str) -> tuple:
    return (
        partial(_interleave, joint=joint, unit=unit),
        partial(_take_first, joint=joint),
        r"(?!)",
        True,
    )


_MAPPED = f"{_OPEN}|{_WRAPPED.pattern}"
#: Encoder, decoder, what a text must not hold, and whether two texts are woven, by name in the document's order.
_WAYS: dict[str, tuple] = {
    "not_not": (_negate_twice, lambda text: text.replace(_NEGATION, ""), _NEGATION),
    "opposites": (_swap_opposites, partial(_unmap, new=_TERM), _OPEN),
    "wrappers": (_wrap_terms, partial(_unmap, new=_WRAPPED), _MAPPED),
    "rail_fence": _spatial(_zigzag, lambda length: (3, length), 2, filled=False),
    # 2 (rows + 37) - 4 places for the text and a filler
    "rectangle_perimeter": _spatial(
        _perimeter, lambda length: (max(2, -((69 - length) // 2)), 37), 2
    ),
    "snake_horizontal": _spatial(_snake, lambda length: (length // 33 + 1, 33)),
    "snake_vertical": _spatial(_vertical_snake, lambda length: (5, length // 5 + 1)),
    "interleave_line": (_interleave_lines, _restore_lines, _LINE_BREAKS, True),
    "interleave_word": _woven(" ", "words"),
    "interleave_symbol": _woven("", "symbols"),
    "reverse_sentences": (_reverse_sentences, _reverse_sentences),
    "reverse_words": (_reverse_words, _reverse_words),
    "reverse_symbols": (_reverse_symbols, _reverse_symbols),
}
PERTURBATIONS = {
    name: Perturbation(encode, decode, *_RULES.loc[name, ["rule", "group"]], *more)
    for name, (encode, decode, *more) in _WAYS.items()
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
        raise ValueError(
            f"{name} weaves a second statement in, and none is given; give it as `other`"
        )
    texts = [text, str(other)] if perturbation.pairs else [text]
    if found := re.search(perturbation.reserved, "\n".join(texts)):
        raise ValueError(
            f"the text holds {found[0]!r}, which decoding would misread; `prepare` it, or take another"
        )
    perturbed = perturbation.encode(*texts)
    if perturbation.decode(perturbed) != text:
        raise ValueError(
            f"{name} cannot be undone exactly for this text, which begins {text[:40]!r}; take another"
        )
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
        raise ValueError(
            f"unknown perturbation {name!r}; choose one of: {', '.join(PERTURBATIONS)}"
        )
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
