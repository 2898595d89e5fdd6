"""What is asked with perturbed puzzles and with several at once, and how answers are judged."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.asking.perturbations import PERTURBATIONS, prepare, restore
from cogniload_repro.asking.protocol import (
    compare_perturbations,
    list_queries,
    protocol_prompt,
    split_perturbations,
    write_queries,
)
from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.generate import draw_grid
from cogniload_repro.puzzles.sets import PuzzleSet, write_set
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.fits import fit

CELLS = grid_cells("N=20 ratio=50 d=1,3")


@pytest.fixture(scope="module")
def puzzles():
    """Three puzzles of each of two cells."""
    return list(draw_grid(CELLS, 3, 5))


def test_a_model_is_told_the_rule_but_for_double_negations():
    """The query holds the rule and the perturbed text; not_not is asked as it stands."""
    query = protocol_prompt("reverse_words", "one two")
    assert PERTURBATIONS["reverse_words"].rule in query
    assert query.endswith("TRANSFORMED INPUT:\ntwo one")
    assert protocol_prompt("not_not", "red hat") == "not not red hat"


def test_queries_about_a_set_are_undone_exactly(tmp_path, puzzles):
    """Every puzzle has one query, from which it is restored; its partner is of the same cell."""
    write_set(tmp_path, "jsonl", PuzzleSet(CELLS, 3, 5))
    texts = {puzzle.name: prepare(puzzle.text) for puzzle in puzzles}
    queries = list(list_queries(tmp_path, "interleave_word"))
    assert [query.name for query in queries] == list(texts)
    assert {query.condition for query in queries} == {"interleave_word"}
    for query in queries:
        _, _, woven = query.text.partition("TRANSFORMED INPUT:\n")
        assert restore("interleave_word", woven) == texts[query.name]
        woven, _, _ = woven.partition("\n<Problem A: ")
        second = " ".join(woven.split(" ")[1::2])
        cell = query.name.split("_")[:3]
        partners = [text for name, text in texts.items() if name.split("_")[:3] == cell]
        partners.remove(texts[query.name])
        assert second.startswith(tuple(partners))


def test_the_baseline_is_prepared_like_perturbed_texts(puzzles):
    """Both have the same flattened lines."""
    puzzle = puzzles[0]
    pairs = [(puzzle.name, puzzle.text)]
    (baseline,) = write_queries(pairs, "baseline")
    (reversed_words,) = write_queries(pairs, "reverse_words")
    _, _, perturbed = reversed_words.text.partition("TRANSFORMED INPUT:\n")
    assert baseline == (puzzle.name, "baseline", prepare(puzzle.text))
    assert baseline.text != puzzle.text
    assert restore("reverse_words", perturbed) == baseline.text


@pytest.mark.parametrize(
    ("perturbation", "message"),
    [
        ("rot13", "unknown perturbation 'rot13'"),
        ("interleave_word", "has 1 puzzle; interleave_word needs 2 per cell"),
    ],
)
def test_a_query_that_cannot_be_written_is_refused(puzzles, perturbation, message):
    """No such perturbation, and a cell without a partner for its only puzzle."""
    pairs = [(puzzles[0].name, puzzles[0].text)]
    with pytest.raises(ValueError, match=message):
        next(write_queries(pairs, perturbation))


ANSWERS = [
    ("m", "a", True, "stop", 100),
    ("m", "b", True, "stop", 100),
    ("m (baseline)", "a", True, "stop", 50),
    ("m (baseline)", "b", False, "stop", 150),
    ("m (rail_fence)", "a", False, "refusal", 300),
    ("m (rail_fence)", "b", False, "stop", 100),
    ("m (rail_fence)", "c", True, "stop", 900),
    ("k", "a", True, "stop", 100),
    ("k (not_not)", "a", True, "stop", None),
]
SCORES = pd.DataFrame(
    ANSWERS, columns=["model", "name", "correct", "stopped", "response_tokens"]
)


def test_perturbed_answers_are_compared_with_the_same_puzzles():
    """Against the baseline if it was asked; a puzzle without an answer to both is left out."""
    rows = compare_perturbations(SCORES).set_index("model")
    assert rows.loc["m"].to_dict() == {
        "perturbation": "rail_fence",
        "total": 2,
        "accuracy": 0.0,
        "baseline": 0.5,
        "drop": 0.5,
        "refusals": 0.5,
        "tokens": 200.0,
        "tokens_ratio": 2.0,
    }


def test_without_a_baseline_puzzles_as_they_are_are_compared():
    """Token counts may be missing."""
    rows = compare_perturbations(SCORES).set_index("model")
    assert rows.loc["k", "drop"] == 0.0
    assert np.isnan(rows.loc["k", "tokens"])


def test_perturbation_is_a_factor_of_the_regression():
    """Answers with a perturbation are counted apart, and its coefficient is the drawn one."""
    rng = np.random.default_rng(3)
    tables = []
    for model, accuracy in (("mine", 0.8), ("mine (rail_fence)", 0.3)):
        correct = rng.binomial(100, accuracy, len(GRID))
        tables.append(GRID.assign(model=model, total=100, correct=correct))
    split = split_perturbations(pd.concat(tables, ignore_index=True))
    assert set(split["model"]) == {"mine"}
    assert split["perturbation"].tolist() == [""] * len(GRID) + ["rail_fence"] * len(
        GRID
    )
    fits = fit(split, "correct ~ d + log10_N + rho + C(perturbation)").set_index("term")
    row = fits.loc["C(perturbation)[T.rail_fence]"]
    drawn = np.log(0.3 / 0.7) - np.log(0.8 / 0.2)
    assert row["status"] == "ok"
    assert abs(row["coef"] - drawn) < 4 * row["se"]
    plain = fit(split, "correct ~ d + log10_N + rho + perturbation")  # words are levels
    assert np.allclose(plain["coef"], fits["coef"])
