"""The numbers that the paper prints, as typed frames.

The CSV files under ``data/published`` keep every number as the string that is printed, because the printed
precision is what a reproduction is held against. `load_printed` returns those strings, `load_table` numbers.
"""

from functools import cache
from math import prod
from pathlib import Path

import pandas as pd

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import NAMES
from cogniload_repro.storage import ICLR2026

#: Error buckets as the columns of Tables 4 and 5 abbreviate them (Appendix E).
ERRORS = ("ctx", "valid_logic", "poi_logic", "last_logic", "other")

#: The levels of the paper's stars (Tables 2 and 3). The first is the one at which it calls an effect significant.
STAR_LEVELS = (0.05, 0.01, 0.001)
ALPHA = STAR_LEVELS[0]

#: Intervals of accuracies miss with this probability: two-sided 90%, z = 1.644853627 (Appendix C).
INTERVAL_ALPHA = 0.10

#: Tables 7 to 10, one a task length.
TOKEN_TABLES = {N: f"table{number}" for number, N in enumerate(sorted({cell.N for cell in PAPER_GRID}), start=7)}

#: An accuracy difference that the prose calls none: less than the largest standard error that the difference of two
#: accuracies of 200 puzzles each can have, sqrt(2 * 0.25 / 200). The models so described have 200 a ratio.
ABOUT_NONE = 0.05

_BETAS = tuple(f"beta_{term}" for term in ("0", "d", "N", "rho", "rho2"))
_INTERACTIONS = tuple(f"{kind}_{term}" for term in ("dN", "drho", "Nrho", "dNrho") for kind in ("beta", "p"))

#: For every table: its file, its key columns, its whole-number columns, its real-number columns, its text columns.
TABLES = {
    "table2": (
        "table2_glm.csv", ("model",), (), (*_BETAS, "ecl50", "nt50", "id50"),
        tuple(f"{beta}_stars" for beta in _BETAS),
    ),
    "table3": (
        "table3_interactions.csv", ("model",), (), _INTERACTIONS,
        tuple(f"{p}_stars" for p in _INTERACTIONS if p.startswith("p_")),
    ),
    "table4": ("table4_errors_by_d.csv", ("model", "d"), ("samples", "acc_pct", *ERRORS), (), ()),
    "table5": ("table5_errors_by_N.csv", ("model", "N"), ("samples", "acc_pct", *ERRORS), (), ()),
    "table6": ("table6_aic.csv", ("model",), (), ("p_lr", "aic_linear", "aic_quadratic"), ()),
    "tokens": (
        "tables7_10_tokens.csv", ("model", "N", "d"), (),
        ("prompt_mean", "prompt_p90", "output_mean", "output_p90"), ("flag", "raw", "printed_model"),
    ),
}  # fmt: skip

_CLAIMS = ("id", "location", "claim", "model", "quantity", "condition", "value", "check")
_CONCLUSIONS = ("claims", "location", "statement", "rule")


def load_printed(table: str, folder: Path = ICLR2026) -> pd.DataFrame:
    """Return a published table with every number as the printed string.

    Parameters
    ----------
    table : str
        A key of `TABLES`: table2, table3, table4, table5, table6 or tokens (Tables 7 to 10).
    folder : Path
        Folder of the CSV files.

    Returns
    -------
    DataFrame
        In printed order; an empty string where nothing is printed or legible.

    Raises
    ------
    ValueError
        If the file is missing or malformed; the message names the file, the row and the remedy.
    """
    name, keys, whole, real, text = TABLES[table]
    path = Path(folder) / name
    frame = _read_csv(path)
    _require(set(keys + whole + real + text) <= set(frame.columns), path, "header",
             f"must have the columns {', '.join(keys + whole + real + text)}")  # fmt: skip
    for model in frame["model"].unique():
        row = int(frame.index[frame["model"] == model][0]) + 2
        _require(model in NAMES, path, f"row {row}", f"names the unknown model {model!r}")
    repeated = frame.duplicated(list(keys))
    if repeated.any():
        row = int(repeated.idxmax()) + 2
        _require(False, path, f"row {row}", f"repeats the key {tuple(frame.loc[row - 2, list(keys)])}")
    optional = ("nt50", *TABLES["tokens"][3])
    for column in (*keys[1:], *whole, *real):
        numbers = pd.to_numeric(frame[column].replace("", None), errors="coerce")
        bad = numbers.isna() & ~((frame[column] == "") & (column in optional))
        if column in (*keys[1:], *whole):
            bad |= (numbers % 1 != 0) | (numbers < 0)
        if bad.any():
            row = int(bad.idxmax())
            _require(False, path, f"row {row + 2}", f"has {frame[column][row]!r} in column {column}, not a number")
    rows = len(NAMES) * prod(frame[key].nunique() for key in keys[1:])
    _require(len(frame) == rows > 0, path, f"has {len(frame)} rows;", f"{rows} make it complete")
    return frame


