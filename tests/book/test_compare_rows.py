"""The rows of the page "Compare": the numbers that chapters have, of own models too."""

import json
import re

import pandas as pd
import pytest

import cogniload_repro as cl
from cogniload_repro.analysis.comparisons import compare_accuracies, compare_pairs
from cogniload_repro.book import compare_rows
from cogniload_repro.book.page_data import write_script
from cogniload_repro.book.terminal import format_pair
from cogniload_repro.regression.cell_tables import accuracy_by

MINE = "server/</script>/mine"


@pytest.fixture(scope="module")
def cells():
    """Two models of the paper, and the counts of a third as if somebody had scored them."""
    cells = cl.load_cells(models=["QwQ-32B", "o3-2025-04-16", "Qwen3-8B"])
    is_mine = cells["model"] == "Qwen3-8B"
    cells["provenance"] = cells["provenance"].mask(is_mine, "scored")
    cells["ctx"] = cells["ctx"].mask(is_mine)  # no token counts
    return cells.replace({"model": {"Qwen3-8B": MINE}})


@pytest.fixture
def three_models(monkeypatch, cells):
    """A build that shows these models alone: 22 take longer, and show the same."""
    monkeypatch.setattr(compare_rows, "cells_to_show", lambda _: cells)


def test_an_own_model_is_compared_with_the_papers(three_models, tmp_path):
    """It is in the list, has numbers in each table, and a pair with every other model."""
    data = compare_rows.compare_data(tmp_path)
    assert len(data["models"]) == 3
    place = data["models"].index("mine")
    for rows in (data["accuracy"], *(fits["rows"] for fits in data["regressions"])):
        assert place in rows["model"]
    pairs = pd.DataFrame(data["pairs"])[["first", "second"]].drop_duplicates()
    assert pairs.eq(place).any(axis=1).sum() == 2
    assert data["origins"][place] == ""  # scored answers on the whole grid
    assert "Reconstructed" in data["origins"][data["models"].index("o3-2025-04-16")]


def test_a_model_that_the_build_lacks_is_refused_with_the_builds_name(tmp_path):
    """A reader's own model may stand in the build of the mini-grid."""
    with pytest.raises(ValueError, match=rf"unknown model 'mine'.*{tmp_path}.*--build"):
        compare_rows.compare_pair(tmp_path, "mine", "o3")


def test_a_name_ends_no_script():
    """Whatever a model is called: its name is data."""
    script = write_script("compare", {"models": ["</script><script>alert(1)//"]})
    assert "</" not in script
    data = json.loads(script.partition("compare = ")[2].rstrip(";\n"))
    assert data["models"] == ["</script><script>alert(1)//"]


def test_levels_that_the_tables_do_not_identify_have_ranges(cells):
    """Of reconstructed models alone, and along rho alone."""
    rows = compare_rows.accuracy_rows(cells)
    is_open = (rows["load"] == "ratio_pct") & (rows["model"] != MINE)
    assert (rows["identified"] == ~is_open).all()
    assert (rows["low"] <= rows["estimate"]).all()
    assert (rows["estimate"] <= rows["high"]).all()


def test_overflows_of_scored_answers_need_their_tokens(cells):
    """Without token counts the limit was not tested, so that there is no share of overflows."""
    models = set(compare_rows.overflow_rows(cells)["model"])
    assert models == {"QwQ-32B", "o3-2025-04-16"}
    known = cells.fillna({"ctx": 0})
    assert set(compare_rows.overflow_rows(known)["model"]) == {*models, MINE}


def test_the_papers_regression_has_points_with_intervals(cells):
    """Another one has ECL50 alone; its AIC is that of the fit."""
    paper, straight, *_ = compare_rows.identified_specifications()
    keys = ["model", "quantity"]
    first = compare_rows.regression_rows(cells, paper).set_index(keys)
    point = first.loc[("QwQ-32B", "ecl50")]
    assert point["low"] < point["estimate"] < point["high"]
    second = compare_rows.regression_rows(cells, straight).set_index(keys)
    fits = cl.fit(cells, straight.formula)
    for row in fits[["model", "term", "coef", "low", "high", "p", "aic"]].itertuples():
        numbers = second.loc[(row.model, row.term), ["estimate", "low", "high", "p"]]
        assert numbers.tolist() == pytest.approx([row.coef, row.low, row.high, row.p])
        assert second.loc[(row.model, "aic"), "estimate"] == pytest.approx(row.aic)
    assert pd.isna(second.loc[("QwQ-32B", "ecl50"), "low"])


