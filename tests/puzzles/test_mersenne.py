import random

from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.puzzles.mersenne import LARGEST_POOL, below, sample, shuffle

SEEDS = st.integers(0, 2**40)
SIZES = st.integers(1, LARGEST_POOL)


@given(SEEDS, SIZES)
def test_below_is_randrange(seed, n):
    """`below` gives the number of `randrange` and leaves the same state."""
    ours, theirs = random.Random(seed), random.Random(seed)
    assert below(ours.getrandbits, n) == theirs.randrange(n)
    assert ours.getstate() == theirs.getstate()


@given(SEEDS, SIZES, st.data())
def test_sample_is_random_sample(seed, n, data):
    """`sample` gives the members of `random.sample`, in order, and leaves the same state."""
    count = data.draw(st.integers(0, n))
    ours, theirs = random.Random(seed), random.Random(seed)
    assert sample(ours.getrandbits, range(n), count) == theirs.sample(range(n), count)
    assert ours.getstate() == theirs.getstate()


@given(SEEDS, SIZES)
def test_shuffle_is_random_shuffle(seed, n):
    """`shuffle` orders a list as `random.shuffle` does and leaves the same state."""
    ours, theirs = random.Random(seed), random.Random(seed)
    our_list, their_list = list(range(n)), list(range(n))
    shuffle(ours.getrandbits, our_list)
    theirs.shuffle(their_list)
    assert our_list == their_list
    assert ours.getstate() == theirs.getstate()
