"""Files of outputs, row by row, and records of other programs."""

import json
import random
import zipfile
import zlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_log import make_header, make_sample, write_archive
from packing import write_packed

from cogniload_repro.outputs import readers
from cogniload_repro.outputs.readers import adapt_record, read_table
from cogniload_repro.schemas import OUTPUTS

COLUMNS = ["model", "name", "response", "prompt_tokens", "response_tokens"]
ROW = dict(zip(COLUMNS, ("m", "n", 'Sue, "red"\r\nhair → é\x00', "7", ""), strict=True))


def rows(path):
    """Rows and fields of a file that has no refused row."""
    entries = list(read_table(path, COLUMNS))
    assert all(entry.refusal is None for entry in entries)
    return [entry.fields for entry in entries]


def refusals(path):
    """Row and reason of every refused row."""
    return [(entry.row, entry.refusal[0]) for entry in read_table(path, COLUMNS) if entry.refusal]


LINES = json.dumps({**ROW, "score": 1}) + "\n\n" + json.dumps(ROW)
CSV = (
    "name,response,model,prompt_tokens,response_tokens,x\r\n"
    + 2 * 'n,"Sue, ""red""\r\nhair → é\x00",m,7,,1\r\n'
)


@pytest.mark.parametrize(
    ("ending", "content"), [("jsonl", LINES), ("jsonl.gz", LINES), ("csv", CSV)]
)
def test_text_comes_through_as_it_is(tmp_path, ending, content):
    """Compressed or not, with quoted line ends; blank lines and other fields are left out."""
    path = write_packed(tmp_path / f"o.{ending}", b"\xef\xbb\xbf" + content.encode())
    assert rows(path) == [ROW, ROW]


def test_a_header_that_names_a_column_twice_is_refused(tmp_path):
    """Which of two responses is meant nobody knows; other columns may come as often as they like."""
    twice = pa.table([["a"], ["b"], ["c"]], names=["name", "response", "response"])
    pq.write_table(twice, tmp_path / "o.parquet")
    (entry,) = read_table(tmp_path / "o.parquet", COLUMNS)
    assert "the file has the column response twice" in entry.refusal[1]
    assert refusals(
        write_packed(tmp_path / "o.csv", b"model,name,response,response\na,b,c,d\n")
    ) == [(0, "unreadable file")]
    assert refusals(write_packed(tmp_path / "o.csv", b"model,na\rme\n")) == [(0, "unreadable file")]
    assert refusals(write_packed(tmp_path / "p.csv", b"model,name,response,x,x\na,b,c,1,2\n")) == []


def test_bad_csv_rows_do_not_stop_the_others(tmp_path):
    """A row with too many or too few fields is refused, odd bytes stay recognisable, blank lines do not count."""
    path = write_packed(
        tmp_path / "o.csv", b'model,name,response\na,b,c,d\na,b\n\na,b,\xff\na,b,"c\n'
    )
    assert refusals(path) == [(1, "malformed row"), (2, "malformed row"), (4, "malformed row")]
    good = [entry.fields["response"] for entry in read_table(path, COLUMNS) if not entry.refusal]
    assert good == ["\udcff"]


@pytest.mark.parametrize(
    "header", ["model,name,response", "name,response,model", "response,model,name,x"]
)
@pytest.mark.parametrize("last", [9, 12])
def test_a_stray_quote_swallows_no_rows(tmp_path, header, last):
    """A field that holds other rows of the table is refused with the first and the last line; the others are read."""
    fields = [{"model": "m", "name": f"20_1_1_{100_000 + row}_red", "response": f"So red {row}", "x": "1"}
              for row in range(1, 13)]  # fmt: skip
    fields[2]["response"], fields[last - 1]["response"] = (
        '"So red 3',
        f'So red {last}"' if last < 12 else "So red",
    )
    lines = [",".join(row[name] for name in header.split(",")) for row in fields]
    path = write_packed(tmp_path / "o.csv", "\n".join([header, *lines]).encode() + b"\n")
    entries = list(read_table(path, COLUMNS))
    (refused,) = (entry for entry in entries if entry.refusal)
    assert refused.refusal[0] == "malformed row"
    assert refused.refusal[1].startswith(f"lines 4 to {last + 1}: ")
    taken = [entry.fields["response"] for entry in entries if not entry.refusal]
    assert taken == [f"So red {row}" for row in (1, 2, *range(last + 1, 13))]


