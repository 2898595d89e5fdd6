"""Editions of the generator: the authors' Python port, and their Elixir original by the versions that differ.

An edition has its own random draws, and an order of the categories: of a list in the port, of a map's keys in Elixir.
"""

from dataclasses import dataclass

from cogniload_repro.puzzles.draws import Elixir, Mersenne
from cogniload_repro.puzzles.ontology import CATEGORIES


@dataclass(frozen=True)
class Edition:
    """One edition of the generator: ``python`` or ``elixir-VERSION``."""

    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def is_elixir(self) -> bool:
        """Whether this is the original, whose ids have six digits."""
        return self.name != "python"

    @property
    def categories(self) -> tuple[str, ...]:
        """All twelve categories in the order that a puzzle's are drawn from.

        Erlang lists the keys of a small map alphabetically up to OTP 25, then as they first occur in the program.
        """
        return tuple(sorted(CATEGORIES)) if self.name == "elixir-1.14" else CATEGORIES

    def draws(self) -> Mersenne | Elixir:
        """Return the random draws of this edition, to be seeded."""
        return Elixir(self.name.removeprefix("elixir-")) if self.is_elixir else Mersenne()


PORT = Edition("python")
#: All editions, the likeliest first.
EDITIONS = (PORT, Edition("elixir-1.17"), Edition("elixir-1.16"), Edition("elixir-1.14"))
#: Editions by name; a version stands also for those after it that draw alike, Elixir itself for the latest.
NAMES = {edition.name: edition for edition in EDITIONS} | {"elixir": EDITIONS[1]}


def resolve_edition(edition: str | Edition) -> Edition:
    """Return the edition of a name; ValueError for another name."""
    if isinstance(edition, Edition):
        return edition
    if edition not in NAMES:
        raise ValueError(f"edition is {edition!r}; choose one of: {', '.join(NAMES)}")
    return NAMES[edition]
