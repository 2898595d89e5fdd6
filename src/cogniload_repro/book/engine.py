"""papermill's engine for chapters: cells run in this process, which has the libraries loaded."""

import io
import sys
import traceback
from base64 import b64encode
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import matplotlib as mpl
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from matplotlib.figure import Figure
from nbformat import NotebookNode
from nbformat.v4 import new_output
from papermill.engines import Engine
from traitlets import Dict, Instance
from traitlets.config import Config

from cogniload_repro.book.backend import Run, take_open_figures, use_backend

_LANGUAGE = {"name": "python", "file_extension": ".py", "pygments_lexer": "ipython3"}


class ChapterEngine(Engine):
    """Runs the cells of a notebook for papermill."""

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: Any, kernel_name: str, run: Run | None = None, **options: Any
    ) -> None:
        """Run the cells in order, until one fails."""
        nb_man.nb.metadata["language_info"] = _LANGUAGE
        with mpl.rc_context():  # the settings of a chapter end with it
            failed = run_cells(nb_man.nb.cells, run or Run())
        for place, cell in enumerate(nb_man.nb.cells):
            if cell is failed:
                nb_man.cell_exception(cell, place)
                return
            nb_man.cell_complete(cell, place)


def run_cells(cells: list[NotebookNode], run: Run) -> NotebookNode | None:
    """Run cells in order, and put their outputs into them; stop at and return a failed cell."""
    mpl.rcdefaults()  # a reader's matplotlibrc must not affect the book
    _Shell.clear_instance()
    shell = _Shell.instance(
        run=run,
        display_pub_class=_Publisher,
        displayhook_class=_Hook,
        config=Config(HistoryManager={"enabled": False}),
    )
    use_backend()
    take_open_figures()  # of whatever ran in this process before
    failed = None
    figures: list[tuple[NotebookNode, Figure]] = []
    code = [cell for cell in cells if cell.cell_type == "code"]
    for cell in code:
        result = _run_cell(shell, cell)
        new = [figure for figure in take_open_figures() if figure is not result.result]
        figures += [(cell, figure) for figure in new]
        if not result.success:
            failed = cell
            break
    for cell, figure in figures:
        if figure not in run.placed:  # a page shows its figures itself
            shell.display_pub.outputs = cell.outputs
            shell.display_pub.publish(*shell.display_formatter.format(figure))
    _Shell.clear_instance()  # what runs here later belongs to no chapter
    return failed


def _run_cell(shell: "_Shell", cell: NotebookNode) -> ExecutionResult:
    """Run a cell, and put what it shows among its outputs."""
    cell.outputs = []
    shell.display_pub.outputs = cell.outputs
    with redirect_stdout(_Stream("stdout")), redirect_stderr(_Stream("stderr")):
        result = shell.run_cell(cell.source, store_history=True)
    cell.execution_count = result.execution_count
    error = result.error_before_exec or result.error_in_exec
    if error is not None:
        # papermill takes the name SystemExit for the intended end of a notebook
        name = type(error).__name__.replace("SystemExit", "NotebookEnded")
        output = new_output("error", ename=name, evalue=str(error))
        output.traceback = traceback.format_exception(error)
        cell.outputs.append(output)
    return result


class _Stream(io.TextIOBase):
    """Collects what the present cell prints, or logs through a handler of an earlier cell."""

    def __init__(self, name: str):
        self._name = name

    def write(self, text: str) -> int:
        outputs = _Shell.instance().display_pub.outputs
        if not outputs or outputs[-1].get("name") != self._name:
            outputs.append(new_output("stream", name=self._name, text=""))
        outputs[-1].text += text
        return len(text)


class _Publisher(DisplayPublisher):
    """Puts what a cell displays among its outputs; what it updates keeps its place."""

    outputs: list[NotebookNode]
    named = Dict()

    def publish(self, data: Any, metadata: Any = None, *_: Any, **options: Any) -> None:
        texts = dict(data)
        for kind, value in data.items():
            if isinstance(value, bytes):
                texts[kind] = b64encode(value).decode()
        output = new_output("display_data", data=texts, metadata=metadata or {})
        name = str(options.get("transient"))  # has the id of what can be updated
        if options.get("update"):
            self.named.get(name, {}).update(output)
        else:
            self.named[name] = output
            self.outputs.append(output)

    def clear_output(self, wait: bool = False) -> None:
        self.outputs.clear()


class _Hook(DisplayHook):
    """Displays the value at the end of a cell."""

    def __call__(self, result: object = None) -> None:
        if result is not None and not self.quiet():
            self.update_user_ns(result)
            self.fill_exec_result(result)
            _Shell.instance().display_pub.publish(*self.compute_format_data(result))


class _Shell(InteractiveShell):
    """Prints no tracebacks, since outputs hold them, and leaves figures to the book's backend."""

    display_pub: Any
    display_formatter: Any
    run = Instance(Run)
    ask_exit = sys.exit  # what exit() and quit() call

    def _showtraceback(self, *_arguments: object, **_options: object) -> None:
        pass

    def enable_matplotlib(self, gui: str | None = None) -> tuple[str | None, str]:
        return gui, mpl.get_backend()
