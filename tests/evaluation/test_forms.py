"""Forms: their puzzles, the same ones every time, their queries, and the tokens that an answer may have."""

import hashlib
import json

import pandas as pd
import pytest

from cogniload_repro.companions.perturbations import PERTURBATIONS
from cogniload_repro.companions.protocol import list_queries, overload_prompt
from cogniload_repro.companions.scap import KINDS, draw_probe
from cogniload_repro.evaluation import forms
from cogniload_repro.evaluation.forms import (
    answer_budget,
    count_prompt,
    draw_puzzles,
    draw_queries,
    estimate_tokens,
    plan_form,
)
from cogniload_repro.grid import MINI_GRID, PAPER_GRID, Cell
from cogniload_repro.models import NAMES
from cogniload_repro.outputs.adapters import COMPARABILITY
from cogniload_repro.prompts.counts import COMMITTED
from cogniload_repro.prompts.tokenizers import find_tokenizers
from cogniload_repro.published import load_printed
from cogniload_repro.puzzles.editions import PORT, resolve_edition
from cogniload_repro.puzzles.ids import read_manifest
from cogniload_repro.puzzles.sets import write_jsonl
from cogniload_repro.scoring.verdict import score_response


def test_a_place_is_one_puzzle_for_ever():
    """Seed 42 asks the default set; what is asked later changes nothing; other seeds and places give other puzzles."""
    cell, ids = PAPER_GRID[3], read_manifest()[PAPER_GRID[3]]
    assert [row["puzzle_id"] for row in draw_puzzles(cell, 2, 4)] == ids[2:4]
    names = [row["name"] for row in draw_puzzles(cell, 0, 6, seed=7)]
    assert [row["name"] for row in draw_puzzles(cell, 4, 6, seed=7)] == names[4:]
    assert not set(names) & {row["name"] for row in draw_puzzles(cell, 0, 6)}
    assert len({row["name"] for row in draw_puzzles(cell, 98, 102)}) == 4


@pytest.mark.parametrize("condition", [("baseline", 1), ("reverse_words", 1), ("interleave_word", 1), (None, 3)])
def test_queries_are_those_of_the_set_that_is_written(tmp_path, condition):
    """What the task asks under a condition is what `cogniload puzzles` writes for the same puzzles."""
    cell = Cell(20, 50, 3)
    write_jsonl(tmp_path / "puzzles.jsonl", draw_puzzles(cell, 0, 4))
    drawn = [(row["name"], query) for row, query in draw_queries(cell, 0, 4, 42, PORT, *condition)]
    assert drawn == [(query.name, query.text) for query in list_queries(tmp_path, *condition)]
    assert [query for _, query in draw_queries(cell, 2, 4, 42, PORT, *condition)] == [query for _, query in drawn[2:]]


def test_a_cell_with_one_puzzle_borrows_from_further_ones():
    """The short form has cells with one puzzle; what is woven in comes from the same cell, and is not asked about."""
    first, *others = draw_puzzles(Cell(20, 50, 3), 0, 3)
    query = overload_prompt([*(one["text"] for one in others), first["text"]])
    assert list(draw_queries(Cell(20, 50, 3), 0, 1, 42, PORT, None, 3)) == [(first, query)]


def test_what_cannot_be_asked_is_refused():
    """Elixir's puzzles beyond its default set, unknown forms and grids: a sentence each."""
    elixir = resolve_edition("elixir-1.14")
    assert len(list(draw_puzzles(Cell(20, 50, 1), 0, 2, edition=elixir))) == 2
    with pytest.raises(ValueError, match=r"default set only.*take edition python"):
        list(draw_puzzles(Cell(20, 50, 1), 0, 2, seed=7, edition=elixir))
    with pytest.raises(ValueError, match="choose one of: paper, mini, short, adaptive"):
        plan_form("long")
    with pytest.raises(ValueError, match="per_cell is 0"):
        plan_form("mini", 0)
    assert list(plan_form("short", grid="N=20,ratio=5,d=3", per_cell=4).items()) == [(Cell(20, 5, 3), 4)]