def load_table(table: str, folder: Path = ICLR2026) -> pd.DataFrame:
    """Return a published table as numbers; what is not printed is NaN. See `load_printed`."""
    return _load_numbers(table, folder).copy()


@cache
def _load_numbers(table: str, folder: Path) -> pd.DataFrame:
    _, keys, whole, real, _ = TABLES[table]
    frame = load_printed(table, folder)
    integers = (*keys[1:], *whole)
    for column in (*integers, *real):
        frame[column] = pd.to_numeric(frame[column].replace("", None))
    return frame.astype(dict.fromkeys(integers, "int64") | dict.fromkeys(real, "float64"))


def load_claims(folder: Path = ICLR2026) -> pd.DataFrame:
    """Return the numbers stated in the paper's prose, one a row, all columns as text."""
    path = Path(folder) / "claims.csv"
    frame = _read_csv(path)
    _require(tuple(frame.columns) == _CLAIMS, path, "header", f"must be {','.join(_CLAIMS)}")
    repeated = frame["id"].duplicated()
    if repeated.any():
        _require(
            False,
            path,
            f"row {int(repeated.idxmax()) + 2}",
            f"repeats the id {frame['id'][repeated.idxmax()]}",
        )
    return frame


def load_conclusions(folder: Path = ICLR2026) -> pd.DataFrame:
    """Return what the paper concludes.

    Returns
    -------
    DataFrame
        One row a conclusion, as text: claims (ids in ``claims.csv`` of the numbers behind it, separated by blanks),
        location, statement (in which ``{C075}`` has become what that claim states), rule (what judges it, a key of
        `conclusions.RULES`).
    """
    path = Path(folder) / "conclusions.csv"
    frame = _read_csv(path)
    _require(tuple(frame.columns) == _CONCLUSIONS, path, "header", f"must be {','.join(_CONCLUSIONS)}")
    stated = load_claims(folder).set_index("id")["value"].str.lstrip(">").str.replace("-", " to ").to_dict()
    return frame.assign(statement=[statement.format(**stated) for statement in frame["statement"]])


def correct_by(table: str) -> pd.DataFrame:
    """Return samples and correct answers per row of Table 4 or 5: correct = samples - all errors.

    Returns
    -------
    DataFrame
        Columns model, d or N, samples, correct.
    """
    frame = load_table(table)
    key = TABLES[table][1][1]
    correct = frame["samples"] - frame[list(ERRORS)].sum(axis=1)
    return frame[["model", key, "samples"]].assign(correct=correct)


def _read_csv(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, skip_blank_lines=False)
    except FileNotFoundError:
        raise ValueError(f"{path}: missing; restore it with `git checkout -- data/published`") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        reason = str(error).strip()
        raise ValueError(f"{path}: not a readable CSV file ({reason}); restore it with git") from None
    _require(isinstance(frame.index, pd.RangeIndex), path, "row 2", "has more fields than the header")
    return frame


def _require(condition: bool, path: Path, place: str, rule: str) -> None:
    if not condition:
        raise ValueError(f"{path}: {place} {rule}; restore the file with `git checkout -- data/published`")
