"""What is true of an answer is true in the files of every program: a test per kind of fault."""

import gzip
import json
from collections import Counter

import pytest
from harness import check_source, read_source, run, write_lines
from inspect_log import make_header, write_archive
from program_files import (
    FORMATS,
    NAMES,
    Answer,
    anthropic_line,
    chat_line,
    completion_line,
    gemini_line,
    harness_sample,
    inspect_sample,
    responses_line,
    table_row,
    write_answers,
)

from cogniload_repro.endings import MARKS, take_answer
from cogniload_repro.outputs.check import format_check
from cogniload_repro.outputs.responses import REASONING
from cogniload_repro.puzzles.generate import draw_puzzle

RED, PURPLE = NAMES
TABLES = ["JSONL", "CSV", "Parquet"]
GOOD = Answer(PURPLE)


def read(path):
    """Responses by name, and reasons of rejected rows by their detail."""
    outputs, rejected = read_source(path)
    reasons = {row.detail: row.reason for row in rejected}
    return {output.name: output for output in outputs}, reasons


@pytest.mark.parametrize("kind", FORMATS)
def test_an_answer_is_read_from_every_format(tmp_path, kind):
    """Model, puzzle and text are those of the answer."""
    outputs, rejected = read(write_answers(tmp_path, kind, Answer(), GOOD))
    assert rejected == {}
    facts = {name: (output.model, output.response) for name, output in outputs.items()}
    assert facts == dict.fromkeys(NAMES, ("m", "Sue wears red."))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("stop", ["stop", "length", "error", None])
def test_an_answer_without_text_counts_only_if_the_model_ended_it_or_a_limit_did(
    tmp_path, kind, stop
):
    """It is a wrong, empty answer then, and else a failed request; the harness keeps no reasons."""
    text = "" if kind in ("completions", "harness") else None
    outputs, rejected = read(
        write_answers(tmp_path, kind, Answer(text=text, stop=stop), GOOD)
    )
    if stop in ("stop", "length") and kind != "harness":
        assert (outputs[RED].response, rejected) == ("", {})
    else:
        assert list(outputs) == [PURPLE]
        assert set(rejected.values()) == {"failed request"}


BODY = ("response", "body")
MESSAGE = (*BODY, "choices", 0, "message")
PARTS = ("response", "candidates", 0, "content", "parts")


def change(record, path, value):
    """A record with another value at a path."""
    record = json.loads(json.dumps(record))
    parent = record
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    return record


SUE = "Sue wears red."
CODE = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "red"}}
TOOL = {"type": "tool_use", "id": "t", "name": "answer", "input": {"hair": "red"}}
CALL = {"type": "function_call", "name": "answer", "arguments": '{"hair":"red"}'}
ELSEWHERE = {
    "message as a string": change(chat_line(Answer()), MESSAGE, SUE),
    "tool call": change(chat_line(Answer(text=None)), (*MESSAGE, "tool_calls"), [CALL]),
    "unknown key": change(chat_line(Answer(text="")), (*MESSAGE, "output_text"), "red"),
    "delta": change(
        chat_line(Answer()), (*BODY, "choices"), [{"delta": {"content": SUE}}]
    ),
    "beside the message": change(
        chat_line(Answer(text=None)), (*BODY, "choices", 0, "text"), SUE
    ),
    "beside the choices": change(
        chat_line(Answer(text="")), (*BODY, "output_text"), SUE
    ),
    "unknown body": change(
        chat_line(Answer()), BODY, {"id": "x", "data": [{"embedding": [1]}]}
    ),
    "output as a string": change(responses_line(Answer()), (*BODY, "output"), SUE),
    "function call": change(responses_line(Answer()), (*BODY, "output"), [CALL]),
    "tool use": change(
        anthropic_line(Answer()), ("result", "message", "content"), [TOOL]
    ),
    "code": change(gemini_line(Answer()), PARTS, [CODE]),
    "image": change(gemini_line(Answer()), PARTS, [{"inlineData": {"data": "x"}}]),
    "candidate's output": change(
        gemini_line(Answer()), PARTS[:-2], {"output": SUE, "finishReason": "STOP"}
    ),
    "harness": change(
        harness_sample(Answer()), ("resps",), [[{"generated_text": SUE}]]
    ),
} | {
    f"column {name}": table_row(Answer(text=text)) | {name: SUE}
    for name, text in (("completion", ""), ("generated_text", None), ("answer", ""))
}


