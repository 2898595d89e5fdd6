"""Draws of the Elixir original against Elixir itself."""

import math
import shutil
import struct
import subprocess
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.grid import count_needles
from cogniload_repro.puzzles.elixir import UNIT, Elixir, draw_words

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
    if name == "range":
        return [draws.between(*numbers)]
    if name == "shuffle":
        items = list(range(*numbers))
        draws.shuffle(items)
        return items
    n, count = numbers
    return draws.sample(range(n), count)


def expected_lines(lines):
    """Draw along the lines of elixir_draws.exs, and write what they should say."""
    draws = Elixir("1.14")
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
    """Elixir 1.14 or 1.15 draws our numbers, lists and orders, and rounds halves up."""
    command = ["elixir", "--short-version"]
    version = subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.strip()
    if not version.startswith(("1.14.", "1.15.")):
        pytest.skip(
            f"Elixir {version} is here, 1.14 or 1.15 is what the script compares"
        )
    command = ["elixir", str(Path(__file__).with_name("elixir_draws.exs"))]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    assert len(lines) > 500
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
    draws = Elixir("1.17")
    draws.seed(seed)
    words = draw_words(seed)
    for _ in range(20):
        assert draws.sample(range(n), count) == skip_with_floor(words, n, count)
    assert draws.between(0, 2**64 - 1) == next(words)


class FixedWords(Elixir):
    """Draws given words first."""

    def __init__(self, version, words):
        super().__init__(version)
        self.seed(5)
        self._words = chain(words, self._words)


@pytest.mark.parametrize("words", [[0, 1], [2**63, 0], [2**64 - 1, 1]])
@pytest.mark.parametrize("n", [1, 5])
def test_the_logarithm_of_zero_ends_in_a_sentence(words, n):
    """Elixir 1.17 would stop there."""
    draws = FixedWords("1.17", words)
    with pytest.raises(ValueError, match="logarithm of 0; choose another puzzle_id"):
        draws.sample(range(n), 1)


@pytest.mark.parametrize(
    ("version", "order"), [("1.14", [0, 1, 2]), ("1.17", [2, 1, 0])]
)
def test_equal_numbers_keep_the_order_of_a_stable_sort(version, order):
    """Of words that round to one number, 1.14 lists the earlier element first, 1.17 the later."""
    draws = FixedWords(version, [2**63, 2**63 + 1, 2**62])
    items = [0, 1, 2]
    draws.shuffle(items)
    assert items == order
