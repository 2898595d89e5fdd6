"""The random words of Erlang's `exs1024`, sixteen at a time.

A xorshift1024* generator (S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", ACM
Transactions on Mathematical Software 42:30, 2016) as Erlang's module `rand` seeds and steps it. Word n of its state is
a linear function over bits of the words before it and sixteen before it: x[n] = A x[n-1] ^ B x[n-16], with
A x = x ^ x >> 30. As A applied four times changes nothing, sixteen words follow from the sixteen before them by sums
over 1, 2, 4 and 8 neighbours. Python's whole numbers hold all sixteen, one in each 64 bits, the newest lowest, so that
a sum's neighbours of nobody fall off at the end.
"""

from array import array
from collections.abc import Iterator
from itertools import chain

import numpy as np

_WORD = 2**64 - 1
_LANES = 16
#: Times this, a 64-bit pattern is repeated in each of the sixteen lanes.
_EACH = sum(1 << 64 * lane for lane in range(_LANES))
_OLDEST = 64 * (_LANES - 1)

#: Masks of the bits that a shift within lanes moves or keeps.
_LOW_33 = (_WORD >> 31) * _EACH
_RIGHT_11, _RIGHT_30, _RIGHT_60 = ((_WORD >> bits) * _EACH for bits in (11, 30, 60))

_SEED_MASK = 2**21 - 1
_SEED_FACTORS = (2097131, 2097133, 2097143)
_SEED_MULTIPLIER = 2685821657736338717
_MULTIPLIER = np.uint64(1181783497276652981)

#: So many times sixteen words are made at first, and at most; in between a quarter of all before. Few enough that
#: the last ones, not drawn any more, cost little.
_FIRST_TURNS, _MOST_TURNS = 24, 64


def draw_words(seed: int) -> Iterator[int]:
    """Return the endless words, from 0 to 2^64 - 1, that Erlang draws after ``rand:seed(exs1024, {S, S, S})``.

    Only the lowest 21 bits of the seed count, as in Erlang.
    """
    return chain.from_iterable(_draw_arrays(_pack(_seed_words(seed))))


def _draw_arrays(state: int) -> Iterator[array]:
    turns, drawn = _FIRST_TURNS, 0
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
        drawn += turns
        turns = min(max(turns, drawn // 4), _MOST_TURNS)


def _seed_words(seed: int) -> list[int]:
    """Return the sixteen words of the state, in Erlang's order: the first is the one used last."""
    high, middle, low = (((seed & _SEED_MASK) + 1) * factor & _SEED_MASK for factor in _SEED_FACTORS)
    register = high << 43 | middle << 22 | low << 1 | 1
    words = []
    for _ in range(_LANES):
        register ^= register >> 12
        register ^= register << 25 & _WORD
        register ^= register >> 27
        words.append(register * _SEED_MULTIPLIER & _WORD)
    return words[::-1]


def _pack(words: list[int]) -> int:
    """Pack the state: Erlang begins with its first word as the newest, before the second as the oldest."""
    state = 0
    for word in words[1:] + words[:1]:
        state = state << 64 | word
    return state