def test_pairs_are_those_of_chapter_12(cells):
    """Each with both p-values and the difference at each length, the more accurate model first."""
    pairs = compare_pairs(cells)
    rows = compare_rows.pair_rows(cells)
    overall = rows[rows["N"].isna()]
    shared = ["first", "second", "cells", "p", "p_holm"]
    pd.testing.assert_frame_equal(overall[shared], pairs[shared])
    assert compare_rows.count_tests(rows) == len(pairs) == 3
    lengths = rows.groupby(["first", "second"])["N"].agg(list)
    assert {tuple(levels[1:]) for levels in lengths} == {(20, 50, 100, 250)}


def test_a_verdict_agrees_with_p_and_the_interval_beside_it(cells):
    """It does not depend on which other models there are, as p (Holm) does."""
    rows = compare_rows.pair_rows(cells)
    differs = rows["verdict"].str.startswith("different")
    excludes_zero = (rows["low"] > 0) | (rows["high"] < 0)
    assert differs.tolist() == excludes_zero.tolist() == (rows["p"] < 0.05).tolist()
    assert (rows["p_holm"] >= rows["p"]).all()
    two = cells[cells["model"] != "QwQ-32B"]
    alone = compare_rows.pair_rows(two).set_index("N")
    is_pair = ~rows[["first", "second"]].isin(["QwQ-32B"]).any(axis=1)
    among = rows[is_pair].set_index("N")
    stays = ["estimate", "low", "high", "p", "verdict"]
    pd.testing.assert_frame_equal(alone[stays], among[stays])


def test_a_difference_that_is_not_identified_is_as_of_two_models(cells):
    """On a part of the grid: median, range and count over the reconstructions, as for one pair."""
    part = cells[(cells["model"] != MINE) | cells["N"].eq(20) & cells["rho"].lt(0.6)]
    rows = compare_rows.pair_rows(part)
    for model in ("QwQ-32B", "o3-2025-04-16"):
        is_pair = rows[["first", "second"]].isin([model, MINE]).all(axis=1)
        row, at_length = rows[is_pair].itertuples()
        assert at_length.N == 20
        pair = compare_accuracies(part, [(row.first, row.second)]).iloc[0]
        ends = pair[["difference", "difference_p10", "difference_p90"]].tolist()
        assert [row.estimate, row.low, row.high] == pytest.approx(ends)
        assert (row.verdict, row.cells) == (pair["verdict"], pair["cells"])
        assert pd.isna(row.p)
        assert not row.identified


def test_a_terminal_has_the_rows_of_the_page(three_models, tmp_path):
    """Of two models by their short names, with the ranges and the origin of the counts."""
    compared = compare_rows.compare_pair(tmp_path, "mine", "o3")
    text = "\n".join(format_pair(compared))
    assert text.startswith("Accuracy of o3-2025-04-16 minus mine, in points")
    for label in ("N 250", "d 10", "ratio_pct 95", "all puzzles", "ecl50", "log10_N"):
        assert f"\n{label} " in text
    assert "[" in text
    assert "p (Holm, 3 pairs)" in text
    assert text.endswith(
        "o3-2025-04-16: Reconstructed from the paper's tables, not raw outputs."
    )


@pytest.mark.parametrize("models", [("mine", "o3"), ("o3", "mine")])
def test_tables_keep_the_order_and_say_how_many_cells_each_model_has(
    tmp_path, cells, models, monkeypatch
):
    """So an accuracy over 18 cells is not taken for one over 140."""
    part = cells[(cells["model"] != MINE) | cells["N"].eq(20)]
    monkeypatch.setattr(compare_rows, "cells_to_show", lambda _: part)
    text = list(format_pair(compare_rows.compare_pair(tmp_path, *models)))
    numbers = {"mine": "mine, 35 cells", "o3": "o3-2025-04-16, 140 cells"}
    expected = [numbers[model] for model in models]
    sheets = [sheet for sheet in text if " 35 cells" in sheet]
    assert len(sheets) == 3
    for sheet in sheets:
        heading = sheet.splitlines()[2]
        assert re.split("(?<=cells) +", heading.strip()) == expected


def test_every_interval_has_its_level(three_models, tmp_path, cells):
    """That of accuracies is the paper's, 90%; chapter 13 shows 95% of the same numbers."""
    text = list(format_pair(compare_rows.compare_pair(tmp_path, "o3", "QwQ-32B")))
    row = accuracy_by(cells[cells["model"] == "QwQ-32B"], "model").iloc[0]
    interval = f"{100 * row.low:.1f} to {100 * row.high:.1f}"
    for sheet in text:
        if interval in sheet:
            assert "90% Wilson" in sheet
        elif re.search(r"\(-?[\d.,]+ to ", sheet):
            assert "95% interval" in sheet


def test_a_model_is_not_compared_with_itself(tmp_path):
    """Its full and its short name are the same model."""
    with pytest.raises(ValueError, match="o3-2025-04-16 stands twice"):
        compare_rows.compare_pair(tmp_path, "o3", "o3-2025-04-16")
