"""Records of other programs, read as rows of outputs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.outputs.adapters import adapt_record, find_beside
from cogniload_repro.outputs.readers import read_table
from cogniload_repro.schemas import OUTPUTS

NAME = "20_1_1_770487_red"


def batch_line(custom_id=NAME, **body):
    """A line of a batch's output file, as the chat completions endpoint fills it."""
    message = {"role": "assistant", "content": "Sue wears red.", "refusal": None, "annotations": []}
    chat = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1724858089,
        "model": "gpt-5-2025-08-07",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 812,
            "completion_tokens": 4096,
            "total_tokens": 4908,
            "completion_tokens_details": {"reasoning_tokens": 4032},
        },
        "system_fingerprint": None,
        **body,
    }
    response = {"status_code": 200, "request_id": "af0b", "body": chat}
    return {"id": "batch_req_1", "custom_id": custom_id, "response": response, "error": None}


def harness_line(**fields):
    """A line of a sample log, as `--log_samples` writes it for a generation task."""
    return {
        "doc_id": 3,
        "doc": {"name": NAME, "text": "Solve this logic puzzle.", "gold": "red"},
        "target": "red",
        "arguments": {"gen_args_0": {"arg_0": "Solve this logic puzzle.", "arg_1": {"until": [], "do_sample": False}}},
        "resps": [["Thinking. Sue wears red."]],
        "filtered_resps": ["red"],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": "0" * 64,
        "exact_match": 1.0,
        **fields,
    }


def rows(record, **options):
    """The rows of a record, none of them refused."""
    adapted = list(adapt_record(record, **options))
    assert all(isinstance(row, dict) for row in adapted)
    return adapted


def told(row):
    """What a row tells: its fields that have a value."""
    return {key: value for key, value in row.items() if value is not None}


def read(path):
    """The rows of a file, and the refusals with their line."""
    entries = list(read_table(path, OUTPUTS.names))
    return [e.fields for e in entries if e.fields], [(e.row, e.refusal[0]) for e in entries if e.refusal]


@pytest.mark.parametrize(
    ("custom_id", "model"),
    [(NAME, "gpt-5-2025-08-07"), (f"o3/{NAME}", "o3"), (f"Qwen/QwQ-32B/{NAME}", "Qwen/QwQ-32B")],
)
def test_a_batch_line_is_a_row(custom_id, model):
    """The id names the puzzle and may name the model; usage gives the token counts."""
    (row,) = rows(batch_line(custom_id))
    assert told(row) == {
        "model": model,
        "name": NAME,
        "response": "Sue wears red.",
        "prompt_tokens": 812,
        "response_tokens": 4096,
        "stopped": "stop",
        "version": "gpt-5-2025-08-07",
        "date": 1724858089,
    }


def test_reasoning_belongs_to_the_response():
    """The paper scores the whole output: a trace that a server keeps apart is put in front."""
    message = {"role": "assistant", "reasoning_content": "Red, then blue.", "content": "Blue."}
    (row,) = rows(batch_line(choices=[{"index": 0, "message": message}]))
    assert row["response"] == "<think>\nRed, then blue.\n</think>\n\nBlue."


def test_a_response_that_never_came_is_empty():
    """A budget spent on hidden reasoning leaves a null content: an empty response, not a lost row."""
    message = {"role": "assistant", "content": None}
    (row,) = rows(batch_line(choices=[{"index": 0, "message": message, "finish_reason": "length"}]))
    assert (row["response"], row["response_tokens"], row["stopped"]) == ("", 4096, "length")


def test_the_responses_endpoint_is_read():
    """Its body has items with parts in them and other names for the counts."""
    line = batch_line()
    body = line["response"]["body"]
    del body["choices"]
    body["output"] = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Red first."}]},
        {"type": "message", "content": [{"type": "output_text", "text": "Blue.", "annotations": []}]},
    ]
    body["usage"] = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
    (row,) = rows(line)
    assert (row["prompt_tokens"], row["response_tokens"]) == (5, 7)
    assert row["response"] == "<think>\nRed first.\n</think>\n\nBlue."


