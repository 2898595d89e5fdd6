"""Columns of the tables that pass from one step to the next, and tables checked against them, on reading and writing.

Puzzles, outputs and scores are large and have the types of Arrow. Tables of numbers, which anybody may hand in or look
at, have a `Schema`: what each column holds and what must hold in a row (`check_frame`).
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import is_numeric_dtype

#: Where counts of answers come from: made from the printed tables, or counted from scored answers.
PROVENANCE = ("reconstructed", "scored")

#: Error buckets as the columns of Tables 4 and 5 abbreviate them (Appendix E).
ERRORS = ("ctx", "valid_logic", "poi_logic", "last_logic", "other")

#: How a printed number compares with the recomputed one; see `fidelity.ledger`.
KINDS = ("input", "constraint", "derived", "independent", "imputed")
#: The kinds of numbers that could have turned out otherwise.
TESTED = ("derived", "independent")
VERDICTS = ("exact", "unit", "within", "differs", "not_computable")

_STRING, _INT, _FLOAT = pa.string(), pa.int64(), pa.float64()

#: One row a puzzle: ratio_pct is nominal, in %; rho is needles / N; domain holds the asked category's values.
PUZZLES = pa.schema(
    {
        "name": _STRING,
        "N": _INT,
        "d": _INT,
        "ratio_pct": _FLOAT,
        "needles": _INT,
        "rho": _FLOAT,
        "puzzle_id": _INT,
    }
    | dict.fromkeys(("text", "poi", "category", "gold"), _STRING)
    | {"domain": pa.list_(_STRING)}
)

#: One row a response: name is the puzzle's, the token counts may be missing, and so may why the model stopped (a word
#: of `endings.STOPS`).
OUTPUTS = pa.schema(
    dict.fromkeys(("model", "name", "response"), _STRING)
    | {"prompt_tokens": _INT, "response_tokens": _INT, "stopped": _STRING}
)

#: One row a rejected row of a source: where it stands (row counts from 1; 0 is the file itself) and why; the model, if
#: only its puzzle is the trouble.
REJECTED = pa.schema(
    {"file": _STRING, "row": _INT, "reason": _STRING, "detail": _STRING, "model": _STRING}
)

#: One row a response: the bucket, and the window and answer that led to it; whether its reasoning is not closed, the
#: last sentence after it is right by itself, and says that the answer is not known.
SCORES = pa.schema(
    {"model": _STRING, "name": _STRING, "N": _INT, "d": _INT, "ratio_pct": _FLOAT, "rho": _FLOAT}
    | {"bucket": _STRING, "correct": pa.bool_(), "prompt_tokens": _INT, "response_tokens": _INT}
    | dict.fromkeys(("window", "answer", "stopped"), _STRING)
    | dict.fromkeys(("unclosed_trace", "answer_correct", "unsure"), pa.bool_())
)


class Column(NamedTuple):
    """What a column holds: anything, text, or whole or real numbers in a range.

    Numbers without a lower bound may be infinite; optional columns may be absent, cells with ``missing`` empty.
    """

    kind: str = "number"
    low: float = -math.inf
    high: float = math.inf
    optional: bool = False
    missing: bool = False

    @property
    def rule(self) -> str:
        """What a value should be, as the end of a complaint."""
        if self.kind == "text":
            return "no text"
        low = f" from {self.low:g}" if math.isfinite(self.low) else ""
        high = f" to {self.high:g}" if math.isfinite(self.high) else " on" if low else ""
        return f"not a {'whole ' * (self.kind == 'whole')}number{low}{high}"


class Schema(NamedTuple):
    """Columns by name, the key and rules (a complaint about the rows for which a test is false)."""

    columns: Mapping[str, Column]
    key: tuple[str, ...] = ()
    rules: Mapping[str, Callable[[pd.DataFrame], pd.Series]] = {}


_TEXT, _WORDS, _COUNT = Column("text"), Column("text", missing=True), Column("whole", low=0)
_ANY = Column(missing=True)
_TOKENS = dict.fromkeys(
    ("prompt_mean", "prompt_p90", "output_mean", "output_p90"), Column(low=0, missing=True)
)


def _is_ratio(cells: pd.DataFrame) -> pd.Series:
    """Needles are whole statements, and rho may be given as two digits."""
    return (cells["rho"] - cells["ratio_pct"] / 100).abs() <= np.maximum(
        1 / cells["N"], 0.01
    ) + 1e-9


def _has_provenance(cells: pd.DataFrame) -> pd.Series:
    """Return whether each row says where its counts come from; a reader's table may leave that out."""
    if "provenance" not in cells:
        return pd.Series(True, cells.index)
    return cells["provenance"].isin(PROVENANCE)


