"""Speed of the scorer as ratios to the literal Algorithms 1-3, all measured in this one run.

python benchmarks/bench_scoring.py
"""

import random
import resource
import sys
import tempfile
import time
import timeit
from concurrent.futures import ProcessPoolExecutor
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
    return {
        "typical, right": f"{trace}\n\n{final}",
        "typical, wrong": f"{trace}\n\n{final.replace(QUESTION['gold'], other)}",
        "name absent": f"{nameless}\n\nit stays open",
        "one huge line": f"{trace} {final}".replace("\n", " "),
        "one huge line, name absent": f"{nameless} it stays open".replace("\n", " "),
        "short": final,
        "empty": "",
    }


def best_time(function, *args, **kwargs) -> float:
    """Return the shortest time of one call, in seconds."""
    timer = timeit.Timer(lambda: function(*args, **kwargs))
    number = max(1, int(0.02 / max(timer.timeit(2) / 2, 1e-7)))
    return min(timer.repeat(5, number)) / number


def bench_responses() -> None:
    """Print the time of one response against the literal algorithms and a plain `str.lower`."""
    print(f"{'shape':34}{'chars':>8}{'literal µs':>12}{'score µs':>10}{'ratio':>7}{'explained':>11}{'lower':>8}")
    for ascii_only in (True, False):
        for shape, response in make_responses(ascii_only=ascii_only).items():
            if reference_score(response, **QUESTION) != score_response(response, **QUESTION):
                raise SystemExit(f"{shape}: the verdicts differ")
            literal = best_time(reference_score, response, **QUESTION)
            scored = best_time(score_response, response, **QUESTION)
            explained = best_time(explain_response, response, **QUESTION)
            lowered = best_time(response.lower)
            print(
                f"{shape + ('' if ascii_only else ', non-ASCII'):34}{len(response):8,}{literal * 1e6:12.1f}"
                f"{scored * 1e6:10.1f}{literal / scored:6.1f}x{literal / explained:10.1f}x{lowered / scored:7.2f}x"
            )


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


def bench_partition() -> None:
    """Print the speed of a whole partition on one core, and the memory of the process that scores it."""
    with tempfile.TemporaryDirectory() as folder:
        paths, megabytes = write_partition(Path(folder))
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
            seconds, peak = executor.submit(score_and_measure, *paths).result()
    print(f"\npartition of {ROWS:,} responses, {megabytes:,.0f} MB of text")
    print(f"{ROWS / seconds:,.0f} rows/s, {megabytes / seconds:,.0f} MB/s, peak memory {peak:,.0f} MB")


if __name__ == "__main__":
    bench_responses()
    bench_partition()