PLACES = {
    "line": (chat_line, ()),
    "body": (chat_line, BODY),
    "choice": (chat_line, MESSAGE[:-1]),
    "message": (chat_line, MESSAGE),
    "completion": (completion_line, MESSAGE[:-1]),
    "item": (responses_line, (*BODY, "output", 1)),
    "reasoning item": (responses_line, (*BODY, "output", 0)),
    "Anthropic's message": (anthropic_line, ("result", "message")),
    "Anthropic's part": (anthropic_line, ("result", "message", "content", 0)),
    "Gemini's part": (gemini_line, (*PARTS, 0)),
    "Inspect's output": (inspect_sample, ("output",)),
    "Inspect's message": (inspect_sample, ("output", "choices", 0, "message")),
    "row": (table_row, ()),
    "CSV": (table_row, ()),
    "Parquet": (table_row, ()),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", [SUE, "Red.", [{"a": [{"b": "red"}]}]])
def test_no_key_beside_an_empty_text_hides_an_answer(tmp_path, place, text):
    """Whatever its name, for a text of several words, or a value that a puzzle asks for."""
    maker, path = PLACES[place]
    for key in ("delta", "value", "messages"):
        record = maker(Answer(text="", stop="length"))
        record = change(record, (*path, key), text)
        file = tmp_path / "o"
        if maker is inspect_sample:
            write_archive(file.with_suffix(".eval"), [record], make_header("m"))
        elif place in TABLES:
            FORMATS[place].write(tmp_path / FORMATS[place].file, [record])
        else:
            write_lines(file.with_suffix(".jsonl"), [record])
        outputs, rejected = read(tmp_path)
        assert (outputs, list(rejected.values())) == ({}, ["unknown shape"]), key


def test_all_that_a_provider_sends_with_an_empty_answer_hides_none(tmp_path):
    """The keys of OpenAI's Responses, with their words; a conversation before the answer."""
    body = {
        "object": "response",
        "service_tier": "default",
        "instructions": "Be brief and kind.",
        "reasoning": {"effort": "high", "summary": "detailed"},
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "truncation": "disabled",
        "billing": {"payer": "developer"},
    }
    line = responses_line(Answer(text="", stop="length"))
    line["response"]["body"] |= body
    row = table_row(Answer(PURPLE, text="", stop="length"))
    row |= {
        "host": "gpu-1",
        "messages": [{"role": "user", "content": SUE}],
        "seen at": "2026-01-01 10:00:00",
    }
    outputs, rejected = read(write_lines(tmp_path / "o.jsonl", [line, row]))
    assert (sorted(outputs), rejected) == (sorted(NAMES), {})


@pytest.mark.parametrize("case", ELSEWHERE)
def test_an_answer_that_stands_elsewhere_is_never_an_empty_answer(tmp_path, case):
    """A record whose shape is not known is rejected with that reason."""
    path = write_lines(tmp_path / "o.jsonl", [ELSEWHERE[case]])
    outputs, rejected = read(path)
    assert (outputs, list(rejected.values())) == ({}, ["unknown shape"])


def test_what_programs_put_beside_an_empty_answer_is_no_text(tmp_path):
    """Other columns, prompts and gold answers among them, leave the response empty."""
    row = table_row(Answer(PURPLE, text="", stop="length"))
    row |= {
        "prompt_text": SUE,
        "text": SUE,
        "gold_answer": SUE,
        "generated_at": "1 May",
    }
    ((output,), _) = read_source(write_lines(tmp_path / "row.jsonl", [row]))
    assert output.response == ""
    line = chat_line(Answer(text="", stop="length"))
    choice = line["response"]["body"]["choices"][0]
    choice["message"] |= {"provider_specific_fields": {"refusal": None}, "name": "m"}
    choice |= {"prompt_token_ids": [1, 2]}
    choice |= {
        "content_filter_results": {"hate": {"filtered": False}},
        "matched_stop": "</s>",
    }
    choice |= {"native_finish_reason": "max tokens", "logprobs": {"content": [1]}}
    outputs, rejected = read(write_lines(tmp_path / "o.jsonl", [line]))
    assert (outputs[RED].response, rejected) == ("", {})


THOUGHT = "Raymond is wearing red underwear."
SHAPES = {
    "text": THOUGHT,
    "part": [{"type": "reasoning.text", "text": THOUGHT, "index": 0}],
    "summary": [{"type": "reasoning.summary", "summary": THOUGHT}],
    "block": [{"type": "thinking", "thinking": THOUGHT, "signature": "Eq"}],
    "nested": [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}],
    "object": {"text": THOUGHT},
}


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind != "harness"])
def test_reasoning_stands_before_the_answer_in_every_format(tmp_path, kind):
    """The paper scores both; cut off within its reasoning, a response stays open."""
    cut = Answer(PURPLE, text=None, stop="length", reasoning=THOUGHT)
    outputs, rejected = read(
        write_answers(tmp_path, kind, Answer(reasoning=THOUGHT), cut)
    )
    assert rejected == {}
    assert outputs[RED].response == f"<think>\n{THOUGHT}\n</think>\n\nSue wears red."
    assert outputs[PURPLE].response == f"<think>\n{THOUGHT}"