@pytest.mark.parametrize(
    "change",
    [
        {"response": None, "error": {"code": "batch_expired", "message": "This request could not be executed."}},
        {"response": {"status_code": 429, "body": {"error": {"message": "Rate limit reached"}}}},
        {"response": {"status_code": 200, "body": {"error": {"message": "The server had an error"}}}},
        {"response": {"status_code": 200, "body": {}}},
        {"response": "gone"},
    ],
)
def test_a_failed_request_is_refused(change):
    """An error is not an empty answer, which would count as wrong."""
    ((reason, detail),) = adapt_record(batch_line() | change)
    assert reason == "failed request"
    assert NAME in detail


def test_several_choices_are_several_rows():
    """None is dropped here; the counts of all together are nobody's."""
    choices = [{"index": i, "message": {"content": text}} for i, text in enumerate(["red", "blue"])]
    found = rows(batch_line(choices=choices))
    assert [(row["response"], row["response_tokens"]) for row in found] == [("red", None), ("blue", None)]


def test_a_harness_sample_is_a_row():
    """The raw response is taken, not the filtered one; the harness logs no token counts."""
    (row,) = rows(harness_line(), model="m")
    temperature = "client default 0"  # the harness logs no default of its clients
    assert told(row) == {
        "model": "m", "name": NAME, "response": "Thinking. Sue wears red.", "temperature": temperature
    }  # fmt: skip


def test_a_harness_sample_without_a_name_gives_its_text():
    """The longest text of the document is the prompt."""
    (row,) = rows(harness_line(doc={"question": "Solve this logic puzzle.", "gold": "red", "total": 20}))
    assert (row.get("name"), row["text"]) == (None, "Solve this logic puzzle.")


def test_a_sample_log_is_read_once_for_each_document(tmp_path):
    """The harness repeats every sample for each of its filters; the response is the same one."""
    lines = [harness_line(filter=word, doc_id=number) for word in ("strict", "flexible") for number in (1, 2)]
    path = tmp_path / "samples_cogniload_2025-06-01T10-20-30.123456.jsonl"
    path.write_text("\n".join([*map(json.dumps, lines), "{"]))
    found, refused = read(path)
    assert [row["response"] for row in found] == ["Thinking. Sue wears red."] * 2
    assert refused == [(5, "malformed row")]


def test_the_results_beside_a_sample_log_name_the_model(tmp_path):
    """Those of the same run, whatever else lies there; a path of another machine is cut to its last part."""
    samples = tmp_path / "samples_a_b_2025-06-01T10-20-30.123456.jsonl"
    assert find_beside(samples).model is None
    (tmp_path / "results_2025-06-02T10-20-30.123456.json").write_text('{"model_name": "other"}')
    results = tmp_path / "results_2025-06-01T10-20-30.123456.json"
    for content, model in [
        ("{", None),
        ("[]", None),
        ('{"model_name": "Qwen/QwQ-32B"}', "Qwen/QwQ-32B"),
        ('{"model_name": "/scratch/me/step_100"}', "step_100"),
    ]:
        results.write_text(content)
        assert find_beside(samples).model == model


@pytest.mark.parametrize(
    ("record", "named"),
    [
        (batch_line(f"m/{NAME}", choices=[]), NAME),
        (batch_line(f"m/{NAME}", choices=None), NAME),
        (harness_line(resps=[]), NAME),
        (harness_line(resps=[[]]), NAME),
        (harness_line(doc={"question": "Solve this."}, resps=None), "Solve this."),
        (harness_line(doc=None, resps=None), "no puzzle named"),
    ],
)
def test_a_record_without_a_response_is_refused(record, named):
    """It does not vanish, and the puzzle is named where it is known."""
    assert list(adapt_record(record)) == [("failed request", f"{named}: there is no response")]


@pytest.mark.parametrize(
    ("choice", "stopped"),
    [
        ({"message": {"content": "So far"}, "finish_reason": "length"}, "length"),
        ({"message": {"content": None, "refusal": "I will not."}, "finish_reason": "stop"}, "refusal"),
        ({"message": {"content": "So far"}}, None),
    ],
)
def test_a_chat_tells_why_the_model_stopped(choice, stopped):
    """A refusal has a field of its own; a server may say nothing."""
    (row,) = rows(batch_line(choices=[choice]))
    assert row["stopped"] == stopped


