"""Probes have one right answer, found again from the prompt alone; critical loads follow from what is mastered."""

import re
import time
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.companions.scap import KINDS, Rule, apply_rules, critical_load, draw_probe, is_right

sizes, numbers = st.integers(1, 40), st.integers(0, 10**6)


def _answers(*rows: tuple[str, int, int, int]) -> pd.DataFrame:
    """Answers of each kind and size: so many asked, so many of them right."""
    ones = [(kind, size, number < right) for kind, size, asked, right in rows for number in range(asked)]
    return pd.DataFrame(ones, columns=["probe", "size", "right"])


def test_the_critical_load_is_the_mean_of_what_is_mastered():
    """Nine of ten is mastered, eight is not; a lucky larger size counts only if all smaller ones are mastered."""
    answers = _answers(
        ("state", 20, 10, 9), ("state", 5, 10, 10), ("rules", 3, 10, 8), ("rules", 6, 10, 10), ("path", 1, 1, 1)
    )  # fmt: skip
    found = critical_load(answers).set_index("probe")
    assert found["n_max"].dropna().to_dict() == {"state": 20, "rules": 0, "path": 1}
    loads = [20 * log2(1000), 0, log2(1000)]
    assert found["load"].tolist() == pytest.approx([*loads, np.mean(loads)])
    with pytest.raises(ValueError, match="of kind rules, path"):
        critical_load(answers.query("probe == 'state'"))


@given(sizes, numbers)
def test_the_state_asked_for_stands_in_the_prompt(size, number):
    """The answer is the three digits of the register that is asked for, among as many as the size says."""
    probe = draw_probe("state", size, number)
    registers = dict(re.findall(r"(R\d+)=(\d{3})\b", probe.prompt))
    assert len(registers) == size
    assert int(registers[re.search(r"value is in (R\d+)", probe.prompt)[1]]) == probe.answer[0]


@given(sizes, numbers)
def test_rules_read_from_the_prompt_give_the_answer(size, number):
    """Read back as Python, every condition by the initial values, in any order, the rules give the answer."""
    probe = draw_probe("rules", size, number)
    x, y = map(int, re.search(r"X=(\d+), Y=(\d+)", probe.prompt).groups())
    added = {"X": 0, "Y": 0}
    rules = re.findall(r"If (\S+) is (even|odd|greater|less)(?: than (-?\d+))?, then add (\d) to ([XY])", probe.prompt)
    for subject, word, bound, amount, target in reversed(rules):
        value = eval(subject, {"X": x, "Y": y})
        test = {"even": value % 2 == 0, "odd": value % 2 == 1}
        if bound:
            test |= {"greater": value > int(bound), "less": value < int(bound)}
        added[target] += int(amount) * test[word]
    assert len(rules) == size
    assert probe.answer == ((x + added["X"]) % 100, (y + added["Y"]) % 100)


@given(sizes, numbers)
def test_operations_read_from_the_prompt_give_the_answer(size, number):
    """Step by step with the whole number, reduced only at the end, the operations give the answer."""
    probe = draw_probe("path", size, number)
    value = int(re.search(r"holds (\d+)", probe.prompt)[1])
    steps = re.findall(r"(add|subtract|multiply by) (\d+)", probe.prompt)
    for word, amount in steps:
        value = {"add": value + int(amount), "subtract": value - int(amount)}.get(word, value * int(amount))
    assert len(steps) == size
    assert probe.answer == (value % 1000,)


def test_simultaneous_is_not_sequential():
    """A condition that an earlier rule would change is still read off the initial values."""
    rules = [Rule("X", "even", "X", 1), Rule("X", "odd", "Y", 5)]
    assert apply_rules(98, 7, rules) == (99, 7)
    assert apply_rules(98, 7, rules[::-1]) == (99, 7)
    assert apply_rules(99, 97, [Rule("X+Y", "greater than 195", "Y", 9)]) == (99, 6)


def test_a_probe_is_drawn_again_from_its_numbers():
    """Kind, size, number and seed make a probe, each of them matters, and impossible ones are named."""
    for kind in KINDS:
        probe = draw_probe(kind, 7, 3, 1)
        assert probe == draw_probe(kind, 7, 3, 1)
        assert len({probe, draw_probe(kind, 7, 4, 1), draw_probe(kind, 7, 3, 2), draw_probe(kind, 8, 3, 1)}) == 4
    for call in (("rule", 3, 0), ("state", 0, 0), ("path", 3, -1)):
        with pytest.raises(ValueError, match=r"choose one of|at least 1"):
            draw_probe(*call)


@pytest.mark.parametrize(
    ("response", "right"),
    [
        ("So it is.\nAnswer: X=5, Y=17", True),
        ("**Answer: R1=005, R12 = 17.**", True),
        ("Answer: X=17, Y=5", False),
        ("Answer: X=5, Y=17\nno, wait\nAnswer: X=6, Y=17", False),
        ("<think>Answer: X=6, Y=17</think>\nAnswer: X=5, Y=17", True),
        ("<think>Answer: X=5, Y=17</think>\nI give up", False),
        ("X=5, Y=17", False),
        ("\n" * 200_000, False),
        ("Answer: " + "9" * 5000, False),
        ("Answer:" + "* " * 100_000 + "x", False),
    ],
    ids=range(10),
)
def test_answers_are_read_from_the_last_line_that_gives_one(response, right):
    """The last line of the form asked for counts, after the reasoning; monstrous ones take no time."""
    probe, begin = draw_probe("rules", 1, 0)._replace(answer=(5, 17)), time.process_time()
    assert is_right(probe, response) is right
    assert time.process_time() - begin < 2
