"""Speed, memory and distribution of scoring, all measured in this one run.

python benchmarks/bench_scoring.py [--json]

The ratios are to the literal Algorithms 1-3 of the tests, in CPU time of one core. Rows a second, memory and Dask are
measured with `cogniload score` and its functions on a set of long responses.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import timeit
from concurrent.futures import Executor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pyarrow as pa

from cogniload_repro.executors import open_executor
from cogniload_repro.puzzles.catalog import puzzle_row
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.schemas import OUTPUTS, PUZZLES
from cogniload_repro.scoring.scores import score_dataset
from cogniload_repro.scoring.verdict import score_response
from cogniload_repro.storage import table_writer, write_table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from reference_scorer import score as reference_score

TRACE_CHARS = 30_000
MODELS, ROWS = 4, 4_000  # responses of each model
PUZZLE = draw_puzzle(100, 5, 50, 100_003)
TOKENS = {"prompt_tokens": 4_000, "response_tokens": 9_000}
QUESTION = {
    "poi": PUZZLE.poi,
    "gold": PUZZLE.solution,
    "domain": PUZZLE.domains[PUZZLE.category],
    "category": PUZZLE.category,
    **TOKENS,
}


def make_trace(chars: int, *, ascii_only: bool) -> str:
    """Return reasoning about the puzzle, line by line, of about this many characters."""
    rng = random.Random(1)
    statements = PUZZLE.text.splitlines()[2:-2]
    lines, size = [], 0
    while size < chars:
        person = rng.choice(PUZZLE.people)
        arrow = "->" if ascii_only else "→"
        lines += [
            f"{rng.choice(statements)}.",
            f"{person}: checked {arrow} still the same, so on to the next.",
            "",
        ]
        size += sum(map(len, lines[-3:])) + 3
    return "\n".join(lines)


def make_responses(*, ascii_only: bool) -> dict[str, str]:
    """Return responses of typical and of awkward shapes."""
    trace = make_trace(TRACE_CHARS, ascii_only=ascii_only)
    poi, gold = QUESTION["poi"], QUESTION["gold"]
    final = f"{poi} is wearing a **{gold}** hat, is at the **{gold}**, has **{gold}** hair, ate and read it."
    other = next(value for value in QUESTION["domain"] if value != gold)
    nameless = trace.replace(poi, "Somebody")
    pair = f"{poi}: nothing new so far{'.' if ascii_only else ' → next.'}\nThe one with gloves wears them still.\n"
    return {
        "typical, right": f"{trace}\n\n{final}",
        "typical, wrong": f"{trace}\n\n{final.replace(gold, other)}",
        "name absent": f"{nameless}\n\nit stays open",
        "one huge line": f"{trace} {final}".replace("\n", " "),
        "one huge line, name absent": f"{nameless} it stays open".replace("\n", " "),
        "name and category word in turns, never on one line": pair * (TRACE_CHARS // len(pair)),
        "short": final,
        "empty": "",
    }


def best_times(*functions) -> list[float]:
    """Return the shortest CPU time of each function, in seconds; they take turns under the same load."""
    timers = [timeit.Timer(function, timer=time.process_time) for function in functions]
    numbers = [max(1, int(0.004 / max(timer.timeit(2) / 2, 1e-7))) for timer in timers]
    rounds = [
        [timer.timeit(number) / number for timer, number in zip(timers, numbers, strict=True)]
        for _ in range(25)
    ]
    return [min(times) for times in zip(*rounds, strict=True)]


def bench_responses() -> dict[str, list[float]]:
    """Return for each shape the times of the literal algorithms, `score_response` and `str.lower`."""
    times = {}
    for ascii_only in (True, False):
        for shape, response in make_responses(ascii_only=ascii_only).items():
            if reference_score(response, **QUESTION) != score_response(response, **QUESTION):
                raise SystemExit(f"{shape}: the verdicts differ")
            calls = [
                partial(function, response, **QUESTION)
                for function in (reference_score, score_response)
            ]
            times[shape if ascii_only else f"{shape}, non-ASCII"] = best_times(
                *calls, response.lower
            )
    return times


def print_responses(times: dict[str, list[float]]) -> None:
    """Print all that was measured on single responses."""
    print(f"{'shape':64}{'literal µs':>12}{'scored µs':>11}{'ratio':>8}{'lower µs':>10}")
    for shape, (literal, scored, lowered) in times.items():
        ratio = literal / scored
        print(
            f"{shape:64}{literal * 1e6:12.1f}{scored * 1e6:11.2f}{ratio:7.1f}x{lowered * 1e6:10.2f}"
        )


def name_responses(times: dict[str, list[float]]) -> list[tuple[str, str]]:
    """Return what was measured on single responses as rows of what and figure."""
    ratio = {shape: literal / scored for shape, (literal, scored, _) in times.items()}
    rows = [
        (
            f"scoring against Algorithms 1-3 as printed: {shape}",
            f"{ratio[shape]:.1f}x, non-ASCII {other:.1f}x",
        )
        for shape in ratio
        if (other := ratio.get(f"{shape}, non-ASCII"))
    ]
    for shape in ("typical, right", "name absent"):
        _, scored, lowered = times[shape]
        figure = f"{TRACE_CHARS / scored / 1e6:,.0f} MB/s, {TRACE_CHARS / lowered / 1e6:,.0f} MB/s"
        rows.append((f"scoring, and a plain str.lower(), of 30 kB: {shape}", figure))
    return rows


def write_build(folder: Path) -> float:
    """Write puzzles and outputs of long responses; return the size of the text in MB."""
    response = make_responses(ascii_only=False)["typical, right"]
    label = {"provenance": "imported"}
    for model in range(MODELS):
        with table_writer(folder / f"outputs/model-{model}.parquet", OUTPUTS, label) as writer:
            for first in range(0, ROWS, 500):
                asked = {"model": f"model-{model}", "name": PUZZLE.name, **TOKENS}
                rows = [
                    asked | {"response": f"{number} {response}"}
                    for number in range(first, first + 500)
                ]
                writer.write_table(pa.Table.from_pylist(rows, writer.schema))
    write_table(
        folder / "puzzles.parquet", pa.Table.from_pylist([puzzle_row(PUZZLE)], PUZZLES), label
    )
    return MODELS * ROWS * len(response.encode()) / 1e6


def bench_command(build: Path, megabytes: float) -> list[tuple[str, str]]:
    """Return rows a second of CPU time, and the memory of the largest process of `cogniload score`."""
    command = [
        sys.executable,
        "-m",
        "cogniload_repro",
        "score",
        "--build",
        str(build),
        "--jobs",
        "1",
    ]
    subprocess.run(command, check=True, capture_output=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    start = time.process_time()
    score_dataset(build / "outputs", build / "puzzles.parquet", build / "here")
    seconds = time.process_time() - start
    figure = f"{MODELS * ROWS / seconds:,.0f} rows/s, {megabytes / seconds:,.0f} MB/s"
    what = f"{MODELS * ROWS:,} responses in Parquet, {megabytes:,.0f} MB"
    return [
        (f"scoring {what}, on one core", figure),
        ("`cogniload score` on them, largest process", f"{peak:,.0f} MiB"),
    ]


def time_executors(build: Path, executors: dict[str, Executor]) -> dict[str, float]:
    """Score the build with each executor in turn, after a round to warm up; return the shortest times in seconds."""
    times = {}
    for turn in range(5):
        for name, executor in executors.items():
            start = time.perf_counter()
            score_dataset(
                build / "outputs", build / "puzzles.parquet", build / f"{name}-{turn}", executor
            )
            times[name, turn] = time.perf_counter() - start
    return {name: min(times[name, turn] for turn in range(1, 5)) for name in executors}


def start_cluster(stack: ExitStack, folder: Path) -> str:
    """Start a Dask scheduler and two workers as processes on this machine; return the scheduler's address."""
    from distributed import Client

    file = folder / "scheduler.json"
    host = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file))
    for role in (("scheduler", "--port", "0"), *[("worker", "--nthreads", "1", "--no-nanny")] * 2):
        command = [sys.executable, "-m", "dask", *role, *host]
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        stack.callback(process.wait)
        stack.callback(process.kill)
        while not file.exists():
            time.sleep(0.05)
    with Client(scheduler_file=str(file), set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        return client.scheduler.address


def bench_cluster(build: Path) -> list[tuple[str, str]]:
    """Return the time that two Dask workers take for what two local processes do."""
    with ExitStack() as stack:
        address = start_cluster(stack, build)
        places = {"local": None, "cluster": address}
        executors = {
            name: stack.enter_context(open_executor(2, place)) for name, place in places.items()
        }
        times = time_executors(build, executors)
    for path in (build / "local-0").iterdir():
        if path.read_bytes() != (build / "cluster-0" / path.name).read_bytes():
            raise SystemExit(f"{path.name}: the cluster scored otherwise")
    figure = f"{times['local']:.2f} s, {times['cluster']:.2f} s ({times['cluster'] / times['local']:.2f}x)"
    return [("the same in two local processes, and by two Dask workers here, all running", figure)]


def main() -> None:
    """Measure everything and print it."""
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    times = bench_responses()
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder)
        megabytes = write_build(build)
        rows = bench_command(build, megabytes) + bench_cluster(build)
    if "--json" in sys.argv[1:]:
        print(json.dumps([*name_responses(times), *rows]))
    else:
        print_responses(times)
        print(*(f"\n{what}: {figure}" for what, figure in rows))


if __name__ == "__main__":
    main()
