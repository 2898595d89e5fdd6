"""Records of every program as responses: what counts, and what is refused."""

import json

import pytest

from cogniload_repro.importing.rejections import RowError
from cogniload_repro.importing.responses import (
    SETTINGS,
    add_counts,
    clean_text,
    load_programs,
    read_content,
    read_response,
    take_settings,
)

NAME = "20_1_1_770487_red"
ROW = {"model": "m", "name": NAME, "response": "Sue wears red."}


def chat(choice=(), usage=(), **line):
    """A line of a batch of OpenAI's chat endpoint."""
    message = {
        "message": {"role": "assistant", "content": "red"},
        "finish_reason": "stop",
    }
    body = {"model": "m", "choices": [message | dict(choice)], "usage": dict(usage)}
    response = {"status_code": 200, "body": body}
    return {"custom_id": NAME, "response": response, "error": None} | line


def anthropic(kind, stop="end_turn"):
    """A line of a batch of Anthropic, with a text."""
    message = {"model": "m", "content": [{"type": "text", "text": "red"}]}
    result = {"type": kind, "message": message | {"stop_reason": stop}}
    return {"custom_id": NAME, "result": result}


def gemini(reason):
    """A line of a batch of Gemini, with a text."""
    candidate = {"content": {"parts": [{"text": "red"}]}, "finishReason": reason}
    return {"key": NAME, "response": {"candidates": [candidate], "modelVersion": "m"}}


def open_response(status, reason=None):
    """A line of a batch of OpenAI's endpoint for responses, with a text."""
    body = {"model": "m", "status": status, "incomplete_details": {"reason": reason}}
    body["output"] = [{"content": [{"type": "output_text", "text": "red"}]}]
    return {"custom_id": NAME, "response": {"status_code": 200, "body": body}}


def refusal(record):
    """The reason and the details of a record that is refused."""
    with pytest.raises(RowError) as caught:
        read_response(record)
    return caught.value.args[:2]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (ROW | {"error": "upstream connection reset"}, "failed request"),
        (ROW | {"finish_reason": "abort"}, "failed request"),
        (ROW | {"done_reason": "cancelled"}, "failed request"),
        (ROW | {"status_code": 503}, "failed request"),
        (chat({"finish_reason": "error"}), "failed request"),
        (chat({"error": {"code": 502, "message": ""}}), "failed request"),
        (
            {"custom_id": NAME, "response": None, "error": {"code": "expired"}},
            "failed request",
        ),
        ({"custom_id": NAME, "result": {"type": "errored"}}, "failed request"),
        ({"custom_id": NAME, "result": {"type": "expired"}}, "failed request"),
        ({"key": NAME, "error": {"code": 429}}, "failed request"),
        (ROW | {"finish_reason": "engine_error"}, "failed request"),
        (ROW | {"finish_reason": {"type": "abort"}}, "failed request"),
        (ROW | {"status": "failed"}, "failed request"),
        (ROW | {"status": 500, "finish_reason": "stop"}, "failed request"),
        *[
            (anthropic(kind), "failed request")
            for kind in ("errored", "canceled", "expired")
        ],
        (anthropic("succeeded", "pause_turn"), "failed request"),
        *[
            (gemini(reason), "failed request")
            for reason in ("OTHER", "MALFORMED_RESPONSE", "TOO_MANY_TOOL_CALLS")
        ],
        (open_response("failed", "max_output_tokens"), "failed request"),
        (open_response("in_progress"), "failed request"),
        (ROW | {"response": ""}, "failed request"),
        (ROW | {"response": None, "finish_reason": "shrug"}, "failed request"),
        *[
            (ROW | {"response": f" {word}"}, "damaged cell")
            for word in ("#NAME?", "#WERT!", "#N/A", "#NV", "Err:508", "nan", "NULL")
        ],
        (ROW | {"reasoning": "#NAME?"}, "damaged cell"),
        (ROW | {"model": "#NAME?"}, "bad value"),
        (ROW | {"response": "Loading..."}, "damaged cell"),
        ({"model": "m", "name": NAME}, "unknown shape"),
        ({"model": "m", "name": NAME, "completion": "red"}, "unknown shape"),
        ({"Model": "m", "Name": NAME, "Response": "red"}, "unknown shape"),
        (
            chat({"message": {"content": [{"type": "tool_use", "id": "t"}]}}),
            "unknown shape",
        ),
        ({"custom_id": NAME, "response": {"body": {"data": [1]}}}, "unknown shape"),
        (ROW | {"response": 5.0}, "bad value"),
        (ROW | {"response": [["red"], 5]}, "bad value"),
        (ROW | {"prompt_tokens": "many"}, "bad value"),
        (ROW | {"prompt_tokens": -1}, "bad value"),
        (ROW | {"prompt_tokens": float("inf")}, "bad value"),
        (ROW | {"model": "../up"}, "bad value"),
        (ROW | {"model": {"a": 1}}, "bad value"),
        (ROW | {"name": "a\nb"}, "bad value"),
        (ROW | {"model": None}, "missing field"),
        (ROW | {"name": None}, "missing field"),
    ],
)
def test_what_is_no_response_is_refused_with_its_reason(record, reason):
    """Failed requests even with a part of the text, lost cells, other shapes and values."""
    assert refusal(record)[0] == reason


