"""People, categories, values and phrases of the puzzles (paper, Appendix G)."""

import csv
import json
from functools import cache
from itertools import islice
from typing import NamedTuple

from cogniload_repro.files import ICLR2026


class Phrases(NamedTuple):
    """The fixed wordings of one category.

    ``{}`` stands for the value in the first three, for the person of interest in the question.
    """

    initial: str
    condition: str
    update: str
    question: str


#: Wordings by category. The order of the categories is part of the generator: sampling depends on it.
with (ICLR2026 / "phrases.csv").open(encoding="utf-8", newline="") as _file:
    PHRASES = {
        category: Phrases(*wordings) for category, *wordings in islice(csv.reader(_file), 1, None)
    }

CATEGORIES = tuple(PHRASES)

#: Appendix G misprints the genre that Appendix D.4 and the published puzzles spell ``reaggea``.
MISPRINTS = {"recent_listen": {"reagea": "reaggea"}}


class Ontology(NamedTuple):
    """The 159 first names, and the values by category, in printed order; categories in that of `CATEGORIES`."""

    people: tuple[str, ...]
    values: dict[str, tuple[str, ...]]


@cache
def ontology() -> Ontology:
    """Return the ontology of Appendix G, with its misprint corrected in the same position; read once per process."""
    printed = json.loads((ICLR2026 / "ontology.json").read_text(encoding="utf-8"))
    values = {
        name: tuple(
            MISPRINTS.get(name, {}).get(value, value) for value in printed["categories"][name]
        )
        for name in CATEGORIES
    }
    return Ontology(tuple(printed["people"]), values)
