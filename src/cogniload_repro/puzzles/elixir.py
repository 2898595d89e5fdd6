"""Draws of Elixir's `Enum` as the authors' original generator makes them, from Erlang's random words.

Three versions differ: up to 1.15, from 1.16 and from 1.17 on. The golden puzzles hold all three, and a test runs Elixir
itself where it is installed.
"""

from collections.abc import Callable, Sequence
from math import exp, floor, log
from operator import itemgetter

from cogniload_repro.puzzles.exs1024 import draw_words

VERSIONS = ("1.14", "1.16", "1.17")

#: Makes a word a number of ``:rand.uniform()``, from 0 to 1. Both ends are possible, as words are rounded to doubles.
_UNIT = 2.0**-64

_SECOND = itemgetter(1)


class Elixir:
    """Random draws of one version of Elixir, with the methods of `mersenne.Mersenne`.

    Parameters
    ----------
    version : {"1.14", "1.16", "1.17"}
        Each stands also for those after it that draw alike, the last one for all later ones.
    """

    def __init__(self, version: str):
        self._draws_from_one = version != "1.14"
        self._skips = self._ascends = version == "1.17"

    def seed(self, seed: int) -> None:
        """Begin anew, as ``:rand.seed(:exs1024, {seed, seed, seed})``."""
        self._words = draw_words(seed)
        self._uniforms = map(_UNIT.__mul__, self._words)

    def between(self, low: int, high: int) -> int:
        """Draw a whole number, both ends included, as ``Enum.random`` of a range."""
        return low + next(self._words) % (high - low + 1)

    def below(self, n: int) -> int:
        """Draw the place of one of n elements, as ``Enum.random`` of a list."""
        return next(self._words) % n if n > 1 or self._draws_from_one else 0

    def sample(self, population: Sequence, count: int) -> list:
        """Draw different elements, as ``Enum.take_random``; all of them where there are fewer."""
        drawn = list(population[:count])
        if count == 1 and not self._skips:
            # a walk along the list, on which each element takes the place of those before it
            for n, word in zip(range(2, len(population) + 1), self._words, strict=False):
                if word % n == 0:
                    drawn[0] = population[n - 1]
            return drawn
        for n, word in zip(range(2, len(drawn) + 1), self._words, strict=False):
            at = word % n
            drawn[n - 1], drawn[at] = drawn[at], drawn[n - 1]
        if self._skips:
            return self._skip(drawn, population, count)
        for n, word in zip(range(count + 1, len(population) + 1), self._words, strict=False):
            at = word % n
            if at < count:
                drawn[at] = population[n - 1]
        return drawn

    def _skip(self, drawn: list, population: Sequence, count: int) -> list:
        """Replace drawn elements by later ones, skipping most (K.-H. Li's algorithm L, 1994)."""
        uniform, weight, place = self._uniforms.__next__, 1.0, count - 1
        while 0 <= place < len(population):
            if place >= count:
                drawn[next(self._words) % count if count > 1 else 0] = population[place]
            try:
                weight *= exp(log(uniform()) / count)
                place += floor(log(uniform()) / log(1 - weight)) + 1
            except (ValueError, ZeroDivisionError):
                raise ValueError("Elixir's take_random ends at the logarithm of 0; take another puzzle_id") from None
        return drawn

    def shuffle(self, items: list) -> None:
        """Order a list in place, as ``Enum.shuffle``."""
        keyed = sorted(zip(items, self._uniforms, strict=False), key=_SECOND, reverse=True)
        items[:] = [item for item, _ in (reversed(keyed) if self._ascends else keyed)]

    def attempts(self, poi: int, others: Sequence[int], d: int) -> Callable[[float], tuple[int, list, list]]:
        """Return the function that draws who and what a statement is about; see `mersenne.Mersenne.attempts`."""
        words, uniform, sample, places = self._words, self._uniforms.__next__, self.sample, range(d)
        word, n_others = words.__next__, len(others)
        draws_other = n_others > 1 or self._draws_from_one

        def attempt(share: float) -> tuple[int, list[int], list[int]]:
            person = poi
            if uniform() > share:
                person = others[word() % n_others if draws_other else 0]
            conditions = sample(places, word() % d + 1)
            return person, conditions, sample(places, word() % d + 1)

        return attempt

    def choose(self, options: list[tuple[int, int, list[int]]]) -> list[int]:
        """Draw one value of each option; see `mersenne.Mersenne.choose`."""
        if self._draws_from_one:
            return [values[word % n] for (n, _, values), word in zip(options, self._words, strict=False)]
        return [values[self.below(n)] for n, _, values in options]
