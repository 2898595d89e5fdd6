"""People, categories, values and phrases of the puzzles (paper, Appendix G)."""

import json
from functools import cache
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
PHRASES = {
    "location": Phrases("is located at the {}", "located in the {}", "move to the {}", "Where is {}?"),
    "clothes_shirt": Phrases(
        "is wearing a {} shirt", "wearing a {} shirt", "change into a {} shirt", "What color shirt is {} wearing?"
    ),
    "clothes_pant": Phrases(
        "is wearing a {} pant", "wearing a {} pant", "change into a {} pant", "What color pant is {} wearing?"
    ),
    "clothes_hat": Phrases(
        "is wearing a {} hat", "wearing a {} hat", "change into a {} hat", "What color hat is {} wearing?"
    ),
    "clothes_socks": Phrases(
        "is wearing {} socks", "wearing {} socks", "change into {} socks", "What color of socks is {} wearing?"
    ),
    "clothes_gloves": Phrases(
        "is wearing {} gloves", "wearing {} gloves", "put on {} gloves", "What color of gloves is {} wearing?"
    ),
    "clothes_underwear": Phrases(
        "is wearing {} underwear",
        "wearing {} underwear",
        "put on {} underwear",
        "What color of underwear is {} wearing?",
    ),
    "hair": Phrases(
        "has {} colored hair", "having {} hair", "color their hair to {}", "What is the final hair color of {}?"
    ),
    "recent_eat": Phrases("last ate a {}", "which most recently ate {}", "eat a {}", "What did {} most recently eat?"),
    "recent_watch": Phrases(
        "last watched a {} movie",
        "which most recently watched a {} movie",
        "watch a {} movie",
        "What kind of movie did {} most recently watch?",
    ),
    "recent_listen": Phrases(
        "last listened to {} music",
        "which most recently listened to {} music",
        "listen to {} music",
        "What kind of music did {} most recently listen to?",
    ),
    "recent_read": Phrases(
        "last read a {} book",
        "which most recently read a {} book",
        "read a {} book",
        "What kind of book did {} most recently read?",
    ),
}

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
