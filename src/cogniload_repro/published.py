"""The numbers that the paper prints, as typed frames.

The CSV files under ``data/published`` keep every number as the string that is printed, because a
reproduction is compared at the printed precision. `load_printed` returns those strings,
`load_table` numbers.
"""

import re
from functools import cache
from pathlib import Path

import pandas as pd

from cogniload_repro.paths import ICLR2026, PUBLISHED
from cogniload_repro.storage import ERRORS

#: The levels of the paper's stars (Tables 2 and 3).
STAR_LEVELS = (0.05, 0.01, 0.001)
#: The level at which the paper calls an effect significant.
STARRED = STAR_LEVELS[0]

#: The level of our own tests, and the confidence of our intervals in words.
ALPHA = 0.05
CONFIDENCE = f"{100 * (1 - ALPHA):g}%"

#: Error probability of intervals for accuracies: two-sided 90%, z = 1.644853627 (Appendix C).
INTERVAL_ALPHA = 0.10

#: The table of token lengths for each number of statements.
TOKEN_TABLES = {20: "table7", 50: "table8", 100: "table9", 250: "table10"}

#: The largest difference in accuracy that passes for "no difference" in the prose: the largest
#: standard error of a difference of two accuracies of 200 puzzles each, sqrt(2 * 0.25 / 200); the
#: models so described answered 200 puzzles at each ratio.
ABOUT_NONE = 0.05

#: The published tables, those of the paper and of the authors' results page (19 of its 31 rows):
#: file, and the columns that identify a row besides the model.
TABLES = {
    "table2": (ICLR2026 / "table2_glm.csv", ()),
    "table3": (ICLR2026 / "table3_interactions.csv", ()),
    "table4": (ICLR2026 / "table4_errors_by_d.csv", ("d",)),
    "table5": (ICLR2026 / "table5_errors_by_N.csv", ("N",)),
    "table6": (ICLR2026 / "table6_aic.csv", ()),
    "tokens": (ICLR2026 / "tables7_10_tokens.csv", ("N", "d")),
    "results_page": (PUBLISHED / "authors_site" / "results.csv", ()),
}
_TEXTS = re.compile(r"model|developer|in_paper|printed_model|flag|raw|.*_stars")


def _read_texts(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def load_printed(table: str) -> pd.DataFrame:
    """Return a published table (a key of `TABLES`) with every number as the printed string.

    Rows are in printed order; a string is empty where nothing is printed or legible.
    """
    return _read_texts(TABLES[table][0])


def load_table(table: str) -> pd.DataFrame:
    """Return a published table as numbers; what is not printed is NaN. See `load_printed`."""
    return _load_numbers(table).copy()


@cache
def _load_numbers(table: str) -> pd.DataFrame:
    frame = load_printed(table)
    for name in frame:
        if not _TEXTS.fullmatch(name):
            frame[name] = pd.to_numeric(frame[name])
    return frame


def load_claims() -> pd.DataFrame:
    """Return the numbers stated in the paper's prose, one per row, all columns as text."""
    return _read_texts(ICLR2026 / "claims.csv")


def load_conclusions() -> pd.DataFrame:
    """Return what the paper concludes, one row per conclusion, as text.

    name, location, title, statement (verbatim), evidence (identified, bounded, searched or
    published: the basis of the chapter that judges it) and caveat (the authors' own, or "").
    """
    return _read_texts(ICLR2026 / "conclusions.csv")


def load_contradictions() -> pd.DataFrame:
    """Return the passages of the paper that contradict each other or one of its tables, as pairs.

    list is contradiction (a conclusion or citable number changes) or slip; affects is main result,
    citable number or wording; passages are verbatim; finding is what the tables say; conclusion is
    the name of the conclusion that a main result affects, else "".
    """
    frame = _read_texts(ICLR2026 / "contradictions.csv")
    return frame.astype({"number": "int64"})


def load_facts() -> pd.DataFrame:
    """Return each model's size, as stated by its makers: parameters_billion (or NaN), source."""
    facts = _read_texts(PUBLISHED / "model_facts.csv")
    facts["parameters_billion"] = pd.to_numeric(facts["parameters_billion"])
    return facts


@cache
def correct_by(table: str) -> pd.DataFrame:
    """Return correct answers by model and d (Table 4) or N (Table 5): samples minus all errors."""
    frame = load_table(table)
    (level,) = TABLES[table][1]
    errors = frame[list(ERRORS)].sum(axis=1)
    counts = frame[["model", level, "samples"]]
    return counts.assign(correct=frame["samples"] - errors)