@pytest.mark.parametrize(
    ("body", "stopped"),
    [
        ({"status": "completed"}, "completed"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "max_output_tokens"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "content_filter"),
        ({}, None),
    ],
)
def test_the_responses_endpoint_tells_why_the_model_stopped(body, stopped):
    """What was incomplete has details; the request's settings stand in the body."""
    told = {"reasoning": {"effort": "high"}, "max_output_tokens": 9_000, "temperature": 1.0, "created_at": 1724858089}
    line = batch_line(**told, **body)
    del line["response"]["body"]["choices"]
    line["response"]["body"]["output"] = [{"type": "reasoning", "summary": [{"text": "Red"}]}]
    (row,) = rows(line)
    assert (row["stopped"], row["response"]) == (stopped, "<think>\nRed")
    assert (row["effort"], row["max_tokens"], row["temperature"]) == ("high", 9_000, 1.0)


@pytest.mark.parametrize("stopped", ["end_turn", "max_tokens", "refusal"])
def test_a_line_of_anthropics_batches_is_a_row(stopped):
    """Thinking goes before the text, cached tokens are tokens of the prompt."""
    message = {
        "model": "claude-x",
        "content": [{"type": "thinking", "thinking": "Red?"}, {"type": "text", "text": "Blue."}],
        "stop_reason": stopped,
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 9},
    }
    (row,) = rows({"custom_id": NAME, "result": {"type": "succeeded", "message": message}})
    assert told(row) == {
        "model": "claude-x", "version": "claude-x", "name": NAME, "stopped": stopped, "prompt_tokens": 7,
        "response_tokens": 9, "response": "<think>\nRed?\n</think>\n\nBlue.",
    }  # fmt: skip
    ((reason, detail),) = adapt_record({"custom_id": NAME, "result": {"type": "errored", "error": {"type": "x"}}})
    assert (reason, NAME in detail) == ("failed request", True)


def test_what_is_between_two_traces_is_none_of_the_answer():
    """The answer is what follows the last part of reasoning."""
    parts = [("thinking", "a"), ("text", "b"), ("thinking", "c"), ("text", "d")]
    content = [{"type": kind, kind: text} for kind, text in parts]
    (row,) = rows(batch_line(choices=[{"message": {"content": content}}]))
    assert row["response"] == "<think>\na\n\nb\n\nc\n</think>\n\nd"


@pytest.mark.parametrize(
    ("stated", "settings"),
    [
        ({"do_sample": True, "temperature": 0.6, "max_gen_toks": 4096}, {"max_tokens": 4096, "temperature": 0.6}),
        ({"max_gen_toks": 9, "reasoning_effort": "medium"},
         {"max_tokens": 9, "effort": "medium", "temperature": "client default 0"}),
        ({"do_sample": True, "max_gen_toks": 9}, {"max_tokens": 9}),
    ],
)  # fmt: skip
def test_a_harness_sample_tells_how_the_model_was_asked(stated, settings):
    """The arguments of the request; without a temperature they leave it to the client, which is greedy."""
    (row,) = rows(harness_line(arguments={"gen_args_0": {"arg_0": "Solve", "arg_1": stated}}))
    assert {key: value for key, value in told(row).items() if key not in ("name", "response")} == settings
    assert row["stopped"] is None


def test_requests_beside_a_batch_tell_how_it_was_asked(tmp_path):
    """Its results do not; requests that differ say nothing, and are themselves no rows."""
    body = {"model": "gpt-5", "reasoning_effort": "medium", "temperature": 1, "max_completion_tokens": 31_000}
    request = {"custom_id": NAME, "method": "POST", "url": "/v1/chat/completions", "body": body}
    (tmp_path / "requests-1.jsonl").write_text(json.dumps(request))
    (tmp_path / "output.jsonl").write_text(json.dumps(batch_line()))
    assert read(tmp_path / "requests-1.jsonl") == ([], [])
    columns = ["effort", "temperature", "max_tokens"]
    (entry,) = read_table(tmp_path / "output.jsonl", columns)
    assert entry.fields == {"effort": "medium", "temperature": 1, "max_tokens": 31_000}
    (tmp_path / "requests-2.jsonl").write_text(json.dumps(request | {"body": body | {"temperature": 0}}))
    (entry,) = read_table(tmp_path / "output.jsonl", columns)
    assert entry.fields == {}


