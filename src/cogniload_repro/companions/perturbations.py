"""The 13 perturbations of the Robust Reasoning Benchmark (arXiv:2604.08571) by name, each undone exactly.

Section 3, Appendix A.1 and Figure 2 describe them, Section 4 how texts are prepared. The instructions are worded anew.
What the document leaves open is decided here so that each perturbation can be undone:

substitutions (3.1)
    The document shows a few of its words; the word lists (``data/companions``) and "every third term" are ours. A term
    is a run of letters, digits and underscores that is no LaTeX command.
interleaving (3.2)
    The shorter statement is repeated until both are equally long. That hides where it ends: "ab" and "abab" beside
    "wxyz" give one text. Here, in lines, the first segment of fewer than 60 symbols, perhaps of none, is the last; in
    words and symbols, a closing line says how many belong to problem A. Section 3.2 and Figure 2 put a line's tag
    before the segment, Appendix A.1 after it; here it comes before.
order (3.3)
    Each reversal is its own inverse. Words stand between single spaces, so that two spaces hold an empty word. Periods
    stay where they are, with the white space and periods after them.
grids (3.4)
    Sizes are those of Figure 2. Grids are filled with dots, which would hide whether a statement ends in one or two:
    here a snake or a perimeter ends in at least one filler, a space if the text ends in a dot. A line break of the
    text becomes a symbol of its own.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import chain, cycle, islice
from typing import NamedTuple

import pandas as pd

from cogniload_repro.storage import DATA

_NEGATION = "not not "
# each with one group, so that splitting gives what lies between the words and the words in turn
_TOKEN = re.compile(r"(?<!\S)([A-Za-z]+\b|\d)")
_TERM = re.compile(r"(?<![\\\w])(\w+)")
_WRAPPED = re.compile(r"(?<![\\\w])([2-9]\(\w+\))")
_OPEN = "defyn{"
_BLOCK = re.compile(r"\ndefyn\{([^{}]*)\}\.\n")
_MEANING = re.compile(r'let "([^"]*)" mean "([^"]*)"')


def _negate_twice(text: str) -> str:
    """Put "not not" before every number and every adjective of the list that begins a word."""
    if _NEGATION in text:
        raise ValueError(f"the text holds {_NEGATION!r} already, which decoding would remove; take another text")
    adjectives = set(_read_words("adjectives")["adjective"])
    parts = _TOKEN.split(text)
    parts[1::2] = [_NEGATION + word if word.lower() in adjectives or word.isdigit() else word for word in parts[1::2]]
    return "".join(parts)


def _swap_opposites(text: str) -> str:
    """Replace every word of the list by its opposite, both ways, in small letters, with a capital, and in capitals."""
    pairs = _read_words("opposites")[["word", "opposite"]].to_numpy().tolist()
    both = [pair for one, other in pairs for pair in ((one, other), (other, one))]
    opposites = {form(one): form(other) for one, other in both for form in (str, str.capitalize, str.upper)}
    return _remap(text, lambda terms: [opposites.get(term, term) for term in terms])


def _wrap_terms(text: str) -> str:
    """Wrap every third term, as "3(term)", with heads from 2 to 9 in turn."""
    if own := _WRAPPED.search(text):
        raise ValueError(f"the text holds {own[0]!r}, which decoding would take for a wrapper; take another text")
    heads = cycle("23456789")
    return _remap(text, lambda terms: [t if place % 3 else f"{next(heads)}({t})" for place, t in enumerate(terms)])


def _remap(text: str, rename: Callable[[list[str]], list[str]]) -> str:
    """Rename terms, and define the new names in a block at the space nearest after the middle."""
    if _OPEN in text:
        raise ValueError(f"the text holds {_OPEN!r}, which begins a block of definitions; take another text")
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
    parts = new.split(text[: block.start()] + text[block.end() :])
    parts[1::2] = [meanings.get(word, word) for word in parts[1::2]]
    return "".join(parts)


@cache
def _read_words(name: str) -> pd.DataFrame:
    return pd.read_csv(DATA / "companions" / f"{name}.csv", keep_default_na=False)


_SEGMENT_SYMBOLS = 60
_TAGS = "<Problem A> ", "<Problem B> "
_END = re.compile(r"\n<Problem A: first (0|[1-9][0-9]*) (?:words|symbols)>\Z")


def _interleave_lines(*statements: str) -> str:
    """Alternate segments of 60 symbols, each on a line after its problem's tag."""
    segments = []
    for statement in map(_flatten, statements):
        ends = range(0, len(statement) + 1, _SEGMENT_SYMBOLS)
        segments.append([statement[start : start + _SEGMENT_SYMBOLS] for start in ends])
    size = max(map(len, segments))
    tagged = [[tag + one for one in _repeat(own, size)] for tag, own in zip(_TAGS, segments, strict=True)]
    return "\n".join(chain.from_iterable(zip(*tagged, strict=True)))


