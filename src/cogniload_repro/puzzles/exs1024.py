"""The random words of Erlang's `exs1024`, sixteen at a time.

A xorshift1024* generator (S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", ACM
Transactions on Mathematical Software 42:30, 2016) as Erlang's module `rand` seeds and steps it. Word n of its state is
a linear function over bits of the words before it and sixteen before it: x[n] = A x[n-1] ^ B x[n-16], with
A x = x ^ x >> 30. As A applied four times changes nothing, sixteen words follow from the sixteen before them by sums
over 1, 2, 4 and 8 neighbours. Python's whole numbers hold all sixteen, one in each 64 bits, the oldest lowest.
"""

from collections.abc import Iterator
from itertools import chain

import numpy as np

_WORD = 2**64 - 1
_LANES = 16
#: Times this, a 64-bit pattern is repeated in each of the sixteen lanes.
_EACH = sum(1 << 64 * lane for lane in range(_LANES))
_ALL = _WORD * _EACH

#: Masks of the bits that a shift within lanes keeps, also in the lanes that sums over neighbours push out.
_LEFT_31 = (_WORD << 31 & _WORD) * _EACH
_RIGHT_11, _RIGHT_30, _RIGHT_60 = ((_WORD >> bits) * (_EACH | _EACH << 128) for bits in (11, 30, 60))

_SEED_MASK = 2**21 - 1
_SEED_FACTORS = (2097131, 2097133, 2097143)
_SEED_MULTIPLIER = 2685821657736338717
_MULTIPLIER = np.uint64(1181783497276652981)

#: So many times sixteen words are made at a time: few enough that the last ones, not drawn any more, cost little.
_TURNS = 8


def draw_words(seed: int) -> Iterator[int]:
    """Return the endless words, from 0 to 2^64 - 1, that Erlang draws after ``rand:seed(exs1024, {S, S, S})``.

    Only the lowest 21 bits of the seed count, as in Erlang.
    """
    return chain.from_iterable(_draw_lists(_pack(_seed_words(seed))))


def _draw_lists(state: int) -> Iterator[list[int]]:
    while True:
        turns = []
        for _ in range(_TURNS):
            state = _advance(state)
            turns.append(state.to_bytes(8 * _LANES, "little"))
        yield (np.frombuffer(b"".join(turns), "<u8") * _MULTIPLIER).tolist()


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
    return sum(word << 64 * lane for lane, word in enumerate(words[1:] + words[:1]))


def _advance(state: int) -> int:
    """Return the sixteen words after these."""
    words = state ^ (state << 31 & _LEFT_31)
    words ^= words >> 11 & _RIGHT_11
    newest = state >> 64 * (_LANES - 1)
    words ^= newest ^ newest >> 30
    shifted = words << 64
    words ^= shifted ^ (shifted >> 30 & _RIGHT_30)
    shifted = words << 128
    words ^= shifted ^ (shifted >> 60 & _RIGHT_60)
    words ^= words << 256
    return (words ^ words << 512) & _ALL