#: One row per model and configuration: N (statements), d, ratio_pct (nominal, %), needles, rho (actual, fraction),
#: total (answers), correct, the five kinds of wrong answers, tokens (mean and 90th percentile; of
#: reconstructed counts the printed ones of their N and d), how the prompts were perturbed, empty
#: where they were not, and where the counts come from, a word of `PROVENANCE`.
CELLS = Schema(
    {
        "model": _TEXT,
        "N": Column("whole", low=1),
        "d": Column(low=0),
        "ratio_pct": Column(low=0, high=100),
        "needles": _COUNT._replace(optional=True),
        "rho": Column(low=0, high=1),
        "total": _COUNT,
        "correct": _COUNT,
        **dict.fromkeys(ERRORS, _COUNT._replace(optional=True)),
        **{name: column._replace(optional=True) for name, column in _TOKENS.items()},
        "perturbation": Column("text", optional=True, missing=True),
        "provenance": Column("text", optional=True),
    },
    ("model", "N", "d", "ratio_pct", "perturbation"),
    {
        "has more correct and wrong answers than its total": lambda cells: (
            cells["correct"] + cells.filter(ERRORS).sum(axis=1) <= cells["total"]
        ),
        "has rho and ratio_pct that contradict each other": _is_ratio,
        f"has a provenance other than {' and '.join(PROVENANCE)}": _has_provenance,
    },
)


def _fits(*numbers: str) -> Schema:
    """Return the schema of a table of fits, one row per model; numbers are missing unless status is "ok"."""
    return Schema({"model": _TEXT, **dict.fromkeys(numbers, _ANY), "status": _TEXT}, ("model",))


_TERMS, _PRODUCTS = ("0", "d", "N", "rho", "rho2"), ("dN", "drho", "Nrho", "dNrho")
#: Tables 2, 3 and 6 as numbers, one row per model: coefficients (log-odds), standard errors, p-values; capacity points
#: (statements, fraction, units of d); AIC; total (answers); status ("ok", or why there is no fit).
GLM = _fits(
    *(f"{kind}_{term}" for kind in ("beta", "se", "p") for term in _TERMS),
    *("ecl50", "nt50", "id50", "aic", "loglik", "total"),
)
INTERACTIONS = _fits(*(f"{kind}_{term}" for term in _PRODUCTS for kind in ("beta", "p")))
AIC = _fits("p_lr", "aic_linear", "aic_quadratic")

#: Tables 7 to 10 as numbers: tokens by model, N and d.
TOKENS = Schema(
    {"model": _TEXT, "N": Column("whole", low=1), "d": Column("whole", low=1), **_TOKENS},
    ("model", "N", "d"),
)

#: The frames of a build, by the names of their files.
FRAMES = {"cells": CELLS, "glm": GLM, "interactions": INTERACTIONS, "aic": AIC, "tokens": TOKENS}

#: Columns of one row a printed number or statement: see `fidelity.ledger.compare`. kind is of
#: `KINDS`, evidence identified, bounded, not identified or empty, verdict of `VERDICTS` (empty for
#: imputed numbers); what is not computable has a reason.
FIDELITY = (
    *(
        "table",
        "model",
        "quantity",
        "condition",
        "kind",
        "evidence",
        "published",
        "recomputed",
        "shown",
        "verdict",
    ),
    "reason",
)


