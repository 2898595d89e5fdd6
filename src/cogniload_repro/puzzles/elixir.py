"""Random draws of the authors' Elixir program: `Enum` over the generator exs1024 of Erlang.

Elixir's draws differ up to version 1.15, in 1.16, and from 1.17 on. The golden puzzles hold all
three.
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from math import exp, log

import numpy as np

#: Times this, a word is a number of ``:rand.uniform()``, from 0 to 1. Both ends are possible, as
#: words are rounded to doubles.
UNIT = 2.0**-64


class Elixir:
    """Random draws of one version of Elixir, with the methods of `Mersenne`.

    ``version`` is 1.14, 1.16 or 1.17; each stands also for those after it that draw alike, the last
    for all later ones.
    """

    def __init__(self, version: str):
        self._draws_from_one = version != "1.14"
        self._ascends = version == "1.17"
        self._take = _skip_take if version == "1.17" else _walk_take

    def seed(self, seed: int) -> None:
        """Begin anew, as ``:rand.seed(:exs1024, {seed, seed, seed})``."""
        self._words = draw_words(seed)

    def share(self) -> float:
        """Draw a number from 0 to 1, as ``:rand.uniform``."""
        return next(self._words) * UNIT

    def between(self, low: int, high: int) -> int:
        """Draw a whole number, both ends included, as ``Enum.random`` of a range."""
        return low + next(self._words) % (high - low + 1)

    def below(self, n: int) -> int:
        """Draw the index of one of n elements, as ``Enum.random`` of a list."""
        if n == 1 and not self._draws_from_one:
            return 0
        return next(self._words) % n

    def indices(
        self,
        n: int,
        count: int | None = None,
    ) -> list[int]:
        """Draw some of n indices, as ``Enum.take_random``; by default, first draw how many."""
        if count is None:
            count = self.between(1, n)
        return self._take(self._words, n, count)

    def sample(self, population: Sequence, count: int) -> list:
        """Draw different elements, as ``Enum.take_random``; all of them where there are fewer."""
        indices = self.indices(len(population), count)
        return [population[index] for index in indices]

    def shuffle(self, items: list) -> None:
        """Order a list in place, as ``Enum.shuffle``."""
        words = self._words
        items.sort(key=lambda _: next(words) * UNIT, reverse=True)
        if self._ascends:
            items.reverse()


def _walk_take(words: Iterator[int], n: int, count: int) -> list[int]:
    """``Enum.take_random`` up to Elixir 1.16: each element may take the place of one before it."""
    taken = _draw_places(words, n, count)
    for place, word in zip(range(count, n), words):
        slot = word % (place + 1)
        if slot < count:
            taken[slot] = place
    return taken


def _skip_take(words: Iterator[int], n: int, count: int) -> list[int]:
    """``Enum.take_random`` from Elixir 1.17: algorithm L skips most elements (K.-H. Li 1994)."""
    taken = _draw_places(words, n, count)
    place = count - 1
    weight = 1.0
    try:
        while place < n:
            weight *= exp(log(next(words) * UNIT) / count)
            place += int(log(next(words) * UNIT) / log(1.0 - weight)) + 1
            if place < n:
                slot = next(words) % count if count > 1 else 0
                taken[slot] = place
    except (ValueError, ZeroDivisionError):
        cause = "Elixir's take_random ends at the logarithm of 0"
        raise ValueError(f"{cause}; take another puzzle_id") from None
    return taken


def _draw_places(words: Iterator[int], n: int, count: int) -> list[int]:
    """Return the places of the first elements in random order."""
    taken = list(range(min(count, n)))
    for place, word in zip(range(1, len(taken)), words):
        slot = word % (place + 1)
        taken[place] = taken[slot]
        taken[slot] = place
    return taken


_WORD = 2**64 - 1
_LANES = 16
#: Times this number, a pattern of 64 bits is repeated in each of the sixteen lanes.
_EACH = sum(1 << 64 * lane for lane in range(_LANES))
_OLDEST = 64 * (_LANES - 1)

#: Masks of the bits that a shift within lanes moves or keeps.
_LOW_33 = (_WORD >> 31) * _EACH
_RIGHT_11 = (_WORD >> 11) * _EACH
_RIGHT_30 = (_WORD >> 30) * _EACH
_RIGHT_60 = (_WORD >> 60) * _EACH

_SEED_MASK = 2**21 - 1
_SEED_FACTORS = (2097131, 2097133, 2097143)
_SEED_MULTIPLIER = 2685821657736338717
_MULTIPLIER = np.uint64(1181783497276652981)

#: So many times sixteen words are made at first, and at most; in between a quarter of all before.
#: Few enough that the last ones, which are not drawn any more, cost little.
_FIRST_TURNS = 24
_MOST_TURNS = 64


def draw_words(seed: int) -> Iterator[int]:
    """Return the endless words that Erlang draws after ``rand:seed(exs1024, {S, S, S})``.

    They go from 0 to 2^64 - 1. Only the lowest 21 bits of the seed count, as in Erlang.
    """
    words = _seed_words(seed)
    # Erlang begins with its first word as the newest, before the second as the oldest
    words.append(words.pop(0))
    state = 0
    for word in words:
        state = state << 64 | word
    return chain.from_iterable(_draw_arrays(state))


def _draw_arrays(state: int) -> Iterator[array]:
    """Yield words in arrays; the state has sixteen words of 64 bits, the oldest on the left.

    A turn makes sixteen words at once. A new word mixes the old one of its lane with the new one of
    the lane before it, and so with all before that: they are added up in steps of 1, 2, 4 and 8
    lanes.
    """
    turns = _FIRST_TURNS
    turns_made = 0
    while True:
        buffer = bytearray()
        for _ in range(turns):
            words = state ^ (state & _LOW_33) << 31
            words ^= words >> 11 & _RIGHT_11
            newest = state & _WORD
            words ^= (newest ^ newest >> 30) << _OLDEST
            words ^= words >> 64 ^ words >> 94 & _RIGHT_30
            words ^= words >> 128 ^ words >> 188 & _RIGHT_60
            words ^= words >> 256
            state = words ^ words >> 512
            buffer += state.to_bytes(8 * _LANES, "little")
        in_order = np.frombuffer(buffer, "<u8").reshape(-1, _LANES)[:, ::-1].ravel()
        # an array makes a number only when it is drawn, a list all at once
        yield array("Q", (in_order * _MULTIPLIER).tobytes())
        turns_made += turns
        turns = min(max(turns, turns_made // 4), _MOST_TURNS)


def _seed_words(seed: int) -> list[int]:
    """Return the sixteen words of the state, in Erlang's order: the first is the one used last."""
    start = (seed & _SEED_MASK) + 1
    high, middle, low = (start * factor & _SEED_MASK for factor in _SEED_FACTORS)
    register = high << 43 | middle << 22 | low << 1 | 1
    words = []
    for _ in range(_LANES):
        register ^= register >> 12
        register ^= register << 25 & _WORD
        register ^= register >> 27
        words.append(register * _SEED_MULTIPLIER & _WORD)
    return words[::-1]
