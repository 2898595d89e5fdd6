"""The 22 models of the paper: names, family and number of puzzles per cell."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cogniload_repro.files import ICLR2026


@dataclass(frozen=True)
class Model:
    """One evaluated model (paper, section 3).

    ``name`` is printed in Tables 4-6 and the key of every table here; ``label`` is short, for
    figures, which group by ``family``. ``missing`` has the (d, N) of every puzzle that Tables 4 and
    5 show to be missing. ``tier`` is the class of section 3.1.4, "" for a model in none.
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
#: Names by the short ones, such as "o3", which may be given wherever a model is named.
BY_LABEL = {model.label: model.name for model in MODELS}
NAMES = tuple(BY_NAME)


def find_model(name: str) -> Model:
    """Return the model of the paper with this name or short name; a ValueError lists them all."""
    name = BY_LABEL.get(name, name)
    if name not in BY_NAME:
        known = ", ".join(NAMES)
        raise ValueError(f"unknown model {name!r}; the paper's models are: {known}")
    return BY_NAME[name]


def order_models(models: Iterable[str]) -> list[str]:
    """Return each model once: the paper's in printed order, then the others by name."""
    present = set(models)
    of_the_paper = [name for name in NAMES if name in present]
    others = sorted(present.difference(NAMES))
    return of_the_paper + others
