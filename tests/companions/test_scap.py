"""Probes have one right answer, found again from the prompt alone; the search finds capacities that are known."""

import json
import re
import time
from math import inf, log2

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import binom

from cogniload_repro.cli import main
from cogniload_repro.companions.scap import (
    KINDS,
    REPEATS,
    Rule,
    apply_rules,
    draw_probe,
    estimate_capacity,
    next_sizes,
    score_answers,
    score_probe,
)

sizes, numbers = st.integers(1, 40), st.integers(0, 10**6)
CAPACITY = {"state": 37, "rules": 11, "path": 1}


def _ask(capacity: dict[str, int]) -> pd.DataFrame:
    """Counts of a model that is always right up to a size and never beyond, asked until the search ends."""
    rows = pd.DataFrame({"probe": [], "size": [], "asked": [], "right": []})
    for _ in range(100):
        new = {kind: size for kind, size in next_sizes(rows).items() if size}
        if not new:
            return rows
        asked = [(kind, size, REPEATS, REPEATS * (size <= capacity[kind])) for kind, size in new.items()]
        rows = pd.concat([rows, pd.DataFrame(asked, columns=list(rows))])
    raise AssertionError("the search does not end")


def test_sharp_capacities_are_found_exactly():
    """Sizes double and halve until the capacity is known, and the bounds close in on it."""
    found = estimate_capacity(_ask(CAPACITY)).set_index("probe")
    assert found["n_max"].dropna().to_dict() == CAPACITY
    assert (found["n_low"].dropna() == found["n_high"].dropna()).all()
    loads = [37 * log2(1000), 11 * log2(10000), log2(1000)]
    assert found["load"].tolist() == pytest.approx([*loads, np.mean(loads)])


def test_a_model_without_limit_or_without_capacity_is_told():
    """The search ends at the largest size with no upper bound, and at nothing at all with a capacity of zero."""
    found = estimate_capacity(_ask({"state": 10**9, "rules": 0, "path": 5})).set_index("probe")
    assert (found.loc["state", "n_max"], found.loc["state", "n_high"]) == (4096, inf)
    assert (found.loc["rules", "n_max"], found.loc["rules", "n_high"]) == (0, 0)
    assert found.loc["critical", "load_high"] == inf


def test_a_lucky_larger_size_is_not_certainly_mastered():
    """Sizes count in order from the smallest up: one that fails its test ends the mastered ones."""
    rows = [("state", 5, 36, 36), ("state", 10, 36, 30), ("state", 20, 36, 36), ("rules", 1, 1, 1), ("path", 1, 1, 1)]
    counts = pd.DataFrame(rows, columns=["probe", "size", "asked", "right"])
    assert estimate_capacity(counts).set_index("probe").loc["state", ["n_max", "n_low"]].tolist() == [5, 5]


def test_intervals_hold_as_often_as_they_say():
    """Of a gradual fall, 95% of searches find the size at which it passes 90%, but for chance."""
    rng = np.random.default_rng(4)
    truth, searches = 20, 25  # 90% right at size 20, 50% at 40
    others = [(kind, 1, 1, 1) for kind in ("rules", "path")]
    covered = 0
    for _ in range(searches):
        rows, size = [], 5
        while size:
            p = expit(np.log(9) - np.log(9) * (size - truth) / 20)
            rows.append(("state", size, REPEATS, rng.binomial(REPEATS, p)))
            counts = pd.DataFrame(rows + others, columns=["probe", "size", "asked", "right"])
            size = next_sizes(counts)["state"]
        row = estimate_capacity(counts).set_index("probe").loc["state"]
        covered += row["n_low"] <= truth <= row["n_high"]
    assert covered >= binom.ppf(0.001, searches, 0.95)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": ["5", "x"]}, "row 2 .* no whole size"),
        ({"number": [2, 1e300]}, "row 2 "),
        ({"size": [5, 4097]}, "row 2 .*at most 4,096"),
        ({"number": [2, 2]}, "row 2 .* repeats"),
        ({"probe": ["path", "memory"]}, "unknown probe 'memory'"),
    ],
)
def test_damaged_answers_are_refused(change, message):
    """The row or the word that is wrong is named."""
    rows = {"probe": "path", "size": 5, "number": [2, 3], "seed": 9, "response": "?"} | change
    with pytest.raises(ValueError, match=message):
        score_answers(pd.DataFrame(rows))
    with pytest.raises(ValueError, match="no column response"):
        score_answers(pd.DataFrame(rows).drop(columns="response"))


def test_the_command_goes_round_until_nothing_is_left(tmp_path):
    """Probes written, answered and given back lead to an estimate, as CSV and as JSON lines."""
    asked, answered = tmp_path / "probes.jsonl", []
    asked.write_text("{no json")
    assert "not a readable table of answers" in CliRunner().invoke(main, ["scap", str(asked)]).output
    arguments = ["scap", "--out", str(asked), "--repeats", "4"]
    result = CliRunner().invoke(main, arguments)
    for turn in range(30):
        assert result.exit_code == 0, result.output
        if "Nothing is left" in result.output:
            break
        for row in map(json.loads, asked.read_text().splitlines()):
            right = draw_probe(row["probe"], row["size"], row["number"], row["seed"]).answer
            is_mastered = row["size"] <= CAPACITY[row["probe"]]
            wrong = "?" if row["number"] % 2 else f"Answer: {', '.join(['-1'] * len(right))}"
            answered.append(row | {"response": f"Answer: {', '.join(map(str, right))}" if is_mastered else wrong})
        path = tmp_path / ("answers.csv" if turn % 2 else "answers.jsonl")
        if turn % 2:
            pd.DataFrame(answered).to_csv(path, index=False)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in answered))
        result = CliRunner().invoke(main, [*arguments[:3], *arguments[3:], str(path)])
    sizes = [line.split()[:2] for line in result.output.splitlines()[1:4]]
    assert sizes == [[kind, f"{size:.1f}"] for kind, size in CAPACITY.items()]


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
    ("response", "verdict"),
    [
        ("So it is.\nAnswer: X=5, Y=17", "right"),
        ("**Answer: R1=005, R12 = 17.**", "right"),
        ("Answer: X=17, Y=5", "wrong"),
        ("Answer: X=5, Y=17\nno, wait\nAnswer: X=6, Y=17", "wrong"),
        ("X=5, Y=17", "unreadable"),
        ("\n" * 200_000, "unreadable"),
        ("Answer: " + "9" * 5000, "wrong"),
        ("Answer:" + "* " * 100_000 + "x", "wrong"),
    ],
    ids=range(8),
)
def test_answers_are_read_from_the_last_line_that_gives_one(response, verdict):
    """The last line of the form asked for counts; monstrous ones take no time; without one nothing is wrong."""
    probe, begin = draw_probe("rules", 1, 0)._replace(answer=(5, 17)), time.process_time()
    assert score_probe(probe, response) == verdict
    assert time.process_time() - begin < 2
