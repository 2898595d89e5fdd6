"""Chapters in Jupyter: values in sentences while they are read, names in the file."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.presentation.lab import fill_in, read_titles, read_values, take_out
from cogniload_repro.presentation.notebooks import run_notebook

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "notebooks").glob("*.ipynb"))
#: The environment that `make lab` makes beside the one of the tests.
LAB = Path(f"{sys.prefix}-lab") / "bin" / "python"
GLUING = "import myst_nb\nmyst_nb.glue('count', str(n), display=False)"


def notebook_of(*cells):
    """A notebook of these cells, its parameters first."""
    cells = [nbformat.v4.new_code_cell("n = 1", metadata={"tags": ["parameters"]}), *cells]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=kernel)


@given(st.lists(st.text(st.characters(exclude_characters="`\r", exclude_categories=("Cs",)), min_size=1), min_size=1))
def test_what_is_filled_in_comes_out_again(values):
    """Whatever the values are, markup or brackets, the saved sentence is the committed one."""
    text = " and ".join(f"{{glue:text}}`key{number}`" for number in range(len(values))) + ", see [](05_glm)."
    notebook = notebook_of(nbformat.v4.new_markdown_cell(text))
    filled = fill_in(notebook, {f"key{number}": value for number, value in enumerate(values)}, {"05_glm": "A [title]"})
    assert "glue:text" not in filled.cells[1].source
    assert take_out(filled).cells[1].source == text


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_a_committed_chapter_survives_opening_and_saving(source):
    """Opened with every value known and saved again, a chapter's file has not changed."""
    committed = nbformat.read(source, as_version=4)
    opened = nbformat.read(source, as_version=4)
    keys = re.findall(r"\{glue:text\}`([^`]+)`", "\n".join(cell.source for cell in opened.cells))
    fill_in(opened, dict.fromkeys(keys, "<7>"), read_titles(source.parent))
    shown = "\n".join(cell.source for cell in opened.cells if cell.cell_type == "markdown")
    assert "{glue:text}" not in shown
    assert "{ref}" not in shown
    assert nbformat.writes(take_out(opened, committed)) == nbformat.writes(nbformat.read(source, as_version=4))


def test_values_are_those_of_the_executed_copy(tmp_path):
    """A value that a run has glued stands in the sentence; before any run its name does."""
    source = tmp_path / "page.ipynb"
    sentence = nbformat.v4.new_markdown_cell("There are {glue:text}`count`.")
    nbformat.write(notebook_of(sentence, nbformat.v4.new_code_cell(GLUING)), source)
    assert read_values(tmp_path / "run" / "page.ipynb") == {}
    values = read_values(run_notebook(source, tmp_path / "run" / "page.ipynb", {"n": 1234}))
    assert values == {"count": "1234"}
    shown = fill_in(nbformat.read(source, as_version=4), values, {}).cells[1].source
    assert re.sub(r"<[^>]+>", "", shown) == "There are 1234."


def ask(address, method="GET", content=None):
    """Send a request to the server's interface; return what it answers."""
    data = json.dumps(content).encode() if content is not None else None
    request = urllib.request.Request(address, data, {"Authorization": "token x"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@pytest.mark.slow
def test_the_server_opens_and_saves_chapters(tmp_path):
    """JupyterLab as `make lab` starts it shows values, and saves an edited line and nothing else."""
    if not LAB.is_file():
        pytest.skip("JupyterLab is not installed; `make lab` does it")
    folder, build = tmp_path / "notebooks", tmp_path / "build"
    source = folder / "page.ipynb"
    folder.mkdir()
    sentence = nbformat.v4.new_markdown_cell("There are {glue:text}`count`.", id="sentence")
    nbformat.write(notebook_of(sentence, nbformat.v4.new_code_cell(GLUING, id="gluing")), source)
    run_notebook(source, build / "notebooks" / "page.ipynb", {"n": 1234})
    before = nbformat.read(source, as_version=4)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = os.environ | {"JUPYTER_CONFIG_DIR": str(tmp_path / "c"), "JUPYTER_DATA_DIR": str(tmp_path / "d")}
    options = ["--no-browser", f"--ServerApp.port={port}", "--IdentityProvider.token=x", "--allow-root"]
    server = subprocess.Popen(
        [str(LAB), "-m", "cogniload_repro", "lab", "--build", str(build), "--", *options],
        cwd=tmp_path, env=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        address = f"http://127.0.0.1:{port}/api/contents/page.ipynb"
        for _ in range(400):
            try:
                opened = ask(address)["content"]
                break
            except OSError:
                time.sleep(0.3)
        assert "1234" in opened["cells"][1]["source"]
        opened["cells"][0]["source"] = "n = 2"
        opened["cells"][2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "noise"}]
        ask(address, "PUT", {"type": "notebook", "content": opened})
    finally:
        server.terminate()
        server.wait(timeout=60)
    saved = nbformat.read(source, as_version=4)
    before.cells[0].source = "n = 2"
    assert nbformat.writes(saved) == nbformat.writes(before)
    shutil.rmtree(folder)
