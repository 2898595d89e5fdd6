"""The style that all pictures share, how each model is drawn, and how pictures are saved."""

import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from cycler import cycler
from matplotlib import rc_params_from_file
from matplotlib.figure import Figure
from matplotlib.style import library
from matplotlib.transforms import Bbox

from cogniload_repro.book.backend import use_backend
from cogniload_repro.files import write_whole
from cogniload_repro.formats import display_names
from cogniload_repro.models import BY_NAME, MODELS

#: Width of wide pictures: 9 pt text has 13 px on a page 750 px wide.
WIDTH_IN = 7.2
#: Pictures up to this width are legible on a phone; wider ones scroll there.
PHONE_IN = 4.5
_DPI = 200
# drops metadata with a time or a program's version
_UNDATED = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
_STRIP_IN = 0.24  # height of the line on the evidence
_TITLE_LINE_IN = 0.19  # height of a line of the title
_TITLE_CHARACTERS = 9.8  # of the title, in an inch
#: A colour per family, distinguishable with any of the three colour-vision deficiencies, and
#: with a contrast of at least 3:1 to white; tests/book/test_style.py checks both.
FAMILY_COLORS = {
    "OpenAI": "#1861d3",
    "Gemini 2.5": "#c38803",
    "DeepSeek R1": "#ab3f00",
    "DeepSeek R1 distilled": "#009fc6",
    "Qwen": "#972e78",
    "Phi-4": "#005936",
    "EXAONE": "#8c8c8d",
}
#: Two of them, for contrasts that are not between models, such as positive and negative.
BLUE = FAMILY_COLORS["OpenAI"]
RED = FAMILY_COLORS["DeepSeek R1"]
_CYCLE = list(dict.fromkeys([BLUE, RED, *FAMILY_COLORS.values()]))
STYLE = {
    **library["seaborn-v0_8-whitegrid"],
    **rc_params_from_file(
        Path(__file__).with_name("figures.mplstyle"), use_default_template=False
    ),
    "axes.prop_cycle": cycler(color=_CYCLE),
}

#: The colour of models that are not in the paper, such as a reader's own.
OTHERS_COLOR = "#000000"

_MARKERS = ("o", "s", "^", "D", "v")
_DASHES = ("-", (0, (4, 1.2)), (0, (1.2, 1)), (0, (5, 1, 1.2, 1)), (0, (7, 1.5)))
_OTHER_MARKERS = ("*", "P", "X", "h", "d")


def use() -> None:
    """Draw the figures of a notebook, seaborn's included, in the style of the book.

    A figure is then shown by `Page.figure`, by `matplotlib.pyplot.show`, or as the last value of a
    cell.
    """
    use_backend()
    mpl.rcParams.update(STYLE)


@dataclass(frozen=True)
class Pen:
    """How one model is drawn; ``own`` marks a reader's model, drawn over the others."""

    label: str
    color: str
    marker: str
    dashes: object
    own: bool

    def line(self) -> dict:
        """Return matplotlib's properties for the line between the points."""
        width, order = (2.2, 6) if self.own else (1.1, 3)
        return {
            "color": self.color,
            "linestyle": self.dashes,
            "linewidth": width,
            "zorder": order,
        }

    def dots(self) -> dict:
        """Return matplotlib's properties for the points themselves.

        Triangles are larger, since they look smaller than discs.
        """
        size = 4.6 if self.marker in "^v" else 3.8
        order = 4
        if self.own:
            size = 7.5
            order = 8
        look = {
            "color": self.color,
            "linestyle": "",
            "marker": self.marker,
            "markersize": size,
            "zorder": order,
        }
        return look | {"markeredgecolor": "white", "markeredgewidth": 0.4}


def pens(models: list[str]) -> dict[str, Pen]:
    """Return a pen for each model: colour by family, marker and dashes by order within it.

    A model of the paper has the same pen in every figure, whatever the other models are.
    """
    strangers = [name for name in models if name not in BY_NAME]
    labels = display_names(models)
    chosen = {}
    for name in models:
        model = BY_NAME.get(name)
        if model is None:
            label = plain_label(labels[name])
            color = OTHERS_COLOR
            place = strangers.index(name) % len(_OTHER_MARKERS)
            marker = _OTHER_MARKERS[place]
        else:
            label = model.label
            color = FAMILY_COLORS[model.family]
            family = [other.name for other in MODELS if other.family == model.family]
            place = family.index(name)
            marker = _MARKERS[place]
        chosen[name] = Pen(label, color, marker, _DASHES[place], own=model is None)
    return chosen


def plain_label(name: str, longest: int = 21) -> str:
    """Return a model's display name, shortened if it is too long for the label of a picture.

    A name with slashes keeps its end, which distinguishes models of one server.
    """
    if len(name) <= longest:
        return name
    if "/" in name:
        return "…" + name[1 - longest :]
    return name[: longest - 1] + "…"


def save_figure(
    figure: Figure,
    stem: str | Path,
    source: str = "",
    endings: Sequence[str] = ("png", "svg"),
    title: str = "",
) -> list[Path]:
    """Write ``STEM.png`` and ``STEM.svg``, or one of them; the same figure gives the same bytes.

    ``source``, a line on the evidence, is written into a strip added below the figure, and
    ``title``, its finding, into one above.
    """
    width, height = figure.get_size_inches()
    top = height
    if title:
        lines = textwrap.wrap(title, int(_TITLE_CHARACTERS * width))
        above = (0.012, 1 + 0.08 / height)
        figure.text(*above, "\n".join(lines), size=11, weight="bold", gid="title")
        top += 0.12 + _TITLE_LINE_IN * len(lines)
    if source:
        at = (0.012, -0.62 * _STRIP_IN / height)
        figure.text(*at, source, size=7.5, style="italic", color="0.35", gid="source")
    area = Bbox.from_extents(0, -_STRIP_IN if source else 0, width, top)
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.execute(figure)
        figure.set_layout_engine(None)  # lay out once, not twice per file
    files = []
    for ending in endings:
        picture = io.BytesIO()
        with mpl.rc_context(STYLE):
            figure.savefig(
                picture,
                format=ending,
                bbox_inches=area,
                dpi=_DPI,
                metadata=_UNDATED[ending],
            )
        files.append(write_whole(f"{stem}.{ending}", picture.getvalue()))
    return files
