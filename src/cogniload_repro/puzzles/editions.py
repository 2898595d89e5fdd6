"""Editions of the generator: the authors' Python port, and their Elixir original by the versions that differ.

Rules and wording are the same in all. An edition has its own random draws, and an order of the categories: keys of a
map in the original, a list in the port.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cogniload_repro.puzzles.elixir import Elixir
from cogniload_repro.puzzles.mersenne import Attempt, FreeValues, Mersenne
from cogniload_repro.puzzles.ontology import CATEGORIES

#: Elixir itself, which stands for its latest version.
_LATEST = {"elixir": "elixir-1.17"}

#: The order in which Erlang lists the keys of a small map: alphabetical up to OTP 25, then as first met in the script,
#: which is the order of the ontology. Below, the order with the release of Erlang that was current.
KEY_ORDERS = {"term": tuple(sorted(CATEGORIES)), "file": CATEGORIES}
_USUAL_ORDER = {"elixir-1.14": "term", "elixir-1.16": "file", "elixir-1.17": "file"}

NAMES = ("port", *_USUAL_ORDER, *_LATEST)


class Draws(Protocol):
    """Random draws of an edition: `mersenne.Mersenne` or `elixir.Elixir`, which describe the methods."""

    def seed(self, seed: int) -> None:
        """Start anew from a seed."""

    def between(self, low: int, high: int) -> int:
        """Draw a whole number of a range, both ends included."""

    def below(self, n: int) -> int:
        """Draw a whole number from 0 to n - 1."""

    def sample(self, population: Sequence, count: int) -> list:
        """Draw members without replacement."""

    def shuffle(self, *lists: list) -> None:
        """Shuffle lists in place, one after another."""

    def attempts(self, poi: int, others: Sequence[int], free: list[FreeValues]) -> Attempt:
        """Give the function that draws one attempt at a statement."""


@dataclass(frozen=True)
class Edition:
    """One edition of the generator, see `resolve_edition`.

    Attributes
    ----------
    name : str
        ``port``, or ``elixir-`` and a version.
    key_order : {"term", "file"} or None
        None for the port, which keeps categories in the order in which they were drawn.
    """

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
        return KEY_ORDERS[self.key_order or "file"]

    def draws(self) -> Draws:
        """Return the random draws of this edition, to be seeded."""
        return Elixir(self.name.removeprefix("elixir-")) if self.key_order else Mersenne()

    def order_keys(self, categories: list[str]) -> tuple[list[int], list[int] | None]:
        """Return the places of drawn categories in the order of keys, and each place's rank in it.

        None instead of ranks where the order is the drawn one, so that nothing is to be sorted.
        """
        places = list(range(len(categories)))
        if not self.key_order:
            return places, None
        ranks = [self.categories.index(category) for category in categories]
        return sorted(places, key=ranks.__getitem__), ranks


def resolve_edition(edition: str | Edition, key_order: str | None = None) -> Edition:
    """Return the edition of a name.

    Parameters
    ----------
    edition : {"port", "elixir-1.14", "elixir-1.16", "elixir-1.17", "elixir"}
        A version stands also for those after it that draw alike; without one it is the last.
    key_order : {"term", "file"}, optional
        Order of the keys of maps: alphabetical, as with Erlang's OTP up to 25, or that of the ontology, as from 26.
        By default ``term`` for 1.14 and ``file`` for later versions. The port has no such choice.

    Raises
    ------
    ValueError
        If there is no such edition or order.
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
    if name == "port" or key_order not in KEY_ORDERS:
        raise ValueError(
            f"key_order is {key_order!r} for edition {name}; "
            f"choose one of: {', '.join(KEY_ORDERS)}, for an Elixir edition only"
        )
    return Edition(name, key_order)


PORT = resolve_edition("port")

#: All editions, the likeliest first: with the usual order of keys, then with the other one.
EDITIONS = (
    PORT,
    *(Edition(name, order) for name, order in reversed(_USUAL_ORDER.items())),
    *(Edition(name, order) for name, usual in reversed(_USUAL_ORDER.items()) for order in KEY_ORDERS if order != usual),
)
