"""Tokens of prompts, and what they leave for an answer."""

import pandas as pd
import pytest

from cogniload_repro.evaluation.budget import answer_budget, count_prompt, estimate_tokens
from cogniload_repro.evaluation.forms import draw_puzzles
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import NAMES
from cogniload_repro.prompts.counts import COMMITTED
from cogniload_repro.prompts.tokenizers import find_tokenizers
from cogniload_repro.published import load_printed


def test_the_estimate_is_a_little_below_what_every_model_of_the_paper_counted():
    """Far above the printed mean of a cell, an answer would be cut where the paper's was not."""
    printed = load_printed("tokens").astype({"N": int, "d": int})
    means = pd.to_numeric(printed["prompt_mean"], errors="coerce").groupby([printed["N"], printed["d"]])
    low, middle = means.min(), means.median()
    for N, d in low.index:
        cells = [cell for cell in PAPER_GRID if (cell.N, cell.d) == (N, d)]
        texts = [row["text"] for cell in cells for row in draw_puzzles(cell, 0, 2)]
        estimate = sum(map(estimate_tokens, texts)) / len(texts)
        assert 0.82 * middle[N, d] < estimate < 1.05 * low[N, d], (N, d)


def test_prompt_and_answer_fill_the_context_but_for_what_is_reserved():
    """The paper's 32,768 tokens less 20; a prompt that leaves nothing is refused."""
    assert answer_budget(748) == 32_000
    assert answer_budget(32_747) == 1
    with pytest.raises(ValueError, match="fills the paper's context of 32,768"):
        answer_budget(32_748)


def test_without_tokenizers_all_is_estimated(tmp_path):
    """An unknown model, or a known one whose tokenizer is not there."""
    for model in ("mockllm/model", f"vllm/Qwen/{NAMES[0]}"):
        assert count_prompt("Solve this.", model, tmp_path) == (estimate_tokens("Solve this."), "estimate")


def test_a_known_model_is_counted_by_its_own_tokenizer(monkeypatch, tmp_path):
    """The last part of Inspect's name finds it, whatever its case."""
    file = next(iter(find_tokenizers()))
    monkeypatch.setattr("cogniload_repro.evaluation.budget.present_tokenizers", lambda folder: (file.name,))
    monkeypatch.setattr("cogniload_repro.evaluation.budget._load", lambda name, folder: name)
    monkeypatch.setattr("cogniload_repro.evaluation.budget.count_tokens", lambda texts, tokenizer: [len(texts[0])])
    folder = tmp_path / "own"
    assert count_prompt("12345", f"openai-api/x/{file.models[0].upper()}", folder) == (5, file.name)


def test_no_whole_prompt_is_estimated_longer_than_the_paper_s_tokenizers_count_it():
    """Of puzzles that the estimate was not made from; a fence of dots, a run of which is one token, counts no more."""
    counts = pd.read_parquet(COMMITTED).set_index("name").drop(columns=["N", "d", "ratio_pct"]).min(axis=1)
    for cell in PAPER_GRID[::5]:
        for row in draw_puzzles(cell, 1, 3):
            assert estimate_tokens(row["text"]) <= 1.02 * counts[row["name"]]
    assert estimate_tokens("T......r......u") <= 5
