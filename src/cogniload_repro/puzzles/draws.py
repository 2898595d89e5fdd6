"""Random draws of the authors' two programs: the Python port's Mersenne Twister, and Elixir's `Enum` over exs1024.

CPython draws a whole number below n by asking for as many bits as n has until the answer is below n; `random.sample`
and `random.shuffle` are loops around that, written out here over tables of (n, bits of n, n - 1). Python 3.11 to 3.13
agree on these sequences. Elixir differs up to 1.15, from 1.16 and from 1.17 on. The golden puzzles hold all of them.
An edition of the generator has its own draws, and its own order of the categories.
"""

import random
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from math import exp, log
from typing import NamedTuple, cast

import numpy as np

from cogniload_repro.puzzles.ontology import CATEGORIES

#: A statement that fails more often than this in a row stops the puzzle.
MAX_FAILURES = 50

#: Largest population that `random.sample` always handles by moving vacancies, the one way written out here.
_LARGEST_POOL = 21
_DOWN = [(n, n.bit_length(), n - 1) for n in range(_LARGEST_POOL, 0, -1)]
#: Steps of `sample` by size of the population and count, and of `shuffle` by length.
_SAMPLE = [
    [_DOWN[_LARGEST_POOL - n :][:count] for count in range(n + 1)] for n in range(_LARGEST_POOL + 1)
]
_SHUFFLE = [_DOWN[_LARGEST_POOL - n : -1] for n in range(_LARGEST_POOL + 1)]

_INDICES = list(range(200))

#: Makes a word a number of ``:rand.uniform()``, from 0 to 1. Both ends are possible, as words are rounded to doubles.
_UNIT = 2.0**-64
#: A number of ``:rand.uniform()`` is so far from both ends that a logarithm of 0 is out of reach.
_INSIDE = 1e-9
#: A number larger than another by this factor has a larger logarithm, however both are rounded.
_CLEARLY = 1 + 1e-6

State = list[int]


class Move(NamedTuple):
    """A statement in numbers: a person; categories and values as indices into the puzzle's lists."""

    reference: int | None
    before: Sequence[int] | dict[int, int]
    conditions: list[int]
    after: Sequence[int] | dict[int, int]
    updates: list[int]


class Failure(NamedTuple):
    """An attempt at a statement that was not allowed, and how many statements stand before it."""

    position: int
    move: Move


def follow(states: list[State], move: tuple, kept: State | None) -> list[State] | None:
    """Return everybody's states after a statement; None if it leaves nobody as before, or changes one to be kept."""
    person, before, conditions, after, updates = move
    changed, unaffected = states[:], len(states) - 1
    changed[person] = after
    first = conditions[0]
    value = before[first]
    for i, state in enumerate(states):
        if state[first] == value and i != person:
            for category in conditions:
                if state[category] != before[category]:
                    break
            else:
                if state is kept:
                    return None
                unaffected -= 1
                changed[i] = state = state[:]
                for category in updates:
                    state[category] = after[category]
    return changed if unaffected else None


class StuckError(Exception):
    """No statement was allowed in a whole row of attempts; holds the statement's number."""


@cache
def free_values(size: int) -> list[list[tuple[int, list[int]]]]:
    """Table of the values of a domain (three or more) that differ from two given ones: their number, and they."""
    values = range(size)
    free = [
        [[value for value in values if value not in (one, two)] for two in values] for one in values
    ]
    return [[(len(left), left) for left in row] for row in free]


