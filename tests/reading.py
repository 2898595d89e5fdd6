"""Chapters as a reader sees them: run in this process, with what each cell shows."""

import ast
import json
from pathlib import Path

from cogniload_repro.book import page
from cogniload_repro.files import write_whole

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def read_sources(name, kind="code"):
    """Return the sources of a notebook's cells of one kind, by the cells' names."""
    notebook = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text("utf-8"))
    return {
        cell["id"]: "".join(cell["source"])
        for cell in notebook["cells"]
        if cell["cell_type"] == kind
    }


def run_chapter(name, monkeypatch, skip=(), last="", **parameters):
    """Run a notebook's code in this process; return what its cells show at their end, by cell.

    It runs up to the cell ``last``, if one is named. Parameters take the place of those in its
    first cell, where it has them.
    """
    monkeypatch.chdir(NOTEBOOKS)
    monkeypatch.setattr(page, "save_figure", save_nothing)
    notebook = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text("utf-8"))
    values = {}
    space = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code" or cell["id"] in skip:
            continue
        place = f"{name}, {cell['id']}"
        body = ast.parse("".join(cell["source"])).body
        shown = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), place, "exec"), space)  # our own notebook
        if shown is not None:
            value = compile(ast.Expression(shown.value), place, "eval")
            values[cell["id"]] = eval(value, space)
        if cell["id"] == last:
            break
        if "parameters" in cell["metadata"].get("tags", ()):
            space |= {key: value for key, value in parameters.items() if key in space}
    return values


def read_chapter(name, monkeypatch, **parameters):
    """Run a notebook and return the Markdown and the HTML that its cells show, one text a cell."""
    values = run_chapter(name, monkeypatch, **parameters)
    return [show(value) for value in values.values()]


def save_nothing(figure, stem, source, endings=("png", "svg"), title=""):
    """Empty files in place of a picture, which would take a second to draw."""
    files = [Path(f"{stem}.{ending}") for ending in endings]
    for file in files:
        write_whole(file, b"")
    return files


def show(value):
    """What a notebook shows of a value.

    Markdown and HTML where it has them, else its plain text.
    """
    if hasattr(value, "_repr_mimebundle_"):
        return "\n".join(value._repr_mimebundle_().values())
    if hasattr(value, "_repr_html_"):
        return value._repr_html_() or ""
    return ""
