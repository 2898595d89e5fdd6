"""The search for capacities finds those of models that are known."""

import json
from math import inf, log2

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.special import expit
from scipy.stats import binom

from cogniload_repro.cli import main
from cogniload_repro.companions.probes import draw_probe
from cogniload_repro.companions.scap import REPEATS, count_right, estimate_capacity, next_sizes, score_answers

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


def test_answers_are_scored_from_their_numbers_alone():
    """A table needs no prompts: the probes are drawn again; unreadable answers count as asked."""
    probe = draw_probe("path", 5, 2, 9)
    answers = pd.DataFrame(
        {"probe": "path", "size": 5, "number": [2, 3], "seed": 9, "response": [f"Answer: {probe.answer[0]}", "?"]}
    )
    scored = score_answers(answers)
    assert scored["verdict"].tolist() == ["right", "unreadable"]
    assert count_right(scored).to_dict("records") == [{"probe": "path", "size": 5, "asked": 2, "right": 1}]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": ["5", "x"]}, "row 2 .* no whole"),
        ({"number": [2, 1e300]}, "row 2 .* no whole"),
        ({"size": [5, 10**12]}, "row 2 .* a size above 4,096"),
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
    arguments = ["scap", "--out", str(asked), "--repeats", "4"]
    result = CliRunner().invoke(main, arguments)
    for turn in range(30):
        assert result.exit_code == 0, result.output
        if "Nothing is left" in result.output:
            break
        for row in map(json.loads, asked.read_text().splitlines()):
            right = draw_probe(row["probe"], row["size"], row["number"], row["seed"]).answer
            numbers = right if row["size"] <= CAPACITY[row["probe"]] else (-1,) * len(right)
            answered.append(row | {"response": f"Answer: {', '.join(map(str, numbers))}"})
        path = tmp_path / ("answers.csv" if turn % 2 else "answers.jsonl")
        if turn % 2:
            pd.DataFrame(answered).to_csv(path, index=False)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in answered))
        result = CliRunner().invoke(main, [*arguments[:3], *arguments[3:], str(path)])
    sizes = [line.split()[:2] for line in result.output.splitlines()[1:4]]
    assert sizes == [[kind, f"{size:.1f}"] for kind, size in CAPACITY.items()]


def test_an_unreadable_table_is_one_sentence(tmp_path):
    """A file that is no table ends with exit code 2 and its name."""
    path = tmp_path / "answers.jsonl"
    path.write_text("{no json")
    result = CliRunner().invoke(main, ["scap", str(path)])
    assert result.exit_code == 2
    assert "not a readable table of answers" in result.output