class Mersenne:
    """Random draws of the Python port, with the methods of `Elixir`."""

    def seed(self, seed: int) -> None:
        """Begin anew from a seed."""
        self._rng = random.Random(
            seed
        )  # one that is made without a seed would first ask the operating system for one
        self._bits, self.share = self._rng.getrandbits, self._rng.random

    def between(self, low: int, high: int) -> int:
        """Draw a whole number, both ends included, as `randint`."""
        return low + self.below(high - low + 1)

    def below(self, n: int) -> int:
        """Draw the index of one of n elements, as `choice`."""
        width = n.bit_length()
        while (drawn := self._bits(width)) >= n:
            pass
        return drawn

    def sample(self, population: Sequence, count: int | None = None) -> list:
        """Draw different elements, as `random.sample`; without a count, first from one to all (21) how many."""
        if count and len(population) > _LARGEST_POOL:
            return self._rng.sample(population, count)
        bits, pool, drawn = self._bits, list(population), []
        for n, width, last in _SAMPLE[len(pool)][
            self.below(len(pool)) + 1 if count is None else count
        ]:
            while (at := bits(width)) >= n:
                pass
            drawn.append(pool[at])
            pool[at] = pool[last]
        return drawn

    def shuffle(self, items: list) -> None:
        """Order a list of at most 21 in place, as `random.shuffle`."""
        bits = self._bits
        for n, width, last in _SHUFFLE[len(items)]:
            while (at := bits(width)) >= n:
                pass
            items[last], items[at] = items[at], items[last]


