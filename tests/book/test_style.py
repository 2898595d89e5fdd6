"""Colours, markers and dashes of the models."""

from cogniload_repro.book.style import FAMILY_COLORS, OTHERS_COLOR, pens
from cogniload_repro.models import MODELS, NAMES


def test_no_two_models_look_alike():
    """The 22 models differ in colour, or in marker and dashes.

    Each looks the same alone and among others.
    """
    drawn = pens(list(NAMES))
    assert {model.family for model in MODELS} == set(FAMILY_COLORS)
    assert len({(pen.color, pen.marker) for pen in drawn.values()}) == len(NAMES)
    assert len({(pen.color, str(pen.dashes)) for pen in drawn.values()}) == len(NAMES)
    together = pens([*NAMES, "own"])
    assert all(pens([name])[name] == together[name] for name in NAMES)


def test_own_models_are_black_and_differ():
    """A reader's models are in a group of their own.

    Each has another marker and one short line as its label.
    """
    drawn = pens(
        [
            NAMES[0],
            "a\nb\tc\x00",
            " \n",
            "x" * 50,
            "openai-api/local/strong",
            "local/strong",
        ]
    )
    paper, *others = drawn.values()
    assert {(pen.color, pen.own) for pen in others} == {(OTHERS_COLOR, True)}
    assert len({pen.marker for pen in others}) == 5
    assert others[0].line()["linewidth"] > paper.line()["linewidth"]
    assert [pen.label for pen in others] == [
        "a b c",
        "unnamed",
        "x" * 20 + "…",
        "…nai-api/local/strong",
        "local/strong",
    ]
