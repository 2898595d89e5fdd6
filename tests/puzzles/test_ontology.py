"""The words of the puzzles against Appendix G."""

import json

from cogniload_repro.paths import ICLR2026
from cogniload_repro.puzzles.ontology import CATEGORIES, ontology

PRINTED = json.loads((ICLR2026 / "ontology.json").read_text(encoding="utf-8"))


def test_people_are_the_printed_ones():
    """In printed order."""
    assert list(ontology().people) == PRINTED["people"]


def test_values_are_the_printed_ones_but_for_one_spelling():
    """Only `reagea` is corrected, in its place."""
    assert ontology().values.keys() == PRINTED["categories"].keys()
    changed = []
    for category, values in ontology().values.items():
        for printed, value in zip(PRINTED["categories"][category], values, strict=True):
            if printed != value:
                changed.append((category, printed, value))
    assert changed == [("recent_listen", "reagea", "reaggea")]


def test_the_order_of_the_categories_is_the_programs():
    """What is drawn depends on it; Appendix G prints another one."""
    assert CATEGORIES[:2] == ("location", "clothes_shirt")
    assert CATEGORIES[-4:] == (
        "recent_eat",
        "recent_watch",
        "recent_listen",
        "recent_read",
    )
    assert tuple(ontology().values) == CATEGORIES
    assert tuple(PRINTED["categories"]) != CATEGORIES
