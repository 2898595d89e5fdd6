"""papermill's engine for chapters: the cells of a notebook run in this process.

One process with the libraries loaded runs many chapters, in a third of the time that a kernel for
each needs. Every notebook also runs by papermill's own engine.
"""

import base64
import io
import platform
import traceback
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import matplotlib as mpl
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.figure import Figure
from nbformat import NotebookNode
from nbformat.v4 import new_output
from papermill.engines import Engine
from traitlets.config import Config

from cogniload_repro.book.backend import take_open_figures, use_backend
from cogniload_repro.book.page import Page

# what a kernel would report about its language
_LANGUAGE = {
    "name": "python",
    "version": platform.python_version(),
    "mimetype": "text/x-python",
    "file_extension": ".py",
    "pygments_lexer": "ipython3",
}


class ChapterEngine(Engine):
    """Runs the cells of a notebook for papermill."""

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, **options) -> None:
        """Run cells in order until one fails, and put their outputs into them."""
        nb_man.nb.metadata["language_info"] = _LANGUAGE
        mpl.rcdefaults()  # a reader's matplotlibrc must not affect the book
        _Shell.clear_instance()
        shell = _Shell.instance(
            display_pub_class=_Publisher,
            displayhook_class=_Hook,
            config=Config(HistoryManager={"enabled": False}),
        )
        use_backend()
        figures: list[tuple[NotebookNode, Figure]] = []
        for place, cell in enumerate(nb_man.nb.cells):
            if is_code(cell) and not run_cell(shell, cell, figures):
                nb_man.cell_exception(cell, place)
                return
            nb_man.cell_complete(cell, place)
        for cell, figure in figures:
            if figure not in Page.placed:
                shell.display_pub.outputs = cell.outputs
                shell.display_pub.publish(*shell.display_formatter.format(figure))


def is_code(cell: NotebookNode) -> bool:
    """Return whether a cell has code that is to be run."""
    is_skipped = "skip-execution" in cell.metadata.get("tags", [])
    return cell.cell_type == "code" and bool(cell.source.strip()) and not is_skipped


def run_cell(
    shell: "_Shell", cell: NotebookNode, figures: list[tuple[NotebookNode, Figure]]
) -> bool:
    """Run a cell, and add the figures that it leaves open; return whether it succeeded."""
    cell.outputs = []
    shell.display_pub.outputs = cell.outputs
    with (
        redirect_stdout(_Stream(cell.outputs, "stdout")),
        redirect_stderr(_Stream(cell.outputs, "stderr")),
    ):
        result = shell.run_cell(cell.source, store_history=True)
    cell.execution_count = result.execution_count
    for figure in take_open_figures():
        if figure is not result.result:
            figures.append((cell, figure))
    error = result.error_before_exec or result.error_in_exec
    if error is None:
        return True
    if isinstance(error, SystemExit):  # papermill would take it for the end of the notebook
        error = RuntimeError("the cell ends the notebook")
    lines = traceback.format_exception(error)
    output = new_output("error", ename=type(error).__name__, evalue=str(error), traceback=lines)
    cell.outputs.append(output)
    return "raises-exception" in cell.metadata.get("tags", [])


class _Stream(io.TextIOBase):
    """Collects what a cell prints; consecutive prints become one output."""

    def __init__(self, outputs: list[NotebookNode], name: str):
        self._outputs = outputs
        self._name = name

    def write(self, text: str) -> int:
        if not self._outputs or self._outputs[-1].get("name") != self._name:
            self._outputs.append(new_output("stream", name=self._name, text=""))
        self._outputs[-1].text += text
        return len(text)


class _Publisher(DisplayPublisher):
    """Puts what a cell displays among its outputs."""

    outputs: list[NotebookNode]

    def publish(
        self,
        data: Mapping[str, Any],
        metadata: Mapping | None = None,
        *_arguments: Any,
        **_options: Any,
    ) -> None:
        texts = {}
        for kind, value in data.items():
            is_bytes = isinstance(value, bytes)
            texts[kind] = base64.b64encode(value).decode() if is_bytes else value
        output = new_output("display_data", data=texts, metadata=dict(metadata or {}))
        self.outputs.append(output)

    def clear_output(self, wait: bool = False) -> None:
        self.outputs.clear()


class _Hook(DisplayHook):
    """Displays the value at the end of a cell, without a number before it."""

    def write_output_prompt(self) -> None:
        pass

    def finish_displayhook(self) -> None:
        pass

    def write_format_data(self, format_dict: Mapping, md_dict: Mapping | None = None) -> None:
        self.shell.display_pub.publish(format_dict, md_dict)


class _Shell(InteractiveShell):
    """Prints no tracebacks, since outputs hold them, and leaves figures to this book's backend."""

    display_pub: Any
    display_formatter: Any

    def _showtraceback(self, *_arguments: object, **_options: object) -> None:
        pass

    def enable_matplotlib(self, gui: str | None = None) -> tuple[str | None, str]:
        return gui, mpl.get_backend()
