"""The committed answers of a real model are complete, unedited, and scored like any others."""

import json
import re
from collections import Counter
from itertools import product

import pyarrow.parquet as pq
import pytest
from harness import score_outputs
from reference_scorer import score

from cogniload_repro.grid import PAPER_GRID, Cell
from cogniload_repro.importing.imports import import_source
from cogniload_repro.paths import DATA
from cogniload_repro.puzzles.rows import parse_name
from cogniload_repro.puzzles.sets import read_default_ids

ANSWERS = DATA / "outputs" / "smollm2-135m-instruct.jsonl"
#: As the README says.
MODEL = "SmolLM2-135M-Instruct"
WINDOW = 8_192
MAX_TOKENS = 512
README = DATA / "outputs" / "README.md"
RATIOS = sorted({cell.ratio_pct for cell in PAPER_GRID})


@pytest.fixture(scope="module")
def rows():
    """The rows of the file."""
    return [json.loads(line) for line in ANSWERS.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """A folder with the file imported and scored, and the report of the import."""
    folder = tmp_path_factory.mktemp("committed")
    report = import_source(ANSWERS, folder, folder)
    score_outputs(folder)
    return folder, report


def levels_of_readme():
    """The levels N and d that the README says were asked."""
    lines = re.findall(
        r"^\| (\d+) \| ([\d, ]+) \|$", README.read_text("utf-8"), re.MULTILINE
    )
    return {(int(N), int(d)) for N, listed in lines for d in listed.split(",")}


def test_every_row_is_usable_and_of_one_model(rows, imported):
    """The import rejects nothing, and the model has a name that a reader knows."""
    _, report = imported
    assert report.rejected == []
    assert dict(report.responses) == {MODEL: len(rows)}


def test_each_cell_of_the_levels_asked_has_the_first_two_puzzles_of_the_default_set(
    rows,
):
    """A level of N and d has all ratios or is left out; the README lists the same levels."""
    ids = read_default_ids()
    counts = Counter()
    for row in rows:
        puzzle = parse_name(row["name"])
        counts[puzzle.N, puzzle.d, puzzle.needles, puzzle.puzzle_id] += 1
    cells = [Cell(N, ratio, d) for (N, d), ratio in product(levels_of_readme(), RATIOS)]
    expected = Counter()
    for cell in cells:
        for puzzle_id in ids[cell][:2]:
            expected[cell.N, cell.d, cell.needles, puzzle_id] += 1
    assert counts == expected


def test_the_model_had_room_for_each_answer_and_the_limit_cut_the_longest(rows):
    """No prompt fills the window; an answer is cut where it has as many tokens as allowed."""
    assert all(row["prompt_tokens"] + MAX_TOKENS <= WINDOW for row in rows)
    assert all(row["max_tokens"] == MAX_TOKENS for row in rows)
    longest = {row["name"] for row in rows if row["response_tokens"] == MAX_TOKENS}
    cut = {row["name"] for row in rows if row["stopped"] == "max_tokens"}
    assert longest == cut
    assert all(row["response_tokens"] <= MAX_TOKENS for row in rows)


def test_the_scorer_gives_every_real_answer_the_outcome_of_the_printed_algorithm(
    rows, imported
):
    """Appendix D line by line, on what a model wrote: the same bucket for each answer."""
    folder, _ = imported
    puzzles = {
        row["name"]: row
        for row in pq.read_table(folder / "puzzles.parquet").to_pylist()
    }
    (scores,) = (folder / "scores").glob("*.parquet")
    buckets = {row["name"]: row["bucket"] for row in pq.read_table(scores).to_pylist()}
    for row in rows:
        puzzle = puzzles[row["name"]]
        question = {
            name: puzzle[name] for name in ("poi", "gold", "domain", "category")
        }
        tokens = {name: row[name] for name in ("prompt_tokens", "response_tokens")}
        assert buckets[row["name"]] == score(row["response"], **question, **tokens), (
            row["name"]
        )
