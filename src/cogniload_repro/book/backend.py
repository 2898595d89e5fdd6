"""What a chapter has while it runs: its run, and a matplotlib backend for its figures.

The backend shows a figure only where a cell asks for it.
"""

from dataclasses import dataclass, field
from pathlib import Path

import matplotlib as mpl
from IPython.core.getipython import get_ipython
from IPython.core.pylabtools import select_figure_formats
from IPython.display import display
from matplotlib import pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas
from matplotlib.figure import Figure

__all__ = [
    "FigureCanvas",
    "Run",
    "find_run",
    "show",
    "take_open_figures",
    "use_backend",
]


@dataclass(frozen=True)
class Run:
    """A run of a chapter for the book; by hand, a chapter has neither name nor folder."""

    chapter: str = ""
    #: Folder for the files that its page writes.
    output: Path | None = None
    #: Figures that its page has shown.
    placed: list[Figure] = field(default_factory=list)


def find_run() -> Run:
    """Return the run to which the cell that calls this belongs."""
    return getattr(get_ipython(), "run", None) or Run()


def use_backend() -> None:
    """Make matplotlib use this backend; show a figure that is a cell's last value as PNG."""
    mpl.use(f"module://{__name__}")
    shell = get_ipython()
    if shell is not None:
        select_figure_formats(shell, {"png"})


def show(*_arguments: object, **_options: object) -> None:
    """Show all open figures; `matplotlib.pyplot.show` calls this."""
    for figure in take_open_figures():
        display(figure)


def take_open_figures() -> list[Figure]:
    """Return the open figures of pyplot, and close them."""
    figures = [plt.figure(number) for number in plt.get_fignums()]
    plt.close("all")
    return figures
