"""Compare the scoring of long responses with Algorithms 1 to 3 as printed (the tests' version)."""

import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pyarrow as pa
from bench_generation import best_seconds

from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.rows import puzzle_row
from cogniload_repro.scoring.response import score_response
from cogniload_repro.scoring.scores import score_dataset
from cogniload_repro.storage import OUTPUTS, PUZZLES, write_table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from reference_scorer import score as reference_score

RESPONSE_CHARS = 30_000
ROWS = 2_000
PUZZLE = draw_puzzle(100, 5, 50, 100_003)
TOKENS = {"prompt_tokens": 4_000, "response_tokens": 9_000}
QUESTION = {
    "poi": PUZZLE.poi,
    "gold": PUZZLE.solution,
    "domain": PUZZLE.domains[PUZZLE.category],
    "category": PUZZLE.category,
    **TOKENS,
}


def write_reasoning() -> str:
    """Return reasoning about the puzzle, line by line."""
    rng = random.Random(1)
    statements = PUZZLE.text.splitlines()[2:-2]
    text = ""
    while len(text) < RESPONSE_CHARS:
        person = rng.choice(PUZZLE.people)
        text += f"{rng.choice(statements)}.\n{person}: checked, still the same.\n\n"
    return text


def write_responses() -> dict[str, str]:
    """Return a response that gives the solution, and one that never names the person."""
    reasoning = write_reasoning()
    poi = QUESTION["poi"]
    gold = QUESTION["gold"]
    sentence = f"{poi} is wearing a {gold} hat, is at the {gold}, has {gold} hair, ate and read it."
    nameless = reasoning.replace(poi, "Somebody")
    return {
        "correct": f"{reasoning}\n{sentence}",
        "name absent": f"{nameless}\nit stays open",
    }


def measure_responses() -> list[tuple[str, str]]:
    """Return how much faster single responses are scored than by the printed algorithms."""
    rows = []
    for shape, response in write_responses().items():
        if reference_score(response, **QUESTION) != score_response(
            response, **QUESTION
        ):
            raise SystemExit(f"{shape}: the verdicts differ")
        seconds = best_seconds(
            {
                "printed": partial(reference_score, response, **QUESTION),
                "package": partial(score_response, response, **QUESTION),
            }
        )
        speedup = seconds["printed"] / seconds["package"]
        what = f"scoring compared with Algorithms 1-3 as printed: {shape}"
        rows.append((what, f"{speedup:.1f} times as fast"))
    return rows


def measure_table() -> list[tuple[str, str]]:
    """Return how many responses per second are scored from a Parquet file."""
    response = write_responses()["correct"]
    asked = {"model": "model", "name": PUZZLE.name, **TOKENS}
    outputs = [asked | {"response": f"{number} {response}"} for number in range(ROWS)]
    puzzles = [puzzle_row(PUZZLE)]
    label = {"provenance": "imported"}
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder)
        write_table(
            build / "puzzles.parquet", pa.Table.from_pylist(puzzles, PUZZLES), label
        )
        table = pa.Table.from_pylist(outputs, OUTPUTS)
        write_table(build / "outputs" / "model.parquet", table, label)
        places = (build / "outputs", build / "puzzles.parquet", build / "scores")
        with ThreadPoolExecutor(1) as executor:  # its time is this process's
            begin = time.process_time()
            score_dataset(*places, executor)
            seconds = time.process_time() - begin
    megabytes = ROWS * len(response.encode()) / 1e6
    what = f"scoring {ROWS:,} responses in Parquet, {megabytes:.0f} MB, on one core"
    return [
        (what, f"{ROWS / seconds:,.0f} per second, {megabytes / seconds:,.0f} MB/s")
    ]


def measure() -> list[tuple[str, str]]:
    """Return rows of a measurement's name and its result."""
    return measure_responses() + measure_table()
