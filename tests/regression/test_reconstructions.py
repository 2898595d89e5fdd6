"""The committed samples of counts as data: numbers that all share, and ranges over the others."""

import pandas as pd
import pytest

import cogniload_repro as cl
from cogniload_repro.models import NAMES
from cogniload_repro.regression.cell_tables import accuracy_by
from cogniload_repro.regression.reconstructions import (
    KEYS,
    SMOOTH,
    load_tables,
    mean_cells,
    prediction_band,
)

MODELS = ["QwQ-32B", "gpt-5-2025-08-07", "o3-2025-04-16"]
ALL = cl.load_cells()
CELLS = cl.load_cells(models=MODELS)
OWN = CELLS[CELLS["model"] == "QwQ-32B"].assign(model="mine", provenance="scored")


def test_every_sample_is_there_once():
    """The long table has all samples of every model, with the totals of the cells."""
    tables = cl.load_reconstructions(MODELS)
    assert tables["reconstruction"].unique().tolist() == list(range(1, 25))
    assert len(tables) == 24 * len(CELLS)
    assert set(tables["provenance"]) == {"reconstructed"}


@pytest.mark.parametrize("load", ["d", "N"])
def test_all_samples_share_the_printed_margins(load):
    """Answers and correct answers by d and by N are those of Tables 4 and 5 in each."""
    tables = cl.load_reconstructions(MODELS)
    counts = tables.groupby(["reconstruction", "model", load])[
        ["total", "correct"]
    ].sum()
    margins = counts.groupby(["model", load])
    pd.testing.assert_frame_equal(margins.min(), margins.max())


FORMULA = "correct ~ d + log10_N + C(ratio_pct)"


@pytest.fixture(scope="module")
def fits():
    """A regression that the printed tables do not identify, of the paper's and an own model."""
    cells = pd.concat([CELLS, OWN])
    return cl.with_ranges(cells, lambda table: cl.fit(table, FORMULA))


def test_rows_that_no_key_tells_apart_are_refused():
    """Their medians would be over several numbers."""
    with pytest.raises(ValueError, match="the same model"):
        cl.with_ranges(CELLS, lambda table: cl.fit(table, FORMULA), ["model"])


def test_fits_that_are_not_identified_have_the_range_over_the_samples(fits):
    """Median and ends are those of the fits of single samples."""
    paper = fits[fits["model"] != "mine"]
    every = cl.over_reconstructions(CELLS, lambda table: cl.fit(table, FORMULA))
    samples = every.groupby(["model", "term"], sort=False)
    for column, number, quantile in (
        ("coef", "coef", 0.5),
        ("coef_p10", "coef", 0.1),
        ("coef_p90", "coef", 0.9),
        ("low_p10", "low", 0.1),
        ("high_p90", "high", 0.9),
    ):
        expected = samples[number].quantile(quantile)
        assert paper[column].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-9)


def test_only_fits_of_own_counts_have_p_values(fits):
    """Those of one sample would look like results."""
    is_own = fits["model"] == "mine"
    assert fits.loc[is_own, "identified"].all()
    assert fits.loc[is_own, "p"].notna().all()
    assert not fits.loc[~is_own, "identified"].any()
    assert fits.loc[~is_own, ["p", "z"]].isna().all(axis=None)


def test_mean_cells_are_the_mean_of_the_samples():
    """Only correct answers change, and their sums by d and by N do not."""
    mean = mean_cells(CELLS)
    samples = load_tables().drop(columns=SMOOTH).set_index(KEYS)
    expected = samples.loc[pd.MultiIndex.from_frame(CELLS[KEYS])].mean(axis=1)
    assert mean["correct"].to_numpy() == pytest.approx(expected.to_numpy())
    pd.testing.assert_frame_equal(
        mean.drop(columns="correct"), CELLS.drop(columns="correct")
    )
    for load in ("d", "N"):
        keys = ["model", load]
        sums = mean.groupby(keys)["correct"].sum()
        assert sums.to_numpy() == pytest.approx(
            CELLS.groupby(keys)["correct"].sum().to_numpy()
        )


def test_counts_of_own_models_have_no_mean():
    """They stay as they are, also where they are mixed with those of the paper's models."""
    pd.testing.assert_frame_equal(mean_cells(OWN), OWN)
    mixed = pd.concat([CELLS, OWN], ignore_index=True).sample(frac=1, random_state=1)
    mean = mean_cells(mixed)
    is_own = mixed["model"] == "mine"
    assert (mean["correct"] == mixed["correct"])[is_own].all()


@pytest.mark.parametrize("load", ["d", "N"])
def test_bands_vanish_where_tables_4_and_5_print(load):
    """By d and by N all samples agree."""
    band = prediction_band(ALL, "model", load)
    assert len(band) == len(NAMES) * ALL[load].nunique()
    assert (band["lowest"] == band["highest"]).all()


def test_bands_along_rho_hold_the_points():
    """There samples differ, and the committed accuracies lie in nearly all bands."""
    keys = ["model", "ratio_pct"]
    points = prediction_band(ALL, *keys).merge(accuracy_by(ALL, *keys))
    assert points["accuracy"].between(points["lowest"], points["highest"]).mean() > 0.9
    assert (points["lowest"] < points["highest"]).mean() > 0.9
