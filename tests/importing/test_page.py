"""The conversions of the page Import do what it says."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from harness import read_source
from program_files import NAMES, Answer, chat_line, write_lines

from cogniload_repro.importing import rejections
from cogniload_repro.importing.responses import load_programs

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
    [(0, "answers-1.jsonl"), (1, "answers-2.parquet"), (2, "first.jsonl")],
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
    beside = {"custom_id", "key", "response.status_code"}
    assert [name for name in names - beside if f"`{name}`" not in TEXT] == []
    listed = {rejections.NOT_READ, rejections.ANSWERED}
    reasons = {value for name, value in vars(rejections).items() if name.isupper()}
    reasons -= {rejections.IMPORT_PAGE, *listed}
    assert [reason for reason in reasons if reason not in TEXT] == []
