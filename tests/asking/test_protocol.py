"""What is asked with perturbed puzzles and with several at once, and how answers are judged."""

import hashlib
import json
import re

import pandas as pd
import pytest
from harness import read_source, run
from reading import read_sources

from cogniload_repro.asking.perturbations import PERTURBATIONS, prepare, restore
from cogniload_repro.asking.protocol import (
    COMPARABILITY,
    Query,
    list_queries,
    protocol_prompt,
    write_prompts,
    write_queries,
)
from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.baselines import baselines
from cogniload_repro.puzzles.generate import draw_grid
from cogniload_repro.puzzles.sets import PuzzleSet, draw_rows, write_set
from cogniload_repro.scoring.response import score_response

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
    path = write_set(tmp_path, PuzzleSet(CELLS, 3, 5))
    texts = {puzzle.name: prepare(puzzle.text) for puzzle in puzzles}
    queries = list(list_queries(path, "interleave_word"))
    assert [query.name for query in queries] == list(texts)
    assert {query.perturbation for query in queries} == {"interleave_word"}
    for query in queries:
        _, _, woven = query.prompt.partition("TRANSFORMED INPUT:\n")
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
    _, _, perturbed = reversed_words.prompt.partition("TRANSFORMED INPUT:\n")
    assert baseline == (puzzle.name, "baseline", prepare(puzzle.text))
    assert baseline.prompt != puzzle.text
    assert restore("reverse_words", perturbed) == baseline.prompt


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


def test_a_prompt_is_written_in_its_own_letters(tmp_path):
    """What a person reads in prompts.jsonl is what a model is asked."""
    query = Query("20_1_10_7", "emoji", "\N{TOP HAT} für Łukasz")
    line = write_prompts(tmp_path, [query]).read_text(encoding="utf-8")
    assert query.prompt in line
    assert json.loads(line) == query._asdict()


SMALL = ("--grid", "N=20,50 ratio=50 d=1,3", "--per-cell", "3", "--jobs", "1")


def test_the_loop_of_the_book_makes_rows_of_outputs(tmp_path, monkeypatch):
    """The page's own lines, with a server that always answers the same, leave a table that imports.

    So filtered.
    """
    text = "".join(read_sources("evaluate", "markdown").values())
    loop, choice = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    options = (
        "--perturb",
        "not_not",
        "--out",
        tmp_path / "sets" / "mine",
    )
    assert run("puzzles", *SMALL, *options).exit_code == 0
    monkeypatch.chdir(tmp_path)
    exec(loop, {"ask": lambda prompt: (prompt[:5], "length", 10, 2)})
    outputs, _ = read_source(tmp_path / "answers.jsonl")
    assert [output[0:6:2] + output[5:6] for output in outputs] == [
        ("mine (not_not)", "Solve", 2, "length")
    ] * 12
    exec(choice, {})
    puzzles = pd.read_parquet(tmp_path / "sets" / "mine" / "puzzles.parquet")
    scores = baselines(puzzles).set_index("name")["last_clause"]
    rows = [
        json.loads(line)["name"]
        for line in (tmp_path / "sets/mine/prompts.jsonl").read_text().splitlines()
    ]
    assert rows == [output.name for output in outputs if not scores[output.name]] != []


def test_whatever_makes_answers_incomparable_raises_the_version():
    """Prompts, draws and outcomes of a sample of puzzles are those of this comparability version.

    When this fails, and the change is meant, raise COMPARABILITY in asking/protocol.py
    and enter the new digest.
    """
    puzzles = list(draw_rows(PuzzleSet(grid_cells("mini"), 2, 42)))
    texts = []
    for row in puzzles:
        ends = [
            f"{row['poi']} is wearing {value}, eats {value}." for value in row["domain"]
        ]
        for response in (*ends, "", "I am not sure.", f"{ends[0]}\n{ends[-1]}\n(done)"):
            texts.append(
                score_response(
                    response,
                    **{key: row[key] for key in ("poi", "gold", "domain", "category")},
                )
            )
    pairs = [(row["name"], row["text"]) for row in puzzles[:2]]
    queries = [
        query.prompt
        for perturbation in (*PERTURBATIONS, None)
        for query in write_queries(pairs, perturbation)
    ]
    digest = hashlib.sha256(
        json.dumps([[row["text"] for row in puzzles], texts, queries]).encode()
    ).hexdigest()[:16]
    assert (COMPARABILITY, digest) == (1, "a01f4e98f2c45271")
