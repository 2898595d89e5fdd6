"""Speed of the scorer as ratios to the literal Algorithms 1-3, all measured in this one run.

python benchmarks/bench_scoring.py [--json]
"""

import json
import random
import resource
import sys
import tempfile
import time
import timeit
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa

from cogniload_repro.catalog import puzzle_row
from cogniload_repro.generate import draw_puzzle
from cogniload_repro.parquet import table_writer, write_table
from cogniload_repro.schemas import OUTPUTS, PUZZLES
from cogniload_repro.scores import score_partition
from cogniload_repro.scoring import explain_response, score_response

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from reference_scorer import score as reference_score

TRACE_CHARS = 30_000
ROWS = 20_000
PUZZLE = draw_puzzle(100, 5, 50, 100_003)
QUESTION = {
    "poi": PUZZLE.poi,
    "gold": PUZZLE.solution,
    "domain": PUZZLE.domains[PUZZLE.category],
    "category": PUZZLE.category,
    "prompt_tokens": 4_000,
    "response_tokens": 9_000,
}


def make_trace(chars: int, *, ascii_only: bool) -> str:
    """Return reasoning about the puzzle, line by line, of about this many characters."""
    rng = random.Random(1)
    statements = PUZZLE.text.splitlines()[2:-2]
    lines, size = [], 0
    while size < chars:
        person = rng.choice(PUZZLE.people)
        arrow = "->" if ascii_only else "→"
        lines += [f"{rng.choice(statements)}.", f"{person}: checked {arrow} still the same, so on to the next.", ""]
        size += sum(map(len, lines[-3:])) + 3
    return "\n".join(lines)


def make_responses(*, ascii_only: bool) -> dict[str, str]:
    """Return responses of typical and of awkward shapes."""
    trace = make_trace(TRACE_CHARS, ascii_only=ascii_only)
    final = next(
        line.replace("{}", QUESTION["gold"])
        for line in [f"{PUZZLE.poi} is wearing a **{{}}** hat, is at the **{{}}**, has **{{}}** hair, ate and read it."]
    )
    other = next(value for value in QUESTION["domain"] if value != QUESTION["gold"])
    nameless = trace.replace(PUZZLE.poi, "Somebody")
    pair = (
        f"{PUZZLE.poi}: nothing new so far{'.' if ascii_only else ' → next.'}\nThe one with gloves wears them still.\n"
    )
    return {
        "typical, right": f"{trace}\n\n{final}",
        "typical, wrong": f"{trace}\n\n{final.replace(QUESTION['gold'], other)}",
        "name absent": f"{nameless}\n\nit stays open",
        "one huge line": f"{trace} {final}".replace("\n", " "),
        "one huge line, name absent": f"{nameless} it stays open".replace("\n", " "),
        "name and category, never together": pair * (TRACE_CHARS // len(pair)),
        "short": final,
        "empty": "",
    }


def best_times(*functions) -> list[float]:
    """Return the shortest time of each function, in seconds; they take turns under the same load."""
    timers = [timeit.Timer(function) for function in functions]
    numbers = [max(1, int(0.01 / max(timer.timeit(2) / 2, 1e-7))) for timer in timers]
    rounds = [[timer.timeit(number) / number for timer, number in zip(timers, numbers, strict=True)] for _ in range(12)]
    return [min(times) for times in zip(*rounds, strict=True)]


def bench_responses() -> list[tuple[str, int, list[float]]]:
    """Return for each shape its characters, and the times of the algorithms, the scorers and `str.lower`."""
    rows = []
    for ascii_only in (True, False):
        for shape, response in make_responses(ascii_only=ascii_only).items():
            if reference_score(response, **QUESTION) != score_response(response, **QUESTION):
                raise SystemExit(f"{shape}: the verdicts differ")
            functions = (reference_score, score_response, explain_response)
            calls = [partial(function, response, **QUESTION) for function in functions]
            times = best_times(*calls, response.lower)
            rows.append((shape + ("" if ascii_only else ", non-ASCII"), len(response), times))
    return rows


def print_responses(rows: list[tuple[str, int, list[float]]]) -> None:
    """Print the times of one response against the literal algorithms and a plain `str.lower`."""
    print(f"{'shape':46}{'chars':>8}{'literal µs':>12}{'score µs':>10}{'ratio':>7}{'explained':>11}{'lower':>8}")
    for shape, chars, (literal, scored, explained, lowered) in rows:
        print(
            f"{shape:46}{chars:8,}{literal * 1e6:12.1f}{scored * 1e6:10.1f}{literal / scored:6.1f}x"
            f"{literal / explained:10.1f}x{lowered / scored:7.2f}x"
        )


def name_ratios(rows: list[tuple[str, int, list[float]]]) -> list[tuple[str, str]]:
    """Return the ratios to the literal algorithms as rows of what and figure."""
    return [
        (f"scoring against Algorithms 1-3 as printed: {shape}", f"{literal / scored:.1f}x")
        for shape, _, (literal, scored, *_) in rows
    ]


def score_and_measure(*paths: Path) -> tuple[float, float]:
    """Score a partition; return seconds and this process's peak memory in MB."""
    start = time.perf_counter()
    score_partition(*paths)
    return time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def write_partition(folder: Path) -> tuple[list[Path], float]:
    """Write outputs and puzzles; return the paths for `score_partition` and the size of the text in MB."""
    response = make_responses(ascii_only=False)["typical, right"]
    paths = [folder / name for name in ("outputs.parquet", "puzzles.parquet", "scores.parquet")]
    label, tokens = {"provenance": "imported"}, {"prompt_tokens": 4_000, "response_tokens": 9_000}
    with table_writer(paths[0], OUTPUTS, label) as writer:
        for first in range(0, ROWS, 1000):
            rows = [
                {"model": "m", "name": PUZZLE.name, "response": f"{number} {response}", **tokens}
                for number in range(first, first + 1000)
            ]
            writer.write_table(pa.Table.from_pylist(rows, writer.schema))
    write_table(paths[1], pa.Table.from_pylist([puzzle_row(PUZZLE)], PUZZLES), label)
    return paths, ROWS * len(response.encode()) / 1e6


def bench_partition() -> list[tuple[str, str]]:
    """Return the speed of a whole partition on one core, and the memory of the process that scores it."""
    with tempfile.TemporaryDirectory() as folder:
        paths, megabytes = write_partition(Path(folder))
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
            seconds, peak = executor.submit(score_and_measure, *paths).result()
    what = f"scoring {megabytes:,.0f} MB in {ROWS:,} responses, one process"
    figure = f"{ROWS / seconds:,.0f} rows/s, {megabytes / seconds:,.0f} MB/s, peak {peak:,.0f} MB"
    return [(what, figure)]


if __name__ == "__main__":
    responses, partition = bench_responses(), bench_partition()
    if "--json" in sys.argv[1:]:
        print(json.dumps([*name_ratios(responses), *partition]))
    else:
        print_responses(responses)
        print(*(f"\n{what}: {figure}" for what, figure in partition))
