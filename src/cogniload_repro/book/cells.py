"""Run the cells of a notebook in this process, with the outputs that Jupyter would show.

This needs no kernel and no sockets, and a forked process keeps the imports of its parent.
papermill finds the engine by the name `ENGINE`.
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
from matplotlib_inline.config import InlineBackend
from nbformat import NotebookNode
from nbformat.v4 import new_output
from papermill.engines import Engine, papermill_engines
from traitlets.config import Config

from cogniload_repro.book.backend import take_open_figures, use_backend
from cogniload_repro.book.page import Page

#: The name under which papermill knows the engine.
ENGINE = "cogniload"
#: Characters to which plain text in an output is truncated.
MOST_CHARS = 1_000_000
# the language metadata of an executed notebook
_LANGUAGE = {
    "name": "python",
    "version": platform.python_version(),
    "mimetype": "text/x-python",
    "file_extension": ".py",
    "codemirror_mode": {"name": "ipython", "version": 3},
    "pygments_lexer": "ipython3",
    "nbconvert_exporter": "python",
}


def run_cells(cells: list[NotebookNode]) -> NotebookNode | None:
    """Run cells in order, and put their outputs into them; stop at and return a failed cell."""
    _Shell.clear_instance()
    shell = _Shell.instance(
        display_pub_class=_Publisher,
        displayhook_class=_Hook,
        config=Config(HistoryManager={"enabled": False}),
    )
    mpl.rcdefaults()  # a reader's matplotlibrc must not affect the book
    use_backend()
    inline = InlineBackend.instance(parent=shell)
    inline.shell = shell
    shell.configurables.append(inline)  # for %config InlineBackend.figure_formats
    figures: list[tuple[NotebookNode, Figure]] = []
    try:
        for cell in cells:
            if not _holds_code(cell):
                continue
            failed, value = _run_cell(shell, cell)
            for figure in take_open_figures():
                if figure is not value:
                    figures.append((cell, figure))
            if failed:
                return cell
        for cell, figure in figures:
            if figure not in Page.placed:
                shell.display_pub.outputs = cell.outputs
                shell.display_pub.publish(*shell.display_formatter.format(figure))
        return None
    finally:
        _Shell.clear_instance()


def _holds_code(cell: NotebookNode) -> bool:
    """Return whether a cell has code that is to be run."""
    is_skipped = "skip-execution" in cell.metadata.get("tags", [])
    return cell.cell_type == "code" and bool(cell.source.strip()) and not is_skipped


def _run_cell(shell: "_Shell", cell: NotebookNode) -> tuple[bool, object]:
    """Run a cell; return whether it failed, and the value at its end."""
    publisher = shell.display_pub
    publisher.outputs = cell.outputs
    printed = _Stream(publisher, "stdout")
    warned = _Stream(publisher, "stderr")
    with redirect_stdout(printed), redirect_stderr(warned):
        result = shell.run_cell(cell.source, store_history=True)
    cell.execution_count = result.execution_count
    error = result.error_before_exec or result.error_in_exec
    is_meant = "raises-exception" in cell.metadata.get("tags", [])
    if error is not None:
        cell.outputs.append(_describe_error(error, is_meant))
    for output in cell.outputs:
        if output.output_type == "stream":
            output.text = _cut("".join(output.text))
    return error is not None and not is_meant, result.result


def _describe_error(error: BaseException, is_meant: bool) -> NotebookNode:
    """Return an error as an output, or as text if the cell is meant to raise it."""
    lines = [_spell_out(line) for line in traceback.format_exception(error)]
    if is_meant:
        return new_output("stream", name="stderr", text=lines)
    if isinstance(error, SystemExit):
        error = RuntimeError(
            f"the cell ends the notebook, with exit status {error.code or 0}"
        )
    message = "".join(traceback.format_exception_only(error)).strip().partition(": ")[2]
    name = type(error).__name__
    return new_output("error", ename=name, evalue=_spell_out(message), traceback=lines)


def _cut(text: str) -> str:
    """Return a text, truncated if it is too long for a page."""
    if len(text) <= MOST_CHARS:
        return text
    return f"{text[:MOST_CHARS]}\n... and {len(text) - MOST_CHARS:,} more characters\n"


class _Stream(io.TextIOBase):
    """Collects what a cell prints; consecutive prints become one output."""

    encoding = "utf-8"

    def __init__(self, publisher: "_Publisher", name: str):
        self._publisher = publisher
        self._name = name

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        outputs = self._publisher.outputs
        if not outputs or outputs[-1].get("name") != self._name:
            outputs.append(new_output("stream", name=self._name, text=[]))
        outputs[-1].text.append(_spell_out(text))
        return len(text)


def _spell_out(text: str) -> str:
    """Return text with characters escaped that UTF-8 cannot encode."""
    return text.encode("utf-8", "backslashreplace").decode()


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
        """Add a display to the outputs."""
        data = {kind: _encode(value) for kind, value in data.items()}
        if "text/plain" in data:
            data["text/plain"] = _cut(data["text/plain"])
        output = new_output("display_data", data=data, metadata=dict(metadata or {}))
        self.outputs.append(output)

    def clear_output(self, wait: bool = False) -> None:
        """Remove what the cell has shown so far."""
        self.outputs.clear()


def _encode(value: object) -> object:
    """Return a representation as a notebook stores it: bytes in base64, text as valid UTF-8."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return _spell_out(value) if isinstance(value, str) else value


class _Hook(DisplayHook):
    """Adds the value at the end of a cell to the cell's outputs."""

    shell: Any

    def write_output_prompt(self) -> None:
        pass

    def finish_displayhook(self) -> None:
        pass

    def write_format_data(self, format_dict, md_dict=None) -> None:
        self.shell.display_pub.publish(format_dict, md_dict)


class _Shell(InteractiveShell):
    """Prints no tracebacks, since outputs hold them, and opens no windows for figures."""

    display_pub: Any
    display_formatter: Any

    def showtraceback(
        self, exc_tuple: tuple | None = None, *_arguments, **_options
    ) -> None:
        """Print an error that was raised while a value was shown; the cell continues."""
        if exc_tuple is not None:
            traceback.print_exception(exc_tuple[1])

    def showsyntaxerror(self, *_arguments, **_options) -> None:
        pass

    def enable_matplotlib(self, gui: str | None = None) -> tuple[str | None, str]:
        """Leave figures to this book's backend, whatever ``%matplotlib`` asks for."""
        return gui, mpl.get_backend()


class _Engine(Engine):
    """Runs the cells of a notebook for papermill."""

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, **options) -> None:
        nb_man.nb.metadata["language_info"] = _LANGUAGE
        failed = run_cells(nb_man.nb.cells)
        for place, cell in enumerate(nb_man.nb.cells):
            if cell is failed:
                nb_man.cell_exception(cell, place)
                return
            nb_man.cell_complete(cell, place)


papermill_engines.register(ENGINE, _Engine)
