"""Texts perturbed and restored: the 13 transformations of the Robust Reasoning Benchmark (arXiv:2604.08571).

Section 3, Appendix A.1 and Figure 2 describe them. What they leave open is decided here so that each can be undone:

substitutions (3.1)
    The document shows a few of its words; the word lists (``data/companions``) and "every third term" are ours. A term
    is a run of letters, digits and underscores that is no LaTeX command.
interleaving (3.2)
    The shorter statement is repeated until both are equally long. The document calls that reversible; where the
    statement to solve is the shorter one it is not, since "ab" and "abab" beside "wxyz" give one text. Here its end
    shows: in lines, its last segment is the one of fewer than 60 symbols, perhaps of none; in words and symbols, a
    closing line says how many belong to problem A. Section 3.2 and Figure 2 put a line's tag before the segment,
    Appendix A.1 after it; here it comes before.
order (3.3)
    Each reversal is its own inverse. Periods stay where they are, with the white space and periods after them.
grids (3.4)
    Sizes are those of Figure 2. Grids are filled with dots, so that a statement which ends in a dot could not be
    told from the same with two: here a snake or a perimeter ends in at least one filler, a space if the text ends in a
    dot. A line break of the text becomes a symbol of its own.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain, cycle

import pandas as pd

from cogniload_repro.storage import DATA

_NEGATION = "not not "
# each with one group, so that splitting gives what lies between the words and the words in turn
_TOKEN = re.compile(r"(?<!\S)([A-Za-z]+\b|\d)")
_TERM = re.compile(r"(?<![\\\w])(\w+)")
_WRAPPED = re.compile(r"(?<![\\\w])([2-9]\(\w+\))")
#: Every third term is wrapped, and the heads of the wrappers follow one another.
_WRAPPED_EVERY, _HEADS = 3, "23456789"
_OPEN = "defyn{"
_BLOCK = re.compile(r"\ndefyn\{([^{}]*)\}\.\n")
_MEANING = re.compile(r'let "([^"]*)" mean "([^"]*)"')


def negate_twice(text: str) -> str:
    """Put "not not" before every number and every adjective of the list that begins a word."""
    if _NEGATION in text:
        raise ValueError(f"the text holds {_NEGATION!r} already, which decoding would remove; take another text")
    adjectives, parts = _adjectives(), _TOKEN.split(text)
    parts[1::2] = [_NEGATION + word if word.lower() in adjectives or word.isdigit() else word for word in parts[1::2]]
    return "".join(parts)


def restore_negations(text: str) -> str:
    """Remove every double negation."""
    return text.replace(_NEGATION, "")


def swap_opposites(text: str) -> str:
    """Replace every word of the list by its opposite, both ways, and define the replacements within the text."""
    opposites = _opposites()
    return _remap(text, lambda terms: [opposites.get(term, term) for term in terms])


def wrap_terms(text: str) -> str:
    """Wrap every third term, as "3(term)", with heads from 2 to 9 in turn, and define the wrappers within the text."""
    if own := _WRAPPED.search(text):
        raise ValueError(f"the text holds {own[0]!r}, which decoding would take for a wrapper; take another text")
    return _remap(text, _wrap)


def _wrap(terms: list[str]) -> list[str]:
    wrapped, chosen = terms.copy(), slice(None, None, _WRAPPED_EVERY)
    wrapped[chosen] = [f"{head}({term})" for head, term in zip(cycle(_HEADS), terms[chosen], strict=False)]
    return wrapped


def restore_opposites(text: str) -> str:
    """Remove the definition block, and put for every word that it defines its meaning."""
    return _unmap(text, _TERM)


def restore_wrappers(text: str) -> str:
    """Remove the definition block, and take every wrapper off."""
    return _unmap(text, _WRAPPED)


def _remap(text: str, rename: Callable[[list[str]], list[str]]) -> str:
    """Rename terms, and define the new names in a block at the space nearest after the middle."""
    if _OPEN in text:
        raise ValueError(f"the text holds {_OPEN!r}, which begins a block of definitions; take another text")
    parts = _TERM.split(text)
    terms = parts[1::2]
    parts[1::2] = new = rename(terms)
    meanings = {word: term for word, term in zip(new, terms, strict=True) if word != term}
    renamed = "".join(parts)
    if not meanings:
        return renamed
    block = ", ".join([f'let "{word}" mean "{term}"' for word, term in meanings.items()])
    middle = renamed.find(" ", len(renamed) // 2)
    middle = len(renamed) if middle < 0 else middle
    return f"{renamed[:middle]}\n{_OPEN}{block}}}.\n{renamed[middle:]}"


def _unmap(text: str, new: re.Pattern) -> str:
    block = _BLOCK.search(text)
    if not block:
        return text
    meanings = dict(_MEANING.findall(block[1]))
    parts = new.split(text[: block.start()] + text[block.end() :])
    parts[1::2] = [meanings.get(word, word) for word in parts[1::2]]
    return "".join(parts)


@cache
def _adjectives() -> frozenset[str]:
    return frozenset(pd.read_csv(DATA / "companions" / "adjectives.csv", keep_default_na=False)["adjective"])


@cache
def _opposites() -> dict[str, str]:
    """Return opposites both ways, each as it is, with a capital, and in capitals."""
    pairs = pd.read_csv(DATA / "companions" / "opposites.csv", keep_default_na=False)
    both = [*pairs.itertuples(index=False, name=None), *pairs[["opposite", "word"]].itertuples(index=False, name=None)]
    return {form(a): form(b) for a, b in both for form in (str, str.capitalize, str.upper)}


SEGMENT_SYMBOLS = 60
_TAG_A, _TAG_B = "<Problem A> ", "<Problem B> "
_END = re.compile(r"\n<Problem A: first (0|[1-9][0-9]*) (?:words|symbols)>\Z")


def interleave_lines(text: str, other: str) -> str:
    """Alternate segments of 60 symbols, each on a line after its problem's tag."""
    segments = []
    for statement in map(flatten, (text, other)):
        ends = range(0, len(statement) + 1, SEGMENT_SYMBOLS)
        segments.append([statement[start : start + SEGMENT_SYMBOLS] for start in ends])
    size = max(map(len, segments))
    pairs = zip(*(_repeat(own, size) for own in segments), strict=True)
    return "\n".join(chain.from_iterable((_TAG_A + a, _TAG_B + b) for a, b in pairs))