def _restore_lines(text: str) -> str:
    """Return problem A: its segments up to the first of fewer than 60 symbols."""
    lines = text.split("\n")
    if not all(line.startswith(tag) for line, tag in zip(lines, cycle(_TAGS), strict=False)):
        raise ValueError(f"lines must begin with {_TAGS[0]!r} and {_TAGS[1]!r} in turn; give all lines, whole")
    segments = [line.removeprefix(_TAGS[0]) for line in lines[0::2]]
    end = next((place for place, segment in enumerate(segments) if len(segment) < _SEGMENT_SYMBOLS), None)
    if end is None:
        raise ValueError(f"no line of problem A has fewer than {_SEGMENT_SYMBOLS} symbols, so its end is missing")
    return _unflatten("".join(segments[: end + 1]))


def _interleave(text: str, other: str, joint: str, unit: str) -> str:
    """Alternate the words or symbols (code points) of two statements; one without any is repeated as spaces."""
    own, others = _split(text, joint), _split(other, joint)
    size = max(len(own), len(others))
    mixed = joint.join(chain.from_iterable(zip(_repeat(own, size), _repeat(others, size), strict=True)))
    if len(own) < size:
        return f"{mixed}\n<Problem A: first {len(own)} {unit}>"
    if _END.search(mixed):
        raise ValueError("the two statements together end like the line that marks the end of problem A; take another")
    return mixed


def _take_first(text: str, joint: str) -> str:
    """Return problem A: every second part, from the first, up to its end."""
    end = _END.search(text)
    parts = _split(text[: end.start()] if end else text, joint)
    own = parts[0::2]
    if len(parts) % 2 or (end and int(end[1]) >= len(own)):
        raise ValueError(f"the text has {len(parts)} parts of both problems, not as many as it should; give all of it")
    return joint.join(own[: int(end[1])] if end else own)


def _split(text: str, joint: str) -> list[str]:
    return text.split(joint) if joint else list(text)


def _repeat(parts: list[str], size: int) -> Iterator[str]:
    return islice(cycle(parts or [" "]), size)


#: What separates two sentences: a period, and the white space and periods after it.
_BETWEEN_SENTENCES = re.compile(r"(\.[.\s]*)")


def _reverse_words(text: str) -> str:
    return " ".join(text.split(" ")[::-1])


def _reverse_symbols(text: str) -> str:
    return _reverse_words(text[::-1])


def _reverse_sentences(text: str) -> str:
    """Reverse the order of sentences, which are what periods separate: "A. B." becomes "B. A."."""
    start = len(text) - len(re.sub(r"\A[.\s]*", "", text))
    parts = _BETWEEN_SENTENCES.split(text[start:])
    last = len(parts) if parts[-1] else len(parts) - 1  # nothing follows a closing period
    parts[0:last:2] = parts[0:last:2][::-1]
    return text[:start] + "".join(parts)


_START, _STOP = "GRID START", "GRID END"
_LINE_BREAK = "⏎"
_RAILS, _PERIMETER_COLUMNS, _SNAKE_COLUMNS, _SNAKE_ROWS = 3, 37, 33, 5


def _rail_fence(text: str) -> str:
    """Place symbols in a zigzag over three rows, one column a symbol, and dots everywhere else."""
    text = _flatten(text)
    places = list(zip(text, _zigzag(_RAILS), strict=False))
    return _frame(["".join([symbol if at == rail else "." for symbol, at in places]) for rail in range(_RAILS)])


