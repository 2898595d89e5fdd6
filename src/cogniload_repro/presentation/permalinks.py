"""Every printed number of the paper's tables beside the recomputed one, for the link that each of them has."""

from pathlib import Path
from typing import Any

import pandas as pd

from cogniload_repro.formats import format_name

#: Tables in which a model has several rows, and the load that tells them apart.
_LEVELS = {"table4": "d", "table5": "N"}


def numbers_data(build: str | Path) -> dict[str, Any]:
    """Return the comparison with the paper by table, row and column, ready for JSON.

    Returns
    -------
    dict
        levels (see `_LEVELS`), columns (of each table, in printed order) and rows: by table, row ("QwQ-32B", or
        "QwQ-32B d=3") and column the numbers there, each as quantity, printed, recomputed, kind, verdict and reason.
    """
    checks = pd.read_parquet(Path(build) / "fidelity.parquet")
    rows: dict[str, dict[str, dict[str, list]]] = {}
    columns: dict[str, dict[str, None]] = {}
    for one in checks[checks["table"] != "prose"].itertuples():
        level = one.condition.split()[-1] if one.condition else ""
        own_row = f"{format_name(one.model)} {level}" if one.table in _LEVELS else format_name(one.model)
        column = level if level and one.table not in _LEVELS else one.quantity.removesuffix(" stars")
        columns.setdefault(one.table, {})[column] = None
        entry = [one.quantity, one.published, one.shown, one.kind, one.verdict, one.reason]
        rows.setdefault(one.table, {}).setdefault(own_row, {}).setdefault(column, []).append(entry)
    return {
        "levels": _LEVELS,
        "columns": {table: list(names) for table, names in columns.items()},
        "rows": rows,
    }
