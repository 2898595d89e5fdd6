"""Requests that are written, answered, and come back as outputs."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from cogniload_repro.cli import main
from cogniload_repro.companions.protocol import Query
from cogniload_repro.evaluation import requests
from cogniload_repro.outputs.rows import read_outputs
from cogniload_repro.puzzles.catalog import Catalog

SMALL = ("--grid", "N=20,50 ratio=50 d=1,3", "--per-cell", "3", "--jobs", "1")


def run(*arguments):
    """Run a command; return its result."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def answer(request: dict) -> dict:
    """A line of the endpoint's output file; nothing of the request comes back but its id."""
    body = {
        "model": "gpt-x-2030-01-01",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Red."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2},
    }
    return {"id": "1", "custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}, "error": None}


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ([], "gpt-x-2030-01-01"),
        (["--edition", "elixir"], "gpt-x-2030-01-01"),
        (["--perturb", "interleave_word"], "gpt-x (interleave_word)"),
        (["--overload", "3"], "gpt-x (overload_3)"),
    ],
)
def test_a_batch_comes_back_as_outputs(tmp_path, options, model):
    """Every answer to a request is an output of the puzzle it was about, told apart by condition; none is rejected."""
    done = run("puzzles", *SMALL, "--format", "openai-batch", "--model", "gpt-x", *options, "--out", tmp_path / "set")
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in (tmp_path / "set" / "requests-1.jsonl").read_text("utf-8").splitlines()]
    assert {line["body"]["max_completion_tokens"] for line in lines} == {32_768}
    results = tmp_path / "batch_output.jsonl"
    results.write_text("".join(json.dumps(answer(line)) + "\n" for line in lines), "utf-8")
    checked = run("check", results, "--build", tmp_path / "build")
    assert "12 responses of 1 model, 0 rows rejected" in checked.output
    assert run("download-outputs", "--source", results, "--build", tmp_path / "build").exit_code == 0
    (table,) = (tmp_path / "build" / "outputs").glob("*.parquet")
    outputs = pd.read_parquet(table)
    assert set(outputs["model"]) == {model}
    assert set(outputs["name"]) == set(pd.read_parquet(tmp_path / "set" / "puzzles.parquet")["name"])


def test_a_request_tells_the_model_the_query_and_nothing_else(tmp_path):
    """The name, which holds the solution, is no part of what is sent; the limit is the one that was asked for."""
    line = requests.batch_request(Query("20_1_1_770487_red", "", "the puzzle"), "gpt-x", 99)
    assert line["custom_id"] == "20_1_1_770487_red"
    assert line["body"] == {
        "model": "gpt-x",
        "messages": [{"role": "user", "content": "the puzzle"}],
        "max_completion_tokens": 99,
    }


def test_files_of_requests_stay_below_the_limits_of_the_endpoint(tmp_path, monkeypatch):
    """What is too much for one file goes on in the next, in order; files of an earlier, longer batch are gone."""
    monkeypatch.setattr(requests, "_MOST_REQUESTS", 2)
    queries = [Query(f"20_1_1_{number}_red", "", "?") for number in range(5)]
    long = requests.write_batches(tmp_path, queries, "m", 9)
    assert [len(path.read_text().splitlines()) for path in long] == [2, 2, 1]
    assert [json.loads(line)["custom_id"] for path in long for line in path.read_text().splitlines()] == [
        query.name for query in queries
    ]
    monkeypatch.setattr(requests, "_MOST_REQUESTS", 50)
    monkeypatch.setattr(requests, "_FULL_BYTES", 400)
    assert len(requests.write_batches(tmp_path, queries[:4], "m", 9)) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["requests-1.jsonl", "requests-2.jsonl"]


def test_a_line_of_chat_with_its_answer_is_an_output(tmp_path):
    """Ten lines of Python between the file and the import: model and response are added to each line."""
    assert run("puzzles", *SMALL, "--format", "chat", "--perturb", "not_not", "--out", tmp_path).exit_code == 0
    lines = [json.loads(line) for line in (tmp_path / "chat.jsonl").read_text("utf-8").splitlines()]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps(line | {"model": "m", "response": "Red."}) + "\n" for line in lines), "utf-8")
    assert [(output.model, output.name) for output in read_outputs(answers, Catalog())] == [
        ("m (not_not)", line["name"]) for line in lines
    ]


@pytest.mark.parametrize(
    "options",
    [["--format", "openai-batch"], ["--format", "chat", "--model", "m"], ["--perturb", "not_not", "--overload", "2"]],
)
def test_options_that_cannot_be_followed_are_refused_before_anything_is_drawn(tmp_path, options):
    """A missing or idle name of a model, and two conditions at once, are a sentence, and no file is written."""
    done = run("puzzles", *SMALL, *options, "--out", tmp_path / "set")
    assert done.exit_code == 2
    assert not (tmp_path / "set").exists()


def test_the_loop_of_the_book_makes_rows_of_outputs(tmp_path, monkeypatch):
    """The page's own lines, with a server that always answers the same, leave a table that imports."""
    page = Path(__file__).parents[2] / "book" / "ask-a-model.md"
    (loop,) = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    assert run("puzzles", *SMALL, "--format", "chat", "--out", tmp_path / "sets" / "mine").exit_code == 0
    monkeypatch.chdir(tmp_path)
    exec(loop, {"ask": lambda messages: (f"{len(messages)} message", "length", 10, 2)})
    outputs = list(read_outputs(tmp_path / "answers.jsonl", Catalog()))
    assert [output[0:6:2] + output[5:6] for output in outputs] == [("mine", "1 message", 2, "length")] * 12
