"""The 22 models of the paper: names, family, puzzles per cell; how any model is named."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from cogniload_repro.paths import ICLR2026

# characters that are ignored when names are compared
_SEPARATORS = re.compile(r"[^a-z0-9]")


@dataclass(frozen=True)
class Model:
    """One evaluated model (paper, section 3).

    ``name`` is the one printed in Tables 4-6 and the key of every table here, ``label`` the short
    name in figures, which group models by ``family``. ``missing`` has the (d, N) of every puzzle
    missing according to Tables 4 and 5. ``tier`` is the class of section 3.1.4, or "".
    """

    name: str
    label: str
    family: str
    puzzles_per_cell: int
    missing: tuple[tuple[int, int], ...] = ()
    tier: str = ""


def _read_models() -> Iterator[Model]:
    with (ICLR2026 / "models.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield Model(
                name=row["name"],
                label=row["label"],
                family=row["family"],
                puzzles_per_cell=int(row["puzzles_per_cell"]),
                missing=tuple(map(_read_condition, row["missing"].split())),
                tier=row["tier"],
            )


def _read_condition(text: str) -> tuple[int, int]:
    """Return d and N of a text such as "7x250"."""
    d, N = text.split("x")
    return int(d), int(N)


#: The models in the printed order of Tables 3 and 6.
MODELS = tuple(_read_models())

BY_NAME = {model.name: model for model in MODELS}
#: Full names by short name, such as "o3"; either may be given wherever a model is named.
BY_LABEL = {model.label: model.name for model in MODELS}
NAMES = tuple(BY_NAME)


def find_model(name: str) -> Model:
    """Return the model of the paper with this name or short name; see `resolve_model`."""
    return BY_NAME[resolve_model(name, NAMES)]


def short_names(models: Iterable[str]) -> dict[str, str]:
    """Return the name by which each model is shown.

    A model of the paper has its printed name. Any other has the part after the last slash, such as
    "NAME" of "openai-api/local/NAME", unless another model would have the same name.
    """
    names = list(dict.fromkeys(models))
    last_parts = {}
    for name in names:
        last_parts[name] = name.split("/")[-1].strip() or name
    counts = Counter(last_parts.values())
    short = {}
    for name, last_part in last_parts.items():
        is_taken = (
            counts[last_part] > 1 or last_part in BY_NAME or last_part in BY_LABEL
        )
        short[name] = name if is_taken else last_part
    return short


def resolve_model(name: str, models: Iterable[str]) -> str:
    """Return the one of these models that has this name, in full or as it is shown.

    ValueError for an unknown name suggests the closest one and lists all.
    """
    short = short_names(models)
    known = {}
    for model, short_name in short.items():
        known[model] = model
        known[short_name] = model
    listed = dict(short)
    for label, model in BY_LABEL.items():
        if model in short:
            known[label] = model
            listed[model] = label
    if name not in known:
        names = ", ".join(listed.values())
        question = _suggest(name, known)
        raise ValueError(f"unknown model {name!r}{question}; choose one of: {names}")
    return known[name]


def _suggest(name: str, known: Iterable[str]) -> str:
    """Return a question with the closest known name; "" if none is close."""
    spellings = {_SEPARATORS.sub("", other.lower()): other for other in known}
    letters = _SEPARATORS.sub("", name.lower())
    longer = [spelling for spelling in spellings if letters and letters in spelling]
    close = sorted(longer, key=len) or get_close_matches(letters, spellings, 1)
    return f" (did you mean {spellings[close[0]]}?)" if close else ""


def order_models(models: Iterable[str]) -> list[str]:
    """Return each model once: the paper's in printed order, then the others by name."""
    present = set(models)
    of_the_paper = [name for name in NAMES if name in present]
    return of_the_paper + sorted(present.difference(NAMES))