@pytest.mark.parametrize("key", REASONING)
@pytest.mark.parametrize("shape", SHAPES)
def test_reasoning_is_read_from_every_known_place(tmp_path, key, shape):
    """As a key of a message, beside a completion, as a column; as a text, parts or nested parts."""
    row = table_row(Answer()) | {"model": "table", key: SHAPES[shape]}
    chat = change(chat_line(Answer()), (*MESSAGE, key), SHAPES[shape])
    completion = change(
        chat_line(Answer()), (*BODY, "choices"), [{"text": SUE, key: SHAPES[shape]}]
    )
    completion["response"]["body"]["model"] = "completion"
    path = write_lines(tmp_path / "o.jsonl", [row, chat, completion])
    items, _ = read_source(path)
    expected = f"<think>\n{THOUGHT}\n</think>\n\n{SUE}"
    assert [(item.model, item.response) for item in items] == [
        (model, expected) for model in ("table", "m", "completion")
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_reasoning_among_the_parts_of_a_content_is_read(tmp_path, shape):
    """Mistral's chunks and their like."""
    parts = SHAPES[shape] if isinstance(SHAPES[shape], list) else []
    parts = parts or [{"type": "thinking", "thinking": SHAPES[shape]}]
    line = change(
        chat_line(Answer()),
        (*MESSAGE, "content"),
        [*parts, {"type": "text", "text": SUE}],
    )
    ((output,), _) = read_source(write_lines(tmp_path / "o.jsonl", [line]))
    assert output.response == f"<think>\n{THOUGHT}\n</think>\n\n{SUE}"


HIDDEN = [
    [{"type": "reasoning.encrypted", "data": "eNrT0 and more"}],
    [{"type": "redacted_thinking", "data": "eNrT0 and more"}],
    {"effort": "high"},
]


@pytest.mark.parametrize("hidden", HIDDEN)
def test_encrypted_reasoning_is_neither_text_nor_a_reason_to_reject(tmp_path, hidden):
    """An answer that spent its budget on it is empty."""
    line = change(
        chat_line(Answer(text=None, stop="length")),
        (*MESSAGE, "reasoning_details"),
        hidden,
    )
    if hidden == {"effort": "high"}:
        line = change(line, (*MESSAGE, "content"), SUE)
    ((output,), _) = read_source(write_lines(tmp_path / "o.jsonl", [line]))
    assert output.response == ("" if isinstance(hidden, list) else SUE)
    assert output.remarks == ()


UNREAD = {
    "column": table_row(Answer()) | {"my_thoughts": THOUGHT},
    "column in capitals": table_row(Answer()) | {"Reasoning_Trace": THOUGHT},
    "analysis": change(gemini_line(Answer()), (*PARTS[:-2], "analysis"), THOUGHT),
    "beside the choices": change(
        chat_line(Answer()), (*BODY, "thinking_trace"), THOUGHT
    ),
    "key": change(chat_line(Answer()), (*MESSAGE, "inner_monologue"), THOUGHT),
    "known key": change(
        chat_line(Answer()), (*MESSAGE, "reasoning"), {"steps": [THOUGHT]}
    ),
    "part": change(
        chat_line(Answer()),
        (*MESSAGE, "content"),
        [{"type": "thinking_log", "log": THOUGHT}, {"type": "text", "text": SUE}],
    ),
    "Bedrock": change(
        chat_line(Answer()),
        (*MESSAGE, "content"),
        [{"reasoningContent": {"reasoningText": {"text": THOUGHT}}}, {"text": SUE}],
    ),
}


@pytest.mark.parametrize("case", UNREAD)
def test_what_looks_like_reasoning_and_is_not_read_is_named(tmp_path, case):
    """The answer counts, and `check` says under which name more of it may stand."""
    path = write_lines(tmp_path / "o.jsonl", [UNREAD[case]])
    frame, report = check_source(path)
    assert frame["responses"].tolist() == [1]
    assert "looks like reasoning, but is not read" in format_check(frame, report)


def test_numbers_and_words_beside_an_answer_are_no_reasoning(tmp_path):
    """Effort, counts and reasons to stop have names like reasoning."""
    row = table_row(Answer()) | {
        "reasoning_effort": "high",
        "reasoning_tokens": 5,
        "why": THOUGHT,
    }
    ((output,), _) = read_source(write_lines(tmp_path / "o.jsonl", [row]))
    assert output.remarks == ()


@pytest.mark.parametrize("kind", FORMATS)
def test_a_text_cut_where_spreadsheets_cut_is_remarked(tmp_path, kind):
    """At 32,767 characters of UTF-16, an emoji being two; one character less is no sign of that."""
    cut = Answer(text="a" * 32_765 + "\N{GRINNING FACE}")
    whole = Answer(PURPLE, text="a" * 32_764 + "\N{GRINNING FACE}")
    path = write_answers(tmp_path, kind, cut, whole)
    _, report = check_source(path)
    assert "\n  1 responses: a text of 32,767 characters" in report.summary()


@pytest.mark.parametrize("kind", FORMATS)
def test_nan_is_a_missing_value(tmp_path, kind):
    """Token counts may be missing; pandas, R and JSON write that in their ways."""
    outputs, rejected = read(
        write_answers(tmp_path, kind, Answer(tokens=float("nan")), GOOD)
    )
    assert rejected == {}
    assert outputs[RED].prompt_tokens is None
    assert outputs[PURPLE].prompt_tokens == (None if kind == "harness" else 9)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("word", ["NaN", "<NA>", ""])
@pytest.mark.parametrize(
    "column", ["prompt_tokens", "perturbation", "temperature", "reasoning"]
)
def test_words_for_missing_values_are_read_as_such_in_tables(
    tmp_path, kind, column, word
):
    """In every column that may be empty; a model may be called so."""
    row = {"model": "NA", "name": RED, "response": SUE, column: word}
    path = FORMATS[kind].write(tmp_path / FORMATS[kind].file, [row])
    ((output,), _) = read_source(path)
    assert (output.model, output.response) == ("NA", SUE)
    assert (output.prompt_tokens, output.settings) == (None, {})


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("word", ["N/A", "nan"])
def test_a_word_for_a_missing_value_is_an_answer(tmp_path, kind, word):
    """A model may say so; `check` remarks on it, since a program may have written it."""
    path = write_answers(tmp_path, kind, Answer(text=word), GOOD)
    outputs, rejected = read(path)
    assert (outputs[RED].response, rejected) == (word, {})
    frame, report = check_source(path)
    assert frame["empty"].tolist() == [0]
    assert "1 responses: their text is a word for a missing value" in report.summary()


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("word", ["NaN", ""])
def test_a_failed_request_in_a_table_is_none_under_any_word(tmp_path, kind, word):
    """A text that is such a word counts only where no failure is stated beside it."""
    path = write_answers(tmp_path, kind, Answer(text=word, stop="error"), GOOD)
    outputs, rejected = read(path)
    assert (list(outputs), list(rejected.values())) == ([PURPLE], ["failed request"])


FAILURES = {
    "JSONL": table_row(Answer(text="", stop="error")),
    "chat": {"custom_id": RED, "response": None, "error": {"code": "batch_expired"}},
    "Anthropic": {
        "custom_id": RED,
        "result": {"type": "errored", "error": {"type": "api_error"}},
    },
    "Gemini": {"key": RED, "error": {"code": 429}},
    "Inspect": inspect_sample(Answer()) | {"error": {"message": "RateLimitError"}},
    "Inspect, invalidated": inspect_sample(Answer())
    | {"invalidation": {"author": "reviewer"}},
}


@pytest.mark.parametrize(
    ("first", "second"),
    [(failure, "JSONL") for failure in FAILURES] + [("chat", kind) for kind in FORMATS],
)
def test_a_failure_that_a_later_file_makes_good_is_listed_and_counts_for_nothing(
    tmp_path, first, second
):
    """The answer counts, in whichever file it stands; without it, the failure is a rejected row."""
    source = tmp_path / "source"
    source.mkdir()
    if first.startswith("Inspect"):
        write_archive(source / "a.eval", [FAILURES[first]], make_header("m"))
    else:
        write_lines(source / "a.jsonl", [FAILURES[first]])
    outputs, rejected = read(source)
    reason = "invalidated sample" if first.endswith("invalidated") else "failed request"
    assert (outputs, list(rejected.values())) == ({}, [reason])
    write_answers(source, second, Answer())
    outputs, rejected = read(source)
    assert (list(outputs), list(rejected.values())) == ([RED], ["answered elsewhere"])
    frame, report = check_source(source)
    assert (frame["responses"].tolist(), report.unusable) == ([1], 0)
    report.check(0)


def test_a_failure_is_not_made_good_by_another_model(tmp_path):
    """A line of a failed batch names no model; with two models in a source it stays rejected."""
    rows = [table_row(Answer()) | {"model": model} for model in "ab"]
    path = write_lines(tmp_path / "o.jsonl", [FAILURES["chat"], *rows])
    assert list(read(path)[1].values()) == ["failed request"]


UNFINISHED = ["JSONL", "CSV", "Parquet", "Inspect", "Inspect as JSON"]


@pytest.mark.parametrize("kind", UNFINISHED)
def test_a_file_that_is_cut_short_is_never_accepted(tmp_path, kind):
    """It may lack any number of rows, whatever MAX_REJECTED allows; the sentence names it."""
    path = write_answers(
        tmp_path, kind, Answer(text='"Sue",\nred'), Answer(PURPLE, '"Sue",\nred')
    )
    if kind == "JSONL":
        packed = path.with_name("table.jsonl.gz")
        packed.write_bytes(gzip.compress(path.read_bytes())[:-12])
        path.unlink()
        path = packed
    else:
        path.write_bytes(path.read_bytes()[:-10])
    options = ("--max-rejected", 1000, "--build", tmp_path / "build")
    done = run("download-outputs", "--source", path, *options)
    assert done.exit_code == 2
    assert f"'{path.name}' cannot be read to its end" in done.output


QUOTES = {
    "a comma": 'model,name,response\nm,{0},"So red\nm,{1},yes, it is blue"\nm,{2},x\n',
    "name last": 'response,model,name\n"So red,m,{0}\nSo blue",m,{1}\nx,m,{2}\n',
    "name first": 'name,response,model\n{0},"So red,m\n{1},So blue",m\n{2},x,m\n',
    "quoted names": 'model,name,response\nm,{0},"So red\nm,""{1}"",blue"\nm,{2},x\n',
    "Windows": 'model,name,response\r\nm,{0},"So red\r\nm,{1},blue, too"\r\nm,{2},x\r\n',
}


@pytest.mark.parametrize("case", QUOTES)
def test_a_stray_quote_loses_no_row_in_silence(tmp_path, case):
    """Each line that the quote takes is a rejected row, and the rows around it are read."""
    names = [draw_puzzle(20, 1, 1, number).name for number in (7, 8, 9)]
    path = tmp_path / "o.csv"
    path.write_bytes(QUOTES[case].format(*names).encode())
    outputs, rejected = read_source(path)
    assert [output.name for output in outputs] == names[2:]
    assert Counter(row.reason for row in rejected) == {"malformed row": 2}
    assert all(row.detail.startswith("lines 2 to 3: ") for row in rejected)


TABLE = f"model,name,response\nm,{RED},Sue wears red.\n"
LINE = json.dumps(table_row(Answer())) + "\n"
HEADER = "it must be a header with column names separated by commas"
DIALECTS = {
    "semicolons": ("o.csv", TABLE.replace(",", ";"), HEADER),
    "tabs": ("o.csv", TABLE.replace(",", "\t"), HEADER),
    "sep": ("o.csv", "sep=,\n" + TABLE, "first line is 'sep=,'"),
    "blank line": ("o.csv", "\n" + TABLE, "first line is ''"),
    "JSON lines": ("o.csv", LINE, HEADER),
    "no header": ("o.csv", TABLE.partition("\n")[2], HEADER),
    "capitals": ("o.csv", TABLE.replace("model", "Model"), "is called 'Model'"),
    "blanks": ("o.csv", TABLE.replace(",name", ", name"), "is called ' name'"),
    "key in capitals": ("o.jsonl", LINE.replace("resp", "Resp"), "'Response'; rename"),
    "old Mac": ("o.csv", TABLE.replace("\n", "\r"), "as on an old Mac"),
    "old Mac, lines": ("o.jsonl", (LINE * 2).replace("\n", "\r"), "on an old Mac"),
    "escaped quotes": ("o.csv", TABLE.replace("Sue", '"\\"Sue'), "not CSV: "),
    "array": ("o.jsonl", f"[{LINE}]", "one JSON object per line"),
    "object": ("o.jsonl", json.dumps(table_row(Answer()), indent=1), "object per line"),
    "gzip": ("o.jsonl", gzip.compress(LINE.encode()), "compressed with gzip; add .gz"),
    "not gzip": ("o.jsonl.gz", LINE, "Not a gzipped file"),
    "workbook": ("o.csv", b"PK\x03\x04" + bytes(30), "or a spreadsheet file"),
    "Zstandard": ("o.jsonl", b"\x28\xb5\x2f\xfd" + bytes(30), "with Zstandard"),
    "Parquet": ("o.jsonl", b"PAR1" + bytes(30), "it is Parquet"),
    "Latin-1": ("o.csv", TABLE.replace("Sue", "Zo\xeb").encode("latin-1"), "UTF-8"),
    "UTF-16": ("o.csv", TABLE.encode("utf-16"), "save it as UTF-8"),
    "UTF-16, lines": ("o.jsonl", LINE.encode("utf-16-le"), "save it as UTF-8"),
    "UTF-32": ("o.jsonl", LINE.encode("utf-32"), "save it as UTF-8"),
}


@pytest.mark.parametrize("case", DIALECTS)
def test_a_dialect_that_is_not_read_is_named_in_one_sentence(tmp_path, case):
    """Delimiter, encoding, line ends, header, compression: what it is, and what to do."""
    name, content, words = DIALECTS[case]
    content = content if isinstance(content, bytes) else content.encode()
    (tmp_path / name).write_bytes(content)
    done = run("check", tmp_path / name, "--build", tmp_path / "build")
    assert done.exit_code == 1
    (line,) = [line for line in done.output.splitlines() if "first in" in line]
    assert words in line


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.ndjson", "files that end in .ndjson are not read; expected are .jsonl"),
        ("a.json", "files that end in .json are not read; expected are .jsonl"),
        ("a.JSONL", "files that end in .JSONL are not read; expected are .jsonl"),
        ("a", "files without an ending are not read; expected are"),
    ],
)
def test_an_ending_that_is_not_read_is_named(tmp_path, name, words):
    """Alone it is an error; beside outputs the file is listed."""
    (tmp_path / name).write_text("[]")
    with pytest.raises(ValueError, match=words):
        read_source(tmp_path)
    write_answers(tmp_path, "JSONL", Answer())
    outputs, rejected = read(tmp_path)
    assert (list(outputs), list(rejected.values())) == ([RED], ["not read"])


