import csv
import hashlib
import json
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
from cogniload_repro.puzzles.draws import (
    _UNIT,
    EDITIONS,
    NAMES,
    PORT,
    Elixir,
    Mersenne,
    StuckError,
    draw_moves,
    draw_words,
    resolve_edition,
)
from cogniload_repro.puzzles.generate import draw_puzzle

VECTORS = Path(__file__).parents[1] / "vectors"
SEEDS = st.integers(0, 2**21 - 1)
VERSIONS = ("1.14", "1.16", "1.17")


def seeded(version, seed):
    """Return the draws of a version, seeded."""
    draws = Elixir(version)
    draws.seed(seed)
    return draws


def test_golden_puzzles_are_drawn():
    """Puzzles that the original generator drew under three versions, byte for byte."""
    with open(VECTORS / "elixir.csv", encoding="utf-8", newline="") as file:
        golden = list(csv.DictReader(file))
    assert {row["elixir"] for row in golden} == set(VERSIONS)
    for row in golden:
        cell = (int(row[part]) for part in ("N", "d", "needles", "puzzle_id"))
        puzzle = draw_puzzle(*cell, edition=f"elixir-{row['elixir']}")
        assert puzzle.solution == row["solution"], row
        assert hashlib.sha256(puzzle.text.encode("utf-8")).hexdigest() == row["sha256"], row


