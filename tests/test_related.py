"""The chapter on two other documents.

Its searches, its probes, and what it says of their numbers.
"""

import re
from math import comb, log2
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from reading import read_sources

import cogniload_repro as cl
from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.generate import draw_grid

CELLS = read_sources("related")
#: The first cell without what it reads from a build.
CELLS["imports"] = CELLS["load"].partition("\n\ndata = ")[0]


def run_cells(names, variables):
    """Run cells of the chapter, which are our own."""
    for name in names:
        exec(CELLS[name], variables)
    return variables


@pytest.fixture(scope="module")
def puzzles():
    """What the chapter finds in the planning puzzles."""
    return run_cells(["imports", "planning"], {})


@pytest.mark.parametrize("d", [1, 3])
def test_a_cells_load_is_that_of_its_puzzles(d):
    """State bits count people, categories and values; predicates are the mean over statements."""
    puzzles = list(draw_grid(grid_cells(f"N=250 ratio=50 d={d}"), 8, 3))
    values = puzzles[0].domains.values()
    state_bits = len(puzzles[0].people) * sum(log2(len(domain)) for domain in values)
    clauses = []
    for puzzle in puzzles:
        for statement in puzzle.statements:
            clauses.append(len(statement.conditions) + len(statement.updates))
    cell = pd.DataFrame({"N": [250], "d": d, "rho": 0.5, "correct": 1, "total": 1})
    data = SimpleNamespace(paper=cell)
    counts = run_cells(["imports", "loads"], {"data": data})["counts"].iloc[0]
    load = state_bits * np.mean(clauses)
    assert np.exp(counts["log_SC"]) == pytest.approx(load, rel=0.1)
    assert np.exp(counts["everybody"]) == pytest.approx(load * 250, rel=0.1)
    assert np.exp(counts["everybody"] - counts["person"]) == pytest.approx(max(d, 2))


def test_a_tower_needs_one_move_less_than_a_power_of_two(puzzles):
    """All arrangements can be reached."""
    towers = puzzles["towers"]
    assert towers["moves"].tolist() == [2**n - 1 for n in towers.index]
    assert towers["states"].tolist() == [3**n for n in towers.index]


def test_checkers_cannot_reach_all_arrangements(puzzles):
    """Only one checker of each colour can."""
    checkers = puzzles["checkers"]
    assert checkers["moves"].tolist() == [(n + 1) ** 2 - 1 for n in checkers.index]
    for n in checkers.index:
        arrangements = (2 * n + 1) * comb(2 * n, n)
        assert (checkers["states"][n] == arrangements) == (n == 1)


def test_five_jealous_couples_cross_and_six_do_not(puzzles):
    """The numbers of crossings are known from the literature."""
    river = puzzles["river"]
    assert river["moves"].dropna().to_dict() == {2: 5, 3: 11, 4: 9, 5: 11}
    assert river["moves"].isna().to_dict()[6]


def test_loads_are_those_of_the_posts_examples(puzzles):
    """River Crossing has a load of 100 for two pairs and 924 for three."""
    assert puzzles["river"]["load"].head(2).tolist() == [100, 924]
    assert puzzles["checkers"]["load"][2] == 16 * 2**3 + 32 * 2**2
    assert puzzles["towers"]["load"][7] == pytest.approx(4.74 * 7**2, rel=0.005)


@pytest.fixture(scope="module")
def numbers(puzzles):
    """What the chapter recomputes of the documents' numbers."""
    names = ["perturb", "shares", "sampling", "checked"]
    return run_cells(names, dict(puzzles))


def test_three_numbers_of_the_documents_are_not_supported(numbers):
    """Steps of the tower, the count of three-digit numbers, invertible perturbations."""
    checked = numbers["checked"]
    assert checked["id"].is_unique
    differing = checked[checked["verdict"] == "not supported"]
    values = dict(zip(differing["check"], differing["found"], strict=True))
    assert values == {"hanoi_steps": "1023", "three_digits": "900", "invertible": "7"}


def test_a_number_without_a_check_is_a_definition_or_untested(numbers):
    """Definitions are followed here; the others rest on answers that nobody has published."""
    unchecked = numbers["checked"].query("check == ''")
    is_definition = unchecked["kind"] == "definition"
    assert set(unchecked.loc[is_definition, "verdict"]) == {"a definition"}
    assert set(unchecked.loc[~is_definition, "verdict"]) == {cl.verdicts.UNKNOWN}


def test_another_printed_number_is_not_supported(numbers):
    """Each check can fail; those that compare two places of a document are left out."""
    claims = numbers["claims"]
    changed = claims["value"].str.replace(r"\d", "8", regex=True)
    others = claims.assign(value=claims["value"].where(claims["check"] == "", changed))
    checked = run_cells(["checked"], dict(numbers, claims=others))["checked"]
    circular = ["models", "qwen_vertical", "within_limit"]
    rows = checked[(checked["check"] != "") & ~checked["check"].isin(circular)]
    assert set(rows["verdict"]) == {"not supported"}


ANSWERS = [
    ("m", "a", True, "stop", 100),
    ("m (v2) (baseline)", "a", True, "stop", 50),
    ("m (v2) (baseline)", "b", True, "stop", 150),
    ("m (v2) (rail_fence)", "a", False, "refusal", 300),
    ("m (v2) (rail_fence)", "b", True, "stop", 100),
    ("m (v2) (rail_fence)", "c", True, "stop", 900),
]


def test_perturbed_answers_are_compared_with_the_baseline_on_the_same_puzzles(
    monkeypatch,
):
    """The chapter's lines; a puzzle without an answer to both is left out."""
    text = read_sources("related", "markdown")["own-logs"]
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    columns = ["model", "name", "correct", "stopped", "response_tokens"]
    scores = pd.DataFrame(ANSWERS, columns=columns)
    monkeypatch.setattr(cl, "read_scores", lambda _: scores)
    variables = {}
    exec(code, variables)
    table = variables["table"]
    assert list(table.index) == [("m (v2)", "baseline"), ("m (v2)", "rail_fence")]
    assert table.loc[("m (v2)", "rail_fence")].tolist() == [0.5, 0.5, 200]


@pytest.fixture(scope="module")
def answered():
    """The paper's models with their loads, as the chapter reads them."""
    paper = cl.load_cells().assign(provenance="scored")
    return run_cells(["imports", "loads"], {"data": SimpleNamespace(paper=paper)})


@pytest.mark.parametrize("is_load", [True, False], ids=["load decides", "lines decide"])
def test_one_load_number_is_refuted_only_where_it_does_not_decide(answered, is_load):
    """Counts are drawn in which accuracy falls with the load alone, or with d and log N."""
    counts = answered["counts"]
    steps = counts["everybody"] // 1 - 4  # 0 to 9: a curve that is no line in log-odds
    lines = 4 - 0.25 * counts["d"] - 0.9 * (np.log(counts["N"]) - 3)
    accuracy = 0.95 - 0.1 * steps if is_load else 1 / (1 + np.exp(-lines))
    rng = np.random.default_rng(14)
    drawn = rng.binomial(counts["total"].astype(int), accuracy)
    counts = counts.assign(correct=drawn)
    worse = run_cells(["one-load"], {**answered, "counts": counts})["worse"]
    assert len(worse) == 22
    assert worse.sum() <= 1 if is_load else worse.sum() >= 20
