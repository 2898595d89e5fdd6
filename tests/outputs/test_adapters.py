"""Records of other programs, and logs of Inspect, read as rows of outputs."""

import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_log import make_header, make_sample, write_archive, write_json

from cogniload_repro.outputs import adapters
from cogniload_repro.outputs.adapters import adapt_record, find_origin
from cogniload_repro.outputs.readers import read_table
from cogniload_repro.schemas import OUTPUTS

NAME, OTHER = "20_1_1_770487_red", "20_1_1_586907_purple"
BLUE = "<think>\nRed?\n</think>\n\nBlue."


def batch_line(custom_id=NAME, **body):
    """A line of a batch's output file, as the chat completions endpoint fills it."""
    message = {"role": "assistant", "content": "Sue wears red.", "refusal": None, "annotations": []}
    usage = {"prompt_tokens": 812, "completion_tokens": 4096, "total_tokens": 4908}
    chat = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1724858089,
        "model": "gpt-5-2025-08-07",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": usage | {"completion_tokens_details": {"reasoning_tokens": 4032}},
        **body,
    }
    response = {"status_code": 200, "request_id": "af0b", "body": chat}
    return {"id": "batch_req_1", "custom_id": custom_id, "response": response, "error": None}


def choose(message, **choice):
    """A line of a batch with one choice."""
    return batch_line(choices=[{"message": message, **choice}])


