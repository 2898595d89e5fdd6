"""Chapters in JupyterLab: whatever is run there, saved notebooks stay as they are committed, without outputs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat


def strip_outputs(model: dict[str, Any], path: str, contents_manager: Any, **_: Any) -> None:
    """Take outputs, counts and Jupyter's notes out of a notebook that is about to be saved (a pre-save hook)."""
    if model.get("type") != "notebook" or not model.get("content"):
        return
    notebook, file = model["content"], Path(contents_manager.root_dir) / path
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
        for note in ("execution", "trusted"):
            cell["metadata"].pop(note, None)
    if file.is_file():
        notebook["metadata"] = dict(nbformat.read(file, as_version=4).metadata)


def open_lab(folder: Path, arguments: Sequence[str]) -> None:
    """Start JupyterLab on the notebooks of a folder, until it is stopped; ValueError if it is not installed."""
    try:
        from jupyterlab.labapp import LabApp
    except ImportError:
        raise ValueError("JupyterLab is not installed; `make lab` installs and starts it") from None

    hook = f"--FileContentsManager.pre_save_hook={__name__}.strip_outputs"
    LabApp.launch_instance([hook, f"--ServerApp.root_dir={folder.resolve()}", *arguments])
