"""What scoring costs at scale: CPU, memory, bytes moved, two processes against one; `--write` keeps it in docs/.

python benchmarks/scale.py [--write] [--scale 0.1]
"""

import argparse
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem
from fsspec.registry import register_implementation
from fsspec.spec import AbstractBufferedFile

from cogniload_repro.executors import open_executor
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.sets import describe_set, draw_rows, write_parquet
from cogniload_repro.schemas import OUTPUTS
from cogniload_repro.scoring.cells import write_cells
from cogniload_repro.scoring.scores import score_dataset
from cogniload_repro.storage import table_writer

PAGE = Path(__file__).parents[1] / "docs" / "scoring-at-scale.md"
ROWS_A_GROUP = 5_000
WORDS = [f"w{number}" for number in range(50_000)]


class CountedFile(AbstractBufferedFile):
    """A file of a store that counts what is fetched from it."""

    def _fetch_range(self, start, end):
        with open(self.path, "rb") as file:
            file.seek(start)
            content = file.read(end - start)
        CountedStore.moved += len(content)
        return content


class CountedStore(LocalFileSystem):
    """A store on the local disk that counts the bytes moved in both directions."""

    protocol = ("counted",)
    moved = 0

    def _open(self, path, mode="rb", **options):
        options.pop("autocommit", None)
        if "r" in mode:
            return CountedFile(self, self._strip_protocol(path), mode, **options)
        return super()._open(path, mode)

    def mv(self, path1, path2, **_):
        """Move inside the store, where nothing is transferred; what was written has been."""
        CountedStore.moved += os.path.getsize(self._strip_protocol(path1))
        super().mv(path1, path2)


