"""Measure the chain, the generator and the scorer: `make bench` prints one table.

`make bench WRITE=1` writes it into the README, if the machine is idle. The chain runs in a copy of the
tracked files, with the environment that runs this script, so that your own build is not touched.
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

import bench_generation
import bench_scoring

ROOT = Path(__file__).resolve().parents[1]
BEGIN = "<!-- bench: begin -->"
END = "<!-- bench: end -->"
#: Edits of a reader: the type of cell, its name in the table, and the line added to the last one.
EDITS = (("markdown", "sentence", "One more."), ("code", "cell of code", "# changed"))


def run(folder: Path, target: str) -> str:
    """Make a target in a folder and return its wall and processor time."""
    command = ["make", "-C", str(folder), "VENV=", f"PYTHON={sys.executable}", target]
    environment = dict(os.environ)
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        environment.pop(name, None)
    begin = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    )
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"make {target} failed:\n{done.stdout}\n{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{wall:.1f} s, {cpu:.1f} CPU s"


def copy_tracked_files(folder: Path) -> None:
    """Copy the files that git tracks, as they are now, into a folder."""
    listing = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"],
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listing.stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def edit(notebook: Path, kind: str, addition: str) -> None:
    """Add a line to the last cell of a type."""
    content = json.loads(notebook.read_text("utf-8"))
    cells = [cell for cell in content["cells"] if cell["cell_type"] == kind]
    cells[-1]["source"] += ["\n", addition]
    notebook.write_text(json.dumps(content), encoding="utf-8")


def measure_chain() -> list[tuple[str, str]]:
    """Time the chain: nothing built, unchanged, after two edits of chapter 5, on the mini-grid."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "copy"
        copy_tracked_files(folder)
        rows = [
            ("`make reproduce`, nothing built", run(folder, "reproduce")),
            ("`make reproduce`, nothing changed", run(folder, "reproduce")),
        ]
        for kind, what, addition in EDITS:
            edit(folder / "notebooks" / "05_glm.ipynb", kind, addition)
            rows.append(
                (f"`make reproduce`, one {what} changed", run(folder, "reproduce"))
            )
        rows.append(("`make smoke`, nothing built", run(folder, "smoke")))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
    return [*rows, ("largest process", f"{peak:.2f} GiB")]


def main() -> None:
    """Print the table; with --write, put it into the README too."""
    cores = os.cpu_count() or 1
    is_kept = "--write" in sys.argv[1:]
    load = os.getloadavg()[0]
    if is_kept and load > cores:
        sys.exit(
            f"the load average is {load:.1f} on {cores} cores; wait until the machine is idle"
        )
    rows = measure_chain() + bench_generation.measure() + bench_scoring.measure()
    machine = f"{cores} cores, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}"
    lines = [f"| measured ({machine}) | |", "|:--|--:|"]
    lines += [f"| {what} | {figure} |" for what, figure in rows]
    table = "\n".join(lines)
    print(table)
    if is_kept:
        readme = ROOT / "README.md"
        text = readme.read_text("utf-8")
        old = re.search(f"{BEGIN}.*{END}", text, flags=re.DOTALL)[0]
        readme.write_text(
            text.replace(old, f"{BEGIN}\n{table}\n{END}"), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
