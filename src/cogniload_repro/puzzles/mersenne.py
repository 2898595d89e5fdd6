"""Random draws of the authors' Python port: CPython's `random` over a Mersenne Twister.

CPython draws a whole number below n by rejection sampling, from as many bits as n has.
`random.sample` and `random.shuffle` are loops around that; they are written out here, because
calling them takes twice as long. Python 3.11 to 3.13 agree on these sequences.
"""

import random
from collections.abc import Sequence

#: The largest population that `random.sample` always draws from by shrinking a pool, as here.
_LARGEST_POOL = 21


class Mersenne:
    """Random draws of the Python port, with the methods of `Elixir`."""

    def seed(self, seed: int) -> None:
        """Seed the generator."""
        self._random = random.Random(seed)
        self._bits = self._random.getrandbits
        self.share = self._random.random

    def between(self, low: int, high: int) -> int:
        """Draw a whole number, both ends included, as `randint`."""
        return low + self.below(high - low + 1)

    def below(self, n: int) -> int:
        """Draw the index of one of n elements, as `choice`."""
        bits = n.bit_length()
        index = self._bits(bits)
        while index >= n:
            index = self._bits(bits)
        return index

    def indices(
        self,
        n: int,
        count: int | None = None,
    ) -> list[int]:
        """Draw ``count`` of n indices, as `random.sample`; without a count, draw it first."""
        if count is None:
            count = self.below(n) + 1
        elif n > _LARGEST_POOL:
            return self._random.sample(range(n), count)
        draw_bits = self._bits
        pool = list(range(n))
        drawn = []
        for places in range(n, n - count, -1):
            bits = places.bit_length()
            place = draw_bits(bits)
            while place >= places:
                place = draw_bits(bits)
            drawn.append(pool[place])
            pool[place] = pool[places - 1]
        return drawn

    def sample(self, population: Sequence, count: int) -> list:
        """Draw ``count`` different elements, as `random.sample`."""
        indices = self.indices(len(population), count)
        return [population[index] for index in indices]

    def shuffle(self, items: list) -> None:
        """Shuffle a list of at most 21 elements in place, as `random.shuffle`."""
        draw_bits = self._bits
        for places in range(len(items), 1, -1):
            bits = places.bit_length()
            place = draw_bits(bits)
            while place >= places:
                place = draw_bits(bits)
            last = places - 1
            items[place], items[last] = items[last], items[place]
