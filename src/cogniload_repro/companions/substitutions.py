"""Words put in other words: double negations, opposites, wrappers.

The semantic and lexical substitutions of the Robust Reasoning Benchmark (arXiv:2604.08571), Section 3.1, Appendix A.1
and Figure 2. The document shows a few of its words and does not list them; the lists here are ours
(``data/companions``). A term is a run of letters, digits and underscores that is no LaTeX command.
"""

import re
from collections.abc import Callable
from functools import cache
from itertools import cycle

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
    """Put "not not" before every number and every adjective of the list that begins a word.

    Raises
    ------
    ValueError
        If the text has double negations of its own, which could not be told from those put in.
    """
    if _NEGATION in text:
        raise ValueError(f"the text holds {_NEGATION!r} already, which decoding would remove; take another text")
    adjectives, parts = _adjectives(), _TOKEN.split(text)
    parts[1::2] = [_NEGATION + word if word.lower() in adjectives or word.isdigit() else word for word in parts[1::2]]
    return "".join(parts)


def restore_negations(text: str) -> str:
    """Remove every double negation."""
    return text.replace(_NEGATION, "")


def swap_opposites(text: str) -> str:
    """Put for every word of the list its opposite, both ways, and define what was put in the middle of the text.

    Raises
    ------
    ValueError
        If the text holds a definition block of its own.
    """
    opposites = _opposites()
    return _remap(text, lambda terms: [opposites.get(term, term) for term in terms])


def wrap_terms(text: str) -> str:
    """Wrap every third term, as "3(term)", and define the wrappers in the middle of the text.

    The heads run from 2 to 9 and start again, so one term may get several, as in Figure 2 of the document. They are
    no numbers: a wrapper means what is in it.

    Raises
    ------
    ValueError
        If the text holds a definition block, or something that looks like a wrapper, of its own.
    """
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
