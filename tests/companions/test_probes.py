"""Probes have one right answer, which another program finds from the prompt alone, and are scored exactly."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.companions.probes import KINDS, Rule, apply_rules, draw_probe, score_probe

sizes, numbers = st.integers(1, 40), st.integers(0, 10**6)


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


def test_half_of_all_conditions_hold():
    """Neither nothing nor everything applies: about half of the rules change something."""
    changed = [draw_probe("rules", 1, number) for number in range(2000)]
    share = sum(
        probe.prompt.split("X=")[1].split(".")[0] != f"{probe.answer[0]}, Y={probe.answer[1]}" for probe in changed
    )
    assert 0.45 < share / 2000 < 0.55


@pytest.mark.parametrize("kind", KINDS)
def test_a_probe_is_drawn_again_from_its_numbers(kind):
    """Kind, size, number and seed make a probe, and each of them matters."""
    probe = draw_probe(kind, 7, 3, 1)
    assert probe == draw_probe(kind, 7, 3, 1)
    assert len({probe, draw_probe(kind, 7, 4, 1), draw_probe(kind, 7, 3, 2), draw_probe(kind, 8, 3, 1)}) == 4


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        ("So it is.\nAnswer: X=5, Y=17", "right"),
        ("**Answer: X=5, Y=17**", "right"),
        ("Answer: X=17, Y=5", "wrong"),
        ("Answer: X=5, Y=17\nno, wait\nAnswer: X=6, Y=17", "wrong"),
        ("Answer: 5", "wrong"),
        ("X=5, Y=17", "unreadable"),
        ("", "unreadable"),
    ],
)
def test_answers_are_read_from_the_last_line_that_gives_one(response, verdict):
    """The last line of the form asked for counts; without one a response is unreadable, not wrong."""
    probe = draw_probe("rules", 1, 0)._replace(answer=(5, 17))
    assert score_probe(probe, response) == verdict


def test_leading_zeros_and_the_registers_name_do_no_harm():
    """007 is 7, and naming the register adds no number."""
    probe = draw_probe("state", 3, 0)._replace(answer=(7,))
    assert {score_probe(probe, f"Answer: {text}") for text in ("7", "007", "R12=007", "R12 = 7.")} == {"right"}


@pytest.mark.parametrize("call", [("rule", 3, 0), ("state", 0, 0), ("path", 3, -1)])
def test_what_is_no_probe_is_refused(call):
    """Unknown kinds and impossible sizes are named."""
    with pytest.raises(ValueError, match=r"choose one of|at least 1"):
        draw_probe(*call)


@pytest.mark.parametrize("response", ["\n" * 200_000, "Answer: " + "9" * 5000, "Answer:" + "* " * 100_000 + "x"])
def test_monstrous_answers_are_judged_at_once(response):
    """Blank lines, marks and digits without end are not right, and take no time."""
    begin = time.process_time()
    assert score_probe(draw_probe("path", 3, 0), response) in ("wrong", "unreadable")
    assert time.process_time() - begin < 2