def responses_line(items, **body):
    """A line of a batch, as the responses endpoint fills it."""
    line = batch_line(output=items, usage={"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}, **body)
    del line["response"]["body"]["choices"]
    return line


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
        "exact_match": 1.0,
        **fields,
    }


def ask_harness(**stated):
    """A harness sample with these settings of its request."""
    return harness_line(arguments={"gen_args_0": {"arg_0": "Solve", "arg_1": stated}})


def message_line(*parts, **fields):
    """A line of the results of a batch of Anthropic's."""
    usage = {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 9}
    message = {"model": "claude-x", "content": list(parts), "stop_reason": "end_turn", "usage": usage}
    return {"custom_id": NAME, "result": {"type": "succeeded", "message": message} | fields}


def gemini_line(*parts, key=f"gemini-2.5-pro/{NAME}", reason="STOP", **fields):
    """A line of the results of a batch of Gemini's."""
    candidate = {"content": {"parts": list(parts), "role": "model"}, "finishReason": reason, "index": 0}
    usage = {"promptTokenCount": 812, "candidatesTokenCount": 30, "thoughtsTokenCount": 4000, "totalTokenCount": 4842}
    response = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-pro-001"}
    return {"key": key, "response": response} | fields


def read(path, columns=OUTPUTS.names):
    """The rows of a file, and the refusals with their row."""
    entries = list(read_table(path, columns))
    return [e.fields for e in entries if e.fields is not None], [(e.row, *e.refusal) for e in entries if e.refusal]


def text_parts(*parts):
    """Parts of a content, by their kind."""
    return [{"type": kind, kind: text} for kind, text in parts]


TRACE = {"type": "reasoning", "reasoning": "Red?"}
HIDDEN = {"type": "reasoning", "reasoning": "eNrT0", "redacted": True}
#: A line as Google's client writes it for requests that were sent with the job.
INLINED = {"metadata": {"key": NAME}, "response": {
    "candidates": [{"content": {"parts": [{"text": "Red?", "thought": True}, {"text": "Blue."}]},
                    "finish_reason": "MAX_TOKENS"}],
    "usage_metadata": {"prompt_token_count": 812, "candidates_token_count": 30, "thoughts_token_count": 4000},
    "model_version": "gemini-2.5-pro-001"}}  # fmt: skip
CHOICES = [{"message": {"content": "red"}}]
CACHED = {"input_tokens": 500, "input_tokens_cache_read": 20, "output_tokens": 9}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (batch_line(), {"model": "gpt-5-2025-08-07", "name": NAME, "response": "Sue wears red.", "prompt_tokens": 812,
                        "response_tokens": 4096, "stopped": "stop", "version": "gpt-5-2025-08-07",
                        "date": 1724858089}),
        (batch_line(f"Qwen/QwQ-32B/{NAME}"), {"model": "Qwen/QwQ-32B", "name": NAME}),
        (choose({"reasoning_content": "Red?", "content": "Blue."}), {"response": BLUE, "stopped": None}),
        # a budget spent on hidden reasoning leaves a null content: an empty response, not a lost row
        (choose({"content": None}, finish_reason="length"), {"response": "", "stopped": "length"}),
        (choose({"content": None, "refusal": "No."}, finish_reason="stop"), {"response": "No.", "stopped": "refusal"}),
        # what is between two traces is none of the answer
        (choose({"content": text_parts(("thinking", "a"), ("text", "b"), ("thinking", "c"), ("text", "d"))}),
         {"response": "<think>\na\n\nb\n\nc\n</think>\n\nd"}),
        (responses_line([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "Red?"}]},
                         {"type": "message", "content": [{"type": "output_text", "text": "Blue."}]}],
                        status="completed", reasoning={"effort": "high"}, max_output_tokens=9_000, temperature=1.0),
         {"response": BLUE, "prompt_tokens": 5, "response_tokens": 7, "stopped": "completed", "effort": "high",
          "max_tokens": 9_000, "temperature": 1.0}),
        (responses_line([{"type": "reasoning", "summary": [{"text": "Red"}]}], status="incomplete",
                        incomplete_details={"reason": "max_output_tokens"}),
         {"response": "<think>\nRed", "stopped": "max_output_tokens"}),
        # the harness logs no tokens, and no default of its clients
        (harness_line(), {"model": "m", "name": NAME, "response": "Thinking. Sue wears red.", "stopped": None,
                          "temperature": "client default 0"}),
        (harness_line(doc={"question": "Solve this logic puzzle.", "gold": "red", "total": 20}),
         {"text": "Solve this logic puzzle.", "name": None}),
        (ask_harness(do_sample=True, temperature=0.6, max_gen_toks=4096), {"max_tokens": 4096, "temperature": 0.6}),
        (ask_harness(max_gen_toks=9, reasoning_effort="medium"),
         {"max_tokens": 9, "effort": "medium", "temperature": "client default 0"}),
        (ask_harness(do_sample=True, max_gen_toks=9), {"max_tokens": 9, "temperature": None}),
        (message_line(*text_parts(("thinking", "Red?"), ("text", "Blue."))),
         {"model": "claude-x", "version": "claude-x", "name": NAME, "stopped": "end_turn", "prompt_tokens": 7,
          "response_tokens": 9, "response": BLUE}),
        (gemini_line({"text": "Red?", "thought": True}, {"text": "Blue."}),
         {"model": "gemini-2.5-pro", "version": "gemini-2.5-pro-001", "name": NAME, "stopped": "STOP",
          "prompt_tokens": 812, "response_tokens": 4030, "response": BLUE}),
        (gemini_line(key=NAME, reason="MAX_TOKENS"),
         {"response": "", "stopped": "MAX_TOKENS", "model": "gemini-2.5-pro-001"}),
        (INLINED, {"name": NAME, "model": "gemini-2.5-pro-001", "version": "gemini-2.5-pro-001", "response": BLUE,
                   "stopped": "MAX_TOKENS", "prompt_tokens": 812, "response_tokens": 4030}),
        # what a provider has blocked, prompt or answer, is a refusal
        (gemini_line(response={"promptFeedback": {"blockReason": "SAFETY"}}), {"response": "", "stopped": "refusal"}),
        (gemini_line(reason="SAFETY"), {"response": "", "stopped": "SAFETY"}),
        (batch_line(f"m/{NAME}") | {"response": {"status_code": 400, "body": {"error": {"code": "content_filter"}}}},
         {"model": "m", "name": NAME, "response": "", "stopped": "refusal"}),
        ({"custom_id": f"m/{NAME}", "result": {"type": "errored", "error": {"error": {"type": "invalid_request_error",
          "message": "Output blocked by content filtering policy"}}}}, {"response": "", "stopped": "refusal"}),
        (responses_line([{"type": "message", "content": text_parts(("refusal", "No."))}], status="completed"),
         {"response": "No.", "stopped": "refusal"}),
        # samples of Inspect; reasoning that is encrypted is never scored
        (make_sample(content=[TRACE, {"type": "text", "text": "Blue."}]), {"name": NAME, "response": BLUE}),
        (make_sample(content=[HIDDEN | {"summary": "Red?"}]), {"response": "<think>\nRed?"}),
        (make_sample(content=[HIDDEN, {"type": "text", "text": "Blue."}]), {"response": "Blue."}),
        (make_sample(content=[TRACE | {"reasoning": "", "summary": "Red?"}]), {"response": "<think>\nRed?"}),
        (make_sample(content=[]), {"response": ""}),
        (make_sample(1, metadata={"puzzle": OTHER}), {"name": OTHER}),
        (make_sample(1), {"name": None, "text": "Solve this logic puzzle."}),
        (make_sample(1, input=[{"role": "user", "content": "Solve!"}]), {"text": "Solve!"}),
        (make_sample(f"{NAME}.txt"), {"name": NAME}),
        (make_sample(output={"choices": CHOICES, "usage": CACHED}), {"prompt_tokens": 520, "response_tokens": 9}),
        (make_sample(output={"choices": CHOICES}), {"prompt_tokens": None, "response_tokens": None}),
    ],
)  # fmt: skip
def test_a_record_is_a_row(record, expected):
    """Puzzle, model, reasoning before the answer as the paper scores it, tokens, why it stopped, how it was asked."""
    (row,) = adapt_record(record, "m")
    assert {key: row.get(key) for key in expected} == expected


