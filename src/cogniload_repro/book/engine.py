"""papermill's engine for chapters: it runs the cells of a notebook in this process.

A process with the libraries loaded runs many chapters, in a third of the time that a kernel for
each of them needs. Every notebook also runs by papermill's own engine.
"""

import base64
import io
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

#: What a kernel would report about its language.
_LANGUAGE = {"name": "python", "file_extension": ".py", "pygments_lexer": "ipython3"}


class ChapterEngine(Engine):
    """Runs the cells of a notebook for papermill."""

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, **options) -> None:
        """Run the cells in order, until one fails."""
        nb_man.nb.metadata["language_info"] = _LANGUAGE
        failed = run_cells(nb_man.nb.cells)
        for place, cell in enumerate(nb_man.nb.cells):
            if cell is failed:
                nb_man.cell_exception(cell, place)
                return
            nb_man.cell_complete(cell, place)


def run_cells(cells: list[NotebookNode]) -> NotebookNode | None:
    """Run cells in order, and put their outputs into them; stop at and return a failed cell."""
    mpl.rcdefaults()  # a reader's matplotlibrc must not affect the book
    _Shell.clear_instance()
    shell = _Shell.instance(
        display_pub_class=_Publisher,
        displayhook_class=_Hook,
        config=Config(HistoryManager={"enabled": False}),
    )
    use_backend()
    figures: list[tuple[NotebookNode, Figure]] = []
    for cell in cells:
        is_skipped = "skip-execution" in cell.metadata.get("tags", [])
        if cell.cell_type != "code" or not cell.source.strip() or is_skipped:
            continue
        value = _run_cell(shell, cell)
        open_figures = take_open_figures()
        figures += [(cell, figure) for figure in open_figures if figure is not value]
        is_meant = "raises-exception" in cell.metadata.get("tags", [])
        if not is_meant and any(
            output.output_type == "error" for output in cell.outputs
        ):
            return cell
    for cell, figure in figures:
        if figure not in Page.placed:  # a page shows its figures itself
            shell.display_pub.outputs = cell.outputs
            shell.display_pub.publish(*shell.display_formatter.format(figure))
    return None


def _run_cell(shell: "_Shell", cell: NotebookNode) -> object:
    """Run a cell, and return the value at its end."""
    cell.outputs = []
    shell.display_pub.outputs = cell.outputs
    printed = _Stream(cell.outputs, "stdout")
    warned = _Stream(cell.outputs, "stderr")
    with redirect_stdout(printed), redirect_stderr(warned):
        result = shell.run_cell(cell.source, store_history=True)
    cell.execution_count = result.execution_count
    error = result.error_before_exec or result.error_in_exec
    if error is not None:
        lines = traceback.format_exception(error)
        # papermill takes the name SystemExit for the intended end of a notebook
        name = type(error).__name__.replace("SystemExit", "RuntimeError")
        message = str(error) or "the cell ends the notebook"
        cell.outputs.append(
            new_output("error", ename=name, evalue=message, traceback=lines)
        )
    return result.result


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
        self, data: Any, metadata: Any = None, *_: Any, **_options: Any
    ) -> None:
        texts = {}
        for kind, value in data.items():
            is_picture = isinstance(value, bytes)
            texts[kind] = base64.b64encode(value).decode() if is_picture else value
        output = new_output("display_data", data=texts, metadata=dict(metadata or {}))
        self.outputs.append(output)

    def clear_output(self, wait: bool = False) -> None:
        self.outputs.clear()


class _Hook(DisplayHook):
    """Displays the value at the end of a cell."""

    shell: Any

    def write_output_prompt(self) -> None:
        pass

    def finish_displayhook(self) -> None:
        pass

    def write_format_data(self, format_dict: Mapping, md_dict: Any = None) -> None:
        self.shell.display_pub.publish(format_dict, md_dict)


class _Shell(InteractiveShell):
    """Prints no tracebacks, since outputs hold them, and leaves figures to the book's backend."""

    display_pub: Any
    display_formatter: Any

    def _showtraceback(self, *_arguments: object, **_options: object) -> None:
        pass

    def enable_matplotlib(self, gui: str | None = None) -> tuple[str | None, str]:
        return gui, mpl.get_backend()
