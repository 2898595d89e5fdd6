"""What the cells of a notebook show, in a book as in Jupyter."""

import logging

import matplotlib as mpl
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from cogniload_repro.book.backend import Run
from cogniload_repro.book.engine import run_cells
from cogniload_repro.book.notebooks import run_notebook

# of matplotlib_inline itself, when its settings are first changed
pytestmark = pytest.mark.filterwarnings("ignore:InlineBackend:DeprecationWarning")

PLOT = "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots(figsize=(2, 1))\n"


@pytest.fixture(autouse=True)
def _readers_settings():
    """Each test has the settings of matplotlib for itself."""
    with mpl.rc_context():
        yield


def show(*sources):
    """Run cells.

    Return what each shows: names and texts of streams, kinds and plain texts of
    displays.
    """
    notebook = [new_code_cell(source) for source in sources]
    assert run_cells(notebook, Run()) is None
    outputs = []
    for cell in notebook:
        outputs.append([])
        for output in cell.outputs:
            if output.output_type == "stream":
                outputs[-1].append((output.name, output.text))
            else:
                kinds = [kind for kind in output.data if kind.startswith("image")]
                outputs[-1].append((*kinds, output.data.get("text/plain")))
    return outputs


def count_pictures(cells):
    """How many pictures each cell shows."""
    counts = []
    for outputs in cells:
        counts.append(sum(output[0].startswith("image") for output in outputs))
    return counts


@pytest.mark.parametrize(
    "code",
    [
        PLOT + "figure",
        PLOT + "plt.show()",
        PLOT + "None",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])",
        "import pandas as pd\npd.Series([1, 2]).plot();",
        "import seaborn as sns\nsns.lineplot(x=[1, 2], y=[1, 2])",
        "from matplotlib.figure import Figure\nfigure = Figure()\nfigure.add_subplot();\nfigure",
        "import matplotlib\nmatplotlib.use('agg')\n" + PLOT + "None",
        PLOT + "plt.close(figure)\nfigure",
        "from PIL import Image\nImage.new('RGB', (2, 2))",
    ],
)
def test_a_figure_that_a_cell_makes_is_shown_once(code):
    """By name, by plt.show(), as a last value, or because it is there at the end of the cell.

    So is a picture of another library.
    """
    assert count_pictures(show(code)) == [1]


@pytest.mark.parametrize(
    "magic",
    [
        *("%matplotlib inline", "%matplotlib widget", "%matplotlib qt", "%matplotlib"),
        "%config InlineBackend.figure_formats = ['retina']",
    ],
)
def test_figures_are_pictures_whatever_a_notebook_asks_for(magic):
    """There are no windows in a book."""
    assert count_pictures(show(magic, PLOT + "None")) == [0, 1]


def test_a_figure_of_the_page_is_shown_by_the_page_alone(tmp_path):
    """In whichever cell it was made; another one, made beside it, is shown where it was made."""
    build = f"cl.Build({str(tmp_path)!r})"
    page = f"import cogniload_repro as cl\ncl.style.use()\npage = cl.Page({build})"
    place = "page.figure(figure, 'n', caption='c', alt='a', evidence='')"
    both = PLOT + f"{place};\nplt.subplots(figsize=(1, 1))"
    outputs = show(page, PLOT + "None", place, both)
    assert count_pictures(outputs) == [0, 0, 0, 1]


def test_a_matplotlibrc_of_the_reader_does_not_reach_a_book():
    """Nor what another notebook has set."""
    mpl.rcParams.update(
        {"font.weight": "bold", "text.usetex": True, "axes.facecolor": "red"}
    )
    settings = "import matplotlib as mpl\n[mpl.rcParams[n] for n in ('font.weight', 'text.usetex')]"
    assert show(settings) == [[("['normal', False]",)]]


def test_outputs_stand_in_the_order_in_which_they_came():
    """Prints, warnings and displays."""
    code = "import sys\nprint(1)\nprint(2)\ndisplay('a')\nprint(3, file=sys.stderr)\nprint(4)"
    expected = [("stdout", "1\n2\n"), ("'a'",), ("stderr", "3\n"), ("stdout", "4\n")]
    assert show(code) == [expected]


def test_an_updated_display_keeps_its_place():
    """An unknown one is not shown, as in Jupyter."""
    first = "handle = display('one', display_id='k')"
    second = "handle.update('two')\nprint(1)\nhandle.display('x', update=True)"
    unknown = (
        "from IPython.display import update_display\nupdate_display(1, display_id='no')"
    )
    assert show(first, second, unknown) == [[("'x'",)], [("stdout", "1\n")], []]


def test_a_log_stands_below_the_cell_that_writes_it():
    """Its handler may be made by an earlier cell, or by another chapter."""
    code = "import logging\nlogging.warning('a')"
    expected = [("stderr", "WARNING:root:a\n")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logging.getLogger(), "handlers", [])
        assert show(code, code) == [expected, expected]
        assert show(code) == [expected]


def test_an_error_without_a_message_has_none():
    """It is the end of no notebook."""
    notebook = [new_code_cell("raise ValueError")]
    assert run_cells(notebook, Run()) is notebook[0]
    assert notebook[0].outputs[0].evalue == ""


def test_cleared_outputs_are_gone():
    """What comes after them stays."""
    display = "from IPython.display import clear_output\n"
    assert show(display + "print(1); clear_output(); print(2)") == [[("stdout", "2\n")]]


@pytest.mark.parametrize(
    "code",
    ["import sys\nsys.exit()", "raise SystemExit(0)", "exit()", "quit()", "exit"],
)
def test_a_cell_that_ends_the_notebook_fails(code):
    """The cells behind it would be lost without a word."""
    notebook = [new_code_cell(code), new_code_cell("print(1)")]
    with pytest.warns(UserWarning, match="To exit"):
        assert run_cells(notebook, Run()) is notebook[0]
    assert notebook[0].outputs[-1].ename == "NotebookEnded"
    assert notebook[1].outputs == []


def test_a_value_that_cannot_be_shown_says_why():
    """The cell goes on, as in Jupyter."""
    code = "class Bad:\n    def __repr__(self):\n        return 1 / 0\nBad()"
    assert show(code, "1 + 1")[1] == [("2",)]


def test_a_chapter_leaves_no_settings_and_its_page_none_either(tmp_path):
    """Matplotlib is set up by the notebook's own call, and only while the chapter runs."""
    page = f"import cogniload_repro as cl\ncl.Page(cl.Build({str(tmp_path)!r}));"
    look = "import matplotlib as mpl\nprint(mpl.rcParams['axes.spines.top'])"
    codes = [page, look, "cl.style.use()", look]
    notebook = new_notebook(cells=[new_code_cell(code) for code in codes])
    nbformat.write(notebook, tmp_path / "chapter.ipynb")
    before = dict(mpl.rcParams)
    copy = run_notebook(tmp_path / "chapter.ipynb", tmp_path / "copy.ipynb", {})
    cells = nbformat.read(copy, as_version=4).cells
    texts = [cell.outputs[0].text for cell in cells if cell.outputs]
    assert texts == ["True\n", "False\n"]
    assert dict(mpl.rcParams) == before