@pytest.mark.parametrize(
    "record",
    [
        ROW | {"finish_reason": "content_filter"},
        gemini("SAFETY"),
        gemini("LANGUAGE"),
        anthropic("succeeded", "refusal"),
        open_response("incomplete", "content_filter"),
    ],
)
def test_a_blocked_answer_is_an_answer(record):
    """Its text is scored, since the model was asked and nothing failed."""
    assert read_response(record).stopped == "refusal"


@pytest.mark.parametrize("status", [502, 502.0, "502"])
def test_a_status_is_shown_as_servers_write_it(status):
    """Numbers of a table may be floats."""
    assert refusal(ROW | {"status_code": status})[1].strip("'") == "502"
    assert "502}" in refusal(ROW | {"error": {"code": float(status)}})[1]


def test_two_answers_to_one_prompt_are_refused():
    """Their tokens are counted together."""
    line = chat()
    line["response"]["body"]["choices"] *= 2
    assert "several responses" in refusal(line)[1]


@pytest.mark.parametrize(
    "record", [{"a": 1}, chat({"message": {"content": [{"x": "y"}]}})]
)
def test_an_unknown_shape_is_refused_in_a_sentence_that_names_the_page(record):
    """Of a record, and of a part of a text."""
    assert "the page Import" in refusal(record)[1]


@pytest.mark.parametrize(
    "line",
    [
        chat(error={}),
        chat(error={"code": "", "message": None}),
        chat(response=chat()["response"] | {"status_code": "200"}),
        chat(response=chat()["response"] | {"status_code": 201}),
        ROW | {"error": "", "status_code": 200.0},
        ROW | {"status": "completed", "finish_reason": "length"},
        anthropic("succeeded"),
        gemini("STOP"),
        open_response("incomplete", "max_output_tokens"),
        ROW | {"error": float("nan")},
    ],
)
def test_success_may_be_said_in_other_words(line):
    """An error without a member is none; 201 and "200" are successes."""
    assert read_response(line).name == NAME


USAGES = {
    "prompt_tokens=900 completion_tokens=9 total_tokens=33009": (900, 32109),
    "prompt_tokens=900 completion_tokens=9 total_tokens=909": (900, 9),
    "prompt_tokens=900 completion_tokens=9 total_tokens=0": (900, 9),
    "prompt_tokens=0 completion_tokens=0 total_tokens=0": (None, None),
    "prompt_tokens=0 completion_tokens=12 total_tokens=12": (None, 12),
    "completion_tokens=12": (None, 12),
    "prompt_tokens=900 total_tokens=33009": (900, 32109),
    "prompt_tokens=900 total_tokens=900": (900, None),
}


@pytest.mark.parametrize("text", USAGES)
def test_the_larger_count_of_a_response_is_taken_and_0_is_not_known(text):
    """Some servers add reasoning to the total alone, others send zeros."""
    pairs = (word.split("=") for word in text.split())
    response = read_response(chat(usage={name: float(count) for name, count in pairs}))
    assert (response.prompt_tokens, response.response_tokens) == USAGES[text]


@pytest.mark.parametrize(
    ("columns", "counts"),
    [
        ({"completion_tokens": 9}, (None, 9)),
        ({"input_tokens": 900.0, "output_tokens": "9"}, (900, 9)),
        ({"prompt_eval_count": 900, "eval_count": 9}, (900, 9)),
        ({"completion_tokens": 9, "reasoning_tokens": 32100}, (None, 32109)),
        ({"completion_tokens": 9, "reasoning_tokens": 5}, (None, 9)),
        ({"prompt_tokens": "NA", "response_tokens": ""}, (None, None)),
    ],
)
def test_counts_are_read_under_the_names_of_servers(columns, counts):
    """In tables as in batches."""
    response = read_response(ROW | columns)
    assert (response.prompt_tokens, response.response_tokens) == counts


