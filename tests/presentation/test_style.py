"""Colours, markers and dashes of the models."""

from itertools import combinations

import numpy as np
from matplotlib.colors import to_rgb

from cogniload_repro.models import MODELS, NAMES
from cogniload_repro.presentation.style import FAMILY_COLORS, OTHERS, OTHERS_COLOR, pens

#: Machado, Oliveira and Fernandes (2009), severity 1: what linear RGB turns into for each deficiency.
VISION = {
    "normal": [1, 0, 0, 0, 1, 0, 0, 0, 1],
    "protanopia": [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
    "deuteranopia": [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881],
    "tritanopia": [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
COLORS = [*FAMILY_COLORS.values(), OTHERS_COLOR]


def linear_rgb(color):
    """A colour as linear light."""
    srgb = np.array(to_rgb(color))
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def cielab(rgb):
    """Linear light as lightness and two opponent colours."""
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / [0.9505, 1, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_families_are_told_apart_and_stand_out():
    """Any two colours differ by more than 20 CIELAB units, ten times a just noticeable difference, for every reader.

    Every colour has a contrast of three to one with the page (WCAG 1.4.11).
    """
    for vision in VISION.values():
        seen = [cielab(np.reshape(vision, (3, 3)) @ linear_rgb(color)) for color in COLORS]
        assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 20
    assert min(1.05 / (TO_XYZ[1] @ linear_rgb(color) + 0.05) for color in COLORS) >= 3


def test_no_two_models_look_alike():
    """The 22 models differ in colour, or in marker and dashes, and each looks the same alone and among others."""
    drawn = pens(list(NAMES))
    assert {model.family for model in MODELS} == set(FAMILY_COLORS)
    assert len({(pen.color, pen.marker) for pen in drawn.values()}) == len(NAMES)
    assert len({(pen.color, str(pen.dashes)) for pen in drawn.values()}) == len(NAMES)
    together = pens([*NAMES, "own"])
    assert all(pens([name])[name] == together[name] for name in NAMES)


def test_own_models_are_black_and_differ():
    """A reader's models are in a group of their own, each with another marker and one short line as its label."""
    drawn = pens([NAMES[0], "a\nb\tc\x00", " \n", "x" * 50, "openai-api/local/strong-1", "local/strong-1"])
    paper, *own = drawn.values()
    assert {(pen.color, pen.family, pen.own) for pen in own} == {(OTHERS_COLOR, OTHERS, True)}
    assert len({pen.marker for pen in own}) == 5
    assert own[0].line()["linewidth"] > paper.line()["linewidth"]
    assert [pen.label for pen in own] == ["a b c", "unnamed", "x" * 17 + "…", "strong-1", "local/strong-1"]
