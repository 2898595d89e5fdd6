"""People, categories, values and phrases of the puzzles (paper, Appendix G)."""

import csv
import json
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from cogniload_repro.storage import ICLR2026


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
    PHRASES = {category: Phrases(*wordings) for category, *wordings in islice(csv.reader(_file), 1, None)}

CATEGORIES = tuple(PHRASES)

#: Appendix G misprints the genre that Appendix D.4 and the published puzzles spell ``reaggea``.
MISPRINTS = {"recent_listen": {"reagea": "reaggea"}}


class Ontology(NamedTuple):
    """The 159 first names, and the values by category, in printed order; categories in that of `CATEGORIES`."""

    people: tuple[str, ...]
    values: dict[str, tuple[str, ...]]


def read_ontology(path: str | Path) -> Ontology:
    """Read an ontology file as printed in Appendix G, and correct its misprint in the same position."""
    try:
        printed = json.loads(Path(path).read_text(encoding="utf-8"))
        words = {"people": printed["people"]} | {name: printed["categories"][name] for name in CATEGORIES}
        for name, entries in words.items():
            if len(set(map(str.strip, entries))) < max(len(entries), 10):
                raise ValueError(f"{name!r} must hold at least 10 different words")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}: not the ontology of Appendix G ({type(error).__name__}: {error}); "
            "restore data/published/iclr2026/ontology.json"
        ) from None
    words = {name: tuple(MISPRINTS.get(name, {}).get(one, one) for one in own) for name, own in words.items()}
    return Ontology(words.pop("people"), words)


@cache
def ontology() -> Ontology:
    """Return the ontology of the paper, read once per process."""
    return read_ontology(ICLR2026 / "ontology.json")
