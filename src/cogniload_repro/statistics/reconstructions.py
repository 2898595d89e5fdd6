"""The committed reconstructions: many tables of counts, each in agreement with everything the paper prints.

No single table is the authors' data. What all tables share is *identified* by the paper; everything else is stated as
median and 10 to 90% range of 24 sampled tables. Such a range is one of these samples: it bounds nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
import pandas as pd
from pandas.api.typing import DataFrameGroupBy

from cogniload_repro.files import RECONSTRUCTED
from cogniload_repro.statistics.checks import check_cells

#: The committed tables, r0 to r24.
TABLES_FILE = RECONSTRUCTED / "reconstructions.csv"
#: The table that was drawn around a smooth response: an example, in no range or count. The others depart as data do.
SMOOTH = "r0"
#: Quantiles over the samples between which a number's range lies.
RANGE = (0.1, 0.9)
KEYS = ["model", "N", "d", "ratio_pct"]
#: In place of a table's number: counts as they are given.
GIVEN = -1
_TABLE = r"^r\d+$"


def each_reconstruction(cells: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the cells once per sampled reconstruction; only once if no model is reconstructed.

    Models with outputs of their own keep their counts. ``.attrs["reconstruction"]`` is the table's number, 1 to 24.
    """
    known = (cells["model"].isin(reconstructed_models(cells)) & (cells["total"] > 0)).to_numpy()
    own = cells["correct"].to_numpy()
    counts = (
        np.where(known, committed_counts(cells), own).astype(own.dtype)
        if known.any()
        else own[None]
    )
    for number, correct in enumerate(counts, start=1):
        table = cells.assign(correct=correct)
        table.attrs = dict(cells.attrs) | {"reconstruction": number}
        yield table


def over_reconstructions(
    cells: pd.DataFrame, statistic: Callable[[pd.DataFrame], pd.DataFrame]
) -> pd.DataFrame:
    """Return ``statistic(cells)`` for every sampled reconstruction, stacked, with a first column ``reconstruction``.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cells = cl.load_cells(models="QwQ-32B")
    >>> better = cl.over_reconstructions(cells, lambda table: cl.compare_fits(table, "correct ~ C(ratio_pct)"))
    >>> len(better)
    24
    """
    tables = enumerate(each_reconstruction(check_cells(cells)), start=1)
    stacked = pd.concat(
        [statistic(table).assign(reconstruction=number) for number, table in tables],
        ignore_index=True,
    )
    stacked.insert(0, "reconstruction", stacked.pop("reconstruction"))
    return stacked


def from_printed_tables(cells: pd.DataFrame) -> pd.Series:
    """Return for each row whether its counts were reconstructed, by the column ``provenance``.

    A table without the column is a reader's own.
    """
    if "provenance" not in cells:
        return pd.Series(False, cells.index)
    return cells["provenance"] == "reconstructed"


def as_given(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells marked so that regressions are fitted to these counts alone, identified or not."""
    table = cells.copy(deep=False)
    table.attrs = dict(cells.attrs) | {"reconstruction": GIVEN}
    return table


def reconstructed_models(cells: pd.DataFrame) -> list[str]:
    """Return the models whose counts are, wherever there are answers, those of one of the committed tables.

    Counts of scored answers are none, whatever they are.
    """
    if not {*KEYS, "total"} <= set(cells):
        return []
    rows = cells.reset_index(drop=True)
    if "provenance" in rows:
        rows = rows[rows["provenance"] != "scored"].reset_index(drop=True)
    tables, covered = _join(rows), rows["total"].to_numpy() > 0
    counts, committed_total = (
        tables.filter(regex=_TABLE).to_numpy(float).T,
        tables["total"].to_numpy(),
    )
    found = []
    for model, places in rows.groupby("model", sort=False, observed=True).indices.items():
        places = places[covered[places]]
        same_total = committed_total[places] == rows["total"].to_numpy()[places]
        same = counts[:, places] == rows["correct"].to_numpy()[places]
        if len(places) and same_total.all() and same.all(axis=1).any():
            found.append(str(model))
    return found


def committed_counts(cells: pd.DataFrame) -> np.ndarray:
    """Return correct answers of the 24 samples at each row, shape (24, rows); NaN where the paper has no such cell."""
    return _join(cells).filter(regex=_TABLE).drop(columns=SMOOTH).to_numpy(float).T


def range_over(groups: DataFrameGroupBy, names: Sequence[str]) -> pd.DataFrame:
    """Return the ends of the range of numbers over grouped samples, in columns ``NAME_p10`` and ``NAME_p90``."""
    return pd.concat(
        [groups[[*names]].quantile(at).add_suffix(f"_p{100 * at:.0f}") for at in RANGE], axis=1
    )


@cache
def load_tables() -> pd.DataFrame:
    """Return the file of tables: `KEYS` and the correct answers of each table, r0 (`SMOOTH`), r1, ..."""
    return pd.read_csv(TABLES_FILE)


def _join(cells: pd.DataFrame) -> pd.DataFrame:
    keyed = cells[KEYS].reset_index(drop=True)
    if "perturbation" in cells:  # a perturbed text is another question
        keyed["ratio_pct"] = keyed["ratio_pct"].where(
            cells["perturbation"].fillna("").to_numpy() == ""
        )
    keyed[KEYS[1:]] = keyed[KEYS[1:]].astype(float)
    return keyed.merge(_committed(), on=KEYS, how="left")


@cache
def _committed() -> pd.DataFrame:
    tables = load_tables().merge(
        pd.read_csv(RECONSTRUCTED / "cells.csv")[[*KEYS, "total"]], on=KEYS
    )
    return tables.astype(dict.fromkeys(KEYS[1:], float))
