"""Which edition of the generator puzzles come from, told by drawing them again from their names."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from cogniload_repro.puzzles.catalog import PuzzleName, parse_name
from cogniload_repro.puzzles.editions import EDITIONS, PORT, Edition
from cogniload_repro.puzzles.generate import draw_puzzle

#: So many puzzles are drawn again under editions that may not be theirs.
SAMPLE = 1_400


class Fit(NamedTuple):
    """How well an edition fits: of so many puzzles that some edition draws, it draws so many."""

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
        Names of puzzles; those that no edition draws are left out. Of more than 1,400, a part evenly spread is drawn.
    texts : mapping of str to str, optional
        The text of each puzzle for which it is known, or the prompt around it; such a puzzle fits only if the drawn
        text is in it.

    Returns
    -------
    fits : list of Fit
        The best first; empty without a name to try.
    """
    parsed, texts = {name: parts for name in sorted(set(names)) if (parts := parse_name(name))}, texts or {}
    known = list(parsed)[:: max(1, -(-len(parsed) // SAMPLE))]
    drawn: dict[Edition, set[str]] = {}
    for group in _groups():
        for edition in group:
            drawn[edition] = {name for name in known if is_drawn_by(edition, parsed[name], texts.get(name))}
        if max(map(len, drawn.values())) == len(known):
            break
    tried = len(set().union(*drawn.values()))
    fits = [Fit(edition, len(own), tried) for edition, own in drawn.items()]
    return sorted(fits, key=lambda fit: -fit.fitting) if tried else []


def is_drawn_by(edition: Edition, parts: PuzzleName, text: str | None = None) -> bool:
    """Tell whether an edition draws this puzzle from its name: its solution, and its text if one is given."""
    try:
        puzzle = draw_puzzle(*parts[:4], edition=edition)
    except ValueError:
        return False
    return puzzle.solution == parts.gold and (text is None or puzzle.text.strip() in text)


def describe_fits(fits: list[Fit]) -> str:
    """Return in one line how well editions fit, the best first; nothing where nothing was tried."""
    if not fits:
        return ""
    start = "names fit edition" if fits[0].fitting == fits[0].tried else "no edition fits all names,"
    return f"{start} {'; '.join(map(str, fits))}"


def choose_edition(fits: list[Fit]) -> Edition:
    """Return the edition that fits everything, or else the only one that fits most; the port where nothing was tried.

    Raises
    ------
    ValueError
        If there is none.
    """
    whole = [fit for fit in fits if fit.fitting == fit.tried]
    most = [fit for fit in fits if 2 * fit.fitting >= fit.tried]
    if not fits:
        return PORT
    if not whole and len(most) != 1:
        raise ValueError(f"{describe_fits(fits)}: tell the edition with --edition")
    return (whole or most)[0].edition


def _groups() -> Iterator[tuple[Edition, ...]]:
    """Yield the editions in the order in which they are tried."""
    usual = [edition for edition in EDITIONS if edition != PORT and edition.has_usual_order]
    yield (PORT,)
    yield tuple(usual)
    yield tuple(edition for edition in EDITIONS if edition != PORT and edition not in usual)
