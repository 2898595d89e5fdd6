"""What the page "Compare" shows: texts of the numbers that chapters have, of own models too."""

import pandas as pd
import pytest

import cogniload_repro as cl
from cogniload_repro.analysis.comparisons import compare_models, compare_pairs
from cogniload_repro.book import compare_data
from cogniload_repro.models import NAMES
from cogniload_repro.storage import write_table

MINE = "server/</script>/mine"


@pytest.fixture(scope="module")
def cells():
    """Two models of the paper, and the counts of a third as if somebody had scored them."""
    cells = cl.load_cells(models=["QwQ-32B", "o3-2025-04-16", "Qwen3-8B"])
    cells["provenance"] = cells["provenance"].mask(
        cells["model"] == "Qwen3-8B", "scored"
    )
    return cells.replace({"model": {"Qwen3-8B": MINE}})


def test_an_own_model_is_compared_with_the_papers(tmp_path, cells):
    """It is in the list, has texts in each table, and a pair with every other model."""
    counts = cells[cells["model"] == MINE].drop(columns="log10_N")
    write_table(tmp_path / "cells.parquet", counts)
    data = compare_data.compare_data(tmp_path)
    assert len(data["models"]) == len(NAMES) + 1
    place = data["models"].index("mine")
    for sheet in (data["accuracy"], *data["regressions"]):
        assert len(sheet["rows"][place]) == len(sheet["labels"])
        assert "--" not in sheet["rows"][place][:2]
    others = {
        model for pair in data["pairs"] for model in pair[:2] if place in pair[:2]
    }
    assert len(others) == len(NAMES) + 1
    assert data["origins"][place] == ""  # scored answers on the whole grid
    paper = data["origins"][data["models"].index("o3-2025-04-16")]
    assert (
        paper
        == "o3-2025-04-16: Reconstructed from the paper's tables, not raw outputs."
    )


def test_levels_that_the_tables_do_not_identify_have_ranges(cells):
    """Of reconstructed models alone, and along rho alone; these have square brackets."""
    texts = compare_data.accuracy_texts(cells)
    has_range = texts["text"].str.contains("[", regex=False)
    is_along_rho = texts["label"].str.startswith("ρ")
    assert (has_range == (is_along_rho & (texts["model"] != MINE))).all()


def test_overflows_of_scored_answers_need_their_tokens(cells):
    """Without token counts the limit was not tested, so that there is no share of overflows."""
    texts = compare_data.overflow_texts(cells)
    assert set(texts["model"]) == {"QwQ-32B", "o3-2025-04-16"}
    known = cells.assign(prompt_mean=400.0, output_mean=9000.0)
    assert set(compare_data.overflow_texts(known)["model"]) == {*texts["model"], MINE}


def test_the_papers_regression_has_points_with_intervals(cells):
    """The paper's has intervals of its capacity points, another one ECL50 and its AIC beside it."""
    papers = cl.fit(cells).groupby("model")["aic"].first()
    paper, straight, *_ = compare_data.identified_specifications()
    first = compare_data.regression_texts(cells, paper, papers).set_index(
        ["model", "label"]
    )["text"]
    assert first["QwQ-32B", "ECL50"].endswith(")")
    second = compare_data.regression_texts(cells, straight, papers)
    second = second.set_index(["model", "label"])["text"]
    change = cl.compare_fits(cells, straight.formula).set_index("model")["daic"]
    assert second["QwQ-32B", "AIC minus the paper's"] == f"{change['QwQ-32B']:+,.1f}"
    assert "(" not in second["QwQ-32B", "ECL50"]


def test_pairs_are_those_of_chapter_12(cells):
    """Each with its verdict and the difference at each length, the more accurate model first."""
    models = ["QwQ-32B", "o3-2025-04-16", MINE]
    pairs = compare_pairs(cells)
    rows = compare_data.pair_rows(cells, models)
    assert [[models[first], models[second]] for first, second, _ in rows] == (
        pairs[["first", "second"]].to_numpy().tolist()
    )
    for (*_, texts), pair in zip(rows, pairs.itertuples(), strict=True):
        assert texts[0][2].startswith(pair.verdict)
        assert [label for label, *_ in texts[1:]] == [
            f"N = {N}" for N in (20, 50, 100, 250)
        ]


def test_a_difference_that_is_not_identified_is_as_of_two_models(cells):
    """On a part of the grid: median, range and count over the reconstructions, as for one pair."""
    part = cells[(cells["model"] != MINE) | cells["N"].eq(20) & cells["rho"].lt(0.6)]
    models = ["QwQ-32B", "o3-2025-04-16", MINE]
    rows = {}
    for first, second, texts in compare_data.pair_rows(part, models):
        rows[models[first], models[second]] = texts
    assert len(rows) == 3
    for model in models[:2]:
        ((label, difference, result),) = rows[model, MINE]
        pair = compare_models(part, model, MINE).iloc[0]
        ends = 100 * pair[["difference", "difference_p10", "difference_p90"]]
        assert label == f"the {pair['cells']} cells of both"
        assert difference == "{:.1f} [{:.1f} to {:.1f}]".format(*ends)
        assert result == f"{pair['verdict']} reconstructions"


def test_a_sheet_has_a_text_for_each_model_and_label():
    """In the order of the models given; "--" where a model has none."""
    texts = pd.DataFrame(
        {"model": ["b", "a", "b"], "label": ["y", "x", "x"], "text": list("123")}
    )
    sheet = compare_data.lay_out_sheet(texts, ["a", "b"])
    assert sheet == {"labels": ["y", "x"], "rows": [["--", "2"], ["1", "3"]]}
