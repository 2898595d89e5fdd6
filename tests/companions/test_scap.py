"""Probes have one right answer, found again from the prompt alone; critical loads follow from what is mastered."""

import re
import time
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cogniload_repro.companions.scap import BITS, critical_load, draw_probe, is_right


def test_the_critical_load_is_the_mean_of_what_is_mastered():
    """Nine of ten is mastered, eight is not; a lucky larger size counts only if all smaller ones are mastered."""
    asked = [
        ("state", 20, 10, 9),
        ("state", 5, 10, 10),
        ("rules", 3, 10, 8),
        ("rules", 6, 10, 10),
        ("path", 1, 1, 1),
    ]
    ones = [
        (kind, size, number < right)
        for kind, size, count, right in asked
        for number in range(count)
    ]
    answers = pd.DataFrame(ones, columns=["probe", "size", "right"])
    found = critical_load(answers).set_index("probe")
    assert found["n_max"].dropna().to_dict() == {"state": 20, "rules": 0, "path": 1}
    loads = [20 * log2(1000), 0, log2(1000)]
    assert found["load"].tolist() == pytest.approx([*loads, np.mean(loads)])
    with pytest.raises(ValueError, match="of kind path, rules"):
        critical_load(answers.query("probe == 'state'"))


@given(st.integers(1, 40), st.integers(0, 10**6))
@example(40, 16)  # has conditions whose bound is the value itself
def test_the_prompt_alone_gives_the_answer(size, number):
    """A register by its name; rules as Python, by the initial values, in any order; operations on the whole number."""
    probe = draw_probe("state", size, number)
    registers = dict(re.findall(r"(R\d+)=(\d{3})\b", probe.prompt))
    assert len(registers) == size
    assert (int(registers[re.search(r"value is in (R\d+)", probe.prompt)[1]]),) == probe.answer

    probe = draw_probe("rules", size, number)
    x, y = map(int, re.search(r"X=(\d+), Y=(\d+)", probe.prompt).groups())
    added = {"X": 0, "Y": 0}
    rules = re.findall(
        r"If (\S+) is (even|odd|greater|less)(?: than (-?\d+))?, then add (\d) to ([XY])",
        probe.prompt,
    )
    for subject, word, bound, amount, target in reversed(rules):
        value = {"X": x, "Y": y, "X+Y": x + y}[subject]
        held = (
            value % 2 == (word == "odd")
            if not bound
            else (value - int(bound)) * (1 if word == "greater" else -1) > 0
        )
        added[target] += int(amount) * held
    assert len(rules) == size
    assert probe.answer == ((x + added["X"]) % 100, (y + added["Y"]) % 100)

    probe = draw_probe("path", size, number)
    value = int(re.search(r"holds (\d+)", probe.prompt)[1])
    steps = re.findall(r"(add|subtract|multiply by) (\d+)", probe.prompt)
    for word, amount in steps:
        value = {"add": value + int(amount), "subtract": value - int(amount)}.get(
            word, value * int(amount)
        )
    assert len(steps) == size
    assert probe.answer == (value % 1000,)


def test_a_probe_is_drawn_again_from_its_numbers():
    """Kind, size, number and seed make a probe, each of them matters, and impossible ones are named."""
    for kind in BITS:
        probe = draw_probe(kind, 7, 3, 1)
        assert probe == draw_probe(kind, 7, 3, 1)
        assert (
            len(
                {
                    probe,
                    draw_probe(kind, 7, 4, 1),
                    draw_probe(kind, 7, 3, 2),
                    draw_probe(kind, 8, 3, 1),
                }
            )
            == 4
        )
    for call in (("rule", 3, 0), ("state", 0, 0), ("path", 3, -1)):
        with pytest.raises(ValueError, match="choose state, rules, path, from size 1"):
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
