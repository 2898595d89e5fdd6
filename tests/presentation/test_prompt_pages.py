"""The page on prompt lengths, with tokenizers and without."""

import pandas as pd
import pytest
from samples import GPT5, counts_like

from cogniload_repro.presentation import prompt_pages
from cogniload_repro.prompts import comparison as prompt_lengths
from cogniload_repro.prompts.counts import KEYS
from cogniload_repro.storage import write_table

EMPTY = pd.DataFrame(columns=KEYS)


@pytest.fixture(scope="module")
def counts():
    """Counts for the models of one tokenizer."""
    return counts_like(GPT5, "o200k")


@pytest.fixture(scope="module")
def comparison(counts):
    """Their comparison."""
    return prompt_lengths.compare_prompts(counts)


def test_counts_are_read_if_there_are_any(tmp_path, counts):
    """A build without counts gives an empty frame, one with counts gives them."""
    assert prompt_pages.load_prompt_counts(tmp_path).empty
    write_table(tmp_path / "prompt_tokens.parquet", counts, {"provenance": "reconstructed"})
    pd.testing.assert_frame_equal(prompt_pages.load_prompt_counts(tmp_path), counts)


def test_what_is_missing_is_said(counts):
    """Tokenizers are listed as counted or not, with the command that brings them and the model that has none."""
    markdown = prompt_pages.show_tokenizers(counts).markdown
    assert markdown.count("| yes |") == 1
    assert "and so not compared: the tokenizer of EXAONE-Deep-32B." in markdown
    assert "Not here: Qwen, Llama 3" in markdown
    assert "fetch-tokenizers" in markdown
    assert "| yes |" not in prompt_pages.show_tokenizers(EMPTY).markdown


def test_without_counts_every_piece_says_so(tmp_path):
    """No number, no picture and no file is made of nothing."""
    compared = prompt_lengths.compare_prompts(EMPTY)
    summary = prompt_lengths.summarize_prompts(compared)
    pieces = [
        prompt_pages.show_agreement(compared, summary),
        prompt_pages.show_counted(prompt_lengths.prompt_rows(compared)),
        prompt_pages.show_pairs(summary, compared),
        prompt_pages.show_odd(compared),
        prompt_pages.show_errors(compared, tmp_path),
    ]
    assert all(piece.markdown.startswith("Nothing to compare") for piece in pieces)
    assert not any(tmp_path.iterdir())


def test_overview_names_the_models_that_leave_a_constant(comparison):
    """Models are counted as explained or not, and one that is not is named with its farthest number."""
    summary = prompt_lengths.summarize_prompts(comparison)
    models = comparison["model"].nunique()
    text = prompt_pages.show_overview(comparison, summary).markdown
    assert text.startswith(f"{models} of the paper's 22 models can be compared")
    explained = (summary.loc[summary["quantity"] == "prompt_mean", "p"] >= 0.01).sum()
    assert f"For {explained} of them" in text
    assert text.count("Not so for") == models - explained
    moved = comparison.copy()
    place = moved.index[(moved["model"] == "o3-2025-04-16") & (moved["quantity"] == "prompt_mean") & ~moved["odd"]][3]
    moved.loc[place, "z"] = -31.44
    text = prompt_pages.show_overview(moved, prompt_lengths.summarize_prompts(moved)).markdown
    far = moved.loc[place]
    assert f"farthest -31.4 at N = {far['N']} and d = {far['d']}" in text.partition("Not so for o3-2025-04-16: ")[2]


def test_overview_without_counts_says_how_to_get_them():
    """Where nothing was counted, the commands that count are named."""
    compared = prompt_lengths.compare_prompts(EMPTY)
    text = prompt_pages.show_overview(compared, prompt_lengths.summarize_prompts(compared)).markdown
    assert "have not been compared" in text
    assert "`make tokens`" in text


def test_verdicts_are_counted_by_table(comparison):
    """The prompts' rows of the fidelity table come as one row a table."""
    markdown = prompt_pages.show_counted(prompt_lengths.prompt_rows(comparison)).markdown
    assert [markdown.count(f"| Table {number} |") for number in (7, 8, 9, 10)] == [1, 1, 1, 1]


def test_findings_count_what_lies_within(comparison):
    """The sentence's numbers are those of the comparison, and a model beyond is named."""
    moved = comparison.copy()
    place = moved.index[(moved["model"] == "o3-2025-04-16") & (moved["quantity"] == "prompt_mean")][0]
    moved["z"] = moved["z"].clip(-2, 2)
    summary = prompt_lengths.summarize_prompts(moved)
    clean = moved[~moved["odd"]].groupby("quantity").size()
    total = clean["prompt_mean"]
    text = prompt_pages.show_agreement(moved, summary).markdown
    assert f"Of {total} printed values of the mean, {total} lie within three standard errors. Of" in text
    moved.loc[place, "z"] = 3.5
    text = prompt_pages.show_agreement(moved, summary).markdown
    assert f"{total - 1} lie within three standard errors; beyond lie 1 of o3-2025-04-16." in text


def test_tables_have_a_row_a_model(counts, comparison):
    """Agreement and pairs list each model once, odd cells each flagged number, with no broken table row."""
    pairs = prompt_lengths.compare_pairs(counts)
    agreement = prompt_pages.show_agreement(comparison, prompt_lengths.summarize_prompts(comparison)).markdown
    paired = prompt_pages.show_pairs(prompt_lengths.summarize_prompts(pairs), pairs).markdown
    odd = prompt_pages.show_odd(comparison).markdown
    for markdown, rows in (
        (agreement, comparison["model"].nunique()),
        (paired, pairs["model"].nunique()),
        (odd, int(comparison["odd"].sum())),
    ):
        lines = [line for line in markdown.splitlines() if line.startswith("|")]
        assert len(lines) == rows + 2
        assert len({line.count("|") for line in lines}) == 1


def test_picture_and_numbers_are_saved(tmp_path, comparison):
    """The figure has description and caption, the numbers can be downloaded, and both come out the same twice."""
    first = prompt_pages.show_errors(comparison, tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.rglob("prompt_lengths.*")}
    assert set(made) == {"prompt_lengths.png", "prompt_lengths.svg", "prompt_lengths.csv"}
    assert "Scatter plot" in first.markdown
    assert prompt_pages.show_errors(comparison, tmp_path).markdown == first.markdown
    assert {path.name: path.read_bytes() for path in tmp_path.rglob("prompt_lengths.*")} == made
    assert len(pd.read_csv(tmp_path / "tables" / "prompt_lengths.csv")) == len(comparison)
