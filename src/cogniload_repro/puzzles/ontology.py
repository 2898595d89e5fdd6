"""People, categories, values and phrases of the puzzles (paper, Appendix G)."""

import csv
import json
from functools import cache
from typing import NamedTuple

from cogniload_repro.paths import ICLR2026


class Phrases(NamedTuple):
    """The fixed wordings of one category.

    ``{}`` stands for the value in the first three, for the person of interest in the question.
    """

    initial: str
    condition: str
    update: str
    question: str


#: Wordings by category. The order of the categories is part of the generator: sampling depends on
#: it.
with (ICLR2026 / "phrases.csv").open(encoding="utf-8", newline="") as _file:
    _rows = list(csv.reader(_file))
PHRASES = {category: Phrases(*wordings) for category, *wordings in _rows[1:]}

CATEGORIES = tuple(PHRASES)

#: Appendix G misprints the genre that Appendix D.4 and the published puzzles spell ``reaggea``.
MISPRINTS = {"recent_listen": {"reagea": "reaggea"}}


class Ontology(NamedTuple):
    """The 159 first names, and the values by category, in printed order.

    Categories are in the order of `CATEGORIES`.
    """

    people: tuple[str, ...]
    values: dict[str, tuple[str, ...]]


@cache
def ontology() -> Ontology:
    """Return the ontology of Appendix G, with its misprint corrected; read once per process."""
    printed = json.loads((ICLR2026 / "ontology.json").read_text(encoding="utf-8"))
    values = {}
    for category in CATEGORIES:
        misprints = MISPRINTS.get(category, {})
        corrected = [
            misprints.get(value, value) for value in printed["categories"][category]
        ]
        values[category] = tuple(corrected)
    return Ontology(tuple(printed["people"]), values)
