"""The 22 models of the paper: names, family and number of puzzles per cell."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cogniload_repro.files import ICLR2026


@dataclass(frozen=True)
class Model:
    """One evaluated model (paper, section 3).

    ``name`` is printed in Tables 4-6 and the key of every table here; ``label`` is short, for figures, which group by
    ``family``. ``missing`` has the (d, N) of every puzzle that Tables 4 and 5 show to be missing; ``tier`` is the class
    of section 3.1.4, "" for a model in none.
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
            missing = tuple(
                (int(d), int(N))
                for d, _, N in (one.partition("x") for one in row["missing"].split())
            )
            yield Model(
                row["name"],
                row["label"],
                row["family"],
                int(row["puzzles_per_cell"]),
                missing,
                row["tier"],
            )


#: The models in the printed order of Tables 3 and 6.
MODELS = tuple(_read_models())

BY_NAME = {model.name: model for model in MODELS}
#: Names by the short ones, such as "o3", which stand for them wherever a model is named.
BY_LABEL = {model.label: model.name for model in MODELS}
NAMES = tuple(BY_NAME)


def find_model(name: str) -> Model:
    """Return the model of the paper with this name or short name; the ValueError for another one lists them."""
    name = BY_LABEL.get(name, name)
    if name not in BY_NAME:
        raise ValueError(f"unknown model {name!r}; the paper's models are: {', '.join(NAMES)}")
    return BY_NAME[name]


def order_models(models: Iterable[str]) -> list[str]:
    """Return each model once: the paper's in printed order, then the others by name."""
    present = set(models)
    return [name for name in NAMES if name in present] + sorted(present.difference(NAMES))