class Elixir:
    """Random draws of one version of Elixir, with the methods of `Mersenne`.

    ``version`` is 1.14, 1.16 or 1.17; each stands also for those after it that draw alike, the last for all later ones.
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
        return next(self._words) * _UNIT

    def between(self, low: int, high: int) -> int:
        """Draw a whole number, both ends included, as ``Enum.random`` of a range."""
        return low + next(self._words) % (high - low + 1)

    def below(self, n: int) -> int:
        """Draw the index of one of n elements, as ``Enum.random`` of a list."""
        return next(self._words) % n if n > 1 or self._draws_from_one else 0

    def sample(self, population: Sequence, count: int | None = None) -> list:
        """Draw one or more different elements, as ``Enum.take_random``; all of them where there are fewer."""
        count = self.between(1, len(population)) if count is None else count
        return [population[at] for at in self._take(self._words, len(population), count)]

    def shuffle(self, items: list) -> None:
        """Order a list in place, as ``Enum.shuffle``."""
        word = self._words.__next__
        if len(items) == 1:
            word()
            return
        items.sort(key=lambda _: word() * _UNIT, reverse=True)
        if self._ascends:
            items.reverse()


def draw_moves(  # noqa: PLR0915
    draws: Mersenne | Elixir,
    N: int,
    needles_left: int,
    poi: int,
    states: list[State],
    sizes: list[int],
    ranks: list[int] | None = None,
    failed: list[Failure] | None = None,
) -> tuple[list[Move], list[State]]:
    """Draw all statements of a puzzle from everybody's values and the sizes of the domains; return the last states too.

    ``ranks`` are those of the categories in a map's order of keys, None as drawn; ``failed`` receives failed attempts.
    Lists of values are replaced, never changed, so that moves can keep them. Nobody can become equal to the person
    of interest through a hay, whose updates avoid that person's values: only needles are checked for that.
    """
    others = [person for person in range(len(states)) if person != poi]
    n_others, free, indices = (
        len(others),
        [free_values(size) for size in sizes],
        _INDICES[: len(sizes)],
    )
    share, below, sample, shuffle = draws.share, draws.below, draws.sample, draws.shuffle
    moves: list[tuple] = []
    left, failures, poi_before = N, 0, states[poi]
    while left:
        person, kept = poi, None
        if share() > needles_left / left:
            person, kept = others[below(n_others)], poi_before
        conditions, updates = sample(indices), sample(indices)
        before = states[person]
        after = before[:]
        for category in updates:
            n, values = free[category][before[category]][poi_before[category]]
            after[category] = values[below(n)]
        move = person, before, conditions, after, updates
        changed = follow(states, move, kept)
        if changed is None or (kept is None and changed.count(after) > 1):
            if failed is not None:
                failed.append(Failure(N - left, Move(*move)))
            if failures == MAX_FAILURES:
                raise StuckError(N - left + 1)
            failures += 1
            continue
        failures = 0
        if ranks:
            # keys of a map: in the order of the map, not in that in which they were drawn
            conditions.sort(key=ranks.__getitem__)
            updates.sort(key=ranks.__getitem__)
        shuffle(conditions)
        shuffle(updates)
        moves.append(move)
        states = changed
        left -= 1
        if kept is None:
            needles_left -= 1
            poi_before = after
    return cast("list[Move]", moves), states


def _walk_take(words: Iterator[int], n: int, count: int) -> list[int]:
    """``Enum.take_random`` up to Elixir 1.16: a walk on which each element may take the place of one before."""
    if count == 1:
        taken = 0
        for modulus, word in zip(_INDICES[2 : n + 1], words):
            if not word % modulus:
                taken = modulus - 1
        return [taken]
    drawn = _INDICES[: count if count < n else n]
    for index, word in zip(_INDICES[1 : len(drawn)], words):
        at = word % (index + 1)
        drawn[index] = drawn[at]
        drawn[at] = index
    for modulus, word in zip(_INDICES[count + 1 : n + 1], words):
        at = word % modulus
        if at < count:
            drawn[at] = modulus - 1
    return drawn


def _skip_take(words: Iterator[int], n: int, count: int) -> list[int]:
    """``Enum.take_random`` from Elixir 1.17: a walk that skips most elements (algorithm L, K.-H. Li 1994)."""
    drawn = _INDICES[: count if count < n else n]
    if count > 1:
        for index, word in zip(_INDICES[1 : len(drawn)], words):
            at = word % (index + 1)
            drawn[index] = drawn[at]
            drawn[at] = index
        if count > n:
            return drawn
    index, last, weight = count - 1, n - 1, 1.0
    try:
        while True:
            one, other = next(words) * _UNIT, next(words) * _UNIT
            # nothing is left to be skipped, and the logarithms that Elixir takes all the same exist
            if index == last and one * weight > _INSIDE and one < 1 - _INSIDE and other:
                return drawn
            weight *= exp(log(one) / count)
            left = 1.0 - weight
            # where the larger logarithm is the dividend, the quotient is below 1
            skipped = 0 if other > left * _CLEARLY and left else int(log(other) / log(left))
            index += skipped + 1
            if index > last:
                return drawn
            drawn[next(words) % count if count > 1 else 0] = index
    except (ValueError, ZeroDivisionError):
        raise ValueError(
            "Elixir's take_random ends at the logarithm of 0; take another puzzle_id"
        ) from None


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
    first, *others = _seed_words(seed)
    state = 0
    for word in (
        *others,
        first,
    ):  # Erlang begins with its first word as the newest, before the second as the oldest
        state = state << 64 | word
    return chain.from_iterable(_draw_arrays(state))


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
    high, middle, low = (
        ((seed & _SEED_MASK) + 1) * factor & _SEED_MASK for factor in _SEED_FACTORS
    )
    register = high << 43 | middle << 22 | low << 1 | 1
    words = []
    for _ in range(_LANES):
        register ^= register >> 12
        register ^= register << 25 & _WORD
        register ^= register >> 27
        words.append(register * _SEED_MULTIPLIER & _WORD)
    return words[::-1]


@dataclass(frozen=True)
class Edition:
    """One edition of the generator: ``python`` or ``elixir-VERSION``."""

    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def is_elixir(self) -> bool:
        """Whether this is the original, whose ids have six digits."""
        return self.name != "python"

    @property
    def categories(self) -> tuple[str, ...]:
        """All twelve categories in the order that a puzzle's are drawn from.

        Erlang lists the keys of a small map alphabetically up to OTP 25, then as they first occur in the program.
        """
        return tuple(sorted(CATEGORIES)) if self.name == "elixir-1.14" else CATEGORIES

    def draws(self) -> Mersenne | Elixir:
        """Return the random draws of this edition, to be seeded."""
        return Elixir(self.name.removeprefix("elixir-")) if self.is_elixir else Mersenne()


PORT = Edition("python")
#: All editions, the likeliest first.
EDITIONS = (PORT, Edition("elixir-1.17"), Edition("elixir-1.16"), Edition("elixir-1.14"))
#: Editions by name; a version stands also for those after it that draw alike, Elixir itself for the latest.
NAMES = {edition.name: edition for edition in EDITIONS} | {"elixir": EDITIONS[1]}


def resolve_edition(edition: str | Edition) -> Edition:
    """Return the edition of a name; ValueError for another name."""
    if isinstance(edition, Edition):
        return edition
    if edition not in NAMES:
        raise ValueError(f"edition is {edition!r}; choose one of: {', '.join(NAMES)}")
    return NAMES[edition]
