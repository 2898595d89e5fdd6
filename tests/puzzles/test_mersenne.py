"""Draws of the Python port against those of CPython's `random`."""

import random

from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.puzzles.mersenne import Mersenne

SEEDS = st.integers(0, 2**21 - 1)


def seeded(seed):
    """Our draws and Python's, from the same seed."""
    draws = Mersenne()
    draws.seed(seed)
    return draws, random.Random(seed)


@given(SEEDS, st.integers(1, 200), st.integers(5, 900_000))
def test_whole_numbers_are_those_of_random(seed, n, high):
    """One after the other, as `randrange` and `randint` draw them."""
    draws, python = seeded(seed)
    for _ in range(5):
        assert draws.below(n) == python.randrange(n)
        assert draws.between(5, high) == python.randint(5, high)
        assert draws.share() == python.random()


@given(SEEDS, st.integers(1, 12), st.data())
def test_samples_are_those_of_random(seed, n, data):
    """Of few elements, which move vacancies, and of many, which do not."""
    draws, python = seeded(seed)
    count = data.draw(st.integers(0, n))
    assert draws.sample(range(n), count) == python.sample(range(n), count)
    assert draws.sample(range(159), n) == python.sample(range(159), n)
    assert draws.share() == python.random()


@given(SEEDS, st.integers(1, 12))
def test_orders_are_those_of_random(seed, n):
    """As `shuffle` makes them."""
    draws, python = seeded(seed)
    ours = list(range(n))
    draws.shuffle(ours)
    expected = list(range(n))
    python.shuffle(expected)
    assert ours == expected
    assert draws.share() == python.random()
