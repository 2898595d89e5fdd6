"""Small draws exactly as `random.Random` makes them, without its overhead.

CPython draws a whole number below n by asking for as many bits as n has, again and again until the answer
is below n. `random.sample` and `random.shuffle` are loops around that. A puzzle needs thousands of such draws
of numbers up to 14, so the loops are written out here over tables of (n, bits of n, n - 1).
Python 3.11 to 3.13 agree on these sequences; the golden puzzles would show a change.
"""

import random
from collections.abc import Callable, Sequence

Bits = Callable[[int], int]

#: The values that an update may take, by two values that it avoids: their number, the bits of it, and the values.
FreeValues = list[list[tuple[int, int, list[int]]]]

#: One attempt at a statement, see `Mersenne.attempts`.
Attempt = Callable[[float, list[list[int]]], tuple[int, list[int], list[int], list[int]]]

#: Largest population that `random.sample` always handles by moving vacancies, the one way written out here.
LARGEST_POOL = 21

_DOWN = [(n, n.bit_length(), n - 1) for n in range(LARGEST_POOL, 0, -1)]
#: Steps of `sample` by size of the population and count, and of `shuffle` by length.
SAMPLE = [[_DOWN[LARGEST_POOL - n :][:count] for count in range(n + 1)] for n in range(LARGEST_POOL + 1)]
SHUFFLE = [_DOWN[LARGEST_POOL - n : -1] for n in range(LARGEST_POOL + 1)]


def below(bits: Bits, n: int) -> int:
    """Draw a whole number from 0 to n - 1, as `randrange(n)`.

    ``bits`` is the method `getrandbits` of a `random.Random`, here and below.
    """
    width = n.bit_length()
    drawn = bits(width)
    while drawn >= n:
        drawn = bits(width)
    return drawn


def sample(bits: Bits, population: Sequence, count: int) -> list:
    """Draw `count` different members of at most 21, as `random.sample`."""
    pool = list(population)
    drawn = []
    for n, width, last in SAMPLE[len(pool)][count]:
        at = bits(width)
        while at >= n:
            at = bits(width)
        drawn.append(pool[at])
        pool[at] = pool[last]
    return drawn


def shuffle(bits: Bits, items: list) -> None:
    """Shuffle a list of at most 21 in place, as `random.shuffle`."""
    for n, width, last in SHUFFLE[len(items)]:
        at = bits(width)
        while at >= n:
            at = bits(width)
        items[last], items[at] = items[at], items[last]


class Mersenne:
    """Random draws of the Python port, with the methods of `elixir.Elixir`."""

    def seed(self, seed: int) -> None:
        """Begin anew from a seed."""
        # one that is made without a seed would first ask the operating system for one
        self._rng = random.Random(seed)
        self._bits = self._rng.getrandbits

    def between(self, low: int, high: int) -> int:
        """Draw a whole number, both ends included, as `randint`."""
        return self._rng.randint(low, high)

    def below(self, n: int) -> int:
        """Draw the place of one of n elements, as `choice`."""
        return below(self._bits, n)

    def sample(self, population: Sequence, count: int) -> list:
        """Draw different elements, as `random.sample`."""
        if len(population) > LARGEST_POOL:
            return self._rng.sample(population, count)
        return sample(self._bits, population, count)

    def shuffle(self, *lists: list) -> None:
        """Order lists of at most 21 in place, one after the other, as `random.shuffle`."""
        bits = self._bits
        for items in lists:
            for n, width, last in SHUFFLE[len(items)]:
                at = bits(width)
                while at >= n:
                    at = bits(width)
                items[last], items[at] = items[at], items[last]

    def attempts(self, poi: int, others: Sequence[int], free: list[FreeValues]) -> Attempt:
        """Return the function that draws one attempt at a statement.

        Parameters
        ----------
        poi : int
            The person of interest.
        others : sequence of int
            Everybody else.
        free : list of FreeValues
            For each category.

        Returns
        -------
        attempt : function of a float and a list of lists of int
            Given the share of needles among the statements left, and everybody's values, it returns the reference
            person, the categories of the conditions, those of the updates, and the values that the person would have.

        Notes
        -----
        A function with everything at hand, and with the loops of `below` and `sample` written out, because calls would
        cost a sixth of a puzzle's time.
        """
        bits, uniform, n_others, d = self._bits, self._rng.random, len(others), len(free)
        width_others, width_places = n_others.bit_length(), d.bit_length()
        places, steps = list(range(d)), SAMPLE[d]

        def attempt(share: float, states: list[list[int]]) -> tuple[int, list[int], list[int], list[int]]:
            person = poi
            if uniform() > share:
                at = bits(width_others)
                while at >= n_others:
                    at = bits(width_others)
                person = others[at]
            conditions: list[int] = []
            updates: list[int] = []
            for drawn in conditions, updates:
                count = bits(width_places)
                while count >= d:
                    count = bits(width_places)
                pool = places[:]
                for n, width, last in steps[count + 1]:
                    at = bits(width)
                    while at >= n:
                        at = bits(width)
                    drawn.append(pool[at])
                    pool[at] = pool[last]
            before, avoided = states[person], states[poi]
            moved = before[:]
            for place in updates:
                n, width, values = free[place][before[place]][avoided[place]]
                at = bits(width)
                while at >= n:
                    at = bits(width)
                moved[place] = values[at]
            return person, conditions, updates, moved

        return attempt