def gemini_line(*parts, key=f"gemini-2.5-pro/{NAME}", reason="STOP", **fields):
    """A line of the results of a batch of Gemini's."""
    candidate = {"content": {"parts": list(parts), "role": "model"}, "finishReason": reason, "index": 0}
    usage = {"promptTokenCount": 812, "candidatesTokenCount": 30, "thoughtsTokenCount": 4000, "totalTokenCount": 4842}
    response = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-pro-001"}
    return {"key": key, "response": response} | fields


def test_a_line_of_geminis_batches_is_a_row():
    """Thoughts go before the answer and are tokens of the response; the key names puzzle and model."""
    (row,) = rows(gemini_line({"text": "Red?", "thought": True}, {"text": "Blue."}))
    assert told(row) == {
        "model": "gemini-2.5-pro", "version": "gemini-2.5-pro-001", "name": NAME, "stopped": "STOP",
        "prompt_tokens": 812, "response_tokens": 4030, "response": "<think>\nRed?\n</think>\n\nBlue.",
    }  # fmt: skip
    (row,) = rows(gemini_line(key=NAME, reason="MAX_TOKENS"))
    assert (row["response"], row["stopped"], row["model"]) == ("", "MAX_TOKENS", "gemini-2.5-pro-001")
    asked = {"contents": [{"parts": [{"text": "Solve."}]}], "generationConfig": {"temperature": 0.5}}
    (row,) = rows(gemini_line({"text": "Blue."}, key=None, request=asked))
    assert (row["text"], row["temperature"]) == ("Solve.", 0.5)


EMPTY = {"index": 0, "finish_reason": "stop"}


@pytest.mark.parametrize(
    "record",
    [
        batch_line(choices=[EMPTY | {"message": None}]),
        batch_line(choices=[EMPTY | {"message": "x"}]),
        batch_line(choices=[{"message": {"content": None}, "finish_reason": "tool_calls"}]),
        batch_line(choices=[{"message": {"content": None}}]),
        batch_line(choices=[EMPTY | {"message": {"content": [{"type": "image_url", "image_url": "x"}]}}]),
        batch_line(choices=[EMPTY | {"message": {"content": [["red"]]}}]),
        {"custom_id": NAME, "result": {"type": "errored", "message": {"content": [{"type": "text", "text": "red"}]}}},
        {"custom_id": NAME, "result": {"type": "succeeded", "message": {"content": [{"type": "tool_use"}]}}},
        harness_line(resps=[[None]]),
        gemini_line({"inlineData": {}}),
        gemini_line(reason="OTHER"),
        gemini_line(response={"promptFeedback": {"blockReason": "SAFETY"}}),
        {"key": NAME, "error": {"code": 429}},
    ],
)
def test_a_record_without_a_text_is_a_failed_request(record):
    """An empty text is a response that met the limit; none at all is not, and its puzzle is named."""
    ((reason, detail),) = adapt_record(record)
    assert (reason, NAME in detail) == ("failed request", True)


SEEDS = [batch_line(), harness_line(), gemini_line({"text": "red"}, request={"contents": [{"parts": [{}]}]}),
         {"custom_id": NAME, "result": {"message": {"content": [{"type": "text", "text": "red"}], "usage": {}}}},
         {"custom_id": NAME, "response": {"body": {"output": [{"type": "message", "content": [{}]}]}}},
         {"id": NAME, "epoch": 1, "metadata": {}, "input": [{"role": "user"}], "model_fallbacks": [{}],
          "output": {"choices": [{"message": {"content": [{}]}}], "usage": {}}}]  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from(["text", "stop"]),
    lambda value: st.lists(value, max_size=2) | st.dictionaries(st.sampled_from(["text", "type"]), value, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from(SEEDS), st.data())
def test_no_record_ends_an_import(seed, data):
    """Whatever stands in any of its places, a record is rows or refusals."""
    node = record = json.loads(json.dumps(seed))
    while isinstance(node, dict | list) and node:
        parent, key = node, data.draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
        node = parent[key] if data.draw(st.integers(0, 3)) else None
    parent[key] = data.draw(JSON)
    for row in adapt_record(record, "m"):
        assert isinstance(row, dict) or all(isinstance(word, str) for word in row)