def test_golden_examples_are_drawn():
    """The examples show the whole texts; keys are alphabetical in 1.14 and as in the ontology later."""
    for line in (VECTORS / "elixir_examples.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        cell = (int(row[part]) for part in ("N", "d", "needles", "puzzle_id"))
        puzzle = draw_puzzle(*cell, edition=f"elixir-{row['elixir']}")
        assert puzzle.text == row["text"]
        assert puzzle.name == "_".join(
            row[part] for part in ("N", "d", "needles", "puzzle_id", "solution")
        )


def expected_lines(lines):
    """Draw along the lines of elixir_draws.exs with our functions, and write what they should say."""
    draws = Elixir("1.14")
    for line in lines:
        words = line.partition(" =")[0].split(" ")
        name, numbers = words[0], [int(word) for word in words[1:]]
        if name == "needles":
            yield f"{line.partition('=')[0]}= {count_needles(*numbers)}"
            continue
        if name == "seed":
            draws.seed(*numbers)
            drawn = []
        elif name == "uniform":
            drawn = struct.unpack(">Q", struct.pack(">d", draws.between(0, 2**64 - 1) * _UNIT))
        elif name == "random":
            drawn = [draws.below(*numbers)]
        elif name == "range":
            drawn = [draws.between(*numbers)]
        elif name == "shuffle":
            draws.shuffle(drawn := list(range(*numbers)))
        else:
            drawn = draws.sample(range(numbers[0]), numbers[1])
        yield " ".join(
            [*words, "=", *map(str, drawn), "then", str(draws.between(1, 1_000_000_007))]
        )


@pytest.mark.skipif(
    shutil.which("elixir") is None, reason="no Elixir here: run scripts/install-system-packages.sh"
)
def test_elixir_itself_draws_the_same():
    """Elixir 1.14 or 1.15 draws our numbers, lists and orders for many seeds and sizes, and rounds halves up."""
    version = subprocess.run(
        ["elixir", "--short-version"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not version.startswith(("1.14.", "1.15.")):
        pytest.skip(f"Elixir {version} is here, 1.14 or 1.15 is what the script compares")
    script = Path(__file__).with_name("elixir_draws.exs")
    run = subprocess.run(["elixir", str(script)], capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    assert len(lines) > 500
    assert lines == list(expected_lines(lines))


def skip_plainly(words, n, count):
    """Draw as the published text of algorithm L says, every logarithm taken."""
    drawn = list(range(min(n, count)))
    for place in range(1, len(drawn)):
        at = next(words) % (place + 1)
        drawn[place], drawn[at] = drawn[at], place
    place, weight = count - 1, 1.0
    while count <= n:
        one, other = next(words) / 2**64, next(words) / 2**64
        weight *= math.exp(math.log(one) / count)
        place += math.floor(math.log(other) / math.log(1 - weight)) + 1
        if place >= n:
            break
        drawn[next(words) % count if count > 1 else 0] = place
    return drawn


@given(SEEDS, st.integers(1, 30), st.integers(1, 31))
def test_steps_saved_do_not_change_what_is_drawn(seed, n, count):
    """Where a logarithm is not needed it is not taken; the elements and the words after them stay the same."""
    draws, words = seeded("1.17", seed), draw_words(seed)
    for _ in range(20):
        assert draws.sample(range(n), count) == skip_plainly(words, n, count)
    assert draws.between(0, 2**64 - 1) == next(words)


class FixedWords(Elixir):
    """Draws given words first."""

    def __init__(self, version, words):
        super().__init__(version)
        self.first = words

    def seed(self, seed):
        super().seed(seed)
        self._words = chain(self.first, self._words)


@pytest.mark.parametrize("words", [[0, 1], [2**63, 0], [2**64 - 1, 1]])
@pytest.mark.parametrize(("n", "count"), [(1, 1), (5, 1)])
def test_logarithm_of_zero_is_one_sentence(words, n, count):
    """Where Elixir 1.17 would stop at the logarithm of 0, one sentence tells so; earlier versions go on."""
    draws = FixedWords("1.17", words)
    draws.seed(5)
    with pytest.raises(ValueError, match="logarithm of 0; take another puzzle_id"):
        draws.sample(range(n), count)
    for version in ("1.14", "1.16"):
        draws = FixedWords(version, words)
        draws.seed(5)
        assert len(draws.sample(range(n), count)) == count


def test_equal_numbers_keep_the_order_of_a_stable_sort():
    """Words that round to one number: 1.14 lists the earlier element first, 1.17 the later one."""
    words = [2**63, 2**63 + 1, 2**62]
    for version, order in (("1.14", [0, 1, 2]), ("1.17", [2, 1, 0])):
        draws = FixedWords(version, words)
        draws.seed(5)
        draws.shuffle(items := [0, 1, 2])
        assert items == order


@given(SEEDS, st.integers(1, 12), st.integers(1, 200), st.data())
def test_mersenne_draws_are_those_of_random(seed, size, large, data):
    """Numbers, samples and orders are those of `random.Random`, one after the other."""
    draws, theirs = Mersenne(), random.Random(seed)
    draws.seed(seed)
    count = data.draw(st.integers(0, size))
    assert draws.below(large) == theirs.randrange(large)
    assert draws.sample(range(size), count) == theirs.sample(range(size), count)
    assert draws.sample(range(159), size) == theirs.sample(range(159), size)
    ours, items = list(range(size)), list(range(size))
    draws.shuffle(ours)
    theirs.shuffle(items)
    assert ours == items
    assert draws.between(5, 900_000) == theirs.randint(5, 900_000)


@pytest.mark.parametrize("edition", EDITIONS, ids=str)
def test_statement_is_given_up_after_51_attempts(edition):
    """Where two people are equal no statement is allowed, and the 51st failure in a row stops."""
    draws, failed = edition.draws(), []
    draws.seed(3)
    with pytest.raises(StuckError, match=r"^1$"):
        draw_moves(draws, 6, 3, 0, [[0], [0]], [3], failed=failed)
    assert len(failed) == 51


def test_names_stand_for_editions():
    """`elixir` is the last version; others are refused with what there is to choose from."""
    assert [str(resolve_edition(name)) for name in NAMES] == [*map(str, EDITIONS), "elixir-1.17"]
    assert resolve_edition(PORT) is PORT
    for name in ("elixir-1.18", None):
        with pytest.raises(
            ValueError, match=f"edition is {name!r}; choose one of: python, elixir-1.17"
        ):
            resolve_edition(name)


@pytest.mark.parametrize("puzzle_id", [99_999, 1_000_000, -1, "770487"])
def test_ids_that_elixir_never_drew_are_refused(puzzle_id):
    """The original's ids have six digits; the port draws others too."""
    with pytest.raises(
        ValueError, match=r"puzzle_id is .*; give a whole number from 100000 to 999,999"
    ):
        draw_puzzle(20, 1, 1, puzzle_id, edition="elixir")
    if puzzle_id in (99_999, 1_000_000):
        assert draw_puzzle(20, 1, 1, puzzle_id).puzzle_id == puzzle_id
