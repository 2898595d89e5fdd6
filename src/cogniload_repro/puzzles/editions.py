"""Editions of the generator: the authors' Python port, and their Elixir original by the versions that differ.

An edition has its own random draws, and an order of the categories: keys of a map in the original, a list in the port.
"""

from dataclasses import dataclass

from cogniload_repro.puzzles.draws import Elixir, Mersenne
from cogniload_repro.puzzles.ontology import CATEGORIES

#: Elixir itself, which stands for its latest version.
_LATEST = {"elixir": "elixir-1.17"}

#: The order in which Erlang lists the keys of a small map: alphabetical up to OTP 25, then as first met in the script,
#: which is the order of the ontology. Below, the order with the release of Erlang that was current.
KEY_ORDERS = {"alphabetical": tuple(sorted(CATEGORIES)), "ontology": CATEGORIES}
_USUAL_ORDER = {"elixir-1.14": "alphabetical", "elixir-1.16": "ontology", "elixir-1.17": "ontology"}

NAMES = ("python", *_USUAL_ORDER, *_LATEST)


@dataclass(frozen=True)
class Edition:
    """One edition of the generator: ``python`` or ``elixir-VERSION``, and for Elixir the order of keys."""

    name: str
    key_order: str | None

    def __str__(self) -> str:
        return self.name if self.has_usual_order else f"{self.name} with key order {self.key_order}"

    @property
    def has_usual_order(self) -> bool:
        """Whether the keys have the order that was usual with this version, which its name alone stands for."""
        return self.key_order == _USUAL_ORDER.get(self.name)

    @property
    def categories(self) -> tuple[str, ...]:
        """All twelve categories in the order that the puzzle's are drawn from."""
        return KEY_ORDERS[self.key_order or "ontology"]

    def draws(self) -> Mersenne | Elixir:
        """Return the random draws of this edition, to be seeded."""
        return Elixir(self.name.removeprefix("elixir-")) if self.key_order else Mersenne()


def resolve_edition(edition: str | Edition, key_order: str | None = None) -> Edition:
    """Return the edition of a name; a version stands also for those after it that draw alike.

    The order of keys is by default the one that was usual with the version; the port has no such choice.
    """
    if isinstance(edition, Edition):
        if key_order is None:
            return edition
        edition = edition.name
    name = _LATEST.get(edition, edition)
    if name not in NAMES:
        raise ValueError(f"edition is {edition!r}; choose one of: {', '.join(NAMES)}")
    if key_order is None:
        return Edition(name, _USUAL_ORDER.get(name))
    if name == "python" or key_order not in KEY_ORDERS:
        raise ValueError(
            f"key_order is {key_order!r} for edition {name}; "
            f"choose one of: {', '.join(KEY_ORDERS)}, for an Elixir edition only"
        )
    return Edition(name, key_order)


PORT = resolve_edition("python")

#: All editions, the likeliest first: with the usual order of keys, then with the other one.
EDITIONS = (
    PORT,
    *(Edition(name, order) for name, order in reversed(_USUAL_ORDER.items())),
    *(Edition(name, order) for name, usual in reversed(_USUAL_ORDER.items()) for order in KEY_ORDERS if order != usual),
)
