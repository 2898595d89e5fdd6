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

from cogniload_repro.paths import RECONSTRUCTED
from cogniload_repro.published import ALPHA
from cogniload_repro.regression.checks import check_cells

#: The committed tables, r0 to r24.
TABLES_FILE = RECONSTRUCTED / "reconstructions.csv"
#: The typical one of these tables as counts by cell (`reconstruction.reconstruct`).
CELLS_FILE = RECONSTRUCTED / "cells.csv"
#: The table drawn around a smooth response: an example, excluded from all ranges and counts. The
#: others depart from a smooth response as data do.
SMOOTH = "r0"
#: Quantiles over the samples that are reported as a number's range.
RANGE = (0.1, 0.9)
#: Columns that name a cell of a model.
KEYS = [
    "model",
    "N",
    "d",
    "ratio_pct",
]
_SAMPLE = r"^r[1-9]\d*$"
#: Types to which loads are converted before tables are merged.
_LOAD_TYPES = {"N": float, "d": float, "ratio_pct": float}


def each_reconstruction(cells: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the cells with the counts of each of the 24 sampled reconstructions.

    Models with scored answers keep their counts; if no model is reconstructed, the cells are
    yielded once.
    """
    correct = cells["correct"].to_numpy()
    is_reconstructed = have_samples(cells) & (cells["total"] > 0)
    samples = correct[None]
    if is_reconstructed.any():
        samples = np.where(is_reconstructed, committed_counts(cells), correct)
    for sample in samples.astype(correct.dtype):
        yield cells.assign(correct=sample)


def over_reconstructions(
    cells: pd.DataFrame,
    statistic: Callable[[pd.DataFrame], pd.DataFrame] = pd.DataFrame.copy,
) -> pd.DataFrame:
    """Apply a statistic to the cells of every sampled reconstruction, and stack the results.

    Without a statistic, the cells themselves are stacked. The first column, ``reconstruction``, is
    the number of the sample, from 1.

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
    statistics = [statistic(table) for table in each_reconstruction(cells)]
    numbers = range(1, len(statistics) + 1)
    stacked = pd.concat(statistics, keys=numbers, names=["reconstruction"])
    return stacked.reset_index("reconstruction").reset_index(drop=True)


def with_ranges(
    cells: pd.DataFrame,
    statistic: Callable[[pd.DataFrame], pd.DataFrame],
    keys: Sequence[str] = ("model", "term"),
) -> pd.DataFrame:
    """Apply a statistic to counts, and where it is not identified to every reconstruction.

    Parameters
    ----------
    cells : DataFrame
        As `load_cells` returns it.
    statistic : function
        Returns a table with the columns ``identified`` and ``model``, and for cells with a column
        ``reconstruction`` one for each of them, as `fit`, `capacity_points` and `compare_fits` do.
    keys : sequence of str
        The columns that name a row of that table; those that it lacks are left out.

    Returns
    -------
    DataFrame
        The table. In rows that are not identified, a number is the median over the reconstructions;
        all numbers have their 10 and 90% quantiles in ``NAME_p10`` and ``NAME_p90``. A number that
        only some of the reconstructions have, such as NT50, is the median over these.

    Raises
    ------
    ValueError
        If several rows of the table have the same keys.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cells = cl.load_cells(models="QwQ-32B")
    >>> formula = "correct ~ d + log10_N + rho + I(rho**2) + I(rho**3)"
    >>> fits = cl.with_ranges(cells, lambda table: cl.fit(table, formula))
    >>> fits[["term", "coef", "coef_p10", "coef_p90"]].tail(1).round(1)
              term  coef  coef_p10  coef_p90
    5  I(rho ** 3)  -0.1      -3.6       3.9
    """
    table = statistic(cells)
    names = [name for name in keys if name in table]
    table = table.set_index(names)
    if table.index.has_duplicates:
        raise ValueError(
            f"several rows have the same {' and '.join(names)}; name more keys"
        )
    numbers = table.select_dtypes("number").columns
    ends = [table[numbers].add_suffix(suffix) for suffix in ("_p10", "_p90")]
    table = pd.concat([table, *ends], axis=1)
    is_open = ~table["identified"].astype(bool)
    if not is_open.any():
        return table.reset_index()
    models = table.index.get_level_values("model")[is_open]
    open_cells = cells[cells["model"].isin(models)]
    samples = statistic(over_reconstructions(open_cells))
    groups = samples.groupby(names, sort=False)
    medians = groups[[*numbers]].median()
    medians = medians.join(range_over(groups, numbers))
    medians = medians.reindex(table.index)
    for name in medians:
        table[name] = table[name].mask(is_open, medians[name])
    return table.reset_index()


def from_printed_tables(cells: pd.DataFrame) -> pd.Series:
    """Return for each row whether its counts were reconstructed, by the column ``provenance``.

    Without that column, counts are taken as a reader's own.
    """
    if "provenance" not in cells:
        return pd.Series(False, cells.index)
    return cells["provenance"] == "reconstructed"


def have_samples(cells: pd.DataFrame) -> pd.Series:
    """Return for each row whether its counts were reconstructed and have committed samples."""
    is_reconstructed = from_printed_tables(cells)
    if not is_reconstructed.any():
        return is_reconstructed
    return is_reconstructed & np.isfinite(committed_counts(cells)).all(axis=0)


def committed_counts(cells: pd.DataFrame) -> np.ndarray:
    """Return the correct answers of the 24 samples at each row, shape (24, rows).

    They are NaN if the paper has no such cell.
    """
    samples = _join(cells).filter(regex=_SAMPLE)
    return samples.to_numpy(float).T


def committed_answers(cells: pd.DataFrame) -> np.ndarray:
    """Return the paper's number of answers at each row, NaN if the paper has no such cell."""
    return _join(cells)["total"].to_numpy(float)


def range_over(groups: DataFrameGroupBy, names: Sequence[str]) -> pd.DataFrame:
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
    mean = committed_counts(cells).mean(axis=0)
    correct = cells["correct"].where(~have_samples(cells), mean)
    return cells.assign(correct=correct)


def prediction_band(cells: pd.DataFrame, *levels: str) -> pd.DataFrame:
    """Return the prediction band of reconstructed models' accuracy by some columns.

    The first of ``levels`` is "model". Lowest and highest (fractions) are the ends of a 1 -
    `published.ALPHA` prediction interval for one more sample (Student's t). Only cells with answers
    are used, in the samples too.
    """
    from scipy.stats import t  # takes a second, and tables are also read without it

    rows = cells[have_samples(cells) & (cells["total"] > 0)]
    by_level = [rows[name] for name in levels]
    samples = pd.DataFrame(committed_counts(rows).T, index=rows.index)
    sums = samples.groupby(by_level, observed=True).sum()
    total = rows["total"].groupby(by_level, observed=True).sum()
    size = sums.shape[1]
    error = sums.std(axis=1) * np.sqrt(1 + 1 / size)
    quantile = t.ppf(1 - ALPHA / 2, size - 1)
    reach = quantile * error
    mean = sums.mean(axis=1)
    lowest = (mean - reach).clip(0)
    highest = (mean + reach).clip(upper=total)
    band = pd.DataFrame({"lowest": lowest, "highest": highest})
    return band.div(total, axis=0).reset_index()


@cache
def load_tables() -> pd.DataFrame:
    """Return the file of tables: `KEYS` and the correct answers of r0 (`SMOOTH`), r1, r2, ..."""
    return pd.read_csv(TABLES_FILE).astype(_LOAD_TYPES)


@cache
def _load_committed() -> pd.DataFrame:
    """Return the tables with the total of each cell."""
    answers = pd.read_csv(CELLS_FILE, usecols=[*KEYS, "total"])
    answers = answers.astype(_LOAD_TYPES)
    return load_tables().merge(answers, on=KEYS)


def _join(cells: pd.DataFrame) -> pd.DataFrame:
    """Return committed counts at each row, NaN if the paper has no such cell."""
    keys = cells[KEYS].reset_index(drop=True).astype(_LOAD_TYPES)
    return keys.merge(_load_committed(), on=KEYS, how="left")