def test_quoted_lines_that_are_no_rows_are_kept(tmp_path):
    """Answers of many lines, tables in them, and a puzzle's name alone on a line are a response."""
    answer = "Sue, red\na | b\n1,2,3\n20_1_1_770487_red\n"
    path = write_packed(tmp_path / "o.csv", f'model,name,response\nm,n,"{answer}"\n'.encode())
    assert [row["response"] for row in rows(path)] == [answer]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_a_line_without_an_end_is_passed_over(tmp_path, monkeypatch, ending):
    """A row longer than any response is refused without being held in memory; its neighbours are read."""
    monkeypatch.setattr("cogniload_repro.records.ROW_BYTES", 1000)
    good = json.dumps(ROW).encode()
    path = write_packed(
        tmp_path / f"o.{ending}",
        b"\n".join([good, b"a" * 5_000_000, good, b"[" + b" " * 998, good]),
    )
    assert refusals(path) == [(2, "malformed row"), (4, "malformed row")]
    assert len([entry for entry in read_table(path, COLUMNS) if not entry.refusal]) == 3


def test_a_key_that_comes_twice_is_malformed(tmp_path):
    """Which of two responses is meant nobody knows."""
    content = json.dumps(ROW) + '\n{"response": "a", "response": "b"}'
    *_, last = read_table(write_packed(tmp_path / "o.jsonl", content.encode()), COLUMNS)
    assert (last.row, "the key 'response' comes twice" in last.refusal[1]) == (2, True)


@pytest.mark.parametrize("ending", ["jsonl.gz", "csv.gz"])
def test_a_table_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch, ending):
    """A small file does not keep the reader busy for ever; the rows before the limit are read."""
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.0001")
    path = write_packed(
        tmp_path / f"o.{ending}",
        b"model,name,response\n" + json.dumps(ROW).encode() + b"\n" * 120_000,
    )
    *_, last = read_table(path, COLUMNS)
    assert (last.row, last.refusal[0]) == (0, "unreadable file")
    assert (
        f"o.{ending} has more than 0.0001 GB; if that is right, set COGNILOAD_MAX_UNPACKED_GB to more"
        in last.refusal[1]
    )
    monkeypatch.delenv("COGNILOAD_MAX_UNPACKED_GB")
    assert "unreadable file" not in [reason for _, reason in refusals(path)]


@pytest.mark.parametrize(
    ("name", "content"), [("a.jsonl.gz", b"{}"), ("a.csv.gz", b""), ("a.parquet", b"")]
)
def test_a_damaged_or_empty_file_is_named_or_has_no_rows(tmp_path, name, content):
    """Bytes that are not compressed, and no bytes at all."""
    (tmp_path / name).write_bytes(content)
    assert refusals(tmp_path / name) == (
        [] if name.startswith("a.csv") else [(0, "unreadable file")]
    )


def test_parquet_with_damage_inside_is_read_around_it(tmp_path):
    """A text that is no UTF-8 is refused by its row, a damaged page ends the file; nothing is raised."""
    path = tmp_path / "o.parquet"
    raw = pa.array([b"a", b"\xff", b"c"], pa.binary())
    pq.write_table(
        pa.table({"response": pa.Array.from_buffers(pa.string(), 3, raw.buffers())}), path
    )
    assert refusals(path) == [(2, "not UTF-8")]
    table = pa.table({"response": [random.Random(i).randbytes(50).hex() for i in range(20_000)]})
    pq.write_table(table, path, compression="zstd", use_dictionary=False, data_page_size=10_000)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 5000] = bytes(5000)
    path.write_bytes(content)
    assert refusals(path) == [(0, "unreadable file")]