def read_frame(path: str | Path, schema: Schema, remedy: str) -> pd.DataFrame:
    """Read a table from a Parquet (by its ending) or CSV file and check it, see `check_frame`."""
    path, texts = (
        Path(path),
        [name for name, column in schema.columns.items() if column.kind == "text"],
    )
    try:
        if path.suffix == ".parquet":
            frame = pd.read_parquet(path)
        else:  # a model may be called nan, or 007
            frame = pd.read_csv(
                path, dtype=dict.fromkeys(texts, str), keep_default_na=False, na_values=[""]
            )
    except FileNotFoundError:
        raise ValueError(f"{path} is missing; {remedy}") from None
    except (ValueError, OSError) as error:  # pyarrow's and pandas' own are ValueErrors
        raise ValueError(
            f"{path} cannot be read ({(str(error).splitlines() or [''])[0]}); remove it and {remedy}"
        ) from None
    if not isinstance(frame.index, pd.RangeIndex):
        raise ValueError(f"{path}: row 1 has more fields than the header; {remedy}")
    return check_frame(frame, schema, str(path), remedy)


def check_frame(frame: pd.DataFrame, schema: Schema, label: str, remedy: str) -> pd.DataFrame:
    """Return a table with its columns as the numbers and words that they should be.

    A ValueError names absent columns, or the first fault with its row (from 1, without the header), model and rule;
    ``label`` is what the table is called in it, ``remedy`` what to do.
    """
    if absent := [
        name for name, column in schema.columns.items() if not column.optional and name not in frame
    ]:
        raise ValueError(f"{label} has no column {', '.join(absent)}; {remedy}")
    checked, faults = frame.copy(), []
    for name in frame:
        column = schema.columns.get(name, Column("anything"))
        checked[name], wrong = _convert(frame[name], column)
        values = frame[name].tolist() if wrong.any() else []
        faults += [
            (row, f"has {name} {values[row]!r:.80}, {column.rule}") for row in np.flatnonzero(wrong)
        ]
    if not faults:  # the rules compare numbers
        for complaint, holds in schema.rules.items():
            faults += [(row, complaint) for row in np.flatnonzero(~holds(checked))]
    if key := [name for name in schema.key if name in frame]:
        faults += [(row, "is there before") for row in np.flatnonzero(frame.duplicated(key))]
    if faults:
        row, what = min(faults, key=lambda fault: fault[0])
        model = frame["model"].iloc[row] if "model" in frame else ""
        more = f", and {len(faults) - 1:,} faults more" if len(faults) > 1 else ""
        raise ValueError(f"{label}: row {row + 1} ({str(model)[:80]}) {what}{more}; {remedy}")
    return checked


#: How programs write a missing value, in small letters.
_MISSING = ("", "nan", "na", "n/a", "<na>", "null", "none")


def _is_missing(values: pd.Series) -> np.ndarray:
    words = values.astype(str).str.strip().str.lower()
    return (values.isna() | words.isin(_MISSING)).to_numpy(bool)


def _convert(values: pd.Series, column: Column) -> tuple[pd.Series, np.ndarray]:
    """Return a column as its kind has it, and which of its values are wrong."""
    if column.kind == "anything":
        return values, np.zeros(len(values), bool)
    if column.kind == "text":
        if column.missing:
            return values.astype(str).where(~_is_missing(values), ""), np.zeros(len(values), bool)
        empty = (values.isna() | (values == "")).to_numpy(bool)  # a model may be called NaN
        return values.astype(str).where(~empty, ""), empty
    numbers = values if is_numeric_dtype(values) else pd.to_numeric(values, errors="coerce")
    array = numbers.to_numpy(float, na_value=np.nan)
    empty = _is_missing(values) if np.isnan(array).any() else np.zeros(len(array), bool)
    fits = (
        (array >= column.low)
        & (array <= column.high)
        & ~(np.isinf(array) & np.isfinite(column.low))
    )
    if column.kind == "whole":
        fits &= array == np.round(array)
        numbers = numbers.astype("int64") if fits.all() else numbers
    return numbers, ~fits & ~(empty & column.missing)
