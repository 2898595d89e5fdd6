"""The book's page on the software that made it, and on how long that takes."""

import platform
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import cogniload_repro as cl
from cogniload_repro.presentation import markdown

_CHECKOUT = Path(__file__).resolve().parents[3]


def versions_page(checkout: str | Path = _CHECKOUT) -> str:
    """Return the page as MyST Markdown: this package, Python, the libraries, and the measured run times.

    Parameters
    ----------
    checkout : path
        Where ``pyproject.toml`` names the libraries and ``docs/benchmarks.md`` has the figures.
    """
    folder = Path(checkout)
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [f"| cogniload-repro | {cl.__version__} |", f"| Python | {platform.python_version()} |"]
    lines += [f"| {name} | {number} |" for name, number in _list_libraries(project["dependencies"])]
    figures = (folder / "docs" / "benchmarks.md").read_text(encoding="utf-8").partition("\n|")
    return "\n".join([
        "# Versions and run times",
        "",
        "This book was made with:",
        "",
        "| | |",
        "|:--|:--|",
        *lines,
        "",
        "## Run times",
        "",
        "Measured with `make bench`; other machines take other times.",
        "",
        "".join(figures[1:]).strip(),
        "",
    ])  # fmt: skip


def _list_libraries(required: list[str]) -> Iterator[tuple[str, str]]:
    for requirement in required:
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        try:
            yield markdown.escape(name), markdown.escape(version(name))
        except PackageNotFoundError:
            continue