def test_parquet_of_every_shape_is_read(tmp_path):
    """Row groups, columns without values, other columns, large and shared texts, and no rows at all do not matter."""
    table = pa.table({"response": ["a", None, "c"] * 50, "name": pa.nulls(150, pa.string()), "other": [["x"]] * 150,
                      "prompt_tokens": [1, None, 2] * 50})  # fmt: skip
    large = table.set_column(0, "response", table["response"].cast(pa.large_string()))
    shared = table.set_column(0, "response", table["response"].dictionary_encode())
    for one, texts in ((table, 150), (large, 150), (shared, 150), (table.slice(0, 0), 0)):
        pq.write_table(one, tmp_path / "o.parquet", row_group_size=40)
        assert [row["response"] for row in rows(tmp_path / "o.parquet")] == (["a", None, "c"] * 50)[
            :texts
        ]


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
    line = batch_line(
        output=items, usage={"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}, **body
    )
    del line["response"]["body"]["choices"]
    return line


def harness_line(**fields):
    """A line of a sample log, as `--log_samples` writes it for a generation task."""
    return {
        "doc_id": 3,
        "doc": {"name": NAME, "text": "Solve this logic puzzle.", "gold": "red"},
        "target": "red",
        "arguments": {
            "gen_args_0": {
                "arg_0": "Solve this logic puzzle.",
                "arg_1": {"until": [], "do_sample": False},
            }
        },
        "resps": [["Thinking. Sue wears red."]],
        "filtered_resps": ["red"],
        "filter": "none",
        "metrics": ["exact_match"],
        "exact_match": 1.0,
        **fields,
    }


def message_line(*parts, **fields):
    """A line of the results of a batch of Anthropic's."""
    usage = {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 9}
    message = {
        "model": "claude-x",
        "content": list(parts),
        "stop_reason": "end_turn",
        "usage": usage,
    }
    return {"custom_id": NAME, "result": {"type": "succeeded", "message": message} | fields}


def gemini_line(*parts, key=f"gemini-2.5-pro/{NAME}", reason="STOP", **fields):
    """A line of the results of a batch of Gemini's."""
    candidate = {
        "content": {"parts": list(parts), "role": "model"},
        "finishReason": reason,
        "index": 0,
    }
    usage = {
        "promptTokenCount": 812,
        "candidatesTokenCount": 30,
        "thoughtsTokenCount": 4000,
        "totalTokenCount": 4842,
    }
    response = {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": "gemini-2.5-pro-001",
    }
    return {"key": key, "response": response} | fields


def read(path, columns=OUTPUTS.names):
    """The rows of a file, and the refusals with their row."""
    entries = list(read_table(path, columns))
    return [e.fields for e in entries if e.fields is not None], [
        (e.row, *e.refusal) for e in entries if e.refusal
    ]


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
         {"response": BLUE, "prompt_tokens": 5, "response_tokens": 7, "stopped": "completed",
          "max_tokens": 9_000}),
        (responses_line([{"type": "reasoning", "summary": [{"text": "Red"}]}], status="incomplete",
                        incomplete_details={"reason": "max_output_tokens"}),
         {"response": "<think>\nRed", "stopped": "max_output_tokens"}),
        # the harness logs no tokens
        (harness_line(), {"model": "m", "name": NAME, "response": "Thinking. Sue wears red.", "stopped": None}),
        (harness_line(doc={"question": "Solve this logic puzzle.", "gold": "red", "total": 20}), {"name": None}),
        (harness_line(arguments={"gen_args_0": {"arg_1": {"max_gen_toks": 4096}}}), {"max_tokens": 4096}),
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
        (make_sample(1), {"name": None}),
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
    found = adapt_record(
        batch_line(choices=[{"message": {"content": text}} for text in ("red", "blue")])
    )
    assert [(row["response"], row["response_tokens"]) for row in found] == [
        ("red", None),
        ("blue", None),
    ]


