"""Small draws exactly as `random.Random` makes them, without its overhead.

CPython draws a whole number below n by asking for as many bits as n has, again and again until the answer
is below n. `random.sample` and `random.shuffle` are loops around that. A puzzle needs thousands of such draws
of numbers up to 14, so the loops are written out here over tables of (n, bits of n, n - 1).
Python 3.11 to 3.13 agree on these sequences; the golden puzzles would show a change.
"""

from collections.abc import Callable, Sequence

Bits = Callable[[int], int]

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
