"""Critical load by the SCAP protocol: how many registers, rules and operations a model still gets right.

Source: the post "Why Some Puzzles Are Hard for LLMs: A Framework for Cognitive Load" (2025-06-08), section "A Practical
Toolkit", steps 1 to 4. A probe is drawn from its seed, kind, size and number alone. Prompts are worded anew, and ask
for a closing line that can be read exactly. Where the post leaves something open, these definitions are ours:

state
    A register holds one of the 1000 values 000 to 999, written with three digits: the post counts log2(1000) bits,
    for which "three-digit integers" from 100 on would be too few.
rules
    Two values X and Y from 0 to 99. A rule has a condition on X, Y or X+Y and an action, to add 1 to 9 to X or to Y.
    Simultaneously means that every condition is read off the initial values, that the additions of all rules whose
    condition holds are summed, and that each sum is taken modulo 100 at the end: there is one correct answer.
path
    One value from 0 to 999. An operation adds or subtracts 1 to 999 or multiplies by 3, 7 or 9, modulo 1000. Each can
    be undone, so the last value depends on all of them.
consistently
    A size is mastered where at least 90% of its probes are answered correctly. Sizes are doubled until one is not
    mastered and then halved in between, 36 probes per size; exact binomial tests bound the sizes. Accuracy is assumed
    not to rise with size.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import log2
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import beta

from cogniload_repro.endings import take_answer
from cogniload_repro.outputs.adapters import adapt_record, read_archive

#: First sizes, the post's.
FIRST_SIZE = {"state": 5, "rules": 3, "path": 5}
#: Bits that one more of each adds to the load; the post rounds them to 9.97, 13.3 and 10.
BITS = {"state": log2(1000), "rules": log2(100**2), "path": log2(1000)}
#: All 36 right make a share of 90% sure at the two-sided 95%: 0.9^36 is below 0.025.
REPEATS, RELIABILITY, CONFIDENCE = 36, 0.9, 0.95
#: No probe is larger: registers of this many fill a context of 32K tokens.
LARGEST_SIZE = 4096

#: What tells a probe from all others.
KEYS = ("probe", "size", "number", "seed")
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
    """Draw a probe of a kind ("state", "rules", "path") and size from 1: its number from 0, the seed of the series."""
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
    initial, final = {"X": x, "Y": y, "X+Y": x + y}, {"X": x, "Y": y}
    for rule in rules:
        value, (word, _, bound) = initial[rule.subject], rule.condition.partition(" than ")
        holds = {"even": value % 2 == 0, "odd": value % 2 == 1}
        if bound:
            holds |= {"greater": value > int(bound), "less": value < int(bound)}
        final[rule.target] += rule.amount * holds[word]
    return final["X"] % 100, final["Y"] % 100


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


def read_counts(path: str | Path | None) -> pd.DataFrame:
    """Read a table of answers, CSV or JSONL, or a log of the task `scap`, and count what is right (no file: none)."""
    if path is None:
        return pd.DataFrame(columns=["probe", "size", "asked", "right"])
    path = Path(path)
    try:
        if path.suffix == ".eval":
            answers = pd.DataFrame(_read_log(path), columns=[*KEYS, "response"])
        elif path.suffix == ".jsonl":
            lines = path.read_text("utf-8").split("\n")
            answers = pd.DataFrame([json.loads(line) for line in lines if line.strip()])
        else:
            answers = pd.read_csv(path, dtype=str, keep_default_na=False)
    except ValueError as error:
        reason = str(error).strip()
        raise ValueError(f"{path}: not a readable table of answers ({reason}); give CSV, JSONL or a log") from None
    return count_right(score_answers(answers))


def score_answers(answers: pd.DataFrame) -> pd.DataFrame:
    """Judge answers (probe, size, number, seed, response): verdict (right, wrong, unreadable) replaces the response."""
    if missing := [column for column in (*KEYS, "response") if column not in answers]:
        raise ValueError(f"the answers have no column {', '.join(missing)}; keep those of the probes, add `response`")
    numbers = answers[["size", "number", "seed"]].apply(pd.to_numeric, errors="coerce")
    outside = (numbers % 1 != 0) | (numbers.abs() > 2**53)
    refused = outside.any(axis=1) | (numbers["size"] > LARGEST_SIZE) | answers[["probe"]].join(numbers).duplicated()
    if refused.any():
        raise ValueError(
            f"row {int(np.argmax(refused)) + 1} of the answers repeats a probe, or has no whole size (at most "
            f"{LARGEST_SIZE:,}), number and seed; keep those of the probes, and one answer each"
        )
    answers = answers[["probe", "response"]].join(numbers.astype("int64"))
    verdicts = [judge_probe(row, str(row["response"])) for row in answers.to_dict("records")]
    return answers[list(KEYS)].assign(verdict=verdicts)


def judge_probe(about: Mapping, response: str) -> str:
    """Return "right", "wrong" or "unreadable" for what follows the reasoning, the probe given by its `KEYS`."""
    probe = draw_probe(about["probe"], about["size"], about["number"], about["seed"])
    return score_probe(probe, take_answer(response) or "")


def count_right(scored: pd.DataFrame) -> pd.DataFrame:
    """Return, by probe and size in rising order, asked and right; unreadable answers are not right."""
    table = scored.assign(right=scored["verdict"] == "right").groupby(["probe", "size"])["right"].agg(["count", "sum"])
    return table.reset_index().set_axis(["probe", "size", "asked", "right"], axis=1)


def next_sizes(counts: pd.DataFrame) -> dict[str, int | None]:
    """Return for every kind of probe the size to ask next; None where the search is over."""
    sizes: dict[str, int | None] = {}
    for kind in KINDS:
        mastered, failed = _bracket(counts, kind)
        doubled = min(2 * mastered, LARGEST_SIZE) or FIRST_SIZE[kind]
        size = doubled if failed is None else (mastered + failed) // 2
        sizes[kind] = None if size in (mastered, failed) else size
    return sizes


def estimate_capacity(counts: pd.DataFrame) -> pd.DataFrame:
    """Estimate how much a model can hold, and its critical load (the post's step 4), from `count_right`.

    Rows state, rules, path and critical: probe; n_max, the largest size mastered with all smaller ones asked;
    n_low, certainly mastered; n_high, beyond which certainly not (infinite where none certainly fails); load,
    load_low, load_high, in bits times predicates times steps. The last row is the mean; its interval takes bounds
    that hold together with 95% confidence.
    """
    if absent := [kind for kind in KINDS if kind not in set(counts["probe"])]:
        raise ValueError(f"no answers to probes of kind {', '.join(absent)}; all three make a critical load")
    alone, joint = (1 - CONFIDENCE) / 2, (1 - CONFIDENCE) / (2 * len(KINDS))
    rows, together = [], []
    for kind, bits in BITS.items():
        n_max, (low, high) = _bracket(counts, kind)[0], _bounds(counts, kind, alone)
        loads = {"load": n_max * bits, "load_low": low * bits, "load_high": high * bits}
        rows.append({"probe": kind, "n_max": n_max, "n_low": low, "n_high": high} | loads)
        together.append([bound * bits for bound in _bounds(counts, kind, joint)])
    low, high = np.mean(together, axis=0)
    mean = float(np.mean([row["load"] for row in rows]))
    return pd.DataFrame([*rows, {"probe": "critical", "load": mean, "load_low": low, "load_high": high}])


def list_probes(sizes: dict[str, int | None], repeats: int = REPEATS, seed: int = 42) -> Iterable[dict]:
    """Yield the probes of these sizes as rows: probe, size, number, seed, prompt."""
    for kind, size in sizes.items():
        for number in range(repeats if size else 0):
            prompt = draw_probe(kind, size or 0, number, seed).prompt
            yield {"probe": kind, "size": size, "number": number, "seed": seed, "prompt": prompt}


def _read_log(path: Path) -> Iterator[dict]:
    """Yield the answers of an Inspect log; samples that failed have none."""
    for entry, origin in read_archive(path):
        if entry.fields is None:
            continue
        about = entry.fields.get("metadata")
        if not isinstance(about, dict) or not set(KEYS) <= set(about):
            raise ValueError("its samples are no probes, so it is a log of another task than cogniload_repro/scap")
        for row in adapt_record(entry.fields, origin.model):
            if isinstance(row, dict):
                yield {key: about[key] for key in KEYS} | {"response": row["response"]}


def _bracket(counts: pd.DataFrame, kind: str) -> tuple[int, int | None]:
    """Return the largest size mastered together with all smaller ones asked (or 0), and the next size asked."""
    own = counts[counts["probe"] == kind].sort_values("size")
    mastered = (own["right"] >= RELIABILITY * own["asked"]).cummin()
    sizes, failed = own["size"][mastered], own["size"][~mastered]
    return int(sizes.max()) if len(sizes) else 0, int(failed.min()) if len(failed) else None


def _bounds(counts: pd.DataFrame, kind: str, tail: float) -> tuple[float, float]:
    """Return the last size certainly mastered, and the one before the first that certainly is not.

    Sizes are tested in order from either end until the first that fails its test: the errors do not add up.
    """
    own = counts[counts["probe"] == kind].sort_values("size")
    asked, right, sizes = own[["asked", "right", "size"]].to_numpy().T
    lowest = np.where(right == 0, 0.0, beta.ppf(tail, right, asked - right + 1))
    highest = np.where(right == asked, 1.0, beta.ppf(1 - tail, right + 1, asked - right))
    sure = np.cumprod(lowest >= RELIABILITY).sum()
    hopeless = np.cumprod((highest < RELIABILITY)[::-1]).sum()
    return float(sizes[sure - 1]) if sure else 0.0, float(sizes[-hopeless] - 1) if hopeless else np.inf
