"""The conversions of the page Import do what it says."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from harness import read_source, run
from program_files import NAMES, Answer, chat_line, write_lines
from samples import release_state

from cogniload_repro.importing.endings import read_stop
from cogniload_repro.importing.responses import load_programs
from cogniload_repro.importing.sources import MAX_UNPACKED_GB
from cogniload_repro.puzzles.generate import draw_puzzle

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
    [(2, "answers-1.jsonl"), (3, "answers-2.parquet"), (4, "first.jsonl")],
)
def test_a_conversion_gives_a_table_that_is_read(files, number, file):
    """As it stands on the page."""
    exec(CODE[number], {})
    responses, rejected = read_source(files / file)
    assert rejected == []
    assert [response.name for response in responses] == NAMES[:1]
    assert responses[0].prompt_tokens is None


def test_the_page_names_every_column_of_a_table():
    """And the limit on archives."""
    columns = load_programs()["table"]
    names = {path for paths in columns.values() for path in paths}
    assert [name for name in names if "." not in name and f"`{name}`" not in TEXT] == []
    assert f"exceed {MAX_UNPACKED_GB} GB" in TEXT


def test_the_words_of_the_page_mean_what_it_says():
    """Those that a text is scored with, and those of a request that failed."""
    kinds = {"stopped": "stop", "reached": "length", "was": "refusal", "did": "error"}
    rows = re.findall(r"^\| (stopped|reached|was|did) [^|]*\|([^|]*)\|", TEXT, re.M)
    assert [begin for begin, _ in rows] == [*kinds]
    for begin, words in rows:
        for word in re.findall("`([^`]+)`", words):
            is_window = "context" in word  # a limit too
            assert read_stop(word) == ("context" if is_window else kinds[begin]), word


def test_the_metadata_of_a_release_become_its_puzzles(tmp_path, monkeypatch):
    """For texts that neither program draws."""
    monkeypatch.chdir(tmp_path)
    puzzle = draw_puzzle(20, 3, 5, 770_487)
    name = f"20_3_5_1_{puzzle.solution}"
    files = {
        f"m/{name}.txt": f"{puzzle.poi}: {puzzle.solution}.",
        f"exp/a/{name}.txt": puzzle.text + "\n",
        f"meta/a/{name}_state.json": release_state(puzzle),
    }
    for file, text in files.items():
        path = tmp_path / "release" / file
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    _, (rejected,) = read_source(tmp_path / "release")
    assert rejected.reason == "unknown puzzle"
    exec(CODE[0], {})
    ((response,), rejected) = read_source(tmp_path / "release")
    assert (response.name, rejected) == (name, [])


def test_prompts_become_requests_of_a_batch_whose_output_is_read(tmp_path, monkeypatch):
    """The condition of a prompt goes with its id, since nothing else comes back."""
    monkeypatch.chdir(tmp_path)
    options = ("--grid", "N=20 ratio=50 d=1", "--per-cell", 1)
    perturbed = ("--perturb", "rail_fence", "--out", "sets/mine", "--jobs", 1)
    assert run("puzzles", *options, *perturbed).exit_code == 0
    exec(CODE[1], {})
    (request,) = map(json.loads, Path("requests.jsonl").read_text().splitlines())
    (prompt,) = map(
        json.loads, Path("sets/mine/prompts.jsonl").read_text().splitlines()
    )
    assert request["body"]["messages"][0]["content"] == prompt["prompt"]
    line = chat_line(Answer()) | {"custom_id": request["custom_id"]}
    ((response,), _) = read_source(write_lines(tmp_path / "output.jsonl", [line]))
    assert response.model == "gpt-5-2025-08-07 (rail_fence)"
    assert response.name == prompt["name"]
