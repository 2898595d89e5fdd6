"""Rows of tables, checked column by column."""

from datetime import UTC, datetime

import pytest
from harness import read_source, write_lines
from inspect_log import make_header, make_sample, write_archive

from cogniload_repro.outputs.responses import (
    Output,
    Texts,
    read_content,
    read_message,
    take_settings,
)

NAMES = ["20_1_1_770487_red", "20_1_1_586907_purple"]
ROW = {
    "model": "mine",
    "name": NAMES[0],
    "response": "Raymond: red",
    "prompt_tokens": 400,
    "response_tokens": 3,
}


def read_rows(folder, *rows, **options):
    """Read rows through a JSONL file."""
    outputs, rejected = read_source(write_lines(folder / "o.jsonl", rows), **options)
    return [*outputs, *rejected]


def test_a_good_row_is_a_response(tmp_path):
    """Counts may be missing, and are numbers in other guises: CSV has text, pandas writes 10.0."""
    rows = [{**ROW, "model": model} for model in ("a", "meta-llama/Llama-3", "c")]
    rows[1] |= {"prompt_tokens": 400.0, "response_tokens": ""}
    rows[2] |= {"prompt_tokens": None, "response_tokens": "0."}
    assert read_rows(tmp_path, *rows) == [
        Output("a", NAMES[0], "Raymond: red", 400, 3),
        Output("meta-llama/Llama-3", NAMES[0], "Raymond: red", 400, None),
        Output("c", NAMES[0], "Raymond: red", None, 0),
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model": None}, "missing field"),
        ({"response": None, "name": NAMES[1]}, "failed request"),
        ({"response": ["red"]}, "wrong type"),
        ({"name": 3}, "wrong type"),
        ({"perturbation": "rail fence/.."}, "wrong type"),
        ({"prompt_tokens": "4e2"}, "wrong type"),
        ({"prompt_tokens": True}, "wrong type"),
        ({"prompt_tokens": -1}, "wrong type"),
        ({"response_tokens": 2**63}, "wrong type"),
        ({"response": "red \ud800"}, "not UTF-8"),
        ({"custom_id": "\ud800", "error": "expired"}, "failed request"),
        ({"name": "20_1_1_770487_blue"}, "unknown puzzle"),
        ({"name": "hello"}, "unknown puzzle"),
        ({"name": "../" + NAMES[0]}, "unsafe name"),
        ({"model": "a/../b"}, "unsafe name"),
        ({"model": "C:\\x"}, "unsafe name"),
        ({"model": "a\x00"}, "unsafe name"),
        ({"model": ""}, "unsafe name"),
        ({"model": "QwQ-32B "}, "unsafe name"),
        ({"model": "ä" * 200}, "unsafe name"),
    ],
)
def test_a_bad_row_is_rejected_with_its_reason(tmp_path, changes, reason):
    """Nothing is guessed or mended; the row number is that of the file."""
    good, bad = read_rows(tmp_path, ROW, {**ROW, **changes})
    assert good == Output(*ROW.values())
    assert (bad.file, bad.row, bad.reason) == ("o.jsonl", 2, reason)
    assert bad.detail.encode()


def test_settings_of_a_log_come_with_its_responses(tmp_path):
    """What the header says of the run, each output of its version, Inspect of its own limits."""
    header = make_header()
    header["eval"]["model_generate_config"] = {"max_tokens": 100, "temperature": 0.6}
    header["plan"] = {"config": {"max_tokens": 16_000, "reasoning_effort": "high"}}
    samples = [
        make_sample(NAMES[0], limit={"type": "token", "limit": 5}),
        make_sample(NAMES[1], limit={"type": "time", "limit": 5}),
    ]
    samples[1]["metadata"] = {"max_tokens": 31_000}  # a solver's limit for this prompt
    path = write_archive(tmp_path / "run.eval", samples, header)
    (by_tokens, by_time), _ = read_source(path)
    assert (by_tokens.stopped, by_time.stopped) == ("length", "error")
    assert by_time.settings == by_tokens.settings | {"max_tokens": "31000"}
    assert by_tokens.settings == {
        "provider": "openai",
        "version": "gpt-5-2025-08-07",
        "date": "2026-01-01",
        "effort": "high",
        "temperature": "0.6",
        "max_tokens": "16000",
    }


