import json

import pytest

from cogniload_repro.puzzles.ontology import CATEGORIES, ontology, read_ontology
from cogniload_repro.storage import ICLR2026

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


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda printed: printed.pop("people"), "people"),
        (lambda printed: printed["categories"].update(hair="blue"), "different words"),
        (lambda printed: printed["categories"]["hair"].append("blue"), "different words"),
        (lambda printed: printed.update(people=[*range(20)]), "not the ontology"),
    ],
)
def test_damaged_ontology_is_refused_by_name(tmp_path, change, words):
    """A damaged file stops with a sentence that names the file and the entry."""
    printed = json.loads(json.dumps(PRINTED))
    change(printed)
    path = tmp_path / "ontology.json"
    path.write_text(json.dumps(printed), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"ontology\.json.*{words}"):
        read_ontology(path)
