"""Chapters in JupyterLab are saved as they are committed."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from cogniload_repro.presentation.lab import strip_outputs

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "notebooks").glob("*.ipynb"))
#: The environment that `make lab` makes beside the one of the tests.
LAB = Path(f"{sys.prefix}-lab") / "bin" / "python"


@pytest.mark.parametrize("source", SOURCES[::7], ids=lambda source: source.stem)
def test_a_committed_chapter_survives_running_and_saving(source):
    """Run, edited nowhere and saved again, a chapter's file has not changed."""
    committed = nbformat.read(source, as_version=4)
    opened = nbformat.read(source, as_version=4)
    opened.metadata["language_info"]["version"] = "3.x"
    for cell in opened.cells:
        cell.metadata["execution"] = {"started": 1}
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [nbformat.v4.new_output("stream", text="noise")], 3
    model = {"type": "notebook", "content": opened}
    strip_outputs(model=model, path=source.name, contents_manager=SimpleNamespace(root_dir=str(source.parent)))
    assert nbformat.writes(nbformat.from_dict(model["content"])) == nbformat.writes(committed)


def ask(address, method="GET", content=None):
    """Send a request to the server's interface; return what it answers."""
    data = json.dumps(content).encode() if content is not None else None
    request = urllib.request.Request(address, data, {"Authorization": "token x"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@pytest.mark.slow
def test_the_server_opens_and_saves_chapters(tmp_path):
    """JupyterLab as `make lab` starts it saves an edited line and nothing else."""
    if not LAB.is_file():
        pytest.skip("JupyterLab is not installed; `make lab` does it")
    source = tmp_path / "notebooks" / "page.ipynb"
    source.parent.mkdir()
    shutil.copy(SOURCES[0], source)
    before = nbformat.read(source, as_version=4)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = os.environ | {"JUPYTER_CONFIG_DIR": str(tmp_path / "c"), "JUPYTER_DATA_DIR": str(tmp_path / "d")}
    options = ["--no-browser", f"--ServerApp.port={port}", "--IdentityProvider.token=x", "--allow-root"]
    server = subprocess.Popen(
        [str(LAB), "-m", "cogniload_repro", "lab", "--", *options],
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
        opened["cells"][1]["source"] = "n = 2"
        opened["cells"][1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "noise"}]
        ask(address, "PUT", {"type": "notebook", "content": opened})
    finally:
        server.terminate()
        server.wait(timeout=60)
    saved = nbformat.read(source, as_version=4)
    before.cells[1].source = "n = 2"
    assert nbformat.writes(saved) == nbformat.writes(before)
