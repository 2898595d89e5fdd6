"""Draws of Elixir's `Enum` as the authors' original generator makes them, from Erlang's random words.

Three versions differ: up to 1.15, from 1.16 and from 1.17 on. The golden puzzles hold all three, and a test runs Elixir
itself where it is installed.
"""

from collections.abc import Callable, Iterator, Sequence
from math import exp, log

from cogniload_repro.puzzles.exs1024 import draw_words
from cogniload_repro.puzzles.mersenne import Attempt, FreeValues

#: Draws so many of n places.
Take = Callable[[int, int], list[int]]

VERSIONS = ("1.14", "1.16", "1.17")

#: Makes a word a number of ``:rand.uniform()``, from 0 to 1. Both ends are possible, as words are rounded to doubles.
_UNIT = 2.0**-64

#: A number of ``:rand.uniform()`` is so far from both ends that a logarithm of 0 is out of reach.
_INSIDE = 1e-9

#: A number larger than another by this factor has a larger logarithm, however both are rounded.
_CLEARLY = 1 + 1e-6

_PLACES = list(range(200))


class Elixir:
    """Random draws of one version of Elixir, with the methods of `mersenne.Mersenne`.

    Parameters
    ----------
    version : {"1.14", "1.16", "1.17"}
        Each stands also for those after it that draw alike, the last one for all later ones.
    """

    def __init__(self, version: str):
        self._draws_from_one = version != "1.14"
        self._ascends = version == "1.17"
        self._make_take = _skipping if version == "1.17" else _walking

    def seed(self, seed: int) -> None:
        """Begin anew, as ``:rand.seed(:exs1024, {seed, seed, seed})``."""
        self._words = draw_words(seed)
        self._take = self._make_take(self._words)

    def between(self, low: int, high: int) -> int:
        """Draw a whole number, both ends included, as ``Enum.random`` of a range."""
        return low + next(self._words) % (high - low + 1)

    def below(self, n: int) -> int:
        """Draw the place of one of n elements, as ``Enum.random`` of a list."""
        return next(self._words) % n if n > 1 or self._draws_from_one else 0

    def sample(self, population: Sequence, count: int) -> list:
        """Draw one or more different elements, as ``Enum.take_random``; all of them where there are fewer."""
        return [population[place] for place in self._take(len(population), count)]

    def shuffle(self, *lists: list) -> None:
        """Order lists in place, one after the other, as ``Enum.shuffle``."""
        word = self._words.__next__
        for items in lists:
            if len(items) == 1:
                word()
                continue
            # a list's sort makes the keys once, in the order of the list
            items.sort(key=lambda _: word() * _UNIT, reverse=True)
            if self._ascends:
                items.reverse()

    def attempts(self, poi: int, others: Sequence[int], free: list[FreeValues]) -> Attempt:
        """Return the function that draws one attempt at a statement; see `mersenne.Mersenne.attempts`."""
        words, take = self._words, self._take
        word, d, n_others = words.__next__, len(free), len(others)
        draws_other = self._draws_from_one or n_others > 1
        # two of four values or more are always left to choose from
        draws_each = self._draws_from_one or min(len(table) for table in free) > 3

        def attempt(share: float, states: list[list[int]]) -> tuple[int, list[int], list[int], list[int]]:
            person = poi
            if word() * _UNIT > share:
                person = others[word() % n_others if draws_other else 0]
            conditions = take(d, word() % d + 1)
            updates = take(d, word() % d + 1)
            before, avoided = states[person], states[poi]
            moved = before[:]
            if draws_each:
                for place, drawn in zip(updates, words):
                    n, _, values = free[place][before[place]][avoided[place]]
                    moved[place] = values[drawn % n]
            else:
                for place in updates:
                    n, _, values = free[place][before[place]][avoided[place]]
                    moved[place] = values[word() % n if n > 1 else 0]
            return person, conditions, updates, moved

        return attempt


def _walking(words: Iterator[int]) -> Take:
    """Return ``Enum.take_random`` up to Elixir 1.16: a walk on which each element may take the place of one before."""

    def take(n: int, count: int) -> list[int]:
        if count == 1:
            place = 0
            for modulus, word in zip(_PLACES[2 : n + 1], words):
                if not word % modulus:
                    place = modulus - 1
            return [place]
        drawn = _PLACES[: count if count < n else n]
        for place, word in zip(_PLACES[1 : len(drawn)], words):
            at = word % (place + 1)
            drawn[place] = drawn[at]
            drawn[at] = place
        for modulus, word in zip(_PLACES[count + 1 : n + 1], words):
            at = word % modulus
            if at < count:
                drawn[at] = modulus - 1
        return drawn

    return take


def _skipping(words: Iterator[int]) -> Take:
    """Return ``Enum.take_random`` from Elixir 1.17: a walk that skips most elements (algorithm L, K.-H. Li 1994)."""
    word = words.__next__

    def take(n: int, count: int) -> list[int]:
        drawn = _PLACES[: count if count < n else n]
        if count > 1:
            for place, drawn_word in zip(_PLACES[1 : len(drawn)], words):
                at = drawn_word % (place + 1)
                drawn[place] = drawn[at]
                drawn[at] = place
            if count > n:
                return drawn
        place, last, weight = count - 1, n - 1, 1.0
        try:
            while True:
                one, other = word() * _UNIT, word() * _UNIT
                # nothing is left to be skipped, and the logarithms that Elixir takes all the same exist
                if place == last and one * weight > _INSIDE and one < 1 - _INSIDE and other:
                    return drawn
                weight *= exp(log(one) / count)
                left = 1.0 - weight
                # where the larger logarithm is the dividend, the quotient is below 1
                skipped = 0 if other > left * _CLEARLY and left else int(log(other) / log(left))
                place += skipped + 1
                if place > last:
                    return drawn
                drawn[word() % count if count > 1 else 0] = place
        except (ValueError, ZeroDivisionError):
            raise ValueError("Elixir's take_random ends at the logarithm of 0; take another puzzle_id") from None

    return take