@pytest.mark.parametrize(
    ("record", "named"),
    [
        (batch_line() | {"response": None, "error": {"code": "batch_expired"}}, NAME),
        (batch_line() | {"response": batch_line()["response"] | {"status_code": 429}}, NAME),
        (batch_line() | {"response": {"status_code": 200, "body": {}}}, NAME),
        (batch_line(f"m/{NAME}", choices=[]), NAME),
        (choose("x"), NAME),
        (choose({"content": None}, finish_reason="tool_calls"), NAME),
        ({"custom_id": NAME, "result": {"type": "errored", "error": {"type": "x"}}}, NAME),
        (harness_line(resps=[[None]]), NAME),
        (harness_line(doc=None, resps=None), "no puzzle named: there is no text"),
        (gemini_line(reason="OTHER"), NAME),
        ({"key": NAME, "error": {"code": 429}}, NAME),
    ],
)
def test_a_record_without_a_text_is_a_failed_request(record, named):
    """An error is not an empty answer, which would count as wrong; its puzzle is named where it is known."""
    ((reason, detail),) = adapt_record(record)
    assert (reason, named in detail) == ("failed request", True)


def test_a_sample_log_is_read_once_for_each_document(tmp_path):
    """The harness repeats every sample for each of its filters; one that is there under another alone is not lost."""
    lines = [
        harness_line(filter=word, doc_id=number)
        for word in ("strict", "flexible")
        for number in (1, 2)
    ]
    lines[3] |= {"doc_id": 3}
    path = tmp_path / "samples_cogniload_2025-06-01T10-20-30.123456.jsonl"
    path.write_text("\n".join([*map(json.dumps, lines), "{"]))
    found, refused = read(path)
    assert [row["response"] for row in found] == ["Thinking. Sue wears red."] * 3
    assert [refusal[:2] for refusal in refused] == [(5, "malformed row")]


def test_the_results_beside_a_sample_log_name_the_model(tmp_path):
    """Those of the same run, whatever else lies there; a path of another machine is cut to its last part."""
    samples = tmp_path / "samples_a_b_2025-06-01T10-20-30.123456.jsonl"
    samples.write_text(json.dumps(harness_line()))
    (tmp_path / "results_2025-06-02T10-20-30.123456.json").write_text('{"model_name": "other"}')
    results = tmp_path / "results_2025-06-01T10-20-30.123456.json"
    for content, model in [
        ("{", None),
        ("[]", None),
        ('{"model_name": "Qwen/QwQ-32B"}', "Qwen/QwQ-32B"),
        ('{"model_name": "/scratch/me/step_100"}', "step_100"),
    ]:
        results.write_text(content)
        assert [row["model"] for row in read(samples)[0]] == [model]


SEEDS = [batch_line(), harness_line(), gemini_line({"text": "red"}), INLINED,
         {"custom_id": NAME, "result": {"message": {"content": [{"type": "text", "text": "red"}], "usage": {}}}},
         {"custom_id": NAME, "response": {"body": {"output": [{"type": "message", "content": [{}]}]}}},
         {"id": NAME, "epoch": 1, "metadata": {}, "input": [{"role": "user"}], "model_fallbacks": [{}],
          "output": {"choices": [{"message": {"content": [{}]}}], "usage": {}}}]  # fmt: skip
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["text", "stop"]),
    lambda value: (
        st.lists(value, max_size=2)
        | st.dictionaries(st.sampled_from(["text", "type"]), value, max_size=2)
    ),
    max_leaves=4,
)


