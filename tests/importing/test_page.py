"""The conversions of the page Import do what it says."""

import json
import re
from pathlib import Path
from typing import get_args

import pandas as pd
import pytest
from harness import read_source, run
from program_files import NAMES, Answer, chat_line, write_lines

from cogniload_repro.importing.rejections import Reason
from cogniload_repro.importing.responses import load_programs
from cogniload_repro.importing.tables import MAX_UNPACKED_GB

PAGE = Path(__file__).parents[2] / "book" / "import.md"
TEXT = PAGE.read_text("utf-8")
CODE = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with a file for each conversion."""
    monkeypatch.chdir(tmp_path)
    chats = [{"puzzle": NAMES[0], "llm": "m", "reply": {"text": "red"}}]
    (tmp_path / "chats.json").write_text(json.dumps(chats))
    log = pd.DataFrame(
        {"id": [f"run 7 {name}" for name in NAMES], "output": ["red", "purple"]}
    )
    log = log.assign(state=["done", "failed"])
    log.to_csv(tmp_path / "log.csv", sep=";", index=False)
    line = chat_line(Answer())
    line["response"]["body"]["choices"] *= 2
    write_lines(tmp_path / "batch.jsonl", [line])
    return tmp_path


@pytest.mark.parametrize(
    ("number", "file"),
    [(1, "answers-1.jsonl"), (2, "answers-2.parquet"), (3, "first.jsonl")],
)
def test_a_conversion_gives_a_table_that_is_read(files, number, file):
    """As it stands on the page."""
    exec(CODE[number], {})
    responses, rejected = read_source(files / file)
    assert rejected == []
    assert [response.name for response in responses] == NAMES[:1]
    assert responses[0].prompt_tokens is None


def test_the_page_names_every_column_and_reason():
    """Of a table of answers, and of rejected rows."""
    columns = load_programs()["table"]
    names = {path for paths in columns.values() for path in paths}
    assert [
        name for name in names - {"response.status_code"} if f"`{name}`" not in TEXT
    ] == []
    reasons = set(get_args(Reason)) - {"not read"}
    assert [reason for reason in reasons if reason not in TEXT] == []
    assert f"exceed {MAX_UNPACKED_GB} GB" in TEXT


def test_prompts_become_requests_of_a_batch_whose_output_is_read(tmp_path, monkeypatch):
    """The condition of a prompt goes with its id, since nothing else comes back."""
    monkeypatch.chdir(tmp_path)
    options = ("--format", "jsonl", "--grid", "N=20 ratio=50 d=1", "--per-cell", 1)
    perturbed = ("--perturb", "rail_fence", "--out", "sets/mine", "--jobs", 1)
    assert run("puzzles", *options, *perturbed).exit_code == 0
    exec(CODE[0], {})
    (request,) = map(json.loads, Path("requests.jsonl").read_text().splitlines())
    (prompt,) = map(
        json.loads, Path("sets/mine/prompts.jsonl").read_text().splitlines()
    )
    assert request["body"]["messages"][0]["content"] == prompt["prompt"]
    line = chat_line(Answer()) | {"custom_id": request["custom_id"]}
    ((response,), _) = read_source(write_lines(tmp_path / "output.jsonl", [line]))
    assert response.model == "gpt-5-2025-08-07 (rail_fence)"
    assert response.name == prompt["name"]
