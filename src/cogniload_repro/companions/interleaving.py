"""Two statements in one text, of which only the first is to be solved.

The contextual overload of the Robust Reasoning Benchmark (arXiv:2604.08571), Section 3.2, Appendix A.1 and Figure 2.
The shorter statement is repeated from its beginning until both are equally long. The document calls that reversible;
where the statement to solve is the shorter one it is not, since "ab" and "abab" beside "wxyz" give one text. Here the
end can always be seen: in lines, a statement's last segment is the one of fewer than 60 symbols, perhaps of none; in
words and symbols, a closing line says how many belong to problem A where it was repeated.
"""

import re
from collections.abc import Sequence
from itertools import chain

from cogniload_repro.companions.grids import flatten, unflatten

SEGMENT_SYMBOLS = 60
_TAG_A, _TAG_B = "<Problem A> ", "<Problem B> "
_END = re.compile(r"\n<Problem A: first (0|[1-9][0-9]*) (?:words|symbols)>\Z")


def interleave_lines(text: str, other: str) -> str:
    """Alternate segments of 60 symbols, each on a line after its problem's tag.

    Section 3.2 and Figure 2 put the tag before the segment, Appendix A.1 after it; here it comes before.
    Line breaks of the statements become symbols, as in a grid.
    """
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
