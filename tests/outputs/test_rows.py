"""Responses and rejected rows of a source."""

import json

import pyarrow as pa
import pytest
from harness import write_lines
from inspect_log import make_header, make_sample, write_archive

from cogniload_repro.outputs.layout import Rejected
from cogniload_repro.outputs.rows import Output, read_outputs, sum_settings, take_settings
from cogniload_repro.puzzles.catalog import Catalog, draw_named
from cogniload_repro.schemas import PUZZLES

NAME = "20_1_1_770487_red"
ROW = {"model": "mine", "name": NAME, "response": "Raymond: red", "prompt_tokens": 400, "response_tokens": 3}


def read_rows(folder, *rows, **options):
    """Read rows through a JSONL file."""
    return list(read_outputs(write_lines(folder / "o.jsonl", rows), Catalog(), **options))


def test_a_good_row_is_a_response(tmp_path):
    """Counts may be unknown, and whole numbers in another guise are numbers."""
    rows = [{**ROW, "model": model} for model in ("a", "meta-llama/Llama-3", "c")]
    rows[1] |= {"prompt_tokens": 400.0, "response_tokens": None}
    rows[2] |= {"prompt_tokens": None, "response_tokens": 0}
    assert read_rows(tmp_path, *rows) == [
        Output("a", NAME, "Raymond: red", 400, 3),
        Output("meta-llama/Llama-3", NAME, "Raymond: red", 400, None),
        Output("c", NAME, "Raymond: red", None, 0),
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model": None}, "missing field"),
        ({"response": None}, "missing field"),
        ({"response": ["red"]}, "wrong type"),
        ({"name": 3}, "wrong type"),
        ({"perturbation": "../rail fence"}, "wrong type"),
        ({"prompt_tokens": "400"}, "wrong type"),
        ({"prompt_tokens": True}, "wrong type"),
        ({"prompt_tokens": -1}, "wrong type"),
        ({"response_tokens": float("nan")}, "wrong type"),
        ({"response_tokens": 2**63}, "wrong type"),
        ({"response": "red \ud800"}, "not UTF-8"),
        ({"custom_id": "\ud800", "error": "expired"}, "failed request"),
        ({"name": "20_1_1_770487_blue"}, "unknown puzzle"),
        ({"name": "hello"}, "unknown puzzle"),
        ({"name": "../" + NAME}, "unsafe name"),
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


def test_a_folder_is_read_in_the_order_of_its_paths(tmp_path):
    """Tables come before answers; what is no answer is rejected, unreadable and nameless ones too."""
    (tmp_path / "o3").mkdir()
    (tmp_path / "b.jsonl").write_text(json.dumps(ROW))
    (tmp_path / "a.jsonl").write_text(json.dumps({**ROW, "model": "a"}) + "\n{")
    (tmp_path / f"o3/{NAME}.txt").write_bytes(b"Raymond:\r\nred")
    (tmp_path / "o3/20_3_5_4_gray.txt").write_bytes(b"\xff")
    (tmp_path / "o3/notes.md").write_text("")
    found = list(read_outputs(tmp_path, Catalog()))
    assert [(row.model, row.response) for row in found if isinstance(row, Output)] == [
        ("a", "Raymond: red"),
        ("mine", "Raymond: red"),
        ("o3", "Raymond:\nred"),
    ]
    assert [row[:3] for row in found if isinstance(row, Rejected)] == [
        ("a.jsonl", 2, "malformed row"),
        ("o3/20_3_5_4_gray.txt", 0, "not UTF-8"),
        ("o3/notes.md", 0, "not read"),
    ]
    assert [row.reason for row in read_outputs(tmp_path / "o3", Catalog())] == [
        "missing field",
        "not UTF-8",
        "not read",
    ]
    assert next(read_outputs(tmp_path / "o3", Catalog(), model="mine")).model == "mine"


def test_a_row_that_knows_only_the_text_finds_its_puzzle(tmp_path):
    """The prompt stands for the name where the puzzle is known; elsewhere the row is rejected."""
    puzzle = draw_named(NAME)
    samples = [make_sample(1, input=puzzle["text"] + "\n"), make_sample(2, input="Who?", epoch=1)]
    catalog = Catalog(pa.Table.from_pylist([puzzle], PUZZLES))
    found, rejected = read_outputs(write_archive(tmp_path / "run.eval", samples), catalog)
    assert (found.name, found.prompt_tokens) == (NAME, 500)
    assert (rejected.row, rejected.reason) == (2, "unknown puzzle")
    assert "give its name" in rejected.detail


@pytest.mark.parametrize(
    ("told", "stopped"),
    [
        ({"finish_reason": "length"}, "length"),
        ({"stop_reason": "end_turn", "finish_reason": None}, "stop"),
        ({"stopped": "", "stop_reason": "max_tokens"}, "length"),
        ({"finish_reason": 3}, "unknown"),
        ({}, None),
    ],
)
def test_a_row_may_tell_why_the_model_stopped(tmp_path, told, stopped):
    """Under any of three names; what nobody knows is unknown, what is not said stays missing."""
    (row,) = read_rows(tmp_path, ROW | told)
    assert row.stopped == stopped


def test_reasoning_in_a_column_of_its_own_is_part_of_the_response(tmp_path):
    """The paper scores both; without an answer the trace is open."""
    rows = [ROW | {"reasoning": "Hm."}, ROW | {"reasoning": "Hm.", "response": None, "model": "b"}]
    first, second = read_rows(tmp_path, *rows)
    assert (first.response, second.response) == ("<think>\nHm.\n</think>\n\nRaymond: red", "<think>\nHm.")


def test_settings_of_a_log_come_with_its_responses(tmp_path):
    """What the header says of the run, the version that the provider names in each output, the harness's own limits."""
    header = make_header()
    header["eval"]["model_generate_config"] = {"max_tokens": 100, "temperature": 0.6}
    header["plan"] = {"config": {"max_tokens": 16_000, "reasoning_effort": "high"}}
    samples = [make_sample(NAME), make_sample("20_1_1_586907_purple", metadata={"max_tokens": 31_000})]
    samples[0]["limit"], samples[1]["limit"] = {"type": "token", "limit": 5}, {"type": "time", "limit": 5}
    row, own = read_outputs(write_archive(tmp_path / "run.eval", samples, header), Catalog())
    assert (row.stopped, own.stopped) == ("length", "error")
    assert own.settings == row.settings | {"max_tokens": "31000"}  # a solver's own, which goes by the prompt
    assert row.settings == {
        "provider": "openai", "version": "gpt-5-2025-08-07", "date": "2026-01-01", "effort": "high",
        "temperature": "0.6", "max_tokens": "16000",
    }  # fmt: skip


def test_a_model_may_be_called_otherwise(tmp_path):
    """One name is exchanged for another, with the perturbation behind it; others stay, and a name must be there."""
    rows = [ROW, ROW | {"perturbation": "rail_fence"}, ROW | {"model": "other"}]
    found = read_rows(tmp_path, *rows, model="mine=my/model")
    assert [row.model for row in found] == ["my/model", "my/model (rail_fence)", "other"]
    with pytest.raises(ValueError, match="no row has the model 'yours'"):
        read_rows(tmp_path, *rows, model="yours=mine")
    with pytest.raises(ValueError, match="OLD=NEW"):
        read_rows(tmp_path, *rows, model="=mine")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"date": 1724858089}, {"date": "2024-08-28"}),
        ({"date": "2026-01-01T23:59:00+00:00"}, {"date": "2026-01-01"}),
        ({"date": float("inf")}, {}),
        ({"max_tokens": 2**53, "temperature": 10**400, "effort": -(10**400), "top_p": 0.5}, {"top_p": "0.5"}),
        ({"max_tokens": 16_000.0, "temperature": 0.6, "top_p": True}, {"max_tokens": "16000", "temperature": "0.6"}),
        ({"version": " a\nb ", "effort": {"x": 1}, "provider": ""}, {"version": "a b"}),
        ({"effort": "x" * 1_000}, {"effort": "x" * 100}),
        ({"temperature": float("nan"), "other": 1}, {}),
    ],
)
def test_settings_are_short_text(fields, told):
    """Whatever a source says: words and numbers are kept, anything else is not."""
    assert take_settings(fields) == told


def test_values_are_counted_by_model():
    """A model may have been asked in several ways; of very many values the first are kept."""
    told = {("a", "effort", "high"): 100} | {("a", "version", f"v{number:03}"): 1 for number in range(100)}
    counts = sum_settings(told)
    assert list(counts["a"]) == ["version", "effort"]
    assert list(counts["a"]["version"].items()) == [(f"v{number:03}", 1) for number in range(20)]