def test_several_choices_are_several_rows():
    """None is dropped here; the counts of all together are nobody's."""
    found = adapt_record(batch_line(choices=[{"message": {"content": text}} for text in ("red", "blue")]))
    assert [(row["response"], row["response_tokens"]) for row in found] == [("red", None), ("blue", None)]


@pytest.mark.parametrize(
    ("record", "named"),
    [
        (batch_line() | {"response": None, "error": {"code": "batch_expired"}}, NAME),
        (batch_line() | {"response": batch_line()["response"] | {"status_code": 429}}, NAME),
        (batch_line() | {"response": {"status_code": 200, "body": {}}}, NAME),
        (batch_line(f"m/{NAME}", choices=[]), f"{NAME}: there is no response"),
        (choose("x"), NAME),
        (choose({"content": None}, finish_reason="tool_calls"), NAME),
        (choose({"content": [{"type": "image_url", "image_url": "x"}]}, finish_reason="stop"), NAME),
        (message_line({"type": "tool_use"}), NAME),
        ({"custom_id": NAME, "result": {"type": "errored", "error": {"type": "x"}}}, NAME),
        (harness_line(resps=[[None]]), NAME),
        (harness_line(doc=None, resps=None), "no puzzle named: there is no response"),
        (gemini_line({"inlineData": {}}), NAME),
        (gemini_line(reason="OTHER"), NAME),
        ({"key": NAME, "error": {"code": 429}}, NAME),
    ],
)
def test_a_record_without_a_text_is_a_failed_request(record, named):
    """An error is not an empty answer, which would count as wrong; its puzzle is named where it is known."""
    ((reason, detail),) = adapt_record(record)
    assert (reason, named in detail) == ("failed request", True)


def test_a_sample_log_is_read_once_for_each_document(tmp_path):
    """The harness repeats every sample for each of its filters; the response is the same one."""
    lines = [harness_line(filter=word, doc_id=number) for word in ("strict", "flexible") for number in (1, 2)]
    path = tmp_path / "samples_cogniload_2025-06-01T10-20-30.123456.jsonl"
    path.write_text("\n".join([*map(json.dumps, lines), "{"]))
    found, refused = read(path)
    assert [row["response"] for row in found] == ["Thinking. Sue wears red."] * 2
    assert [refusal[:2] for refusal in refused] == [(5, "malformed row")]


def test_the_results_beside_a_sample_log_name_the_model(tmp_path):
    """Those of the same run, whatever else lies there; a path of another machine is cut to its last part."""
    samples = tmp_path / "samples_a_b_2025-06-01T10-20-30.123456.jsonl"
    assert find_origin(samples).model is None
    (tmp_path / "results_2025-06-02T10-20-30.123456.json").write_text('{"model_name": "other"}')
    results = tmp_path / "results_2025-06-01T10-20-30.123456.json"
    for content, model in [
        ("{", None),
        ("[]", None),
        ('{"model_name": "Qwen/QwQ-32B"}', "Qwen/QwQ-32B"),
        ('{"model_name": "/scratch/me/step_100"}', "step_100"),
    ]:
        results.write_text(content)
        assert find_origin(samples).model == model


def test_requests_beside_a_batch_tell_how_it_was_asked(tmp_path):
    """Its results do not; requests that differ say nothing, and are themselves no rows."""
    body = {"model": "gpt-5", "reasoning_effort": "medium", "temperature": 1, "max_completion_tokens": 31_000}
    request = {"custom_id": NAME, "method": "POST", "url": "/v1/chat/completions", "body": body}
    (tmp_path / "requests-1.jsonl").write_text(json.dumps(request))
    (tmp_path / "output.jsonl").write_text(json.dumps(batch_line()))
    assert read(tmp_path / "requests-1.jsonl") == ([], [])
    columns = ["effort", "temperature", "max_tokens"]
    found = read(tmp_path / "output.jsonl", columns)[0]
    assert found == [{"effort": "medium", "temperature": 1, "max_tokens": 31_000}]
    (tmp_path / "requests-2.jsonl").write_text(json.dumps(request | {"body": body | {"temperature": 0}}))
    assert read(tmp_path / "output.jsonl", columns)[0] == [{}]


