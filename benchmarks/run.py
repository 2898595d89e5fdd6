"""Measure the whole chain: `make bench` prints the figures, `make bench WRITE=1` keeps them on an idle machine.

The chain runs in a copy of the tracked files, with the environment that runs this script, so that a build of yours
stays as it is. Seconds depend on the machine; the ratios come from one run on one machine.
"""

import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = "bench_generation.py", "bench_scoring.py", "bench_coverage.py"
MARKERS = "<!-- bench: begin -->", "<!-- bench: end -->"


def run(folder: Path, *arguments: str) -> str:
    """Run make in a folder and return wall and CPU time; its output is shown when it fails."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["make", "-C", str(folder), "VENV=", f"PYTHON={sys.executable}", *arguments]
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"make {' '.join(arguments)} failed:\n{done.stdout}\n{done.stderr}")
    used, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - start
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    print(f"make {' '.join(arguments):24} {wall:7.1f} s, {cpu:7.1f} CPU s", flush=True)
    return f"{wall:.1f} s, {cpu:.1f} CPU s"


def measure_chain() -> list[tuple[str, str]]:
    """Time the chain: cold, unchanged, after an edit of chapter 5, and on the mini-grid."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "copy"
        files = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True
        )
        for file in filter(None, files.stdout.split("\0")):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, folder / file)
        rows = [("`make reproduce`, nothing built", run(folder, "reproduce"))]
        rows.append(("`make reproduce`, nothing changed", run(folder, "reproduce")))
        notebook = folder / "notebooks" / "05_glm.ipynb"
        for kind, what, more in (
            ("markdown", "sentence", "One more."),
            ("code", "cell of code", "# changed"),
        ):
            content = json.loads(notebook.read_text("utf-8"))
            next(cell for cell in reversed(content["cells"]) if cell["cell_type"] == kind)[
                "source"
            ] += ["\n", more]
            notebook.write_text(json.dumps(content), encoding="utf-8")
            rows.append((f"`make reproduce`, one {what} changed", run(folder, "reproduce")))
        rows.append(("`make smoke`, nothing built", run(folder, "smoke")))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
    return [*rows, ("largest process", f"{peak:.2f} GiB")]


def measure_parts() -> list[tuple[str, str]]:
    """Run the benchmarks beside this script, which print rows of (what, figure) as JSON."""
    rows = []
    for script in (Path(__file__).parent / name for name in PARTS):
        done = subprocess.run(
            [sys.executable, str(script), "--json"], capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{script.name} failed:\n{done.stderr}")
        rows += [tuple(row) for row in json.loads(done.stdout)]
        print(f"{script.name} done", flush=True)
    return rows


def main() -> None:
    """Measure and print a table; --write keeps it in docs/benchmarks.md, its head in the README; --chain stops there.

    A machine with other work is refused when figures are to be kept: seconds taken there mislead.
    """
    cores = os.cpu_count() or 1
    if "--write" in sys.argv[1:] and os.getloadavg()[0] > cores:
        sys.exit(
            f"the load average is {os.getloadavg()[0]:.1f} on {cores} cores; wait until the machine is idle"
        )
    chain = measure_chain()
    machine = f"{cores} cores, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}"
    head = [f"| measured ({machine}) | |", "|:--|--:|"]
    if "--write" in sys.argv[1:]:
        readme, (begin, end) = ROOT / "README.md", MARKERS
        table = "\n".join(
            [begin, *head, *(f"| {what} | {figure} |" for what, figure in chain), end]
        )
        text = re.sub(
            f"{begin}.*{end}", lambda _: table, readme.read_text("utf-8"), flags=re.DOTALL
        )
        readme.write_text(text, encoding="utf-8")
    rows = chain if "--chain" in sys.argv[1:] else chain + measure_parts()
    lines = [f"| {what} | {figure} |" for what, figure in rows]
    print("\n".join(head + lines))
    if "--write" in sys.argv[1:] and "--chain" not in sys.argv[1:]:
        whole = [
            "# Measured figures",
            "",
            "Written by `make bench WRITE=1`.",
            "",
            *head,
            *lines,
            "",
        ]
        (ROOT / "docs" / "benchmarks.md").write_text("\n".join(whole), encoding="utf-8")


if __name__ == "__main__":
    main()
