"""Data for the book's scripts: JSON that can stand anywhere in a page, and every printed number for its link."""

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd

from cogniload_repro.formats import format_name

#: What could end a script element, open a comment in one, or break a line of an old script.
_ESCAPED = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&`\u2028\u2029"}
#: Tables in which a model has several rows, and the load of each.
_LEVELS = {"table4": "d", "table5": "N"}


def write_json(value: Any) -> str:
    """Return a value as JSON on one line that cannot end the element it stands in; numbers that are none are null."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_ESCAPED)


def write_script(name: str, value: Any) -> str:
    """Return a script that leaves a value in ``cogniload.data.NAME``.

    A page that is opened from a disk may load scripts that lie beside it, and nothing else.
    """
    return f"(globalThis.cogniload ??= {{}}).data ??= {{}};\ncogniload.data.{name} = {write_json(value)};\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    if hasattr(value, "item"):  # a scalar of numpy
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def numbers_data(build: str | Path) -> dict[str, Any]:
    """Return the comparison with the paper by table, row and column.

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
