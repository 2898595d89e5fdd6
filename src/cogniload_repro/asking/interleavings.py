"""Perturbations that weave a second problem into a text (arXiv:2604.08571, Section 3.2).

The document repeats the shorter statement, which hides where it ends: with "wxyz", "ab" and "abab"
give the same text. Here the end is marked. Interleaved lines end problem A with its first segment
of fewer than 60 symbols, which may be empty; interleaved words and symbols have a closing line that
says how many belong to problem A. A line's tag comes before the segment, as in Figure 2 of the
document (in its Appendix A.1, after the segment).
"""

import re
from collections.abc import Iterator
from itertools import chain, cycle, islice

LINE_BREAK = "⏎"
_SEGMENT_SYMBOLS = 60
_TAGS = ("<Problem A> ", "<Problem B> ")
_END = re.compile(r"\n<Problem A: first (0|[1-9][0-9]*) (?:words|symbols)>\Z")


def interleave_lines(text: str, other: str) -> str:
    """Interleave two texts in segments of 60 symbols, each on a line after its problem's tag."""
    segments = []
    for tag, statement in zip(_TAGS, (text, other), strict=True):
        flat = statement.replace("\n", LINE_BREAK)
        starts = range(0, len(flat) + 1, _SEGMENT_SYMBOLS)
        segments.append(
            [tag + flat[start : start + _SEGMENT_SYMBOLS] for start in starts]
        )
    return "\n".join(_take_turns(*segments))


def restore_lines(text: str) -> str:
    """Undo `interleave_lines`: return problem A, up to its first segment of under 60 symbols."""
    lines = text.split("\n")
    tags = cycle(_TAGS)
    has_tags = all(line.startswith(next(tags)) for line in lines)
    segments = []
    for line in lines[0::2]:
        segment = line.removeprefix(_TAGS[0])
        segments.append(segment)
        if len(segment) < _SEGMENT_SYMBOLS:
            break
    if not has_tags or len(segments[-1]) >= _SEGMENT_SYMBOLS:
        first, second = _TAGS
        raise ValueError(
            f"lines must begin with {first!r} and {second!r} in turn, and problem A must end with "
            f"a segment of fewer than {_SEGMENT_SYMBOLS} symbols; give all lines, unchanged"
        )
    return "".join(segments).replace(LINE_BREAK, "\n")


def interleave(joint: str, unit: str, text: str, other: str) -> str:
    """Interleave two statements by words, or by symbols (code points) if the joint is empty."""
    parts = _split(text, joint)
    other_parts = _split(other, joint)
    woven = joint.join(_take_turns(parts, other_parts))
    if len(parts) < len(other_parts):
        woven += f"\n<Problem A: first {len(parts)} {unit}>"
    return woven


def separate(joint: str, text: str) -> str:
    """Undo `interleave`: return problem A, every second part from its first to its last."""
    end = _END.search(text)
    woven = text[: end.start()] if end else text
    parts = _split(woven, joint)
    first = parts[0::2]
    count = int(end[1]) if end else len(first)
    if len(parts) % 2 or (end and count >= len(first)):
        raise ValueError(
            f"the text has {len(parts)} parts, which two interleaved problems cannot have; "
            "give all of it"
        )
    return joint.join(first[:count])


def _split(text: str, joint: str) -> list[str]:
    return text.split(joint) if joint else list(text)


def _take_turns(parts: list[str], other_parts: list[str]) -> Iterator[str]:
    """Return the parts of both in turn: the shorter is repeated, an empty one gives spaces."""
    pairs = zip(cycle(parts or [" "]), cycle(other_parts or [" "]), strict=False)
    length = max(len(parts), len(other_parts))
    return chain.from_iterable(islice(pairs, length))
