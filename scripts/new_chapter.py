"""Write a notebook for a chapter to start from.

Usage: python scripts/new_chapter.py NAME "TITLE"; then name the file in book/_toc.yml.
"""

import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

PARAMETERS = '''build = "../data/build"
formula = "correct ~ d + log10_N + rho + I(rho**2)"'''
FIT = """import cogniload_repro as cl

cells = cl.load_cells(build)
fits = cl.fit(cells, formula)
length = fits[fits["term"] == "log10_N"]
length[["model", "coef", "low", "high"]].round(2)"""

name, title = sys.argv[1:]
path = Path("notebooks", f"{name}.ipynb")
if path.exists():
    sys.exit(f"{path} exists; choose another name")
cells = [
    new_markdown_cell(f"# {title}", id="title"),
    new_code_cell(PARAMETERS, id="parameters", metadata={"tags": ["parameters"]}),
    new_code_cell(FIT, id="fit"),
]
kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
