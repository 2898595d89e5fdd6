"""Where a response's reasoning ends and its answer begins; the context limit (Appendix D.3)."""

import re
from functools import lru_cache

from cogniload_repro.paths import DATA

#: Why a model stopped; unknown is any word that is not listed below.
STOPS = ("stop", "length", "context", "refusal", "error", "unknown")
#: The reasons that cut a response off: the token limit of the request, and the context window.
CUT = ("length", "context")
#: Marks that models put around their reasoning; you may add others to the file.
MARKS = DATA / "reasoning_marks.txt"

#: Context length given to every model, and the tokens reserved at its end (paper, Appendix D.3).
CONTEXT_TOKENS = 32_768
RESERVED_TOKENS = 20


def take_answer(response: str) -> str | None:
    """Return the part of a response after its reasoning, None if the reasoning does not end.

    A response without marks of reasoning (`MARKS`) is returned whole. One closing mark is
    enough, since a prompt may end with the opening one.
    """
    first_signs, marks = _compile_marks()
    if not any(sign in response for sign in first_signs):
        return response
    places = [
        sign.start() for sign in re.finditer(f"[{re.escape(first_signs)}]", response)
    ]
    for place in reversed(places):
        if mark := marks.match(response, place):
            return response[mark.end() :] if any(mark.groups()) else None
    return response


def names_reasoning(name: str) -> bool:
    """Return whether a name, such as that of a part, contains a word for reasoning."""
    words, _ = _read_marks()
    return any(word in name.lower() for word in words)


@lru_cache(1)
def _read_marks() -> tuple[list[str], list[list[str]]]:
    """Return the words in the names of reasoning tags, and the pairs of other marks."""
    lines = MARKS.read_text(encoding="utf-8").splitlines()
    entries = [line for line in lines if line and not line.startswith("#")]
    words = [line.lower() for line in entries if " ... " not in line]
    return words, [line.split(" ... ") for line in entries if " ... " in line]


@lru_cache(1)
def _compile_marks() -> tuple[str, re.Pattern[str]]:
    """Return the first characters of marks, and their pattern; a closing mark fills a group."""
    tag_words, pairs = _read_marks()
    words = "|".join(map(re.escape, tag_words))
    sign = r"[\w.:-]"
    # bounded, or matching a response could take hours
    name = rf"{sign}{{0,40}}(?:{words}){sign}{{0,40}}?(_end)?"
    tag = rf"<\|?(/|end_)?{name}(?:\s[^<>]{{0,200}})?(?<!/)\|?>"
    begins = "|".join(re.escape(begin) for begin, _ in pairs)
    longest_first = sorted((end for _, end in pairs), key=len, reverse=True)
    ends = "|".join(map(re.escape, longest_first))
    first_signs = {mark[0] for pair in pairs for mark in pair} | {"<"}
    pattern = re.compile(f"({ends})|{begins}|{tag}", re.IGNORECASE)
    return "".join(sorted(first_signs)), pattern
