"""Cells run in the process that asks: no kernel, no sockets, and a fork has what its parent has imported already."""

import platform
from contextlib import redirect_stderr, redirect_stdout
from io import TextIOBase
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from nbformat import NotebookNode
from nbformat.v4 import new_output
from papermill.engines import Engine, papermill_engines
from traitlets import List
from traitlets.config import Config

#: The name under which papermill knows the engine.
NAME = "cogniload"
#: What an executed notebook says of its language.
LANGUAGE = {
    "name": "python", "version": platform.python_version(), "mimetype": "text/x-python", "file_extension": ".py",
    "codemirror_mode": {"name": "ipython", "version": 3}, "pygments_lexer": "ipython3", "nbconvert_exporter": "python",
}  # fmt: skip


class _Hook(DisplayHook):
    """Keeps the value at the end of a cell."""

    shell: Any

    def write_output_prompt(self) -> None:
        pass

    def finish_displayhook(self) -> None:
        pass

    def write_format_data(self, format_dict, md_dict=None) -> None:
        shown = {"data": format_dict, "metadata": md_dict or {}, "execution_count": self.prompt_count}
        self.shell.outputs.append(new_output("execute_result", **shown))


class _Publisher(DisplayPublisher):
    """Keeps what a cell displays."""

    shell: Any

    def publish(self, data, metadata=None, source=None, **options) -> None:
        self.shell.outputs.append(new_output("display_data", data=data, metadata=metadata or {}))


class _Stream(TextIOBase):
    """Keeps what a cell prints."""

    def __init__(self, name: str, outputs: list[NotebookNode]):
        self._name, self._outputs = name, outputs

    def write(self, text: str) -> int:
        if not (self._outputs and self._outputs[-1].get("name") == self._name):
            self._outputs.append(new_output("stream", name=self._name, text=""))
        self._outputs[-1].text += text
        return len(text)


class _Shell(InteractiveShell):
    outputs: Any = List()

    def init_displayhook(self) -> None:
        self.displayhook_class = _Hook
        super().init_displayhook()

    def _showtraceback(self, etype, evalue, stb) -> None:
        self.outputs.append(new_output("error", ename=etype.__name__, evalue=str(evalue), traceback=stb))


class _Here(Engine):
    """Runs a notebook's cells one by one, until one fails."""

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, **options) -> None:
        nb_man.nb.metadata["language_info"] = LANGUAGE
        shell = _Shell.instance(display_pub_class=_Publisher, config=Config(HistoryManager={"enabled": False}))
        try:
            for place, cell in enumerate(nb_man.nb.cells):
                if cell.cell_type == "code" and cell.source.strip():
                    nb_man.cell_start(cell, place)
                    shell.outputs = outputs = cell.outputs
                    with redirect_stdout(_Stream("stdout", outputs)), redirect_stderr(_Stream("stderr", outputs)):
                        done = shell.run_cell(cell.source, store_history=True)
                    cell.execution_count = done.execution_count
                    nb_man.cell_complete(cell, place)
                    if not done.success:
                        nb_man.cell_exception(cell, place)
                        return
        finally:
            _Shell.clear_instance()


papermill_engines.register(NAME, _Here)
