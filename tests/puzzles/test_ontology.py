import json

from cogniload_repro.files import ICLR2026
from cogniload_repro.puzzles.ontology import CATEGORIES, ontology

PRINTED = json.loads((ICLR2026 / "ontology.json").read_text(encoding="utf-8"))


def test_ontology_is_the_printed_one_but_for_one_spelling():
    """People and values are Appendix G's in printed order; only `reagea` is set right, in its place."""
    assert list(ontology().people) == PRINTED["people"]
    assert ontology().values.keys() == PRINTED["categories"].keys()
    changed = [
        (category, printed, value)
        for category, values in ontology().values.items()
        for printed, value in zip(PRINTED["categories"][category], values, strict=True)
        if printed != value
    ]
    assert changed == [("recent_listen", "reagea", "reaggea")]
    assert CATEGORIES[:2] == ("location", "clothes_shirt")  # sampling depends on their order
    assert CATEGORIES[-4:] == ("recent_eat", "recent_watch", "recent_listen", "recent_read")
    assert tuple(ontology().values) == CATEGORIES != tuple(PRINTED["categories"])
