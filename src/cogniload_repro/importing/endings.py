"""How a record ends: why its model stopped, and the reasoning that stands beside its answer."""

import re

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
    " message_limit cost_limit operator_limit custom_limit user_cancel in_progress queued"
    " timeout timed_out network_error server_error internal_server_error",
}
_STOP_OF_WORD = {
    word: kind for kind, words in _STOP_WORDS.items() for word in words.split()
}
_IN_BRACKETS = re.compile(r"\n*\(.*\)\n*")


def read_stop(word: object) -> str | None:
    """Return why a model stopped, one of `STOPS`, from a server's word; None without a word."""
    if not word:
        return None
    return _STOP_OF_WORD.get(str(word).strip().lower(), "unknown")


def join_reasoning(reasoning: str, answer: str) -> str:
    """Return reasoning and answer as one response, since the paper scores both.

    Without an answer the mark of the reasoning stays open. If the text that ends the response is
    one line in brackets, no marks are added: the paper's rules drop such a line and would take a
    mark for the last line. So the scorer's windows are always those of the two texts in a row.
    """
    if not reasoning.strip("\n"):
        return answer
    texts = [reasoning, answer] if answer.strip("\n") else [reasoning]
    if not _IN_BRACKETS.fullmatch(texts[-1]):
        end = "\n</think>" if len(texts) == 2 else ""
        texts[0] = f"<think>\n{reasoning}{end}"
    return "\n\n".join(texts)
