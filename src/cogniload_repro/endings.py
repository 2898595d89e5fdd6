"""How responses end: why a model stopped, and reasoning separated from the answer; the paper's rules use neither."""

import re
from collections import deque

#: Why a model stopped; what a source does not tell is missing in a table and unknown in a report.
STOPS = ("stop", "length", "context", "refusal", "error", "unknown")
#: Of these, the limits that cut an answer off: the tokens that were asked for, the model's or server's context.
CUT = ("length", "context")

#: Context length given to every model, and the tokens reserved at its end (paper, Appendix D.3).
CONTEXT_TOKENS = 32_768
RESERVED_TOKENS = 20

# what programs and servers call them, in lower case
_WORDS = {
    "stop": "stop eos eos_token end_turn stop_sequence stop_token stop_str completed complete finished end",
    "length": "length token_limit max_tokens max_output_tokens max_new_tokens max_completion_tokens truncated",
    "context": "context context_limit context_length context_length_exceeded model_length"
    " model_context_window_exceeded",
    "refusal": "refusal content_filter safety recitation blocklist prohibited_content spii sensitive",
    "error": "error abort aborted cancelled canceled failed insufficient_system_resource malformed_function_call"
    " time_limit working_limit message_limit cost_limit operator_limit custom_limit",
}
_KINDS = {word: kind for kind, words in _WORDS.items() for word in words.split()}

# marks that begin and end a trace; those that end one are matched by the group
_MARKS = re.compile(
    r"[<\[◁](?:(/)?(?:think|thinking|thought|reasoning|seed:think)[>▷]|(/)?THINK\]"
    r"|\|(?:begin|(end))_of_thought\|>|\|channel\|>\s?(?:analysis|(final)(?:<\|message\|>)?))"
)
# what each mark has in it: looking for words takes a tenth of the time that a pattern takes
_TAILS = (
    "think>",
    "thinking>",
    "thought>",
    "reasoning>",
    "think▷",
    "THINK]",
    "of_thought|>",
    "<|channel|>",
)


def read_stop(word: object) -> str | None:
    """Return why a model stopped, of `STOPS`, from the word of a program or server; None where nothing is said."""
    if word is None or word == "":
        return None
    return _KINDS.get(word.strip().lower(), "unknown") if isinstance(word, str) else "unknown"


def join_reasoning(reasoning: str, answer: str) -> str:
    """Return a response of reasoning and an answer that came apart; without an answer, the trace stays open.

    The marks are on lines of their own, and are left out where the paper's rules would take one for the last line
    (reasoning of line breaks, an ending in brackets): the windows of the scorer are those of the two texts in a row.
    """
    if not reasoning.strip("\n"):
        return answer
    answer = answer if answer.strip("\n") else ""
    ending = (answer or reasoning).strip("\n")
    if ending.startswith("(") and ending.endswith(")") and "\n" not in ending:
        return f"{reasoning}\n\n{answer}" if answer else reasoning
    return f"<think>\n{reasoning}\n</think>\n\n{answer}" if answer else f"<think>\n{reasoning}"


def take_answer(response: str) -> str | None:
    """Return what follows a response's last trace: all of it without one, None if the trace is not closed.

    Known are ``<think>`` and its kin, ``[THINK]``, ``<|begin_of_thought|>`` and ``<|channel|>analysis``. A template
    that writes the first mark into the prompt leaves only the last one in a response, which is enough; where such a
    response was cut off, nothing in it tells so.
    """
    if any(tail in response for tail in _TAILS) and (
        marks := deque(_MARKS.finditer(response), maxlen=1)
    ):
        return response[marks[0].end() :] if any(marks[0].groups()) else None
    return response