def test_whatever_makes_answers_incomparable_raises_the_version():
    """Prompts, draws and verdicts of a sample of puzzles are those of this comparability version.

    When this fails, and the change is meant, raise COMPARABILITY in outputs/adapters.py and enter the new digest.
    """
    rows = [row for seed in (42, 7) for cell in MINI_GRID for row in draw_puzzles(cell, 0, 1, seed)]
    said = []
    for row in rows:
        ends = [f"{row['poi']} is wearing {value}, eats {value}." for value in row["domain"]]
        for response in (*ends, "", "I am not sure.", f"{ends[0]}\n{ends[-1]}\n(done)"):
            facts = {key: row[key] for key in ("poi", "gold", "domain", "category")}
            said.append(score_response(response, **facts))
    digest = hashlib.sha256(json.dumps([[row["text"] for row in rows], said]).encode()).hexdigest()[:16]
    assert (COMPARABILITY, digest) == (1, "14113d95890255da")
    conditions = [*((name, 1) for name in PERTURBATIONS), (None, 3)]
    queries = [query for one in conditions for _, query in draw_queries(Cell(20, 50, 3), 0, 1, 7, PORT, *one)]
    probes = [draw_probe(kind, 4, 0).prompt for kind in KINDS]
    digest = hashlib.sha256(json.dumps([queries, probes]).encode()).hexdigest()[:16]
    assert (COMPARABILITY, digest) == (1, "9755fcd6710b17b1")


def test_the_estimate_is_a_little_below_what_every_model_of_the_paper_counted():
    """Far above the printed mean of a cell, an answer would be cut where the paper's was not."""
    printed = load_printed("tokens").astype({"N": int, "d": int})
    means = pd.to_numeric(printed["prompt_mean"], errors="coerce").groupby([printed["N"], printed["d"]])
    low, middle = means.min(), means.median()
    for N, d in low.index[::2]:
        cells = [cell for cell in PAPER_GRID if (cell.N, cell.d) == (N, d)]
        texts = [row["text"] for cell in cells for row in draw_puzzles(cell, 0, 2)]
        estimate = sum(map(estimate_tokens, texts)) / len(texts)
        assert 0.82 * middle[N, d] < estimate < 1.05 * low[N, d], (N, d)


def test_prompt_and_answer_fill_the_context_but_for_what_is_reserved():
    """The paper's 32,768 tokens less 20; a prompt that leaves nothing is refused."""
    assert [answer_budget(tokens) for tokens in (748, 32_747)] == [32_000, 1]
    with pytest.raises(ValueError, match="fills the paper's context of 32,768"):
        answer_budget(32_748)


def test_a_known_model_is_counted_by_its_own_tokenizer(monkeypatch, tmp_path):
    """The last part of Inspect's name finds it, whatever its case; without a tokenizer it is estimated."""
    for model in ("mockllm/model", f"vllm/Qwen/{NAMES[0]}"):
        assert count_prompt("Solve this.", model, tmp_path) == (estimate_tokens("Solve this."), "estimate")
    file = next(iter(find_tokenizers()))
    monkeypatch.setattr(forms, "present_tokenizers", lambda folder: (file.name,))
    monkeypatch.setattr(forms, "load_tokenizer", lambda name, folder: name)
    monkeypatch.setattr(forms, "count_tokens", lambda texts, tokenizer: [len(texts[0])])
    assert count_prompt("12345", f"openai-api/x/{file.models[0].upper()}", tmp_path / "own") == (5, file.name)


def test_no_whole_prompt_is_estimated_longer_than_the_paper_s_tokenizers_count_it():
    """Of puzzles that the estimate was not made from; a fence of dots, a run of which is one token, counts no more."""
    counts = pd.read_parquet(COMMITTED).set_index("name").drop(columns=["N", "d", "ratio_pct"]).min(axis=1)
    for cell in PAPER_GRID[::5]:
        for row in draw_puzzles(cell, 1, 3):
            assert estimate_tokens(row["text"]) <= 1.02 * counts[row["name"]]
    assert estimate_tokens("T......r......u") <= 5
