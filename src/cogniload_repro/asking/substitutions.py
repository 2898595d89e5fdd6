"""Perturbations that replace words (arXiv:2604.08571, Section 3.1), each undone exactly.

The word lists (``data/companions``) and "every third term" are ours. A term is a run of letters,
digits and underscores that is not a LaTeX command.
"""

import re
from functools import cache
from itertools import cycle

import pandas as pd

from cogniload_repro.paths import DATA

_NEGATION = "not not "
# each has one group, so that splitting gives the text between words and the words in turn
_TERM = re.compile(r"(?<![\\\w])(\w+)")
_TOKEN = re.compile(r"(?<!\S)([A-Za-z]+\b|\d)")
_WHOLE_BLOCK = re.compile(r"\ndefyn\{([^{}]*)\}\.\n")
_MEANING = re.compile(r'let "([^"]*)" mean "([^"]*)"')


@cache
def read_words(name: str) -> pd.DataFrame:
    """Return a table of ``data/companions``, such as that of opposites."""
    return pd.read_csv(DATA / "companions" / f"{name}.csv", keep_default_na=False)


def negate_twice(text: str) -> str:
    """Put "not not" before every listed adjective, and every digit, that begins a word."""
    adjectives = set(read_words("adjectives")["adjective"])
    parts = _TOKEN.split(text)
    for place in range(1, len(parts), 2):
        word = parts[place]
        if word.isdigit() or word.lower() in adjectives:
            parts[place] = _NEGATION + word
    return "".join(parts)


def drop_negations(text: str) -> str:
    """Undo `negate_twice`."""
    return text.replace(_NEGATION, "")


def swap_opposites(text: str) -> str:
    """Replace every listed word by its opposite, in both directions.

    Words are matched in lower case, capitalised, and in upper case.
    """
    opposites = {}
    for word, opposite in read_words("opposites")[["word", "opposite"]].itertuples(
        index=False
    ):
        for form in (str, str.capitalize, str.upper):
            opposites[form(word)] = form(opposite)
            opposites[form(opposite)] = form(word)
    parts = _TERM.split(text)
    terms = parts[1::2]
    return _rename(parts, [opposites.get(term, term) for term in terms])


def wrap_terms(text: str) -> str:
    """Wrap every third term, such as "3(term)", with the digits 2 to 9 in turn."""
    parts = _TERM.split(text)
    terms = parts[1::2]
    heads = cycle("23456789")
    for place in range(0, len(terms), 3):
        terms[place] = f"{next(heads)}({terms[place]})"
    return _rename(parts, terms)


def _rename(parts: list[str], new: list[str]) -> str:
    """Rename terms, and define the new names in a block at the first space after the middle."""
    terms = parts[1::2]
    meanings = {
        word: term for word, term in zip(new, terms, strict=True) if word != term
    }
    parts[1::2] = new
    text = "".join(parts)
    if not meanings:
        return text
    definitions = ", ".join(
        f'let "{word}" mean "{term}"' for word, term in meanings.items()
    )
    middle = text.find(" ", len(text) // 2)
    if middle < 0:
        middle = len(text)
    return f"{text[:middle]}\ndefyn{{{definitions}}}.\n{text[middle:]}"


def restore_terms(text: str) -> str:
    """Remove the block of definitions, and replace every word that it defines by its meaning."""
    block = _WHOLE_BLOCK.search(text)
    if not block:
        return text
    meanings = dict(_MEANING.findall(block[1]))
    without_block = text[: block.start()] + text[block.end() :]
    words = "|".join(map(re.escape, meanings))
    new = re.compile(rf"(?<![\\\w])(?:{words})(?!\w)")
    return new.sub(lambda word: meanings.get(word[0], word[0]), without_block)
