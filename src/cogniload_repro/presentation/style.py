"""How each model is drawn: colour by family, marker and dashes within it, a reader's own models in black."""

from dataclasses import dataclass

from cogniload_repro.formats import format_name
from cogniload_repro.models import BY_NAME

#: A colour a family. Told apart by readers with any of the three colour-vision deficiencies, and at least
#: three to one against white; tests/test_pens.py holds it to both.
FAMILY_COLORS = {
    "OpenAI": "#1861d3",
    "Gemini 2.5": "#c38803",
    "DeepSeek R1": "#ab3f00",
    "DeepSeek R1 distilled": "#009fc6",
    "Qwen": "#972e78",
    "Phi-4": "#005936",
    "EXAONE": "#8c8c8d",
}
#: Models that the paper does not have, a reader's own.
OTHERS, OTHERS_COLOR = "Not in the paper", "#000000"

_MARKERS = ("o", "s", "^", "D", "v")
_DASHES = ("-", (0, (4, 1.2)), (0, (1.2, 1)), (0, (5, 1, 1.2, 1)), (0, (7, 1.5)))
_OTHER_MARKERS = ("*", "P", "X", "h", "d")


@dataclass(frozen=True)
class Pen:
    """How one model is drawn; ``own`` marks a reader's model, drawn over the others."""

    label: str
    family: str
    color: str
    marker: str
    dashes: object
    own: bool

    def line(self) -> dict:
        """Return matplotlib's properties for the line between the points."""
        return {
            "color": self.color,
            "linestyle": self.dashes,
            "linewidth": 2.2 if self.own else 1.1,
            "zorder": 6 if self.own else 3,
        }

    def dots(self) -> dict:
        """Return matplotlib's properties for the points themselves."""
        small = 4.6 if self.marker in "^v" else 3.8  # a triangle looks smaller than a disc
        return {
            "color": self.color,
            "linestyle": "",
            "marker": self.marker,
            "markersize": 7.5 if self.own else small,
            "markeredgecolor": "white",
            "markeredgewidth": 0.4,
            "zorder": 8 if self.own else 4,
        }


def pens(models: list[str]) -> dict[str, Pen]:
    """Return a pen a model: colour by family, marker and dashes by place in the family; strangers in black.

    A model of the paper has the same pen in every figure, whatever other models are there.
    """
    families = {family: [m.name for m in BY_NAME.values() if m.family == family] for family in FAMILY_COLORS}
    chosen, strangers = {}, 0
    for name in models:
        if name in BY_NAME:
            family = BY_NAME[name].family
            place = families[family].index(name)
            chosen[name] = Pen(BY_NAME[name].label, family, FAMILY_COLORS[family],
                               _MARKERS[place], _DASHES[place], own=False)  # fmt: skip
        else:
            place = strangers % len(_OTHER_MARKERS)
            chosen[name] = Pen(plain_label(name), OTHERS, OTHERS_COLOR,
                               _OTHER_MARKERS[place], _DASHES[place], own=True)  # fmt: skip
            strangers += 1
    return chosen


def plain_label(name: str, longest: int = 18) -> str:
    """Return a stranger's model name fit for a picture: one short line."""
    line = format_name(name)
    return line if len(line) <= longest else line[: longest - 1] + "…"
