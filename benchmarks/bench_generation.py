"""Measure the generator against the literal one, in one run and as ratios.

    python benchmarks/bench_generation.py [--jobs 2] [--repeats 5] [--json]

Times are processor seconds of this process, best of several turns taken alternately, so that a busy machine
disturbs both sides alike; only the parallel runs are wall times.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections import deque
from collections.abc import Callable
from functools import partial

import reference_generator

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.puzzles.draws import Edition, resolve_edition
from cogniload_repro.puzzles.generate import FIRST_ID, draw_grid, draw_puzzle
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.parse import solve_text
from cogniload_repro.puzzles.sets import draw_rows

SEED = 42
LENGTHS = (250, 2_500, 20_000)


def best_seconds(tasks: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the least processor time of each task over alternating turns."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(repeats):
        for name, task in tasks.items():
            begin = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - begin)
    return best


def measure_chain(repeats: int) -> dict[str, float]:
    """Time one puzzle of each cell of the paper's grid along the chain, in ms a puzzle, with ratios."""
    literal = [puzzle.text for puzzle in reference_generator.draw_grid(PAPER_GRID, 1, SEED)]
    texts = [puzzle.text for puzzle in draw_grid(PAPER_GRID, 1, SEED)]
    if texts != literal:
        raise SystemExit("the two generators differ; times would mean nothing")
    seconds = best_seconds(
        {
            "literal": lambda: deque(reference_generator.draw_grid(PAPER_GRID, 1, SEED), 0),
            "chain": lambda: deque(draw_grid(PAPER_GRID, 1, SEED), 0),
            "chain_text": lambda: [puzzle.text for puzzle in draw_grid(PAPER_GRID, 1, SEED)],
            "solve": lambda: [solve_text(text) for text in texts],
        },
        repeats,
    )
    figures = {f"{name}_ms": 1000 * spent / len(PAPER_GRID) for name, spent in seconds.items()}
    figures["chain_ratio"] = seconds["literal"] / seconds["chain"]
    figures["chain_text_ratio"] = seconds["literal"] / seconds["chain_text"]
    return figures


def measure_parallel(jobs: int) -> dict[str, float]:
    """Time the rows of the default set, whose ids are known, in one process and in several, in wall seconds."""
    seconds = {}
    for count in (1, jobs):
        begin = time.perf_counter()
        deque(draw_rows(PuzzleSet(PAPER_GRID), jobs=count), 0)
        seconds[count] = time.perf_counter() - begin
    puzzles = 100 * len(PAPER_GRID)
    return {
        "puzzles_per_s": puzzles / seconds[1],
        f"puzzles_per_s_{jobs}_jobs": puzzles / seconds[jobs],
        "parallel_ratio": seconds[1] / seconds[jobs],
    }


def measure_lengths(repeats: int) -> dict[str, float]:
    """Time and weigh puzzles of growing length at d = 10: us and bytes a statement, text included."""

    def draw(N: int) -> None:
        for puzzle_id in range(LENGTHS[-1] // N):
            len(draw_puzzle(N, 10, N // 2, puzzle_id).text)

    spent = best_seconds({N: lambda N=N: draw(N) for N in LENGTHS}, min(repeats, 3))
    figures = {f"N{N}_us_per_statement": 1e6 * spent[N] / (LENGTHS[-1] // N * N) for N in LENGTHS}
    figures[f"N{LENGTHS[-1]}_s"] = spent[LENGTHS[-1]]
    for N in LENGTHS:
        tracemalloc.start()
        len(draw_puzzle(N, 10, N // 2, 1).text)
        figures[f"N{N}_peak_bytes_per_statement"] = tracemalloc.get_traced_memory()[1] / N
        tracemalloc.stop()
    return figures


def measure_editions(repeats: int) -> dict[str, float]:
    """Time puzzles of the Elixir editions against the port's, with and without their texts, in turns.

    Returns
    -------
    figures : dict of str to float
        For each edition the ratio over all puzzles together, and the largest over one length and difficulty.
    """
    editions = [
        resolve_edition(name) for name in ("python", "elixir-1.14", "elixir-1.16", "elixir-1.17")
    ]

    def draw(edition: Edition, N: int, d: int, with_text: bool) -> None:
        for puzzle_id in range(FIRST_ID, FIRST_ID + max(1, 1_000 // N)):
            puzzle = draw_puzzle(N, d, N // 2, puzzle_id, edition=edition)
            if with_text:
                len(puzzle.text)

    figures = {}
    for words, with_text in (("", True), ("draws_", False)):
        spent = [
            best_seconds({one: partial(draw, one, N, d, with_text) for one in editions}, repeats)
            for N in (20, 50, 100, 250, 2_500)
            for d in (1, 3, 5, 7, 10)
        ]
        for edition in editions[1:]:
            ratios = [point[edition] / point[editions[0]] for point in spent]
            whole = sum(point[edition] for point in spent) / sum(
                point[editions[0]] for point in spent
            )
            figures |= {
                f"{edition}_{words}ratio": whole,
                f"{edition}_{words}ratio_most": max(ratios),
            }
    return figures


def measure_memory(jobs: int) -> dict[str, float]:
    """Write the default set with the command; return the memory of its largest process, in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "cogniload_repro",
            "puzzles",
            "--out",
            folder,
            "--jobs",
            str(jobs),
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return {"puzzles_peak_mib": usage.ru_maxrss / 1024}


def name_figures(figures: dict[str, float], jobs: int) -> list[tuple[str, str]]:
    """Choose the figures that the README shows."""
    return [
        (
            "puzzles: id chain against the plain reference, one core",
            f"{figures['chain_ratio']:.1f} x",
        ),
        (
            "puzzles: chain and text against the plain reference",
            f"{figures['chain_text_ratio']:.1f} x",
        ),
        (f"puzzles: {jobs} processes against one", f"{figures['parallel_ratio']:.1f} x"),
        ("puzzles a second, one core", f"{figures['puzzles_per_s']:,.0f}"),
        *(
            (
                f"a statement of N = {N:,}, d = 10, with its text",
                f"{figures[f'N{N}_us_per_statement']:.1f} µs",
            )
            for N in LENGTHS
        ),
        (f"a puzzle of N = {LENGTHS[-1]:,}, d = 10", f"{figures[f'N{LENGTHS[-1]}_s']:.2f} s"),
        (
            "a puzzle of the Elixir edition with its text, against the port's",
            f"{figures['elixir-1.17_ratio']:.1f} x",
        ),
        ("largest process while the 14,000 are written", f"{figures['puzzles_peak_mib']:.0f} MiB"),
    ]


def main() -> None:
    """Print every figure, one a line, or the README's rows as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--json", action="store_true", help="print rows of (what, figure) for the README"
    )
    options = parser.parse_args()
    figures = (
        measure_chain(options.repeats)
        | measure_parallel(options.jobs)
        | measure_lengths(options.repeats)
    )
    figures |= measure_editions(options.repeats) | measure_memory(options.jobs)
    if options.json:
        print(json.dumps(name_figures(figures, options.jobs)))
        return
    for name, value in figures.items():
        print(f"{name:34s} {value:12.4g}")


if __name__ == "__main__":
    main()
