"""The three probes of the Standardized Cognitive Assessment Probe: registers, rules, operations.

Source: the post "Why Some Puzzles Are Hard for LLMs: A Framework for Cognitive Load" (2025-06-08), section "A Practical
Toolkit". A probe is drawn from its seed, kind, size and number alone, so none has to be stored. Prompts are worded
anew, and ask for a closing line that can be read exactly.

Where the post leaves something open:

state
    A register holds one of the 1000 values 000 to 999, written with three digits: the post counts log2(1000) bits,
    for which "three-digit integers" from 100 on would be too few.
rules
    Two values X and Y from 0 to 99. A rule has a condition on X, Y or X+Y (even, odd, greater or less than a number)
    and an action, to add 1 to 9 to X or to Y. Simultaneously means that every condition is read off the initial
    values, that the additions of all rules whose condition holds are summed, and that each sum is taken modulo 100 at
    the end. Additions do not conflict and their order does not matter, so there is one right answer; read in sequence
    the rules may give another. A condition holds for every second rule on average, whatever the values.
path
    One value from 0 to 999. An operation adds or subtracts 1 to 999 or multiplies by 3, 7 or 9, modulo 1000. Each can
    be undone, so the last value depends on all of them, and a state of 1000 values stays one.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

_ANSWER = "End with a line of its own that reads 'Answer: {}', with numbers in place of the dots."
#: What may stand around the closing line, and between its word and its numbers, in Markdown.
_MARKS = " \t*_`>"
_NUMBER = re.compile(r"(?<![R\d])-?\d+", re.ASCII)


class Probe(NamedTuple):
    """What to ask, and the right answer as numbers."""

    prompt: str
    answer: tuple[int, ...]


class Rule(NamedTuple):
    """If the subject ("X", "Y" or "X+Y") meets the condition, add to the target ("X" or "Y")."""

    subject: str
    condition: str
    target: str
    amount: int


def draw_probe(kind: str, size: int, number: int, seed: int = 42) -> Probe:
    """Draw one probe.

    Parameters
    ----------
    kind : {"state", "rules", "path"}
    size : int
        Registers, rules or operations; at least 1.
    number : int
        Which of the probes of this kind and size, from 0.
    seed : int
        Seed of the whole series.

    Raises
    ------
    ValueError
        If there is no such kind, or a number is too small.
    """
    if kind not in KINDS:
        raise ValueError(f"unknown probe {kind!r}; choose one of: {', '.join(KINDS)}")
    if size < 1 or number < 0 or seed < 0:
        raise ValueError(
            f"size {size}, number {number}, seed {seed}: a size is at least 1, the others are not negative"
        )
    key = (list(KINDS).index(kind), size, number)
    return KINDS[kind](size, np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key)))


def score_probe(probe: Probe, response: str) -> str:
    """Return "right", "wrong", or "unreadable" if no line gives an answer; the last such line counts."""
    for line in reversed(response.splitlines()):
        word, colon, rest = line.strip(_MARKS).partition(":")
        if colon and word.strip(_MARKS).lower() == "answer":
            # numbers longer than any answer are not made: they may have any length
            numbers = [int(number) if len(number) < 10 else None for number in _NUMBER.findall(rest)]
            return "right" if numbers == list(probe.answer) else "wrong"
    return "unreadable"


def apply_rules(x: int, y: int, rules: list[Rule]) -> tuple[int, int]:
    """Return X and Y after all rules at once, in the one meaning that the module defines."""
    initial = {"X": x, "Y": y, "X+Y": x + y}
    final = {"X": x, "Y": y}
    for rule in rules:
        if _holds(initial[rule.subject], rule.condition):
            final[rule.target] += rule.amount
    return final["X"] % 100, final["Y"] % 100


def _holds(value: int, condition: str) -> bool:
    if condition in ("even", "odd"):
        return (value % 2 == 1) == (condition == "odd")
    word, _, bound = condition.rpartition(" than ")
    return value > int(bound) if word == "greater" else value < int(bound)


def _draw_state(size: int, rng: np.random.Generator) -> Probe:
    values, asked = rng.integers(1000, size=size), int(rng.integers(size))
    state = ", ".join(f"R{place}={value:03}" for place, value in enumerate(values, 1))
    prompt = f"The current state has {size} registers of three digits each: {state}. Which value is in R{asked + 1}?"
    return Probe(f"{prompt} {_ANSWER.format('...')}", (int(values[asked]),))


def _draw_rules(size: int, rng: np.random.Generator) -> Probe:
    x, y = map(int, rng.integers(100, size=2))
    rules = [_draw_rule({"X": x, "Y": y, "X+Y": x + y}, rng) for _ in range(size)]
    lines = [
        f"Rule {number}: If {rule.subject} is {rule.condition}, then add {rule.amount} to {rule.target}."
        for number, rule in enumerate(rules, 1)
    ]
    task = (
        f"Initial state: X={x}, Y={y}. Apply all of these {size} rules simultaneously: judge every condition by the "
        "initial values of X and Y, add up what the rules add whose condition holds, and take each result modulo 100."
    )
    return Probe("\n".join([task, *lines, _ANSWER.format("X=..., Y=...")]), apply_rules(x, y, rules))


def _draw_rule(values: dict[str, int], rng: np.random.Generator) -> Rule:
    """Draw a rule whose condition holds in half of all cases, by a bound or by parity."""
    subject = ("X", "Y", "X+Y")[rng.integers(3)]
    value, holds = values[subject], bool(rng.integers(2))
    if rng.integers(2):
        condition = "odd" if (value % 2 == 1) == holds else "even"
    else:
        greater, distance = bool(rng.integers(2)), int(rng.integers(1, 50))
        condition = (
            f"{'greater' if greater else 'less'} than {value - distance if greater == holds else value + distance}"
        )
    return Rule(subject, condition, "XY"[rng.integers(2)], int(rng.integers(1, 10)))


def _draw_path(size: int, rng: np.random.Generator) -> Probe:
    value = first = int(rng.integers(1000))
    words = []
    for _ in range(size):
        kind, amount, factor = int(rng.integers(3)), int(rng.integers(1, 1000)), (3, 7, 9)[rng.integers(3)]
        words.append((f"add {amount}", f"subtract {amount}", f"multiply by {factor}")[kind])
        value = (value + amount, value - amount, value * factor)[kind] % 1000
    prompt = (
        f"Register R1 holds {first}. Perform these {size} operations on R1 in order, each modulo 1000: "
        f"{', '.join(words)}. What is the final value of R1?"
    )
    return Probe(f"{prompt} {_ANSWER.format('...')}", (value,))


#: Generators by kind, in the order of the post's steps.
KINDS: dict[str, Callable[[int, np.random.Generator], Probe]] = {
    "state": _draw_state,
    "rules": _draw_rules,
    "path": _draw_path,
}