def test_counts_that_a_server_keeps_apart_are_added_up():
    """Anthropic's cached prompts, Gemini's thoughts."""
    row = {"a": 1, "b": "2", "c": None}
    assert add_counts(row, "a", "b", "c", "d") == 3
    gemini = {
        "key": NAME,
        "response": {
            "candidates": [
                {"content": {"parts": [{"text": "red"}]}, "finishReason": "STOP"}
            ],
            "usageMetadata": {"candidatesTokenCount": 9, "thoughtsTokenCount": 100},
            "modelVersion": "g",
        },
    }
    assert read_response(gemini).response_tokens == 109
    message = {"model": "c", "content": [{"type": "text", "text": "red"}]}
    message["usage"] = {
        "input_tokens": 3,
        "cache_read_input_tokens": 900,
        "output_tokens": 9,
    }
    anthropic = {"custom_id": NAME, "result": {"type": "succeeded", "message": message}}
    assert read_response(anthropic).prompt_tokens == 903


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("red", ("", "red")),
        (None, ("", "")),
        (
            [{"text": "Ken is wearing ora"}, {"text": "nge pant."}],
            ("", "Ken is wearing orange pant."),
        ),
        (
            [
                {"thought": True, "text": "So "},
                {"thought": True, "text": "far"},
                {"text": "red"},
            ],
            ("So far", "red"),
        ),
        (
            [
                {"type": "thinking", "thinking": "a", "signature": "x"},
                {"type": "text", "text": "b"},
            ],
            ("a", "b"),
        ),
        (
            [
                {"type": "reasoning", "text": "a"},
                "b",
                {"type": "reasoning", "text": "c"},
                "d",
            ],
            ("a\n\nb\n\nc", "d"),
        ),
        (
            [{"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}],
            ("a", ""),
        ),
        ([{"type": "reasoning", "summary": [], "encrypted_content": "x"}], ("", "")),
        (
            [{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "b"}],
            ("", "b"),
        ),
        (
            [
                {
                    "type": "message",
                    "content": [
                        {"type": "output_text", "text": "b"},
                        {"type": "refusal", "refusal": "c"},
                    ],
                }
            ],
            ("", "bc"),
        ),
    ],
)
def test_a_content_is_reasoning_and_answer(content, texts):
    """Adjacent parts are one text; a blank line stands only beside another kind."""
    assert read_content(content) == texts


def test_a_text_has_unix_line_ends_and_whole_characters():
    """A token limit may cut an emoji in two."""
    assert clean_text("a\r\nb\rc\n\r\n") == "a\nb\nc\n\n"
    assert clean_text("wet \ud83d") == "wet �"
    assert clean_text("\ud83d\ude00") == "\N{GRINNING FACE}"
    response = read_response(ROW | {"reasoning": "so \udcb2"})
    assert response.response == "<think>\nso �\n</think>\n\nSue wears red."
    json.dumps(response).encode()


def test_an_id_may_name_the_model():
    """As in MODEL/NAME; a given model takes precedence, and short names are the paper's."""
    line = chat(custom_id=f"org/m (rail_fence)/{NAME}")
    assert read_response(line).model == "org/m (rail_fence)"
    assert read_response(line, "mine").model == "mine"
    assert read_response(ROW | {"model": "o3"}).model == "o3-2025-04-16"


def test_settings_are_short_texts():
    """Numbers as they were written, no missing ones, and of a time its day."""
    row = {
        "temperature": 0.0,
        "max_tokens": 32768.0,
        "effort": "",
        "date": "2026-03-01T12:30:00Z",
        "version": "v" * 200,
    }
    assert take_settings(row) == {
        "temperature": "0",
        "max_tokens": "32768",
        "date": "2026-03-01",
        "version": "v" * 100,
    }


def test_each_program_has_the_columns_that_a_response_needs():
    """The table of paths is complete, and has no column that nothing reads."""
    texts = {"mark", "name", "model", "response", "reasoning", "finish_reason"}
    counts = {"prompt_tokens", "response_tokens", "total_tokens", "status_code"}
    apart = {"cache_read_tokens", "cache_write_tokens"}
    apart |= {"thought_tokens", "reasoning_tokens"}
    known = {
        *texts,
        *counts,
        *apart,
        *SETTINGS,
        "error",
        "status",
        "second_response",
        "perturbation",
    }
    for program, columns in load_programs().items():
        assert columns.keys() <= known, program
        assert {"mark", "name"} <= columns.keys(), program