def _restore_rail_fence(grid: str) -> str:
    """Read a rail fence of any number of rails from two up, along its zigzag."""
    rows = _rows(grid, 2)
    return _unflatten(
        "".join([column[at] for column, at in zip(zip(*rows, strict=True), _zigzag(len(rows)), strict=False)])
    )


def _zigzag(rails: int) -> Iterator[int]:
    """Yield the rail of every column."""
    return cycle([*range(rails), *range(rails - 2, 0, -1)])


def _rectangle_perimeter(text: str) -> str:
    """Write the text clockwise along the edges of a rectangle, from the top left, around dots."""
    text, width = _flatten(text), _PERIMETER_COLUMNS
    height = max(2, -((2 * width - 4 - len(text) - 1) // 2))  # 2 (width + height) - 4 cells hold text and a filler
    path = _fill(text, 2 * (width + height) - 4)
    top, path = path[:width], path[width:]
    east, bottom, west = path[: height - 2], path[height - 2 :][:width], path[height - 2 + width :]
    middle = [f"{left}{'.' * (width - 2)}{right}" for left, right in zip(west[::-1], east, strict=True)]
    return _frame([top, *middle, bottom[::-1]])


def _restore_rectangle_perimeter(grid: str) -> str:
    """Read the edges of a rectangle of any size clockwise, up to the fillers."""
    top, *middle, bottom = rows = _rows(grid, 2)
    if len(top) < 2 or any(row[1:-1].strip(".") for row in middle):
        raise ValueError("a rectangle has two columns or more and holds only dots inside; give the whole grid")
    east, west = (("".join([row[end] for row in rows[1:-1]])) for end in (-1, 0))
    return _unfill(top + east + bottom[::-1] + west[::-1])


def _snake(text: str, across: bool) -> str:
    """Write the text in rows of 33 or columns of 5 symbols: the first forwards, the second backwards, and so on."""
    text, size = _flatten(text), _SNAKE_COLUMNS if across else _SNAKE_ROWS
    path = _fill(text, size * (len(text) // size + 1))
    lines = _turn_second([path[start : start + size] for start in range(0, len(path), size)])
    return _frame(lines if across else _transpose(lines))


def _unsnake(grid: str, across: bool) -> str:
    rows = _rows(grid)
    return _unfill("".join(_turn_second(rows if across else _transpose(rows))))


def _turn_second(lines: list[str]) -> list[str]:
    return [line[::-1] if number % 2 else line for number, line in enumerate(lines)]


def _transpose(rows: list[str]) -> list[str]:
    return ["".join(column) for column in zip(*rows, strict=True)]


def _flatten(text: str) -> str:
    """Write a text on one line, its line breaks as symbols of their own."""
    flat = text.replace("\n", _LINE_BREAK)
    if _LINE_BREAK in text or flat.splitlines() not in ([], [flat]):
        raise ValueError(f"the text holds {_LINE_BREAK!r} or a line break other than LF; `prepare` it, or take it out")
    return flat


def _unflatten(flat: str) -> str:
    return flat.replace(_LINE_BREAK, "\n")


def _fill(text: str, cells: int) -> str:
    """Return text and fillers, as many symbols as there are cells."""
    return text.ljust(cells, " " if text.endswith(".") else ".")


def _unfill(path: str) -> str:
    if not path.endswith((".", " ")):
        raise ValueError("a whole grid ends in a dot or a space, this one does not; give the whole grid")
    return _unflatten(path.rstrip(path[-1]))


def _frame(rows: list[str]) -> str:
    return "\n".join([_START, *rows, _STOP])


def _rows(grid: str, least: int = 1) -> list[str]:
    """Return the rows between the markers, which have one length."""
    first, *rows, last = grid.split("\n") if "\n" in grid else ("", "")
    if (first, last) != (_START, _STOP) or len(rows) < least or len(set(map(len, rows))) > 1:
        raise ValueError(
            f"the text is no grid: {least} rows or more of one length between the lines {_START!r} and {_STOP!r}; "
            "give the whole grid, with its spaces"
        )
    return rows


class Perturbation(NamedTuple):
    """How to perturb a text (or two, if `pairs`) and to restore it, the rule a model is told, the document's category.

    The rule is empty for the perturbation that needs no decoding (Appendix A.1).
    """

    encode: Callable[..., str]
    decode: Callable[[str], str]
    rule: str
    group: str
    pairs: bool = False


GROUPS = ("substitution", "contextual overload", "order", "spatial encoding")
_DEFINED = (
    "Some terms of the statement are replaced by others. A line in the middle of it, of the form "
    'defyn{let "new" mean "old", ...}., says what each new term means and is not part of the statement itself.'
)
_BREAKS = f" {_LINE_BREAK} stands for a line break."
_MARKERS = "The lines between GRID START and GRID END are the rows of a grid, all of one length"
_FILLERS = (
    "What is left of it is filled with at least one filler, all of them dots, or spaces if the statement ends in a "
    "dot: the statement ends before the last run of equal symbols." + _BREAKS
)
_WORDS = "a word is whatever stands between two single spaces"
_WOVEN = "You see two problems, A and B, {} Solve only problem A. Where A is the shorter one it starts over again"
_COUNTED = "; a last line then says how many of its {} are meant."
_RULES = {
    "not_not": "",
    "opposites": _DEFINED,
    "wrappers": _DEFINED,
    "rail_fence": f"{_MARKERS}. Each column holds one symbol of the statement, a space perhaps, and dots elsewhere. "
    "From the first column to the last the symbols lie on a zigzag: down from the top row to the bottom row, up to the "
    "top row, and down again." + _BREAKS,
    "rectangle_perimeter": f"{_MARKERS}, that draw a rectangle with dots inside. The statement runs clockwise along "
    f"its edges, from the top left corner. {_FILLERS}",
    "snake_horizontal": f"{_MARKERS}. The statement runs through them from the top left: the first row from left to "
    f"right, the second from right to left, the third from left to right again. {_FILLERS}",
    "snake_vertical": f"{_MARKERS}. The statement runs through its columns from the top left: down the first, up the "
    f"second, down the third again. {_FILLERS}",
    "interleave_line": _WOVEN.format(
        "cut into segments of 60 symbols that take turns, each on a line after its problem's tag."
    )
    + f". A's first segment of fewer than 60 symbols, perhaps of none, is its last.{_BREAKS}",
    "interleave_word": _WOVEN.format(f"whose words take turns, A's first ({_WORDS}).") + _COUNTED.format("words"),
    "interleave_symbol": _WOVEN.format("whose symbols take turns, spaces and punctuation too, A's first.")
    + _COUNTED.format("symbols"),
    "reverse_sentences": "The sentences stand in reverse order. A sentence is whatever stands between periods, without "
    "the white space after a period; the periods themselves have not moved.",
    "reverse_words": f"The words stand in reverse order; {_WORDS}.",
    "reverse_symbols": f"The symbols of every word stand in reverse order, the words in their own; {_WORDS}.",
}
_WAYS: dict[str, dict[str, tuple[Callable[..., str], Callable[[str], str]]]] = {
    "substitution": {
        "not_not": (_negate_twice, lambda text: text.replace(_NEGATION, "")),
        "opposites": (_swap_opposites, partial(_unmap, new=_TERM)),
        "wrappers": (_wrap_terms, partial(_unmap, new=_WRAPPED)),
    },
    "spatial encoding": {
        "rail_fence": (_rail_fence, _restore_rail_fence),
        "rectangle_perimeter": (_rectangle_perimeter, _restore_rectangle_perimeter),
        "snake_horizontal": (partial(_snake, across=True), partial(_unsnake, across=True)),
        "snake_vertical": (partial(_snake, across=False), partial(_unsnake, across=False)),
    },
    "contextual overload": {
        "interleave_line": (_interleave_lines, _restore_lines),
        "interleave_word": (partial(_interleave, joint=" ", unit="words"), partial(_take_first, joint=" ")),
        "interleave_symbol": (partial(_interleave, joint="", unit="symbols"), partial(_take_first, joint="")),
    },
    "order": {
        "reverse_sentences": (_reverse_sentences, _reverse_sentences),
        "reverse_words": (_reverse_words, _reverse_words),
        "reverse_symbols": (_reverse_symbols, _reverse_symbols),
    },
}
PERTURBATIONS = {
    name: Perturbation(encode, decode, _RULES[name], group, pairs=name.startswith("interleave"))
    for group, ways in _WAYS.items()
    for name, (encode, decode) in ways.items()
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