def test_an_invalidated_sample_is_rejected_in_every_kind_of_log(tmp_path):
    """With author and reason."""
    note = {
        "author": "reviewer",
        "reason": "wrong prompt",
        "timestamp": "2026-01-01T00:00:00Z",
    }
    for kind in ("Inspect", "Inspect as JSON"):
        folder = tmp_path / kind
        folder.mkdir()
        sample = inspect_sample(Answer()) | {"invalidation": note}
        path = folder / FORMATS[kind].file
        FORMATS[kind].write(path, [sample, inspect_sample(GOOD)])
        outputs, rejected = read(path)
        assert list(outputs) == [PURPLE]
        assert rejected == {f"{RED}: by reviewer: wrong prompt": "invalidated sample"}


MARKED = [
    *(
        "<think>",
        "<Think>",
        '<think time="3">',
        "<mm:think>",
        "<seed:think>",
        "<antThinking>",
    ),
    *(
        "<thinking>",
        "<thought>",
        "<Thoughts>",
        "<reasoning>",
        "<reason>",
        "<scratchpad>",
    ),
    *(
        "<reflection>",
        "<inner_monologue>",
        "<rationale>",
        "<chain-of-thought>",
        "<analysis>",
    ),
    *(
        "<|START_THINKING|>",
        "<|thinking|>",
        "<|begin_of_thought|>",
        "<|start_reasoning|>",
    ),
    *("<|channel|>analysis<|message|>", "<|channel>thought\n", "<unused94>thought\n"),
    *(
        "[THINK]",
        "[think]",
        "[REASONING]",
        "◁think▷",
        "<cot>",
        "<scratch-pad>",
        "<思考>",
    ),
]
ENDS = [
    *(
        "</think>",
        "</Think>",
        "</think >",
        "</mm:think>",
        "</Thoughts>",
        "</scratchpad>",
    ),
    *("<|END_THINKING|>", "<|/thinking|>", "<|end_of_thought|>", "<|end_reasoning|>"),
    *(
        "<|channel|>final<|message|>",
        "<channel|>",
        "<unused95>",
        "[/THINK]",
        "◁/think▷",
    ),
    *("<|thought_end|>", "<|REASONING_END|>", "</scratch_pad>", "[/reasoning]"),
]


