"""Measure the generator against the literal one, in one run and as ratios.

    python benchmarks/bench_generation.py [--jobs 2] [--repeats 5] [--json]

Times are processor seconds of this process, best of several turns taken alternately, so that a busy machine
disturbs both sides alike; only the parallel runs are wall times.
"""

import argparse
import json
import time
import tracemalloc
from collections import deque
from collections.abc import Callable

import reference_generator

from cogniload_repro.generate import draw_grid, draw_puzzle, draw_puzzles
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.puzzle import solve_text
from cogniload_repro.puzzle_ids import read_manifest

SEED = 42
LENGTHS = (1_000, 5_000, 20_000, 80_000)


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


def text_length(puzzle) -> int:
    """Render a puzzle in the process that drew it."""
    return len(puzzle.text)


def measure_parallel(jobs: int, per_cell: int = 100) -> dict[str, float]:
    """Time independent puzzles of the default set in one process and in several, in wall seconds."""
    requests = [(cell.N, cell.d, cell.needles, one) for cell, ids in read_manifest().items() for one in ids[:per_cell]]
    seconds = {}
    for count in (1, jobs):
        begin = time.perf_counter()
        deque(draw_puzzles(requests, count, text_length), 0)
        seconds[count] = time.perf_counter() - begin
    return {
        "puzzles_per_s": len(requests) / seconds[1],
        f"puzzles_per_s_{jobs}_jobs": len(requests) / seconds[jobs],
        "parallel_ratio": seconds[1] / seconds[jobs],
    }


def measure_lengths(repeats: int) -> dict[str, float]:
    """Time and weigh puzzles of growing length at d = 10: us and bytes a statement, text included."""
    figures = {}
    for N in LENGTHS:
        spent = best_seconds({"draw": lambda N=N: len(draw_puzzle(N, 10, N // 2, 1).text)}, min(repeats, 2))
        figures[f"N{N}_s"] = spent["draw"]
        figures[f"N{N}_us_per_statement"] = 1e6 * spent["draw"] / N
    for N in LENGTHS[1:3]:
        tracemalloc.start()
        len(draw_puzzle(N, 10, N // 2, 1).text)
        figures[f"N{N}_peak_bytes_per_statement"] = tracemalloc.get_traced_memory()[1] / N
        tracemalloc.stop()
    return figures


def name_figures(figures: dict[str, float], jobs: int) -> list[tuple[str, str]]:
    """Choose the figures that the README shows."""
    return [
        ("puzzles: id chain against the plain reference, one core", f"{figures['chain_ratio']:.1f} x"),
        ("puzzles: chain and text against the plain reference", f"{figures['chain_text_ratio']:.1f} x"),
        (f"puzzles: {jobs} processes against one", f"{figures['parallel_ratio']:.1f} x"),
        ("puzzles a second, one core", f"{figures['puzzles_per_s']:,.0f}"),
        ("a puzzle of N = 20,000, d = 10", f"{figures['N20000_s']:.2f} s"),
    ]


def main() -> None:
    """Print every figure, one a line, or the README's rows as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print rows of (what, figure) for the README")
    options = parser.parse_args()
    figures = measure_chain(options.repeats) | measure_parallel(options.jobs) | measure_lengths(options.repeats)
    if options.json:
        print(json.dumps(name_figures(figures, options.jobs)))
        return
    for name, value in figures.items():
        print(f"{name:34s} {value:12.4g}")


if __name__ == "__main__":
    main()
