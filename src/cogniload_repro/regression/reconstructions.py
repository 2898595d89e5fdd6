"""The committed reconstructions: many tables of counts, each in agreement with the printed tables.

No single table is the authors' data. What all tables share is *identified* by the paper; everything
else is stated as median and 10 to 90% range over 24 sampled tables. Such a range describes these
samples; it is not a bound.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
import pandas as pd
from pandas.api.typing import DataFrameGroupBy

from cogniload_repro.files import RECONSTRUCTED
from cogniload_repro.published import ALPHA
from cogniload_repro.regression.checks import check_cells

#: The committed tables, r0 to r24.
TABLES_FILE = RECONSTRUCTED / "reconstructions.csv"
#: The typical one of these tables as counts by cell (`counts.reconstruct`).
CELLS_FILE = RECONSTRUCTED / "cells.csv"
#: The table drawn around a smooth response: an example, excluded from all ranges and counts. The
#: others depart from a smooth response as data do.
SMOOTH = "r0"
#: Quantiles over the samples that are reported as a number's range.
RANGE = (0.1, 0.9)
#: Columns that name a cell of a model.
KEYS = ["model", "N", "d", "ratio_pct"]
#: In place of a reconstruction's number: fit the counts as given.
GIVEN = -1
_TABLE = r"^r\d+$"
#: Types to which loads are converted before tables are merged.
_LOAD_TYPES = {"N": float, "d": float, "ratio_pct": float}


def each_reconstruction(cells: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the cells with the counts of each of the 24 sampled reconstructions.

    Models with scored answers keep their counts; if no model is reconstructed, the cells are
    yielded once. ``.attrs["reconstruction"]`` is the number of the sample, from 1.
    """
    correct = cells["correct"].to_numpy()
    models = reconstructed_models(cells)
    is_reconstructed = cells["model"].isin(models) & (cells["total"] > 0)
    samples = correct[None]
    if is_reconstructed.any():
        samples = np.where(is_reconstructed, committed_counts(cells), correct)
    for number, sample in enumerate(samples.astype(correct.dtype), start=1):
        table = cells.assign(correct=sample)
        table.attrs = dict(cells.attrs) | {"reconstruction": number}
        yield table


def over_reconstructions(
    cells: pd.DataFrame, statistic: Callable[[pd.DataFrame], pd.DataFrame]
) -> pd.DataFrame:
    """Apply a statistic to the cells of every sampled reconstruction, and stack the results.

    The first column, ``reconstruction``, is the number of the sample.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cells = cl.load_cells(models="QwQ-32B")
    >>> formula = "correct ~ C(ratio_pct)"
    >>> compared = cl.over_reconstructions(cells, lambda table: cl.compare_fits(table, formula))
    >>> len(compared)
    24
    """
    cells = check_cells(cells)
    statistics = []
    for number, table in enumerate(each_reconstruction(cells), start=1):
        numbers = statistic(table)
        statistics.append(numbers.assign(reconstruction=number))
    stacked = pd.concat(statistics, ignore_index=True)
    stacked.insert(0, "reconstruction", stacked.pop("reconstruction"))
    return stacked


def from_printed_tables(cells: pd.DataFrame) -> pd.Series:
    """Return for each row whether its counts were reconstructed, by the column ``provenance``.

    Without that column, counts are taken as a reader's own.
    """
    if "provenance" not in cells:
        return pd.Series(False, cells.index)
    return cells["provenance"] == "reconstructed"