def restore_lines(text: str) -> str:
    """Return problem A: its segments up to the first of fewer than 60 symbols."""
    lines = text.split("\n")
    own = lines[0::2]
    if any(not line.startswith(_TAG_A) for line in own) or any(not line.startswith(_TAG_B) for line in lines[1::2]):
        raise ValueError(f"lines must begin with {_TAG_A!r} and {_TAG_B!r} in turn; give all lines, whole")
    segments = [line.removeprefix(_TAG_A) for line in own]
    end = next((place for place, segment in enumerate(segments) if len(segment) < SEGMENT_SYMBOLS), None)
    if end is None:
        raise ValueError(f"no line of problem A has fewer than {SEGMENT_SYMBOLS} symbols, so its end is missing")
    return unflatten("".join(segments[: end + 1]))


def interleave_words(text: str, other: str) -> str:
    """Alternate the words of both statements; a word is what stands between single spaces."""
    return _interleave(text.split(" "), other.split(" "), " ", "words")


def restore_words(text: str) -> str:
    """Return problem A: every second word, from the first, up to its end."""
    return " ".join(_take(text, lambda own: own.split(" ")))


def interleave_symbols(text: str, other: str) -> str:
    """Alternate the symbols (code points) of both statements; a statement without any is repeated as spaces."""
    return _interleave(text, other, "", "symbols")


def restore_symbols(text: str) -> str:
    """Return problem A: every second symbol, from the first, up to its end."""
    return "".join(_take(text, lambda own: own))


