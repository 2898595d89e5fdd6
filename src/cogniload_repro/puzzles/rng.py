"""Random draws of the authors' two programs, by the same methods.

`PortDraws` are those of the Python port, `ElixirDraws` those of the Elixir original: `Enum` over
the generator exs1024 of Erlang, as Elixir 1.17 and later versions draw.
"""

import random
from collections.abc import Iterator, Sequence
from math import exp, log

#: Factor that turns a 64-bit word into a number of ``:rand.uniform()``, from 0 to 1. Both ends are
#: possible, because words are rounded to doubles.
UNIT = 2.0**-64


class PortDraws:
    """Random draws of the Python port. Python 3.11 to 3.13 agree on them."""

    def seed(self, seed: int) -> None:
        """Seed the generator."""
        generator = random.Random(seed)
        self.share = generator.random
        self.between = generator.randint
        self.below = generator.randrange
        self.sample = generator.sample
        self.shuffle = generator.shuffle

    def indices(self, n: int) -> list[int]:
        """Draw how many of n indices, then which."""
        count = self.between(1, n)
        return self.sample(range(n), count)


class ElixirDraws:
    """Random draws of the Elixir original."""

    def seed(self, seed: int) -> None:
        """Seed the generator, as ``:rand.seed(:exs1024, {seed, seed, seed})``."""
        self._words = draw_words(seed)

    def share(self) -> float:
        """Draw a number from 0 to 1, as ``:rand.uniform``."""
        return next(self._words) * UNIT

    def between(self, low: int, high: int) -> int:
        """Draw a whole number, both ends included, as ``Enum.random`` of a range."""
        return low + next(self._words) % (high - low + 1)

    def below(self, n: int) -> int:
        """Draw the index of one of n elements, as ``Enum.random`` of a list."""
        return next(self._words) % n

    def indices(self, n: int) -> list[int]:
        """Draw how many of n indices, then which."""
        count = self.between(1, n)
        return self._take(n, count)

    def sample(self, population: Sequence, count: int) -> list:
        """Draw ``count`` different elements, as ``Enum.take_random``; all if there are fewer."""
        indices = self._take(len(population), count)
        return [population[index] for index in indices]

    def shuffle(self, items: list) -> None:
        """Shuffle a list in place, as ``Enum.shuffle``."""
        words = self._words
        # of equal numbers, the one drawn later comes first
        items.sort(key=lambda _: next(words) * UNIT, reverse=True)
        items.reverse()

    def _take(self, n: int, count: int) -> list[int]:
        """Draw ``count`` of n indices by algorithm L, which skips most (K.-H. Li 1994)."""
        words = self._words
        taken = list(range(min(count, n)))
        for place in range(1, len(taken)):
            slot = next(words) % (place + 1)
            taken[place] = taken[slot]
            taken[slot] = place
        place = count - 1
        weight = 1.0
        while place < n:
            weight *= exp(log(next(words) * UNIT) / count)
            place += int(log(next(words) * UNIT) / log(1.0 - weight)) + 1
            if place < n:
                slot = next(words) % count if count > 1 else 0
                taken[slot] = place
        return taken


_WORD = 2**64 - 1
_MULTIPLIER = 1181783497276652981
_SEED_MASK = 2**21 - 1
_SEED_FACTORS = (2097131, 2097133, 2097143)
_SEED_MULTIPLIER = 2685821657736338717


def draw_words(seed: int) -> Iterator[int]:
    """Yield, without end, the words of Erlang's generator ``rand:seed(exs1024, {S, S, S})``.

    Words are from 0 to 2^64 - 1. Only the lowest 21 bits of the seed matter, as in Erlang. A new
    word combines the newest and the oldest of the last sixteen, and replaces the oldest.
    """
    state = _seed_words(seed)
    place = 0
    while True:
        newest = state[place]
        place = (place + 1) % 16
        oldest = state[place]
        oldest ^= (oldest & (2**33 - 1)) << 31
        oldest ^= oldest >> 11
        word = oldest ^ newest ^ newest >> 30
        state[place] = word
        yield word * _MULTIPLIER & _WORD


def _seed_words(seed: int) -> list[int]:
    """Return the sixteen initial words: the first counts as the newest, the second as oldest."""
    start = (seed & _SEED_MASK) + 1
    high, middle, low = (start * factor & _SEED_MASK for factor in _SEED_FACTORS)
    register = high << 43 | middle << 22 | low << 1 | 1
    words = []
    for _ in range(16):
        register ^= register >> 12
        register ^= register << 25 & _WORD
        register ^= register >> 27
        words.append(register * _SEED_MULTIPLIER & _WORD)
    return words[::-1]
