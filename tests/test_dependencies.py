"""What is declared is used, and what is used is declared."""

import ast
import json
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
#: Declared packages that nothing imports: the file that needs them, and the words in it that do.
WITHOUT_IMPORT = {
    "jinja2": ("src/cogniload_repro/presentation/tables.py", ".style"),
    "jupyter-book": ("src/cogniload_repro/presentation/book.py", "jupyter_book"),
    "ipykernel": ("src/cogniload_repro/presentation/notebooks.py", "kernel"),
    "openai": ("notebooks/evaluate.ipynb", "--model openai-api/"),
    "hatchling": ("pyproject.toml", 'build-backend = "hatchling.build"'),
    "pytest-xdist": ("Makefile", "pytest -n"),
    "uv": ("Makefile", "-m uv pip install"),
    "jupyterlab": ("Makefile", "-m jupyterlab"),
    "ruff": ("Makefile", "-m ruff"),
    "mypy": ("pyproject.toml", "[tool.mypy]"),
}
#: Imported packages that come with a declared one, and are part of how that is used.
BROUGHT_BY = {
    "myst-nb": "jupyter-book",
    "myst-parser": "jupyter-book",
    "markdown-it-py": "jupyter-book",
    "sphinx": "jupyter-book",
    "docutils": "jupyter-book",
    "traitlets": "ipykernel",
    "jupyter-client": "ipykernel",
    "ipython": "ipykernel",
}


def plain(requirement: str) -> str:
    """The name of a requirement as package indexes write it."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()


def declared() -> dict[str, set[str]]:
    """Names by group: those of a plain installation, of each extra, and of what the Makefile installs beside it."""
    extras, installers = PROJECT["project"]["optional-dependencies"], PROJECT.get("dependency-groups", {})
    groups = {"": PROJECT["project"]["dependencies"], **extras, **installers}
    return {group: {plain(one) for one in ones} - {"cogniload-repro"} for group, ones in groups.items()}


@cache
def imported(folder: str) -> set[str]:
    """Packages that the Python files and notebooks of a folder import, the standard library left out."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py")]
    for path in (ROOT / folder).glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    found = set()
    for node in (node for text in texts for node in ast.walk(ast.parse(text))):
        names = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        found |= {name.partition(".")[0] for name in names}
    own = {"cogniload_repro", "fixtures"}
    own |= {path.stem for place in ("tests", "benchmarks", "book/_ext") for path in (ROOT / place).rglob("*.py")}
    others, known = found - sys.stdlib_module_names - own, packages_distributions()
    return {plain(known[name][0]) if name in known else plain(name) for name in others}


def test_what_is_declared_is_used_and_what_is_imported_is_declared():
    """A runtime package is imported by the package or the book, any other one somewhere, or there is its reason."""
    groups = declared()
    everything = set().union(*groups.values())
    runtime = imported("src") | imported("book") | imported("notebooks")
    others = imported("tests") | imported("benchmarks")
    for group, names in groups.items():
        used = {"": runtime, "dev": runtime | others}.get(group, runtime)
        assert names - used - WITHOUT_IMPORT.keys() == set(), group
    assert runtime - (everything - groups["dev"]) - BROUGHT_BY.keys() == set()
    assert others - everything - BROUGHT_BY.keys() == set()
    stale = {name for name, (file, words) in WITHOUT_IMPORT.items() if words not in (ROOT / file).read_text("utf-8")}
    assert stale & everything == set()
    assert set(BROUGHT_BY.values()) <= everything
