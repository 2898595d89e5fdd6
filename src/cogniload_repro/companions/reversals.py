"""Order turned round: of sentences, of words, of the symbols in a word.

The syntactic distortions of the Robust Reasoning Benchmark (arXiv:2604.08571), Section 3.3 and Appendix A.1. Each is
its own inverse, for every text.
"""

import re

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
    """Reverse the order of sentences, which are what periods separate.

    The periods stay where they are, each with the white space and further periods after it, and so does what precedes
    the first sentence: of "A. B." comes "B. A.", as Figure 2 of the document shows it. A sentence therefore neither
    holds a period nor begins with white space, wherever it stands, and the same cut takes the result apart again.
    Decimal points separate sentences like any other period.
    """
    before = _BEFORE_SENTENCES.match(text)
    start = before.end() if before else 0
    parts = _BETWEEN_SENTENCES.split(text[start:])
    last = len(parts) if parts[-1] else len(parts) - 1  # nothing follows a closing period
    parts[0:last:2] = parts[0:last:2][::-1]
    return text[:start] + "".join(parts)