def _repeat(parts: Sequence[str], size: int) -> Sequence[str]:
    parts = list(parts) or [" "]
    return (parts * (-(-size // len(parts))))[:size]


def _interleave(own: Sequence[str], other: Sequence[str], joint: str, unit: str) -> str:
    size = max(len(own), len(other))
    mixed = [""] * (2 * size)
    mixed[0::2], mixed[1::2] = _repeat(own, size), _repeat(other, size)
    text = joint.join(mixed)
    if len(own) < size:
        return f"{text}\n<Problem A: first {len(own)} {unit}>"
    if _END.search(text):
        raise ValueError("the two statements together end like the line that marks the end of problem A; take another")
    return text


def _take(text: str, cut) -> Sequence[str]:
    """Return problem A's parts of a text that `cut` takes apart."""
    end = _END.search(text)
    parts = cut(text[: end.start()] if end else text)
    if len(parts) % 2:
        raise ValueError("the text holds one part more of problem A than of problem B; give all of it")
    own = parts[0::2]
    if end and int(end[1]) >= len(own):
        raise ValueError(f"the text has {len(own)} parts of problem A, fewer than its last line says; give all of it")
    return own[: int(end[1])] if end else own


#: What separates two sentences: a period, and the white space and periods after it.
_BETWEEN_SENTENCES = re.compile(r"(\.[.\s]*)")
_BEFORE_SENTENCES = re.compile(r"[.\s]*")


def reverse_words(text: str) -> str:
    """Reverse the order of words, which are what stands between single spaces (two spaces hold an empty word)."""
    return " ".join(text.split(" ")[::-1])


def reverse_symbols(text: str) -> str:
    """Reverse the symbols (code points) of every word; words stay where they are."""
    return " ".join(text[::-1].split(" ")[::-1])


def reverse_sentences(text: str) -> str:
    """Reverse the order of sentences, which are what periods separate: "A. B." becomes "B. A."."""
    before = _BEFORE_SENTENCES.match(text)
    start = before.end() if before else 0
    parts = _BETWEEN_SENTENCES.split(text[start:])
    last = len(parts) if parts[-1] else len(parts) - 1  # nothing follows a closing period
    parts[0:last:2] = parts[0:last:2][::-1]
    return text[:start] + "".join(parts)


START, END = "GRID START", "GRID END"
#: What a line break of the text becomes.
LINE_BREAK = "⏎"
RAILS = 3
PERIMETER_COLUMNS = 37
SNAKE_COLUMNS = 33
SNAKE_ROWS = 5

_DOT, _SPACE = ".", " "


def rail_fence(text: str) -> str:
    """Place symbols in a zigzag over three rows, one column a symbol, and dots everywhere else."""
    text = flatten(text)
    period = 2 * (RAILS - 1)
    rows = []
    for rail in range(RAILS):
        row = [_DOT] * len(text)
        for start in {rail, period - rail}:
            row[start::period] = text[start::period]
        rows.append("".join(row))
    return _frame(rows)


def restore_rail_fence(grid: str) -> str:
    """Read a rail fence of any number of rails from two up, along its zigzag."""
    rows = _rows(grid)
    if len(rows) < 2:
        raise ValueError("a rail fence has at least two rows, this grid has one; give the whole grid")
    period = 2 * (len(rows) - 1)
    text = [""] * len(rows[0])
    for rail, row in enumerate(rows):
        for start in {rail, period - rail}:
            text[start::period] = row[start::period]
    return unflatten("".join(text))


def rectangle_perimeter(text: str) -> str:
    """Write the text clockwise along the edges of a rectangle, from the top left, around dots."""
    text = flatten(text)
    width = PERIMETER_COLUMNS
    height = max(2, -((2 * width - 4 - len(text) - 1) // 2))  # 2 (width + height) - 4 cells hold text and a filler
    path = _fill(text, 2 * (width + height) - 4)
    side = height - 2
    right, bottom, left = width, width + side, 2 * width + side
    inside = _DOT * (width - 2)
    middle = [f"{west}{inside}{east}" for west, east in zip(path[left:][::-1], path[right:bottom], strict=True)]
    return _frame([path[:width], *middle, path[bottom:left][::-1]])


def restore_rectangle_perimeter(grid: str) -> str:
    """Read the edges of a rectangle of any size clockwise, up to the fillers."""
    lines, width = _lines(grid)
    height = len(lines) // (width + 1)
    if height < 2 or width < 2:
        raise ValueError("a rectangle has at least two rows and two columns; give the whole grid")
    # a megabyte of text stands around twenty of dots, so columns are cut out of the whole instead of row after row
    middle = lines[width + 1 : -(width + 1)]
    west, east = middle[:: width + 1], middle[width - 1 :: width + 1]
    if middle.count(_DOT) - west.count(_DOT) - east.count(_DOT) != (width - 2) * (height - 2):
        raise ValueError("a rectangle holds only dots inside; this grid has other symbols there")
    bottom = lines[-(width + 1) : -1]
    return _unfill(lines[:width] + east + bottom[::-1] + west[::-1])


def snake_horizontal(text: str) -> str:
    """Write the text in rows of 33 symbols: the first to the right, the second to the left, and so on."""
    text = flatten(text)
    width = SNAKE_COLUMNS
    path = _fill(text, width * (len(text) // width + 1))
    lines = [path[start : start + width] for start in range(0, len(path), width)]
    return _frame([line[::-1] if number % 2 else line for number, line in enumerate(lines)])


def restore_snake_horizontal(grid: str) -> str:
    """Read rows of any length, the first to the right, the second to the left, and so on, up to the fillers."""
    return _unfill("".join([row[::-1] if number % 2 else row for number, row in enumerate(_rows(grid))]))


def snake_vertical(text: str) -> str:
    """Write the text in columns of five symbols: the first downwards, the second upwards, and so on."""
    text = flatten(text)
    height = SNAKE_ROWS
    path = _fill(text, height * (len(text) // height + 1))
    rows = []
    for place in range(height):
        row = [""] * (len(path) // height)
        row[0::2] = path[place :: 2 * height]
        row[1::2] = path[2 * height - 1 - place :: 2 * height]
        rows.append("".join(row))
    return _frame(rows)


def restore_snake_vertical(grid: str) -> str:
    """Read columns of any height, the first downwards, the second upwards, and so on, up to the fillers."""
    rows = _rows(grid)
    height = len(rows)
    path = [""] * (height * len(rows[0]))
    for place, row in enumerate(rows):
        path[place :: 2 * height] = row[0::2]
        path[2 * height - 1 - place :: 2 * height] = row[1::2]
    return _unfill("".join(path))


def flatten(text: str) -> str:
    """Write a text on one line, its line breaks as symbols of their own."""
    if LINE_BREAK in text:
        raise ValueError(f"the text holds {LINE_BREAK!r}, which stands for a line break here; take it out")
    flat = text.replace("\n", LINE_BREAK)
    lines = flat.splitlines()
    if len(lines) > 1 or "".join(lines) != flat:
        raise ValueError(f"the text breaks a line other than by LF, after {lines[0][-40:]!r}; `prepare` it first")
    return flat


def unflatten(flat: str) -> str:
    """Put the line breaks back."""
    return flat.replace(LINE_BREAK, "\n")


def _fill(text: str, cells: int) -> str:
    """Return text and fillers, as many symbols as there are cells."""
    return text.ljust(cells, _SPACE if text.endswith(_DOT) else _DOT)


def _unfill(path: str) -> str:
    filler = path[-1:]
    if filler not in (_DOT, _SPACE):
        raise ValueError(f"the grid ends in {filler!r}, but a whole grid ends in a dot or a space; give the whole grid")
    return unflatten(path.rstrip(filler))


def _frame(rows: list[str]) -> str:
    return "\n".join([START, *rows, END])


def _lines(grid: str) -> tuple[str, int]:
    """Return what stands between the markers, rows that all end in a line break, and how long they are."""
    if not (grid.startswith(f"{START}\n") and grid.endswith(f"\n{END}")) or len(grid) <= len(START + END) + 2:
        raise ValueError(f"the text is no grid: it must begin with a line {START!r} and end with a line {END!r}")
    lines = grid[len(START) + 1 : -len(END)]
    width = lines.index("\n")
    if lines[width :: width + 1] != "\n" * lines.count("\n") or len(lines) % (width + 1):
        raise ValueError("the rows of a grid have equal lengths, those of this one differ; give it with its spaces")
    return lines, width


def _rows(grid: str) -> list[str]:
    """Return the rows between the markers."""
    return _lines(grid)[0][:-1].split("\n")