@given(st.sampled_from(SEEDS), st.data())
def test_no_record_ends_an_import(seed, data):
    """Whatever stands in any of its places, a record is rows or refusals."""
    node = record = json.loads(json.dumps(seed))
    while isinstance(node, dict | list) and node:
        parent, key = (
            node,
            data.draw(
                st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node)))
            ),
        )
        node = parent[key] if data.draw(st.integers(0, 3)) else None
    parent[key] = data.draw(JSON)
    for row in adapt_record(record, "m"):
        assert isinstance(row, dict) or all(isinstance(word, str) for word in row)


@pytest.mark.parametrize("zstandard", [True, False])
def test_a_log_is_read(tmp_path, zstandard):
    """Deflated as older ones or not, it gives model, puzzle, response and token counts."""
    path = write_archive(
        tmp_path / "run.eval", [make_sample(name) for name in (NAME, OTHER)], zstandard=zstandard
    )
    with zipfile.ZipFile(path) as archive:
        assert {info.compress_type for info in archive.infolist()} == {93 if zstandard else 8}
    row = {"model": "openai/gpt-5-2025-08-07", "response": "Sue wears red.", "prompt_tokens": 500,
           "response_tokens": 900, "stopped": "stop"}  # fmt: skip
    assert read(path) == ([row | {"name": name} for name in (NAME, OTHER)], [])
    if zstandard:
        digits = zlib.crc32(json.dumps(make_sample(NAME)).encode()).to_bytes(4, "little")
        path.write_bytes(path.read_bytes().replace(digits, bytes(4)))
        assert [refusal[:2] for refusal in read(path)[1]] == [(1, "unreadable file")]


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
    path = write_archive(
        tmp_path / "run.eval", [make_sample(identifier=n, content="a" * 90_000) for n in range(30)]
    )
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.001")
    ((row, reason, detail),) = read(path)[1]
    assert (row, reason, "has more than 0.001 GB" in detail) == (0, "unreadable file", True)
    monkeypatch.delenv("COGNILOAD_MAX_UNPACKED_GB")
    path = write_archive(path, [make_sample()])
    monkeypatch.setattr(readers, "ROW_BYTES", 700)
    found, refused = read(path)
    assert (found, [refusal[:2] for refusal in refused]) == ([], [(1, "unreadable file")])


def test_an_interrupted_log_gives_what_it_has(tmp_path):
    """Without a header the journal names the model."""
    path = tmp_path / "run.eval"
    with zipfile.ZipFile(path, "w") as archive:
        journal = {
            key: value for key, value in make_header("mockllm/model").items() if key != "status"
        }
        archive.writestr("_journal/start.json", json.dumps(journal))
        archive.writestr("samples/1.json", json.dumps(make_sample()))
    (row,), ((number, reason, detail),) = read(path)
    assert (row["model"], number, reason) == ("mockllm/model", 0, "unfinished log")
    assert "eval-retry" in detail


def test_other_zip_files_are_no_logs(tmp_path):
    """A log without its end is unreadable."""
    with zipfile.ZipFile(tmp_path / "run.eval", "w") as archive:
        archive.writestr("header.json", "{}")
    content = write_archive(tmp_path / "whole.eval", [make_sample()]).read_bytes()
    (tmp_path / "cut.eval").write_bytes(content[:-40])
    for name in ("run.eval", "cut.eval"):
        found, refused = read(tmp_path / name)
        assert (found, [refusal[:2] for refusal in refused]) == ([], [(0, "unreadable file")])


def test_a_run_that_was_taken_up_again_has_each_sample_once(tmp_path):
    """The archive keeps what the first attempt left under the same name; the later one counts."""
    path = write_archive(tmp_path / "run.eval", [make_sample(NAME, error={"message": "Cancelled"})])
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr(f"samples/{NAME}_epoch_1.json", json.dumps(make_sample(NAME)))
    found, refused = read(path)
    assert ([row["name"] for row in found], refused) == ([NAME], [])
