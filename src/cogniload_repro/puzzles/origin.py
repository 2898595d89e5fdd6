"""Which edition of the generator puzzles come from, told by drawing them again from their names."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from cogniload_repro.puzzles.catalog import PuzzleName, parse_name
from cogniload_repro.puzzles.editions import EDITIONS, PORT, Edition
from cogniload_repro.puzzles.generate import draw_puzzle

#: So many puzzles are drawn again under editions that may not be theirs.
SAMPLE = 1_400


class Fit(NamedTuple):
    """How well an edition fits: of so many puzzles that were drawn again, so many are the same."""

    edition: Edition
    fitting: int
    tried: int

    def __str__(self) -> str:
        return f"{self.edition}: {self.fitting:,} of {self.tried:,}"


def find_edition(names: Iterable[str], texts: Mapping[str, str] | None = None) -> list[Fit]:
    """Draw puzzles again under one edition after the other, and count how many come out the same.

    The port comes first, then Elixir under the usual orders of keys, then under the others; editions after those among
    which one fits everything are not tried. By name alone, an edition that is not the puzzles' own fits where the
    solution is the same by chance.

    Parameters
    ----------
    names : iterable of str
        Names of puzzles; those of another form are left out. Of more than 1,400, a part evenly spread is drawn again.
    texts : mapping of str to str, optional
        The text of each puzzle for which it is known; a puzzle with a text fits only if the text is the same.

    Returns
    -------
    fits : list of Fit
        The best first; empty without a name to try.
    """
    known, texts = sorted(name for name in set(names) if parse_name(name)), texts or {}
    known = known[:: max(1, -(-len(known) // SAMPLE))]
    fits: list[Fit] = []
    for group in _groups() if known else ():
        for edition in group:
            fitting = sum(is_drawn_by(edition, parse_name(name), texts.get(name)) for name in known)
            fits.append(Fit(edition, fitting, len(known)))
        if any(fit.fitting == fit.tried for fit in fits):
            break
    return sorted(fits, key=lambda fit: -fit.fitting)


def is_drawn_by(edition: Edition, parts: PuzzleName, text: str | None = None) -> bool:
    """Tell whether an edition draws this puzzle from its name: its solution, and its text where there is one."""
    try:
        puzzle = draw_puzzle(*parts[:4], edition=edition)
    except ValueError:
        return False
    return puzzle.solution == parts.gold and (text is None or puzzle.text == text)


def describe_fits(fits: Iterable[Fit]) -> str:
    """Return in a few words how well editions fit, the best first."""
    return "; ".join(map(str, fits))


def choose_edition(fits: list[Fit]) -> Edition:
    """Return the edition that fits everything; without anything to fit, the port.

    Raises
    ------
    ValueError
        If there is none.
    """
    if fits and fits[0].fitting < fits[0].tried:
        raise ValueError(f"names fit no edition of the generator ({describe_fits(fits)}); name one with --edition")
    return fits[0].edition if fits else PORT


def _groups() -> Iterator[tuple[Edition, ...]]:
    """Yield the editions in the order in which they are tried."""
    usual = [edition for edition in EDITIONS if edition != PORT and edition.has_usual_order]
    yield (PORT,)
    yield tuple(usual)
    yield tuple(edition for edition in EDITIONS if edition != PORT and edition not in usual)
