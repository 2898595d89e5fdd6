"""What a cells frame (`schemas.CELLS`) says as it stands: accuracy with intervals, error counts, coverage."""

import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from cogniload_repro.models import order_models
from cogniload_repro.published import ERRORS, INTERVAL_ALPHA
from cogniload_repro.statistics.design import GRID

_CELL = ("N", "ratio_pct", "d")


def accuracy_by(cells: pd.DataFrame, *dims: str) -> pd.DataFrame:
    """Pool the puzzles of a cells frame over everything but the named columns.

    Returns one row per combination that has puzzles, models in printed order and numbers ascending: the columns, total
    and correct (puzzles), accuracy (fraction), low and high (90% Wilson interval; paper, Appendix C).
    """
    counts = _sum_by(cells, dims, ["total", "correct"]).query("total > 0").reset_index(drop=True)
    low, high = proportion_confint(counts["correct"], counts["total"], alpha=INTERVAL_ALPHA, method="wilson")
    return counts.assign(accuracy=counts["correct"] / counts["total"], low=low, high=high)


def errors_by(cells: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Return Tables 4 and 5: samples, acc_pct (accuracy in %) and errors of each type by model and one dimension."""
    counts = _sum_by(cells, ("model", dimension), ["total", "correct", *ERRORS]).query("total > 0")
    acc_pct = [percent(correct, n) for correct, n in zip(counts["correct"], counts["total"], strict=True)]
    frame = counts.rename(columns={"total": "samples"}).assign(acc_pct=acc_pct)
    return frame[["model", dimension, "samples", "acc_pct", *ERRORS]].reset_index(drop=True)


def percent(correct: int, n: int) -> int:
    """Return an accuracy in whole percent, halves to even as in Tables 4 and 5; whole numbers decide ties."""
    whole, rest = divmod(100 * int(correct), int(n))
    return whole + (2 * rest > n or (2 * rest == n and whole % 2 == 1))


def coverage(cells: pd.DataFrame) -> tuple[int, int]:
    """Return the fewest and the most cells of the paper's grid that a model of the frame has puzzles in."""
    covered = cells[cells["total"] > 0].merge(GRID[[*_CELL]]).drop_duplicates(["model", *_CELL])
    per_model = covered["model"].value_counts().reindex(cells["model"].unique(), fill_value=0)
    return (0, 0) if per_model.empty else (int(per_model.min()), int(per_model.max()))


def _sum_by(cells: pd.DataFrame, dims: tuple[str, ...], columns: list[str]) -> pd.DataFrame:
    unknown = [name for name in (*dims, *columns) if name not in cells.columns]
    if unknown or not dims:
        what = f"have no column {', '.join(unknown)}" if unknown else "were given no column to group by"
        raise ValueError(f"the cells {what}; name some of: {', '.join(map(str, cells.columns))}")
    sums = cells.groupby(list(dims), as_index=False, sort=True)[columns].sum()
    if "model" not in dims:
        return sums
    rank = {model: place for place, model in enumerate(order_models(sums["model"]))}
    return sums.sort_values("model", key=lambda names: names.map(rank), kind="stable", ignore_index=True)
