"""The map of the package and the Makefile's lists say what the imports say."""

import ast
import re
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "cogniload_repro"
#: Modules by their place below the package: "grid", "intake/sources".
SOURCES = {
    path.relative_to(PACKAGE).with_suffix("").as_posix(): path
    for path in PACKAGE.rglob("*.py")
    if not path.stem.startswith("__")
}


def find_imports(path: Path) -> set[str]:
    """The package's modules that a module imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cogniload_repro"):
            parts = node.module.split(".")[1:]
            names |= {"/".join(parts)} | {"/".join([*parts, alias.name]) for alias in node.names}
    return names & set(SOURCES)


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """Imports of every module."""
    return {name: find_imports(path) for name, path in SOURCES.items()}


def test_every_module_is_on_the_map_once():
    """docs/architecture.md names each module once, below its folder's heading, and nothing else."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed, folder = [], ""
    for line in page.splitlines():
        if line.startswith("## "):
            folder = found[1] if (found := re.search(r"`(\w+/)`", line)) else ""
        elif line.startswith("- "):
            listed += [folder + name for name in re.findall(r"`(\w+)`", line)]
    assert sorted(listed) == sorted(SOURCES)


def test_no_import_goes_round(imports):
    """The imports have no cycle."""
    assert set(TopologicalSorter(imports).static_order()) == set(SOURCES)


def test_the_makefile_lists_what_outputs_and_scores_are_made_with(imports):
    """A module that shapes outputs or scores is a dependency of theirs, and no other is."""
    printed = subprocess.run(
        ["make", "-s", "--eval", "print-core: ; @echo $(CORE)", "print-core"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    steps = ["stand_ins", "reconstruct", "scores", "cells", "puzzle_sets", "imports", "sources", "executors"]
    needed, waiting = set(), [name for name in SOURCES if name.rsplit("/")[-1] in steps]
    while waiting:
        if (name := waiting.pop()) not in needed:
            needed.add(name)
            waiting += imports[name]
    assert sorted(printed.stdout.split()) == sorted(needed)


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_modules_stay_short(name):
    """A module past 320 lines asks for a better cut."""
    assert len(SOURCES[name].read_text(encoding="utf-8").splitlines()) <= 320
