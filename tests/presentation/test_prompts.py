"""The comparison of prompt lengths: picture and tables."""

import pytest
from samples import GPT5, counts_like

from cogniload_repro.presentation import prompts
from cogniload_repro.presentation.style import save_figure
from cogniload_repro.prompts import comparison as prompt_lengths


@pytest.fixture(scope="module")
def counts():
    """Counts for the models of one tokenizer."""
    return counts_like(GPT5, "o200k")


@pytest.fixture(scope="module")
def comparison(counts):
    """Their comparison."""
    return prompt_lengths.compare_prompts(counts)


def test_exceptions_name_the_farthest_number(comparison):
    """A model that leaves its constant is counted and listed with the cell that is farthest off, others are not."""
    moved = comparison.copy()
    moved["z"] = moved["z"].clip(-1, 1)
    place = moved.index[(moved["model"] == "o3-2025-04-16") & (moved["quantity"] == "prompt_mean") & ~moved["odd"]][3]
    moved.loc[place, "z"] = -31.44
    summary, far = prompt_lengths.summarize_prompts(moved), moved.loc[place]
    shown = prompts.print_exceptions(moved, summary)
    assert shown["Model"].tolist() == ["o3-2025-04-16"]
    assert shown["Farthest ($z$)"].tolist() == [f"-31.4 at N = {far['N']} and d = {far['d']}"]
    overview = prompts.print_overview(moved, summary)
    models = moved["model"].nunique()
    assert overview["Number"][0] == f"{models} of 22"
    assert overview.loc[2, ["Number", "The others"]].tolist() == [f"{models - 1} of {models} models", "o3-2025-04-16"]
    means = (~moved["odd"] & (moved["quantity"] == "prompt_mean")).sum()
    assert overview.loc[3, ["Number", "The others"]].tolist() == [f"{means - 1} of {means}", "1 of o3-2025-04-16"]


def test_tables_have_a_row_a_model(counts, comparison):
    """Agreement and pairs list each model once, odd cells each flagged number, and all have every value."""
    pairs = prompt_lengths.compare_to_reference(counts)
    for table, rows in (
        (prompts.print_agreement(prompt_lengths.summarize_prompts(comparison)), comparison["model"].nunique()),
        (prompts.print_pairs(prompt_lengths.summarize_prompts(pairs), pairs), pairs["model"].nunique()),
        (prompts.print_odd(comparison), int(comparison["odd"].sum())),
    ):
        assert len(table) == rows > 0
        assert table.notna().all(axis=None)


def test_the_picture_is_the_same_twice_and_described(tmp_path, comparison):
    """A second run changes no byte, and the description counts the points outside the band."""
    first, second = (save_figure(prompts.draw_errors(comparison), tmp_path / place / "x") for place in "ab")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    means = comparison[(comparison["quantity"] == "prompt_mean") & ~comparison["odd"]]
    assert f"{(means['z'].abs() > 3).sum()} points outside" in prompts.describe_errors(comparison)
