"""The numbers that the paper prints, as typed frames.

The CSV files under ``data/published`` keep every number as the string that is printed, because the printed
precision is what a reproduction is compared with. `load_printed` returns those strings, `load_table` numbers.
"""

from functools import cache
from math import prod
from pathlib import Path

import pandas as pd

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import NAMES
from cogniload_repro.schemas import ERRORS, Column, Schema, check_frame, read_frame
from cogniload_repro.storage import ICLR2026, PUBLISHED

#: The levels of the paper's stars (Tables 2 and 3), and the one at which it calls an effect significant.
STAR_LEVELS = (0.05, 0.01, 0.001)
STARRED = STAR_LEVELS[0]

#: The level of our own tests; our intervals have `CONFIDENCE`, such as "95%".
ALPHA = 0.05
CONFIDENCE = f"{100 * (1 - ALPHA):g}%"

#: Intervals of accuracies miss with this probability: two-sided 90%, z = 1.644853627 (Appendix C).
INTERVAL_ALPHA = 0.10

#: Tables 7 to 10, one a task length.
TOKEN_TABLES = {N: f"table{number}" for number, N in enumerate(sorted({cell.N for cell in PAPER_GRID}), start=7)}

#: An accuracy difference that the prose calls none: at most the largest standard error that the difference of two
#: accuracies of 200 puzzles each can have, sqrt(2 * 0.25 / 200). The models so described have 200 a ratio.
ABOUT_NONE = 0.05

_NAME, _COUNT, _NUMBER = Column("text", words=NAMES), Column("whole", low=0), Column()
_MAYBE, _WORDS = Column(missing=True), Column("text", missing=True)
_STARS = _WORDS._replace(words=("*", "**", "***"))
_BETAS = tuple(f"beta_{term}" for term in ("0", "d", "N", "rho", "rho2"))
_PRODUCTS = ("dN", "drho", "Nrho", "dNrho")
_TOKENS = ("prompt_mean", "prompt_p90", "output_mean", "output_p90")
_ERROR_COLUMNS = dict.fromkeys(("samples", "acc_pct", *ERRORS), _COUNT)


def _printed(file: str, numbers: dict[str, Column], *levels: str) -> tuple[str, Schema]:
    """Return the file of a table with one row per model, or a model and levels, and what its columns hold."""
    columns = {"model": _NAME, **dict.fromkeys(levels, _COUNT), **numbers}
    return file, Schema(columns, ("model", *levels))


#: The published tables: file and schema.
TABLES = {
    "table2": _printed(
        "table2_glm.csv",
        dict.fromkeys(_BETAS, _NUMBER)
        | {"ecl50": _NUMBER, "nt50": _MAYBE, "id50": _NUMBER}
        | {f"{beta}_stars": _STARS for beta in _BETAS},
    ),
    "table3": _printed(
        "table3_interactions.csv",
        {f"{kind}_{term}": _NUMBER for term in _PRODUCTS for kind in ("beta", "p")}
        | {f"p_{term}_stars": _STARS for term in _PRODUCTS},
    ),
    "table4": _printed("table4_errors_by_d.csv", _ERROR_COLUMNS, "d"),
    "table5": _printed("table5_errors_by_N.csv", _ERROR_COLUMNS, "N"),
    "table6": _printed("table6_aic.csv", dict.fromkeys(("p_lr", "aic_linear", "aic_quadratic"), _NUMBER)),
    "tokens": _printed(
        "tables7_10_tokens.csv",
        dict.fromkeys(_TOKENS, _MAYBE) | dict.fromkeys(("flag", "raw", "printed_model"), _WORDS),
        "N",
        "d",
    ),
}

_REMEDY = "restore the file with `git checkout -- data/published`"


def load_printed(table: str, folder: Path = ICLR2026) -> pd.DataFrame:
    """Return a published table (a key of `TABLES`) with every number as the printed string.

    Rows are in printed order; a string is empty where nothing is printed or legible.
    """
    file, schema = TABLES[table]
    path = Path(folder) / file
    frame = read_frame(path, schema, _REMEDY, as_text=True)
    rows = len(NAMES) * prod(frame[key].nunique() for key in schema.key[1:])
    if not len(frame) == rows > 0:
        raise ValueError(f"{path} has {len(frame)} rows; {rows} make it complete; {_REMEDY}")
    return frame


def load_table(table: str, folder: Path = ICLR2026) -> pd.DataFrame:
    """Return a published table as numbers; what is not printed is NaN. See `load_printed`."""
    return _load_numbers(table, folder).copy()


@cache
def _load_numbers(table: str, folder: Path) -> pd.DataFrame:
    return check_frame(load_printed(table, folder), TABLES[table][1], table, _REMEDY)


def _read_texts(path: Path, key: str, others: str) -> pd.DataFrame:
    """Read a file of texts with a key and other columns, both named between blanks."""
    schema = Schema(dict.fromkeys((*key.split(), *others.split()), _WORDS), tuple(key.split()))
    return read_frame(path, schema, _REMEDY, as_text=True)


def load_claims(folder: Path = ICLR2026) -> pd.DataFrame:
    """Return the numbers stated in the paper's prose, one a row, all columns as text."""
    return _read_texts(Path(folder) / "claims.csv", "id", "location claim model quantity condition value check")


def load_conclusions() -> pd.DataFrame:
    """Return what the paper concludes, one row per conclusion, as text.

    location, title, statement (verbatim), rule (a key of `conclusions.RULES`), kind of statement (each, most,
    interaction, absence, definition), evidence (identified, bounded, published), finding (with the names of numbers
    that the rule computes) and caveat (what the authors say to it themselves, or "").
    """
    return _read_texts(ICLR2026 / "conclusions.csv", "location rule", "title statement kind evidence finding caveat")


def load_contradictions() -> pd.DataFrame:
    """Return the statements of the paper that contradict each other or one of its tables, one row per pair of passages.

    list is contradiction (a conclusion or citable number changes) or slip; affects is main result, citable number or
    wording; passages are verbatim; finding is what the tables say, conclusion the rule whose verdict a main result
    affects, else "".
    """
    frame = _read_texts(
        ICLR2026 / "contradictions.csv",
        "number",
        "list title affects section_1 passage_1 section_2 passage_2 finding conclusion",
    )
    return frame.astype({"number": "int64"})


def load_facts() -> pd.DataFrame:
    """Return size and date of the models, by their makers: parameters_billion (NaN if unknown), released, source."""
    frame = _read_texts(PUBLISHED / "model_facts.csv", "model", "parameters_billion released source")
    sizes, days = frame["parameters_billion"], pd.to_datetime(frame["released"], format="%Y-%m-%d")
    return frame.assign(parameters_billion=pd.to_numeric(sizes), released=days)


@cache
def correct_by(table: str) -> pd.DataFrame:
    """Return model, d or N, samples and correct answers per row of Table 4 or 5: samples minus all errors."""
    frame = load_table(table)
    key = TABLES[table][1].key[1]
    correct = frame["samples"] - frame[list(ERRORS)].sum(axis=1)
    return frame[["model", key, "samples"]].assign(correct=correct)
