"""All committed tables of counts as data: results that they share, and ranges over the others."""

import pandas as pd
import pytest

import cogniload_repro as cl
from cogniload_repro.statistics.reconstructions import (
    SMOOTH,
    each_reconstruction,
    load_tables,
    reconstructed_models,
)

MODELS = ["QwQ-32B", "gpt-5-2025-08-07", "o3-2025-04-16"]
CELLS = cl.load_cells(models=MODELS)
OWN = CELLS[CELLS["model"] == "QwQ-32B"].assign(model="mine")


def test_every_table_is_there_once():
    """The long frame has all tables of every model with the totals of the cells, and margins that all share."""
    tables = cl.load_reconstructions(MODELS)
    assert tables["reconstruction"].unique().tolist() == list(range(1, 25))
    assert len(tables) == 24 * len(CELLS)
    assert set(tables["provenance"]) == {"reconstructed"}
    for load in ("d", "N"):
        sums = tables.groupby(["reconstruction", "model", load])[["total", "correct"]].sum()
        ends = sums.groupby(["model", load]).agg(["min", "max"]).swaplevel(axis=1)
        pd.testing.assert_frame_equal(ends["min"], ends["max"])


def test_the_smooth_table_is_in_no_range_and_still_no_outputs():
    """It is left out of the samples, and recognised, so that no fit to it counts as identified."""
    smooth = CELLS.drop(columns="correct").merge(load_tables()).rename(columns={SMOOTH: "correct"})
    assert set(reconstructed_models(smooth)) == set(MODELS)
    for table in each_reconstruction(smooth):
        assert (table["correct"] != smooth["correct"]).any()


def test_models_with_outputs_of_their_own_keep_them():
    """A name of the paper with other counts, a reader's model and scored answers are not reconstructed."""
    other = CELLS.copy()
    place = other.index[other["model"] == "QwQ-32B"][70]
    other.loc[place, "correct"] = (other.loc[place, "correct"] + 1) % other.loc[place, "total"]
    both = pd.concat([other, OWN], ignore_index=True)
    assert reconstructed_models(both) == MODELS[1:]
    for table in each_reconstruction(both):
        for name in ("QwQ-32B", "mine"):
            assert (table["correct"] == both["correct"])[both["model"] == name].all()
    scored = CELLS.assign(provenance="scored")
    assert reconstructed_models(scored) == []
    assert len(list(each_reconstruction(scored))) == 1
    mixed = pd.concat([scored[scored["model"] == MODELS[0]], CELLS[CELLS["model"] == MODELS[1]]])
    assert reconstructed_models(mixed) == [MODELS[1]]


def test_other_fits_have_the_range_over_the_tables():
    """Median and ends are those of single tables; p-values of one table are not shown, counts of one's own are."""
    formula = "correct ~ d + log10_N + C(ratio_pct)"
    fits = cl.fit(pd.concat([CELLS, OWN]), formula)
    every = cl.over_reconstructions(CELLS, lambda table: cl.fit(table, formula))
    own, paper = fits[fits["model"] == "mine"], fits[fits["model"] != "mine"]
    assert own["identified"].all()
    assert own["p"].notna().all()
    assert not paper["identified"].any()
    assert paper[["p", "z"]].isna().all(axis=None)
    groups = every.groupby(["model", "term"], sort=False)["coef"]
    for name, at in (("coef", 0.5), ("coef_p10", 0.1), ("coef_p90", 0.9)):
        assert paper[name].to_numpy() == pytest.approx(groups.quantile(at).to_numpy(), abs=1e-9)
    for name, at in (("low", 0.1), ("high", 0.9)):
        ends = every.groupby(["model", "term"], sort=False)[name].quantile(at)
        assert paper[name].to_numpy() == pytest.approx(ends.to_numpy(), abs=1e-9)


def test_levels_left_out_are_not_identified():
    """Without a level of N the sums over the others are not printed for d; capacity points have a range."""
    part = CELLS[CELLS["N"] < 250]
    points = cl.capacity_points(cl.fit(part), part)
    assert not points["identified"].any()
    assert (points["ecl50_p10"] < points["ecl50_p90"]).all()
    whole = cl.capacity_points(cl.fit(CELLS), CELLS)
    assert whole["identified"].all()
    assert (whole["ecl50_p10"] == whole["ecl50"]).all()
