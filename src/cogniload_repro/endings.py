"""How responses end: why a model stopped, and where its reasoning ends and the answer begins."""

import re
from functools import lru_cache

from cogniload_repro.files import DATA

#: Why a model stopped; unknown is any word that is not listed below.
STOPS = ("stop", "length", "context", "refusal", "error", "unknown")
#: The reasons that cut a response off: the token limit of the request, and the context window.
CUT = ("length", "context")
#: Marks that models put around their reasoning; you may add others to the file.
MARKS = DATA / "reasoning_marks.txt"

#: Context length given to every model, and the tokens reserved at its end (paper, Appendix D.3).
CONTEXT_TOKENS = 32_768
RESERVED_TOKENS = 20

# further names of columns and keys with reasoning; too short to be searched for in tags
_TRACE = re.compile(r"([\w .-]+[_ .-])?(cot|analysis|trace)")
# the words of programs and servers for each reason, in lower case
_STOP_WORDS = {
    "stop": "stop eos eos_token end_turn stop_sequence stop_token stop_str completed complete"
    " finished end",
    "length": "length token_limit max_tokens max_output_tokens max_new_tokens"
    " max_completion_tokens truncated",
    "context": "context context_limit context_length context_length_exceeded model_length"
    " model_context_window_exceeded",
    "refusal": "refusal content_filter safety recitation blocklist prohibited_content spii"
    " sensitive",
    "error": "error errored expired abort aborted cancelled canceled failed"
    " insufficient_system_resource malformed_function_call time_limit working_limit"
    " message_limit cost_limit operator_limit custom_limit",
}
_STOP_OF_WORD = {
    word: kind for kind, words in _STOP_WORDS.items() for word in words.split()
}


def read_stop(word: object) -> str | None:
    """Return why a model stopped, one of `STOPS`, from a server's word; None without a word."""
    if word is None or word == "":
        return None
    return (
        _STOP_OF_WORD.get(word.strip().lower(), "unknown")
        if isinstance(word, str)
        else "unknown"
    )


def join_reasoning(reasoning: str, answer: str) -> str:
    """Return reasoning and answer as one response, since the paper scores both.

    Without an answer the mark of the reasoning stays open. If the text that ends the response is
    one line in brackets, no marks are added: the paper's rules drop such a line and would take a
    mark for the last line. So the scorer's windows are always those of the two texts in a row.
    """
    if not reasoning.strip("\n"):
        return answer
    answer = answer if answer.strip("\n") else ""
    ending = (answer or reasoning).strip("\n")
    if ending.startswith("(") and ending.endswith(")") and "\n" not in ending:
        return f"{reasoning}\n\n{answer}" if answer else reasoning
    return (
        f"<think>\n{reasoning}\n</think>\n\n{answer}"
        if answer
        else f"<think>\n{reasoning}"
    )


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
    """Return whether a name, such as that of a column, contains a word for reasoning."""
    words, _ = _read_marks()
    lowered = name.lower()
    return (
        any(word in lowered for word in words) or _TRACE.fullmatch(lowered) is not None
    )


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
