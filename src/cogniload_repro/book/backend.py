"""A matplotlib backend that shows a figure only where a cell asks for it."""

import matplotlib as mpl
from IPython.core.getipython import get_ipython
from IPython.core.pylabtools import select_figure_formats
from IPython.display import display
from matplotlib import pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas

__all__ = ["FigureCanvas", "show", "take_open_figures", "use_backend"]


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


def take_open_figures() -> list:
    """Return the open figures of pyplot, and close them."""
    figures = [plt.figure(number) for number in plt.get_fignums()]
    plt.close("all")
    return figures
