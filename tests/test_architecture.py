"""The folders of the package lie in layers, every import goes down, and each has a line budget."""

import ast
import re
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "cogniload_repro"
#: Modules by their place below the package: "grid", "outputs/sources".
SOURCES = {
    path.relative_to(PACKAGE).with_suffix("").as_posix(): path
    for path in PACKAGE.rglob("*.py")
    if not path.stem.startswith("__")
}
#: Folders, lowest layer first; those of one layer do not import one another. Modules beside them are the foundation.
LAYERS = (
    ("foundation",),
    ("puzzles",),
    ("statistics",),
    ("scoring", "outputs", "robustness"),
    ("reconstruction",),
    ("fidelity",),
    ("companions",),
    ("evaluation",),
    ("presentation",),
    ("commands",),
    ("cli",),
)
LAYER_OF = {folder: layer for layer, folders in enumerate(LAYERS) for folder in folders}


def find_folder(module: str) -> str:
    """The folder of a module; for one beside the folders, the foundation or the command itself."""
    folder, _, name = module.rpartition("/")
    return folder or ("cli" if name == "cli" else "foundation")


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


def test_every_import_goes_down(imports):
    """A folder imports from lower layers and from itself only."""
    against = [
        (importer, imported)
        for importer, found in imports.items()
        for imported in found
        if find_folder(imported) != find_folder(importer)
        and LAYER_OF[find_folder(imported)] >= LAYER_OF[find_folder(importer)]
    ]
    assert against == []


def test_no_import_goes_round(imports):
    """The imports have no cycle, within a folder either."""
    assert set(TopologicalSorter(imports).static_order()) == set(SOURCES)


def test_the_map_has_every_module_in_its_folder_and_the_layers_in_order():
    """docs/architecture.md names each module once, below its folder heading, and the folders in the order of LAYERS."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed, order, folder = [], [], ""
    for line in page.splitlines():
        if line.startswith("## "):
            folder = found[1] if (found := re.search(r"`(\w+)/`", line)) else ""
            order.append(LAYER_OF[folder or ("foundation" if not order else "cli")])
        elif line.startswith("- "):
            listed += [f"{folder}/{name}".lstrip("/") for name in re.findall(r"`(\w+)`", line.partition(": ")[0])]
    assert sorted(listed) == sorted(SOURCES)
    assert order == sorted(order)


def test_every_rule_of_the_chain_looks_at_the_modules_that_its_command_uses(imports):
    """What a step's modules import, and those import, is among the prerequisites of its rule or of one before it."""
    made = subprocess.run(["make", "-pn", "-f", "Makefile", "VENV=", "GRID=mini", "help"], cwd=ROOT,
                          capture_output=True, text=True, check=False).stdout  # fmt: skip
    rules = dict(re.findall(r"^data/build-mini/(\S+): (.*)$", made, re.M))
    uses = {
        "outputs/.made": {"reconstruction/stand_ins", "puzzles/sets", "outputs/imports", "outputs/sources"},
        "cells.parquet": {"puzzles/baselines", "scoring/scores", "scoring/cells"},
        "fidelity.csv": {"statistics/fits", "fidelity/ledger", "fidelity/results", "fidelity/prompts"},
        "book/_build/html/index.html": {
            *("presentation/page", "presentation/notebooks", "presentation/book"),
            *("companions/load", "robustness/conclusions"),
        },
    }
    looked: set[str] = set()
    for target, waiting in uses.items():
        looked |= {name.removeprefix("src/cogniload_repro/").removesuffix(".py") for name in rules[target].split()}
        needed: set[str] = set()
        while waiting:
            if (name := waiting.pop()) not in needed:
                needed.add(name)
                waiting |= imports[name]
        assert sorted(needed - looked) == [], target
    assert "src/cogniload_repro/statistics/regression.py" not in rules["outputs/.made"].split()
    assert "data/reconstructed/wordings.json" in rules["outputs/.made"].split()


def count_lines() -> dict[str, int]:
    """Lines by folder of the package, of all of it, of the tests and of the browser's scripts."""
    lines: dict[str, int] = {}
    for name, path in SOURCES.items():
        folder = name.rpartition("/")[0] or "(top)"
        lines[folder] = lines.get(folder, 0) + len(path.read_text(encoding="utf-8").splitlines())
    lines["package"] = sum(lines.values())
    for label, pattern in (("tests", "tests/**/*.py"), ("browser scripts", "book/_scripts/**/*.js")):
        lines[label] = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in ROOT.glob(pattern))
    return lines


def test_folders_keep_to_their_budgets():
    """Each folder has a budget of lines in docs/architecture.md and keeps to it, and so has the whole package."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    budgets = {name: int(lines.replace(",", "")) for name, lines in re.findall(r"^\| (.+?) \| ([\d,]+) \|", page, re.M)}
    lines = count_lines()
    assert budgets.keys() == lines.keys()
    over = {name: f"{lines[name]:,} of {budgets[name]:,}" for name in lines if lines[name] > budgets[name]}
    assert not over, f"over budget: {over}; remove something before you add (docs/architecture.md)"