def write_build(folder: Path, files: int, rows: int, chars: int) -> None:
    """Write puzzles, and outputs of so many models and rows with responses of about so many characters."""
    (folder / "outputs").mkdir(parents=True)
    shutil.copy(folder.parent / "puzzles.parquet", folder)
    known = pq.read_table(folder / "puzzles.parquet", columns=["name", "poi", "gold"]).to_pylist()
    rng = random.Random(1)
    for number in range(files):
        with table_writer(folder / "outputs" / f"m{number}.parquet", OUTPUTS, {"provenance": "imported"}) as writer:
            size = min(ROWS_A_GROUP, rows)
            asked = [known[row % len(known)] for row in range(size)]
            padding = [" ".join(rng.choices(WORDS, k=chars // 6)) for _ in range(500)]
            columns = {
                "model": [f"m{number}"] * size, "name": [one["name"] for one in asked],
                "response": [f"{padding[i % 500]}\n{one['poi']}: {one['gold']}" for i, one in enumerate(asked)],
                "prompt_tokens": [900] * size, "response_tokens": [2_000] * size, "stopped": [None] * size,
            }  # fmt: skip
            group = pa.table(columns, schema=OUTPUTS)
            for _ in range(-(-rows // size)):
                writer.write_table(group)


def score(build: str, jobs: int) -> dict:
    """Score a build and count its cells, in this process and its children; return what that took."""
    begin = time.monotonic()
    if jobs:
        with open_executor(jobs) as executor:
            score_dataset(f"{build}/outputs", f"{build}/puzzles.parquet", f"{build}/scores", executor)
    else:
        score_dataset(f"{build}/outputs", f"{build}/puzzles.parquet", f"{build}/scores")
    write_cells(f"{build}/scores", f"{build}/cells.parquet")
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "wall": time.monotonic() - begin,
        "cpu": sum(one.ru_utime + one.ru_stime for one in usage),
        "parent_mb": int(re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[1]) / 1024,
        "worker_mb": usage[1].ru_maxrss / 1024,
        "moved": CountedStore.moved,
    }


def measure(build: str, jobs: int) -> dict:
    """Score in a process of its own."""
    command = [sys.executable, __file__, "--one", build, "--jobs", str(jobs)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Measure, print, and write the page if asked to."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--one")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.one:
        register_implementation("counted", CountedStore)
        print(json.dumps(score(options.one, options.jobs)))
        return
    found = {}
    with tempfile.TemporaryDirectory() as name:
        puzzles = PuzzleSet(PAPER_GRID)
        write_parquet(Path(name) / "puzzles.parquet", draw_rows(puzzles, jobs=2), describe_set(puzzles, "benchmark"))
        for case, (files, rows, chars) in {
            "many": (6, int(500_000 * options.scale), 60),
            "large": (1, int(42_000 * options.scale), 20_000),
            "store": (4, int(5_000 * options.scale), 20_000),
        }.items():
            folder = Path(name) / case
            write_build(folder, files, rows, chars)
            stored = [path.stat().st_size for path in [*folder.glob("outputs/*"), folder / "puzzles.parquet"]]
            found[case] = {"rows": files * rows, "stored": sum(stored)}
        for case, jobs in (("many", 2), ("large", 1), ("large", 2)):
            runs = []
            for _ in range(1 if case == "many" else 3):
                for old in (Path(name) / case / "scores").glob("*"):
                    old.unlink()
                runs.append(measure(f"{name}/{case}", jobs))
            found[case][f"jobs {jobs}"] = min(runs, key=lambda run: run["wall"])
        found["many"]["again"] = measure(f"{name}/many", 2)
        found["store"]["first"] = measure(f"counted://{name}/store", 0)
        found["store"]["again"] = measure(f"counted://{name}/store", 0)
    print(json.dumps(found, indent=1))
    if options.write:
        PAGE.write_text(describe(found), encoding="utf-8")


TEMPLATE = """# Scoring at scale

Measured by `python benchmarks/scale.py --write` on {cores} cores at a load of {load:.1f}; CPU seconds are the figures
to trust: with as many other programs as cores, two processes gain nothing over one.

| what | measured |
|:--|:--|
| a million short responses (60 characters) | {short:.0f} CPU s |
| a million long responses (20,000 characters) | {long:.0f} CPU s |
| largest memory for {rows:,} short ones, two processes | parent {parent:.0f} MB, worker {worker:.0f} MB |
| the same again, nothing to do | {again:.1f} CPU s |
| one file of {large:,} long ones, two processes for one | {speed:.2f} times as fast ({one:.1f} s, {two:.1f} s) |
| bytes moved to score a store of {stored:.0f} MB | {moved:.0f} MB, {ratio:.2f} times what is stored |
| the same again, nothing to do | {idle:.2f} MB, {idle_share:.2%} |

## What grows with what

- **CPU** grows with the rows, and for responses of more than about 2,000 characters with their length.
- **Memory of the parent** does not grow with the rows: files of scores carry their counts by cell, and the parent
  reads those alone. It grows with the models, by 140 cells each.
- **Memory of a worker** grows with the rows of the largest file, by about 0.1 KB per row (tokens by cell, for exact
  percentiles): 530 MB for a file of 3,000,000, of which 240 MB are the programs and one row group of responses.
- **Bytes**: responses are fetched once; of the puzzles, the columns that the scorer needs, once per worker. A store is
  asked for the tag (or size and time) of a file; local files are read a second time for their digest.
- **Tasks** are row groups of a file, together at most 64 MB or 50,000 rows; parts of a large file are joined by one
  more task. A file with a single row group is one task.

## A billion responses

By these figures a billion long responses of 1,000 models take {hours:,.0f} CPU hours, {wall:.1f} hours
on 64 workers (`cogniload score --scheduler tcp://host:8786 --build s3://bucket/build`), if the store
delivers the {rate:.1f} GB per second that they read. The parent hands out {tasks:,.0f} tasks and reads 1,000 footers.
"""


def describe(found: dict) -> str:
    """Return the page of measurements, and what a billion responses would take by them."""
    many, large, store = found["many"], found["large"], found["store"]
    one, two, both = large["jobs 1"], large["jobs 2"], many["jobs 2"]
    long = one["cpu"] / large["rows"] * 1e6
    return TEMPLATE.format(
        cores=os.cpu_count(), load=os.getloadavg()[0], rows=many["rows"], large=large["rows"], long=long,
        short=both["cpu"] / many["rows"] * 1e6, parent=both["parent_mb"], worker=both["worker_mb"],
        again=many["again"]["cpu"], speed=one["wall"] / two["wall"], one=one["wall"], two=two["wall"],
        stored=store["stored"] / 1e6, moved=store["first"]["moved"] / 1e6,
        ratio=store["first"]["moved"] / store["stored"], idle=store["again"]["moved"] / 1e6,
        idle_share=store["again"]["moved"] / store["stored"], hours=long * 1e3 / 3600, wall=long * 1e3 / 3600 / 64,
        rate=64 * 20_000 / (long / 1e6) / 1e9, tasks=1e9 * 20_000 / 64e6,
    )  # fmt: skip


if __name__ == "__main__":
    main()