def test_reasoning_that_does_not_end_has_no_answer(tmp_path):
    """Under the marks of many models, in capitals, with attributes; `check` counts it."""
    text = "So far Raymond is wearing red underwear"
    assert [mark for mark in MARKED if take_answer(mark + text) is not None] == []
    answer = Answer(text=MARKED[0] + text, stop="length")
    frame, _ = check_source(write_answers(tmp_path, "JSONL", answer))
    assert frame["open"].tolist() == [1]


def test_the_answer_follows_the_mark_that_ends_reasoning():
    """The mark that begins it may stand in the prompt."""
    assert {take_answer(f"So far blue.{mark}Red.") for mark in ENDS} == {"Red."}


def test_a_reader_may_add_marks(tmp_path, monkeypatch):
    """A line of the list is a word of tags, or a pair of marks."""
    from cogniload_repro import endings

    marks = tmp_path / "marks.txt"
    marks.write_text(MARKS.read_text("utf-8") + "ponder\n{{ ... }}\n", "utf-8")
    monkeypatch.setattr(endings, "MARKS", marks)
    endings._read_marks.cache_clear()
    endings._compile_marks.cache_clear()
    try:
        assert [take_answer(text) for text in ("<pondering>a", "{{a", "{{a}}b")] == [
            None,
            None,
            "b",
        ]
    finally:
        endings._read_marks.cache_clear()
        endings._compile_marks.cache_clear()
