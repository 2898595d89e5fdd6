"""The same answers in the files of every program that is read, for tests."""

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd
from harness import write_lines

NAMES = ["20_1_1_770487_red", "20_1_1_586907_purple"]
MODEL = "m"
#: The words of programs for an answer that ended by itself, at a limit, and for another reason.
CHAT_STOPS = {"stop": "stop", "length": "length", "error": "error", None: None}
ANTHROPIC_STOPS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "error": "pause_turn",
    None: None,
}
GEMINI_STOPS = {"stop": "STOP", "length": "MAX_TOKENS", "error": "OTHER", None: None}


class Answer(NamedTuple):
    """An answer to a puzzle: text and reasoning, None for what is missing, and why it ended."""

    name: str = NAMES[0]
    text: str | None = "Sue wears red."
    stop: str | None = "stop"
    reasoning: str | None = None
    tokens: float | None = 9


def table_row(answer):
    """A row of a table."""
    row = {"model": MODEL, "name": answer.name, "response": answer.text}
    row |= {"finish_reason": answer.stop, "prompt_tokens": answer.tokens}
    return row | ({"reasoning": answer.reasoning} if answer.reasoning else {})


def _openai_line(answer, body):
    response = {"status_code": 200, "request_id": "r", "body": {"model": MODEL, **body}}
    return {"id": "b", "custom_id": answer.name, "response": response, "error": None}


def _chat_usage(answer):
    return {"prompt_tokens": answer.tokens, "completion_tokens": 9}


def chat_line(answer):
    """A line of a batch of OpenAI's chat endpoint."""
    message = {
        "role": "assistant",
        "content": answer.text,
        "refusal": None,
        "annotations": [],
    }
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    choice = {"index": 0, "message": message, "finish_reason": CHAT_STOPS[answer.stop]}
    return _openai_line(answer, {"choices": [choice], "usage": _chat_usage(answer)})


def completion_line(answer):
    """A line of a batch of a completions endpoint."""
    choice = {"index": 0, "text": answer.text, "finish_reason": CHAT_STOPS[answer.stop]}
    if answer.reasoning:
        choice["reasoning"] = answer.reasoning
    return _openai_line(answer, {"choices": [choice], "usage": _chat_usage(answer)})


def responses_line(answer):
    """A line of a batch of OpenAI's Responses."""
    summary = (
        [{"type": "summary_text", "text": answer.reasoning}] if answer.reasoning else []
    )
    items = [{"id": "rs", "type": "reasoning", "summary": summary}]
    if answer.text is not None:
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        items.append(
            {"id": "m", "type": "message", "role": "assistant", "content": content}
        )
    status = {"stop": "completed", "length": "incomplete", "error": "queued"}.get(
        answer.stop
    )
    details = {"reason": "max_output_tokens"} if answer.stop == "length" else None
    usage = {"input_tokens": answer.tokens, "output_tokens": 9}
    body = {
        "output": items,
        "status": status,
        "incomplete_details": details,
        "usage": usage,
    }
    return _openai_line(answer, body)


def anthropic_line(answer):
    """A line of a batch of Anthropic's."""
    content = []
    if answer.reasoning:
        content.append(
            {"type": "thinking", "thinking": answer.reasoning, "signature": "Eq"}
        )
    if answer.text is not None:
        content.append({"type": "text", "text": answer.text})
    message = {
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": content,
    }
    message["stop_reason"] = ANTHROPIC_STOPS[answer.stop]
    message["usage"] = {"input_tokens": answer.tokens, "output_tokens": 9}
    return {
        "custom_id": answer.name,
        "result": {"type": "succeeded", "message": message},
    }


def gemini_line(answer):
    """A line of a batch of Gemini's, which leaves out what is empty."""
    parts = []
    if answer.reasoning:
        parts.append({"text": answer.reasoning, "thought": True})
    if answer.text is not None:
        parts.append({"text": answer.text, "thoughtSignature": "Eq"})
    content = {"role": "model"} | ({"parts": parts} if parts else {})
    candidate = {
        "content": content,
        "finishReason": GEMINI_STOPS[answer.stop],
        "index": 0,
    }
    usage = {"promptTokenCount": answer.tokens, "candidatesTokenCount": 9}
    response = {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": MODEL,
    }
    return {"key": answer.name, "response": response}


def harness_sample(answer):
    """A sample of lm-evaluation-harness, which keeps neither reasoning nor reasons to stop."""
    return {
        "doc_id": NAMES.index(answer.name),
        "doc": {"name": answer.name, "text": "Solve this logic puzzle.", "gold": "red"},
        "arguments": {
            "gen_args_0": {"arg_0": "Solve this logic puzzle.", "arg_1": {"until": []}}
        },
        "resps": [[answer.text]],
        "filtered_resps": ["red"],
        "filter": "none",
    }


def write_csv(path, records):
    """Write a CSV file as pandas does."""
    pd.DataFrame(records).to_csv(path, index=False)
    return path


def write_parquet(path, records):
    """Write a Parquet file as pandas does."""
    pd.DataFrame(records).to_parquet(path)
    return path


class Format(NamedTuple):
    """A kind of file: its name, what makes a record of an answer, and what writes records."""

    file: str
    make: Callable
    write: Callable


FORMATS = {
    "JSONL": Format("table.jsonl", table_row, write_lines),
    "CSV": Format("table.csv", table_row, write_csv),
    "Parquet": Format("table.parquet", table_row, write_parquet),
    "chat": Format("chat.jsonl", chat_line, write_lines),
    "completions": Format("completions.jsonl", completion_line, write_lines),
    "Responses": Format("responses.jsonl", responses_line, write_lines),
    "Anthropic": Format("anthropic.jsonl", anthropic_line, write_lines),
    "Gemini": Format("gemini.jsonl", gemini_line, write_lines),
    "harness": Format("samples.jsonl", harness_sample, write_lines),
}


def write_answers(folder, kind, *answers):
    """Write answers in a format; return the file."""
    program = FORMATS[kind]
    folder.mkdir(parents=True, exist_ok=True)
    return program.write(
        folder / program.file, [program.make(answer) for answer in answers]
    )
