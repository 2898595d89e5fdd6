"""What is asked with perturbed puzzles and with several at once, and how answers are judged."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.companions.perturbations import PERTURBATIONS, prepare, restore
from cogniload_repro.companions.protocol import (
    compare_perturbations,
    list_queries,
    protocol_prompt,
    split_perturbations,
    write_queries,
)
from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.generate import draw_grid
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.sets import write_set
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.fits import fit

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
    """Every puzzle has one query, from which it comes back; its partner is another one of its cell."""
    write_set(tmp_path, "jsonl", PuzzleSet(CELLS, 3, 5))
    texts = {puzzle.name: prepare(puzzle.text) for puzzle in puzzles}
    queries = list(list_queries(tmp_path, "interleave_word"))
    for query in queries:
        woven = query.text.partition("TRANSFORMED INPUT:\n")[2]
        assert restore("interleave_word", woven) == texts[query.name]
        words = woven.partition("\n<Problem A: ")[0].split(" ")[1::2]
        assert any(
            text.split(" ") == words[: len(text.split(" "))]
            for name, text in texts.items()
            if name != query.name
        )
    assert {(query.name, query.condition) for query in queries} == {
        (name, "interleave_word") for name in texts
    }
    assert {query.name: query.text for query in list_queries(tmp_path)} == {
        one.name: one.text for one in puzzles
    }


def test_the_baseline_is_prepared_like_perturbed_texts(puzzles):
    """Both have the same flattened lines; the plain puzzle keeps its own."""
    pairs = [(puzzle.name, puzzle.text) for puzzle in puzzles]
    (baseline, *_), (reversed_words, *_) = (
        list(write_queries(pairs, name)) for name in ("baseline", "reverse_words")
    )
    woven = reversed_words.text.partition("TRANSFORMED INPUT:\n")[2]
    assert (
        restore("reverse_words", woven)
        == baseline.text
        == prepare(puzzles[0].text)
        != puzzles[0].text
    )
    assert baseline[:2] == (puzzles[0].name, "baseline")
    with pytest.raises(ValueError, match="unknown perturbation 'rot13'"):
        next(write_queries(pairs, "rot13"))
    with pytest.raises(ValueError, match="has 1 puzzle of 2 for a query"):
        next(write_queries(pairs[:1], "interleave_word"))


def test_perturbed_answers_are_compared_with_the_same_puzzles():
    """Drop, share of refusals and tokens, against the baseline if it was asked; puzzles without both are left out."""
    rows = [
        ("m", "a", True, "stop", 100), ("m", "b", True, "stop", 100), ("m (baseline)", "a", True, "stop", 50),
        ("m (baseline)", "b", False, "stop", 150), ("m (rail_fence)", "a", False, "refusal", 300),
        ("m (rail_fence)", "b", False, "stop", 100), ("m (rail_fence)", "c", True, "stop", 900),
        ("k", "a", True, "stop", 100),
        ("k (not_not)", "a", True, "stop", None),
    ]  # fmt: skip
    scores = pd.DataFrame(rows, columns=["model", "name", "correct", "stopped", "response_tokens"])
    first, second = compare_perturbations(scores).to_dict("records")
    assert first == {"model": "m", "perturbation": "rail_fence", "total": 2, "accuracy": 0.0, "baseline": 0.5,
                     "drop": 0.5, "refusals": 0.5, "tokens": 200.0, "tokens_ratio": 2.0}  # fmt: skip
    assert (second["model"], second["drop"], np.isnan(second["tokens"])) == ("k", 0.0, True)
    assert compare_perturbations(scores[:2]).empty


def test_perturbation_is_a_factor_of_the_regression():
    """Answers with a perturbation are counted apart, and its coefficient is the one that they were drawn with."""
    rng, own = np.random.default_rng(3), GRID.assign(total=100)
    named = {"mine": 0.8, "mine (rail_fence)": 0.3}
    cells = [
        own.assign(model=name, correct=rng.binomial(100, p, len(own))) for name, p in named.items()
    ]
    split = split_perturbations(pd.concat(cells, ignore_index=True))
    assert set(zip(split["model"], split["perturbation"], strict=True)) == {
        ("mine", ""),
        ("mine", "rail_fence"),
    }
    fits = fit(split, "correct ~ d + log10_N + rho + C(perturbation)").set_index("term")
    row = fits.loc["C(perturbation)[T.rail_fence]"]
    assert row["status"] == "ok"
    assert abs(row["coef"] - np.log(0.3 / 0.7 * 0.2 / 0.8)) < 4 * row["se"]
    plain = fit(split, "correct ~ d + log10_N + rho + perturbation")  # words are levels
    assert np.allclose(plain["coef"], fits["coef"])