def as_given(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells marked (in ``.attrs``) so that regressions are fitted to them as given."""
    table = cells.copy(deep=False)
    table.attrs = dict(cells.attrs) | {"reconstruction": GIVEN}
    return table


def reconstructed_models(cells: pd.DataFrame) -> list[str]:
    """Return the models whose counts equal one committed table in all cells with answers.

    Models with scored answers never count as reconstructed, even if their counts agree.
    """
    if not {*KEYS, "total"} <= set(cells):
        return []
    rows = cells[cells["total"] > 0]
    if "provenance" in rows:
        rows = rows[rows["provenance"] != "scored"]
    rows = rows.reset_index(drop=True)
    committed = _join_committed(rows)
    same_total = (committed["total"] == rows["total"]).to_numpy()
    tables = committed.filter(regex=_TABLE)
    same_correct = tables.eq(rows["correct"], axis=0).to_numpy()
    models = []
    groups = rows.groupby("model", sort=False, observed=True)
    for model, places in groups.indices.items():
        agrees = same_correct[places].all(axis=0)  # with each table
        if same_total[places].all() and agrees.any():
            models.append(str(model))
    return models


def committed_counts(cells: pd.DataFrame) -> np.ndarray:
    """Return the correct answers of the 24 samples at each row, shape (24, rows).

    They are NaN if the paper has no such cell.
    """
    tables = _join_committed(cells).filter(regex=_TABLE)
    samples = tables.drop(columns=SMOOTH)
    return samples.to_numpy(float).T


def range_over(
    groups: DataFrameGroupBy,
    names: Sequence[str],
) -> pd.DataFrame:
    """Return the 10 and 90% quantiles of numbers over the samples of each group.

    The columns are ``NAME_p10`` and ``NAME_p90``.
    """
    ends = []
    for quantile in RANGE:
        end = groups[[*names]].quantile(quantile)
        ends.append(end.add_suffix(f"_p{100 * quantile:.0f}"))
    return pd.concat(ends, axis=1)


def mean_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with reconstructed models' correct answers averaged over the samples.

    A single sample carries the random error of one draw, which averaging over 24 nearly removes.
    """
    is_reconstructed = cells["model"].isin(reconstructed_models(cells))
    if not is_reconstructed.any():
        return cells
    mean = committed_counts(cells).mean(axis=0)
    return cells.assign(correct=np.where(is_reconstructed, mean, cells["correct"]))


def prediction_band(cells: pd.DataFrame, *levels: str) -> pd.DataFrame:
    """Return mean accuracy and prediction band of reconstructed models by some columns.

    The first of ``levels`` is "model". Lowest and highest (fractions) are the ends of a 1 -
    `published.ALPHA` prediction interval for one more sample (Student's t). Only cells with answers
    are used, in the samples too.
    """
    from scipy.stats import t  # takes a second, and tables are also read without it

    is_reconstructed = cells["model"].isin(reconstructed_models(cells))
    rows = cells[is_reconstructed & (cells["total"] > 0)]
    samples = pd.DataFrame(committed_counts(rows).T, index=rows.index)
    counts = pd.concat([rows[[*levels, "total"]], samples], axis=1)
    sums = counts.groupby(list(levels), observed=True).sum()
    total = sums.pop("total")
    size = sums.shape[1]
    mean = sums.mean(axis=1)
    standard_error = sums.std(axis=1) * np.sqrt(1 + 1 / size)
    reach = t.ppf(1 - ALPHA / 2, size - 1) * standard_error
    band = pd.DataFrame(
        {
            "mean": mean,
            "lowest": (mean - reach).clip(0),
            "highest": (mean + reach).clip(upper=total),
        }
    )
    return band.div(total, axis=0).reset_index()


@cache
def load_tables() -> pd.DataFrame:
    """Return the file of tables: `KEYS` and the correct answers of r0 (`SMOOTH`), r1, r2, ..."""
    return pd.read_csv(TABLES_FILE)


def _join_committed(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the committed tables and totals at each row, NaN if the paper has no such cell."""
    keys = cells[KEYS].reset_index(drop=True)
    if "perturbation" in cells:  # a perturbed puzzle is not the paper's
        is_plain = cells["perturbation"].fillna("").to_numpy() == ""
        keys["ratio_pct"] = keys["ratio_pct"].where(is_plain)
    keys = keys.astype(_LOAD_TYPES)
    return keys.merge(_load_committed(), on=KEYS, how="left")


@cache
def _load_committed() -> pd.DataFrame:
    cells = pd.read_csv(CELLS_FILE)
    totals = cells[[*KEYS, "total"]]
    tables = load_tables().merge(totals, on=KEYS)
    return tables.astype(_LOAD_TYPES)
