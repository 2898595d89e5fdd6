"""Chapters in Jupyter: sentences show the values of the last build, files keep the placeholders.

Notebooks are committed without outputs, and their sentences name glued values. Opened as they are, a reader would see
the names. So the server fills the values in when a notebook is opened, and puts the names back when it is saved.
"""

import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

_PLACEHOLDER = re.compile(r"\{glue:text\}`([^`]+)`")
_VALUE = re.compile(r'<span data-glue="([^"]*)">[^<]*</span>')
_REFERENCE = re.compile(r"\{ref\}`([^`<>]+) <([^`<>]+)>`")
_REFERRED = re.compile(r'<span data-ref="([^"]*)">([^<]*)</span>')
_PAGE = re.compile(r"\[\]\(([\w-]+)\)")
_TITLED = re.compile(r'\[[^\]]*\]\(([\w-]+)\.(?:ipynb|md) "page"\)')


def read_values(executed: Path) -> dict[str, str]:
    """Return the values that an executed notebook has glued, as text; none if it has not been executed."""
    if not executed.is_file():
        return {}
    values = {}
    for cell in nbformat.read(executed, as_version=4).cells:
        for output in cell.get("outputs", ()):
            glued = output.get("metadata", {}).get("scrapbook", {})
            text = output.get("data", {}).get(f"{glued.get('mime_prefix', '')}text/plain")
            if "name" in glued and text is not None:
                values[glued["name"]] = text.strip("'\"")
    return values


def fill_in(notebook: NotebookNode, values: Mapping[str, str], titles: Mapping[str, str]) -> NotebookNode:
    """Put values and titles of pages into the sentences of a notebook; a placeholder without a value stays.

    A reference to a figure or table shows its words alone: only the book can follow it.

    Parameters
    ----------
    notebook : NotebookNode
        Changed in place and returned.
    values : mapping
        By glued key.
    titles : mapping
        By name of the page; pages without a title stay links without words.
    """

    def show_value(found: re.Match) -> str:
        value = values.get(found[1])
        return found[0] if value is None else f'<span data-glue="{html.escape(found[1])}">{html.escape(value)}</span>'

    def show_title(found: re.Match) -> str:
        title = titles.get(found[1])
        return found[0] if title is None else f'[{re.sub(r"[][]", "", title)}]({found[1]}.ipynb "page")'

    def show_words(found: re.Match) -> str:
        return f'<span data-ref="{html.escape(found[2])}">{html.escape(found[1])}</span>'

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            referred = _REFERENCE.sub(show_words, cell.source)
            cell.source = _PAGE.sub(show_title, _PLACEHOLDER.sub(show_value, referred))
    return notebook


def take_out(notebook: NotebookNode, committed: NotebookNode | None = None) -> NotebookNode:
    """Undo `fill_in`, and drop outputs, counts and what Jupyter notes beside them.

    Parameters
    ----------
    notebook : NotebookNode
        Changed in place and returned.
    committed : NotebookNode, optional
        The notebook as it was; its metadata stay.
    """
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            named = _VALUE.sub(lambda found: f"{{glue:text}}`{html.unescape(found[1])}`", cell.source)
            referred = _REFERRED.sub(
                lambda found: f"{{ref}}`{html.unescape(found[2])} <{html.unescape(found[1])}>`", named
            )
            cell.source = _TITLED.sub(r"[](\1)", referred)
        elif cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        for note in ("execution", "trusted"):
            cell.metadata.pop(note, None)
    if committed is not None:
        notebook.metadata = committed.metadata
    return notebook


def read_titles(folder: Path) -> dict[str, str]:
    """Return the first heading of every notebook of a folder, by its name."""
    titles = {}
    for source in sorted(folder.glob("*.ipynb")):
        text = "\n".join(cell.source for cell in nbformat.read(source, as_version=4).cells[:2])
        if heading := re.search(r"^# (.+)", text, re.M):
            titles[source.stem] = heading[1]
    return titles


def open_lab(folder: Path, build: Path, arguments: Sequence[str]) -> None:
    """Start JupyterLab on the notebooks of a folder, until it is stopped.

    Raises
    ------
    ValueError
        If JupyterLab is not installed.
    """
    try:
        from jupyterlab.labapp import LabApp
    except ImportError:
        raise ValueError("JupyterLab is not installed; `make lab` installs and starts it") from None

    contents = f"{__package__}.lab_contents.FilledIn"
    LabApp.launch_instance(
        [
            f"--ServerApp.contents_manager_class={contents}",
            f"--ServerApp.root_dir={folder.resolve()}",
            f"--FilledIn.build={build.resolve()}",
            *arguments,
        ]
    )
