"""The map of the package and the Makefile's lists say what the imports say."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = {
    path.stem: path for path in (ROOT / "src" / "cogniload_repro").glob("*.py") if not path.stem.startswith("__")
}


def find_imports(path: Path) -> set[str]:
    """The package's modules that a module imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.level == 1 or (node.module or "").startswith("cogniload_repro")):
            module = (node.module or "").removeprefix("cogniload_repro").strip(".")
            names |= {module} if module else {alias.name for alias in node.names}
    return names & set(SOURCES)


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """Imports of every module."""
    return {name: find_imports(path) for name, path in SOURCES.items()}


def test_every_module_is_on_the_map_once():
    """docs/architecture.md names each module once, and nothing else."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = [name for line in page.splitlines() if line.startswith("- ") for name in re.findall(r"`(\w+)`", line)]
    assert sorted(listed) == sorted(SOURCES)


def test_no_import_goes_round(imports):
    """The imports have no cycle."""
    assert set(TopologicalSorter(imports).static_order()) == set(SOURCES)


def test_the_makefile_lists_what_outputs_and_scores_are_made_with(imports):
    """A module that shapes outputs or scores is a dependency of theirs, and no other is."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    listed = re.search(r"^CORE := (.*)$", text, flags=re.MULTILINE).group(1).split()
    needed, waiting = (
        set(),
        ["stand_ins", "reconstruct", "scores", "cells", "puzzle_sets", "imports", "sources", "executors"],
    )
    while waiting:
        if (name := waiting.pop()) not in needed:
            needed.add(name)
            waiting += imports[name]
    assert sorted(listed) == sorted(needed)


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_modules_stay_short(name):
    """A module past 320 lines asks for a better cut."""
    assert len(SOURCES[name].read_text(encoding="utf-8").splitlines()) <= 320