def test_a_model_may_be_called_otherwise(tmp_path):
    """A given name replaces the source's; the perturbation follows; short names are known."""
    rows = [
        ROW,
        ROW | {"perturbation": "rail_fence"},
        ROW | {"model": None, "name": NAMES[1]},
    ]
    outputs = read_rows(tmp_path, *rows, model="my/model")
    assert [output.model for output in outputs] == [
        "my/model",
        "my/model (rail_fence)",
        "my/model",
    ]
    models = ["o3", "gpt-5", "QwQ-32B", "openai/o3"]
    outputs = read_rows(tmp_path, *(ROW | {"model": model} for model in models))
    assert [output.model for output in outputs] == [
        "o3-2025-04-16",
        "gpt-5-2025-08-07",
        "QwQ-32B",
        "openai/o3",
    ]
    assert read_rows(tmp_path, ROW, model="o3")[0].model == "o3-2025-04-16"


@pytest.mark.parametrize(
    ("fields", "settings"),
    [
        ({"date": 1724858089}, {"date": "2024-08-28"}),
        ({"date": datetime(2026, 1, 1, 23, tzinfo=UTC)}, {"date": "2026-01-01"}),
        ({"date": "2026-01-01T23:59:00+00:00"}, {"date": "2026-01-01"}),
        (
            {"max_tokens": 16_000, "temperature": 0.6, "date": None},
            {"max_tokens": "16000", "temperature": "0.6"},
        ),
        ({"version": " a\nb ", "effort": {"x": 1}, "provider": ""}, {"version": "a b"}),
        (
            {"effort": "x" * 1_000, "top_p": -(10**4000), "other": 1},
            {"effort": "x" * 100, "top_p": f"-1{'0' * 98}"},
        ),
    ],
)
def test_settings_are_short_text(fields, settings):
    """Whatever a source says, also a number beyond all floats, is a short text."""
    assert take_settings(fields) == settings


TRACE = {"type": "reasoning", "reasoning": "Red?"}
ENCRYPTED = {"type": "reasoning", "reasoning": "eNrT0", "redacted": True}
ANSWER = {"type": "text", "text": "Blue."}


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (None, Texts()),
        ("Blue.", Texts(answer="Blue.")),
        ([], Texts()),
        (["a", "b"], Texts(answer="a\n\nb")),
        ([TRACE, ANSWER], Texts("Red?", "Blue.")),
        # a text between two parts of reasoning belongs to the reasoning
        ([TRACE, ANSWER, TRACE, ANSWER], Texts("Red?\n\nBlue.\n\nRed?", "Blue.")),
        # encrypted reasoning is never scored, its summary is
        ([ENCRYPTED, ANSWER], Texts(answer="Blue.")),
        ([ENCRYPTED | {"summary": "Red?"}], Texts("Red?")),
        ([TRACE | {"reasoning": "", "summary": "Red?"}], Texts("Red?")),
        ([{"type": "redacted_thinking", "data": "eNrT0"}], Texts()),
        # Gemini's parts have no type
        (
            [{"text": "Red?", "thought": True}, {"text": "Blue."}],
            Texts("Red?", "Blue."),
        ),
        ([{"text": "", "thought_signature": "Eq"}], Texts()),
        ([{"thinking": "Red?"}, {"text": "Blue."}], Texts("Red?", "Blue.")),
        ([{"type": "refusal", "refusal": "No."}], Texts(answer="No.")),
        (
            [{"type": "image_url", "image_url": {"url": "x"}}],
            Texts(unread=("image_url",)),
        ),
        ([{"executable_code": {"code": "1"}}], Texts(unread=("executable_code",))),
        (5, Texts(unread=("int",))),
    ],
)
def test_a_content_is_reasoning_and_answer(content, texts):
    """A string, or parts of all programs; what is no text of a known place is named."""
    assert read_content(content) == texts


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        # the same reasoning under two names is read once
        (
            {
                "content": "Blue.",
                "reasoning": "Red?",
                "reasoning_details": [{"text": "Red?"}],
            },
            Texts("Red?", "Blue."),
        ),
        (
            {"content": "Blue.", "reasoning_content": "", "thinking": "Red?"},
            Texts("Red?", "Blue."),
        ),
        (
            {"content": [TRACE, ANSWER], "reasoning": "Red? Long."},
            Texts("Red?", "Blue."),
        ),
        ({"content": None, "refusal": "No."}, Texts(answer="No.")),
        (
            {"content": None, "audio": {"transcript": "It is red."}},
            Texts(unread=("audio",)),
        ),
    ],
)
def test_reasoning_may_stand_beside_the_content(message, texts):
    """Under the names of several programs; the first one with a text counts."""
    assert read_message(message) == texts
