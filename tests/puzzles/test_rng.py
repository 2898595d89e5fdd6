"""Draws of the two programs, against CPython's `random`, Elixir and the published algorithms."""

import math
import random
import shutil
import struct
import subprocess
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.grid import count_needles
from cogniload_repro.puzzles.rng import UNIT, ElixirDraws, PortDraws, draw_words

SEEDS = st.integers(0, 2**21 - 1)


def draw_line(draws, name, numbers):
    """Draw what one line of elixir_draws.exs has drawn."""
    if name == "seed":
        draws.seed(*numbers)
        return []
    if name == "uniform":
        share = draws.between(0, 2**64 - 1) * UNIT
        return struct.unpack(">Q", struct.pack(">d", share))
    if name == "random":
        return [draws.below(*numbers)]
    return [draws.between(*numbers)]


def expected_lines(lines):
    """Draw along the lines of elixir_draws.exs, and write what they should say."""
    draws = ElixirDraws()
    for line in lines:
        words = line.partition(" =")[0].split(" ")
        name = words[0]
        numbers = [int(word) for word in words[1:]]
        if name == "needles":
            yield f"{line.partition('=')[0]}= {count_needles(*numbers)}"
            continue
        drawn = draw_line(draws, name, numbers)
        after = draws.between(1, 1_000_000_007)
        yield " ".join([*words, "=", *map(str, drawn), "then", str(after)])


@pytest.mark.skipif(
    shutil.which("elixir") is None,
    reason="no Elixir here: run scripts/install-system-packages.sh",
)
def test_elixir_itself_draws_the_same():
    """Any version of Elixir draws our numbers, and rounds halves up."""
    command = ["elixir", str(Path(__file__).with_name("elixir_draws.exs"))]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    assert len(lines) > 400
    assert lines == list(expected_lines(lines))


def skip_with_floor(words, n, count):
    """Draw as the published text of algorithm L says: the skip is rounded down."""
    taken = list(range(min(n, count)))
    for place in range(1, len(taken)):
        slot = next(words) % (place + 1)
        taken[place] = taken[slot]
        taken[slot] = place
    place = count - 1
    weight = 1.0
    while count <= n:
        first = next(words) / 2**64
        second = next(words) / 2**64
        weight *= math.exp(math.log(first) / count)
        place += math.floor(math.log(second) / math.log(1 - weight)) + 1
        if place >= n:
            break
        slot = next(words) % count if count > 1 else 0
        taken[slot] = place
    return taken


@given(SEEDS, st.integers(1, 30), st.integers(1, 31))
def test_elixir_1_17_takes_as_algorithm_l_says(seed, n, count):
    """The elements, and the words that are left, are those of the published text."""
    draws = ElixirDraws()
    draws.seed(seed)
    words = draw_words(seed)
    for _ in range(20):
        assert draws.sample(range(n), count) == skip_with_floor(words, n, count)
    assert draws.between(0, 2**64 - 1) == next(words)


class FixedWords(ElixirDraws):
    """Draws given words first."""

    def __init__(self, words):
        self.seed(5)
        self._words = chain(words, self._words)


def test_of_equal_numbers_the_later_element_comes_first():
    """Of words that round to one number."""
    draws = FixedWords([2**63, 2**63 + 1, 2**62])
    items = [0, 1, 2]
    draws.shuffle(items)
    assert items == [2, 1, 0]


@given(SEEDS, st.integers(1, 12))
def test_the_port_draws_indices_as_random_does(seed, n):
    """How many, then which."""
    draws = PortDraws()
    draws.seed(seed)
    python = random.Random(seed)
    for _ in range(5):
        count = python.randint(1, n)
        assert draws.indices(n) == python.sample(range(n), count)
    assert draws.share() == python.random()
