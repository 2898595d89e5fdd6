"""Critical load by the SCAP protocol: how many registers, rules and operations a model still gets right.

Source: the post "Why Some Puzzles Are Hard for LLMs: A Framework for Cognitive Load" (2025-06-08), section "A Practical
Toolkit". Prompts are worded anew. What the post leaves open is decided here: a register holds a value from 000 to 999,
as its log2(1000) bits imply; *simultaneous* rules read every condition off the initial values and their additions are
summed, modulo 100; a size is mastered *consistently* if at least 90% of its probes are answered correctly.
"""

import re
from math import log2
from typing import NamedTuple

import numpy as np
import pandas as pd

from cogniload_repro.endings import take_answer

#: Bits that one more register, rule or operation adds to the load; the post rounds them to 9.97, 13.3 and 10.
BITS = {"state": log2(1000), "rules": log2(100**2), "path": log2(1000)}
#: Share of correct answers from which a size is mastered.
RELIABILITY = 0.9
_ANSWER = "End with a line of its own that reads 'Answer: {}', with numbers in place of the dots."
_MARKS = " \t*_`>"  # of Markdown, around the closing line and its word
_NUMBER = re.compile(r"(?<![R\d])-?\d{1,9}(?!\d)", re.ASCII)


class Probe(NamedTuple):
    """What to ask, and the right answer as numbers."""

    prompt: str
    answer: tuple[int, ...]


def draw_probe(kind: str, size: int, number: int, seed: int = 42) -> Probe:
    """Draw a probe of a kind (a key of `BITS`) and size from 1: its number from 0, the seed of the series."""
    if kind not in BITS or min(size - 1, number, seed) < 0:
        raise ValueError(
            f"no probe {kind!r} of size {size}, number {number}; choose {', '.join(BITS)}, from size 1"
        )
    key = (list(BITS).index(kind), size, number)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
    return {"state": _draw_state, "rules": _draw_rules, "path": _draw_path}[kind](size, rng)


def is_right(probe: Probe, response: str) -> bool:
    """Return whether the last line after the reasoning that gives an answer gives the right numbers."""
    for line in reversed((take_answer(response) or "").splitlines()):
        word, colon, rest = line.strip(_MARKS).partition(":")
        if colon and word.strip(_MARKS).lower() == "answer":
            return tuple(map(int, _NUMBER.findall(rest))) == probe.answer
    return False


def critical_load(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the largest size mastered of each kind, and the loads, from answers (columns probe, size, right).

    One row for state, rules, path and critical: probe; n_max, the largest size mastered together with all smaller ones
    asked (0 for none); load, in bits times predicates times steps. The last is the mean of the others (step 4).
    """
    if absent := BITS.keys() - set(answers["probe"]):
        raise ValueError(
            f"no answers to probes of kind {', '.join(sorted(absent))}; all three make a critical load"
        )
    mastered = (
        answers.groupby(["probe", "size"])["right"].mean().ge(RELIABILITY).groupby("probe").cummin()
    )
    n_max = {kind: max(mastered[kind].index[mastered[kind]], default=0) for kind in BITS}
    rows = [
        {"probe": kind, "n_max": n_max[kind], "load": n_max[kind] * bits}
        for kind, bits in BITS.items()
    ]
    return pd.DataFrame(
        [*rows, {"probe": "critical", "load": np.mean([row["load"] for row in rows])}]
    )


def _draw_state(size: int, rng: np.random.Generator) -> Probe:
    values, asked = rng.integers(1000, size=size), int(rng.integers(size))
    state = ", ".join(f"R{index}={value:03}" for index, value in enumerate(values, 1))
    prompt = f"The current state has {size} registers of three digits each: {state}. Which value is in R{asked + 1}?"
    return Probe(f"{prompt} {_ANSWER.format('...')}", (int(values[asked]),))


def _draw_rules(size: int, rng: np.random.Generator) -> Probe:
    x, y = map(int, rng.integers(100, size=2))
    initial, final, lines = {"X": x, "Y": y, "X+Y": x + y}, {"X": x, "Y": y}, []
    for number in range(1, size + 1):
        subject, target, amount = (
            list(initial)[rng.integers(3)],
            "XY"[rng.integers(2)],
            int(rng.integers(1, 10)),
        )
        value, bound = initial[subject], initial[subject] + int(rng.integers(-40, 41))
        tests = {"even": value % 2 == 0, "odd": value % 2 == 1}
        tests |= {f"greater than {bound}": value > bound, f"less than {bound}": value < bound}
        condition = list(tests)[rng.integers(4)]
        final[target] += amount * tests[condition]
        lines.append(f"Rule {number}: If {subject} is {condition}, then add {amount} to {target}.")
    task = (
        f"Initial state: X={x}, Y={y}. Apply all of these {size} rules simultaneously: judge every condition by the "
        "initial values of X and Y, add up what the rules add whose condition holds, and take each result modulo 100."
    )
    prompt = "\n".join([task, *lines, _ANSWER.format("X=..., Y=...")])
    return Probe(prompt, (final["X"] % 100, final["Y"] % 100))


def _draw_path(size: int, rng: np.random.Generator) -> Probe:
    value = first = int(rng.integers(1000))
    words = []
    for _ in range(size):
        kind, amount, factor = (
            int(rng.integers(3)),
            int(rng.integers(1, 1000)),
            (3, 7, 9)[rng.integers(3)],
        )
        words.append((f"add {amount}", f"subtract {amount}", f"multiply by {factor}")[kind])
        value = (value + amount, value - amount, value * factor)[kind] % 1000
    prompt = (
        f"Register R1 holds {first}. Perform these {size} operations on R1 in order, each modulo 1000: "
        f"{', '.join(words)}. What is the final value of R1?"
    )
    return Probe(f"{prompt} {_ANSWER.format('...')}", (value,))
