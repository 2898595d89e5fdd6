"""Lines of a batch's results, in the shapes of each provider."""

import pytest
from program_files import (
    NAMES,
    Answer,
    anthropic_line,
    chat_line,
    gemini_line,
    responses_line,
)

from cogniload_repro.outputs.batches import is_batch_line, read_batch_line, read_tokens
from cogniload_repro.outputs.records import Row
from cogniload_repro.outputs.responses import Output, read_response

NAME = NAMES[0]
#: A line as Google's client writes it for requests that were sent with the job.
INLINED = {
    "metadata": {"key": NAME},
    "response": {
        "candidates": [
            {
                "content": {
                    "parts": [{"text": "Red?", "thought": True}, {"text": "Blue."}]
                },
                "finish_reason": "MAX_TOKENS",
            }
        ],
        "usage_metadata": {"prompt_token_count": 812, "candidates_token_count": 30},
        "model_version": "gemini-x-001",
    },
}


def read(line):
    """The responses of a line."""
    assert is_batch_line(line)
    return [read_response(row) for row in read_batch_line(Row(1, line))]


def body(line):
    """The provider's answer in a line of OpenAI's."""
    return line["response"]["body"]


def test_a_line_says_puzzle_model_version_and_how_it_was_asked():
    """The model that was asked may stand before the puzzle's name, with strokes in it."""
    line = chat_line(Answer())
    body(line)["created"] = 1724858089
    settings = {"version": "m", "date": "2024-08-28"}
    expected = Output("m", NAME, "Sue wears red.", 9, 9, "stop", settings)
    assert read(line) == [expected]
    line["custom_id"] = f"Qwen/QwQ-32B/{NAME}"
    assert read(line) == [expected._replace(model="Qwen/QwQ-32B")]
    line = responses_line(Answer())
    body(line)["max_output_tokens"] = 9_000
    assert read(line)[0].settings["max_tokens"] == "9000"


def test_google_writes_keys_in_two_ways():
    """In snake case from its client, in camel case from its servers."""
    (output,) = read(INLINED)
    assert (output.name, output.model, output.stopped) == (
        NAME,
        "gemini-x-001",
        "length",
    )
    assert output.response == "<think>\nRed?\n</think>\n\nBlue."
    assert (output.prompt_tokens, output.response_tokens) == (812, 30)


def test_several_choices_are_several_rows():
    """The tokens are those of all choices together, and so of none."""
    line = chat_line(Answer())
    body(line)["choices"] = [{"message": {"content": text}} for text in ("red", "blue")]
    responses = [(output.response, output.response_tokens) for output in read(line)]
    assert responses == [("red", None), ("blue", None)]


@pytest.mark.parametrize(
    "line",
    [
        gemini_line(Answer())
        | {"response": {"promptFeedback": {"blockReason": "SAFETY"}}},
        chat_line(Answer())
        | {
            "response": {
                "status_code": 400,
                "body": {"error": {"code": "content_filter"}},
            }
        },
        anthropic_line(Answer())
        | {
            "result": {
                "type": "errored",
                "error": {"message": "Output blocked by content filtering policy"},
            }
        },
    ],
)
def test_what_the_provider_has_blocked_is_a_refusal(line):
    """Prompt or answer, whichever the provider: an empty, wrong answer."""
    line = {key: value for key, value in line.items() if key != "model"}
    (row,) = read_batch_line(Row(1, line))
    assert row.refusal is None
    row.fields["model"] = "m"
    output = read_response(row)
    assert (output.name, output.response, output.stopped) == (NAME, "", "refusal")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            chat_line(Answer()) | {"response": {"status_code": 429, "body": {}}},
            "failed",
        ),
        (chat_line(Answer()) | {"response": {"body": {"choices": []}}}, "failed"),
        (chat_line(Answer()) | {"response": {"body": {"data": [1]}}}, "unknown shape"),
        (
            chat_line(Answer()) | {"response": {"body": "Sue wears red."}},
            "unknown shape",
        ),
        ({"custom_id": NAME, "result": {"type": "expired"}}, "failed"),
    ],
)
def test_a_line_without_an_answer_says_why(line, reason):
    """An error is not an empty answer; the puzzle is known."""
    (row,) = read_batch_line(Row(1, line))
    assert row.fields["name"] == NAME
    assert row.refusal[0].startswith(reason)


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (
            {"prompt_tokens": 5, "completion_tokens": 7, "cache_read_input_tokens": 3},
            (5, 7),
        ),
        (
            {"input_tokens": 500, "input_tokens_cache_read": 20, "output_tokens": 9},
            (520, 9),
        ),
        (
            {
                "prompt_token_count": 5,
                "candidates_token_count": 3,
                "thoughts_token_count": 4,
            },
            (5, 7),
        ),
        ({"input_tokens": "5", "cache_read_input_tokens": 2}, ("5", None)),
        ({}, (None, None)),
        (None, (None, None)),
    ],
)
def test_tokens_are_counted_under_the_names_of_each_server(usage, counts):
    """With those that it counts apart from the rest; what is no number is left to be refused."""
    assert tuple(read_tokens(usage).values()) == counts


def test_a_line_of_vertex_names_no_puzzle():
    """It is known by its candidates, and refused since nothing in it is a key."""
    line = gemini_line(Answer())
    del line["key"]
    (row,) = read_batch_line(Row(1, line))
    assert is_batch_line(line)
    assert row.fields["name"] is None
