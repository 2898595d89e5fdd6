"""Records of every program as rows."""

import json

import pytest
from harness import read_source, write_lines
from hypothesis import given
from hypothesis import strategies as st
from program_files import (
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
)

from cogniload_repro.outputs.inspect_logs import read_log_sample
from cogniload_repro.outputs.responses import Output, RowError, read_output
from cogniload_repro.outputs.rows import read_record

ANSWER = Answer(reasoning="Red?")
MAKERS = [
    table_row,
    chat_line,
    completion_line,
    responses_line,
    anthropic_line,
    gemini_line,
]
SEEDS = [make(ANSWER) for make in (*MAKERS, harness_sample, inspect_sample)]
WORDS = st.sampled_from(["text", "stop", "type", "content"])
VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | WORDS
)
JSON = st.recursive(
    VALUES,
    lambda value: (
        st.lists(value, max_size=2) | st.dictionaries(WORDS, value, max_size=2)
    ),
    max_leaves=4,
)


def read(record):
    """The rows of a record of any program."""
    if "epoch" in record:
        return read_log_sample(record, {"model": "m"})
    return read_record(record)


def describe(row):
    """The response of a row, or why there is none."""
    try:
        return read_output(*row)
    except RowError as error:
        return ": ".join(error.args)


def draw_place(record, data):
    """Draw a place in a record: the list or object, and the key in it."""
    node = record
    while True:
        keys = sorted(node) if isinstance(node, dict) else range(len(node))
        key = data.draw(st.sampled_from(keys))
        below = node[key]
        if (
            not isinstance(below, dict | list)
            or not below
            or not data.draw(st.integers(0, 3))
        ):
            return node, key
        node = below


@given(st.sampled_from(SEEDS), st.data())
def test_no_record_ends_an_import(seed, data):
    """Whatever stands in any of its places, a record is responses or refusals with a reason."""
    record = json.loads(json.dumps(seed))
    node, key = draw_place(record, data)
    node[key] = data.draw(JSON)
    for row in read(record):
        assert isinstance(describe(row), Output | str)


@pytest.mark.parametrize("depth", [200, 700])
@pytest.mark.parametrize("key", ["content", "reasoning", "other_thoughts"])
def test_a_record_that_is_nested_too_deeply_is_refused_by_itself(tmp_path, depth, key):
    """The rows behind it are read."""
    record = chat_line(Answer())
    text = "red and blue"
    for _ in range(depth):
        text = [text]
    record["response"]["body"]["choices"][0]["message"][key] = text
    path = write_lines(tmp_path / "o.jsonl", [record, chat_line(Answer(NAMES[1]))])
    outputs, rejected = read_source(path)
    assert NAMES[1] in [output.name for output in outputs]
    assert {row.reason for row in rejected} <= {"malformed row"}
    assert len(outputs) + len(rejected) == 2