SEEDS = [batch_line(), harness_line(), gemini_line({"text": "red"}), INLINED,
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


def write_log(path, samples, **options):
    """Write a log in the form that the name's ending says."""
    return write_json(path, samples) if path.suffix == ".json" else write_archive(path, samples, **options)


@pytest.mark.parametrize(("ending", "options"), [("eval", {}), ("eval", {"zstandard": False}), ("json", {})])
def test_a_log_is_read(tmp_path, ending, options):
    """Both forms of a log, deflated as older ones or not, give model, puzzle, response and token counts."""
    path = write_log(tmp_path / f"run.{ending}", [make_sample(name) for name in (NAME, OTHER)], **options)
    if ending == "eval":
        with zipfile.ZipFile(path) as archive:
            assert {info.compress_type for info in archive.infolist()} == {8 if options else 93}
    row = {"model": "openai/gpt-5-2025-08-07", "response": "Sue wears red.", "prompt_tokens": 500,
           "response_tokens": 900, "stopped": "stop"}  # fmt: skip
    assert read(path) == ([row | {"name": name} for name in (NAME, OTHER)], [])


def test_a_bad_sample_is_refused_and_the_others_read(tmp_path):
    """An error of the evaluation, no answer, changed bytes, no JSON: each with its number and reason."""
    failed = [
        make_sample("20_1_1_2_red", error={"message": "RateLimitError()", "traceback": ""}),
        make_sample("20_1_1_1_red", output={"choices": []}),
    ]
    path = write_archive(tmp_path / "run.eval", [make_sample(NAME), make_sample(OTHER), *failed])
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo(f"samples/{NAME}_epoch_1.json").header_offset
    content = bytearray(path.read_bytes())
    content[start + 120] ^= 255
    path.write_bytes(content)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("samples/x_epoch_1.json", "{")
    found, refused = read(path)
    assert [row["name"] for row in found] == [OTHER]
    reasons = {1: "unreadable file", 3: "failed request", 4: "failed request", 5: "malformed row"}
    assert [refusal[:2] for refusal in refused] == list(reasons.items())
    assert "RateLimitError" in refused[1][2]


def test_an_archive_is_read_in_bounded_memory(tmp_path, monkeypatch):
    """All samples together are bounded; of one the size in the directory is looked at, and not believed afterwards."""
    path = write_archive(tmp_path / "run.eval", [make_sample(identifier=n, content="a" * 90_000) for n in range(30)])
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.001")
    found, refused = read(path)
    assert 0 < len(found) < 30
    assert refused[-1][:2] == (0, "unreadable file")
    assert "unpacks to more than 0.001 GB" in refused[-1][2]
    path = write_archive(path, [make_sample()])
    monkeypatch.setattr(adapters, "ROW_BYTES", 700)
    found, refused = read(path)
    assert (found, [refusal[:2] for refusal in refused]) == ([], [(1, "unreadable file")])


def test_an_interrupted_log_gives_what_it_has(tmp_path):
    """Without a header the journal names the model."""
    path = tmp_path / "run.eval"
    with zipfile.ZipFile(path, "w") as archive:
        journal = {key: value for key, value in make_header("mockllm/model").items() if key != "status"}
        archive.writestr("_journal/start.json", json.dumps(journal))
        archive.writestr("samples/1.json", json.dumps(make_sample()))
    (row,), ((number, reason, detail),) = read(path)
    assert (row["model"], number, reason) == ("mockllm/model", 0, "unfinished log")
    assert "eval-retry" in detail


def test_other_json_and_zip_files_are_no_logs(tmp_path):
    """JSON that is no log is not read; a log without its end is unreadable."""
    (tmp_path / "run.json").write_text('{"results": {}, "version": 2}')
    assert [refusal[:2] for refusal in read(tmp_path / "run.json")[1]] == [(0, "not read")]
    with zipfile.ZipFile(tmp_path / "run.eval", "w") as archive:
        archive.writestr("notes.txt", "")
    for name in ("run.eval", "cut.eval", "cut.json"):
        if name.startswith("cut"):
            path = write_log(tmp_path / name, [make_sample()])
            path.write_bytes(path.read_bytes()[:-40])
        found, refused = read(tmp_path / name)
        assert (found, [refusal[:2] for refusal in refused]) == ([], [(0, "unreadable file")])


def test_a_long_log_in_json_is_refused_before_it_is_read(tmp_path, monkeypatch):
    """It is read whole; the sentence names the form that is read sample by sample."""
    write_json(tmp_path / "run.json", [make_sample()])
    monkeypatch.setattr(adapters, "LOG_BYTES", 100)
    ((_, reason, detail),) = read(tmp_path / "run.json")[1]
    assert (reason, "convert a log to .eval" in detail) == ("unreadable file", True)


def test_a_run_that_was_taken_up_again_has_each_sample_once(tmp_path):
    """The archive keeps what the first attempt left under the same name; the later one counts."""
    path = write_archive(tmp_path / "run.eval", [make_sample(NAME, error={"message": "Cancelled"})])
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr(f"samples/{NAME}_epoch_1.json", json.dumps(make_sample(NAME)))
    found, refused = read(path)
    assert ([row["name"] for row in found], refused) == ([NAME], [])
