"""Columns of the tables that pass from one step to the next: the contracts of the files.

Puzzles, outputs and scores are large and have the types of Arrow. Tables of numbers, which anybody may hand in or look
at, have a `Schema` here: what each column holds and what must hold between columns (`frames.check_frame`).
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

#: Where data may come from: made from the printed tables, or read from files.
PROVENANCE = ("reconstructed", "imported")

#: Error buckets as the columns of Tables 4 and 5 abbreviate them (Appendix E).
ERRORS = ("ctx", "valid_logic", "poi_logic", "last_logic", "other")

#: How a printed number compares with the recomputed one; see `fidelity.ledger`.
KINDS = ("input", "constraint", "derived", "independent")
EVIDENCE = ("identified", "bounded", "not identified")
VERDICTS = ("exact", "unit", "within", "differs", "not_computable")

#: One row a puzzle: ratio_pct is nominal, in %; rho is needles / N; domain holds the asked category's values.
PUZZLES = pa.schema(
    {
        "name": pa.string(),
        "N": pa.int64(),
        "d": pa.int64(),
        "ratio_pct": pa.float64(),
        "needles": pa.int64(),
        "rho": pa.float64(),
        "puzzle_id": pa.int64(),
        "text": pa.string(),
        "poi": pa.string(),
        "category": pa.string(),
        "gold": pa.string(),
        "domain": pa.list_(pa.string()),
    }
)

#: One row a response: name is the puzzle's, the token counts may be missing, and so may why the model stopped (a word
#: of `endings.STOPS`).
OUTPUTS = pa.schema(
    {
        "model": pa.string(),
        "name": pa.string(),
        "response": pa.string(),
        "prompt_tokens": pa.int64(),
        "response_tokens": pa.int64(),
        "stopped": pa.string(),
    }
)

#: One row a rejected row of a source: where it stands (row counts from 1; 0 is the file itself) and why; the model, if
#: only its puzzle is the trouble.
REJECTED = pa.schema(
    {"file": pa.string(), "row": pa.int64(), "reason": pa.string(), "detail": pa.string(), "model": pa.string()}
)

#: One row a response: the bucket, and the window and answer that led to it; whether its reasoning is not closed, the
#: last sentence after it is right by itself, and says that the answer is not known.
SCORES = pa.schema(
    {
        "model": pa.string(),
        "name": pa.string(),
        "N": pa.int64(),
        "d": pa.int64(),
        "ratio_pct": pa.float64(),
        "rho": pa.float64(),
        "bucket": pa.string(),
        "correct": pa.bool_(),
        "prompt_tokens": pa.int64(),
        "response_tokens": pa.int64(),
        "window": pa.string(),
        "answer": pa.string(),
        "stopped": pa.string(),
        "unclosed_trace": pa.bool_(),
        "answer_correct": pa.bool_(),
        "unsure": pa.bool_(),
    }
)


class Column(NamedTuple):
    """What a column holds: anything, text, perhaps one of some words, or whole or real numbers in a range.

    Numbers without a lower bound may be infinite. An optional column may be absent; where values may be missing, a cell
    may be empty.
    """

    kind: str = "number"
    low: float = -math.inf
    high: float = math.inf
    words: tuple[str, ...] = ()
    optional: bool = False
    missing: bool = False

    @property
    def rule(self) -> str:
        """What a value should be, as the end of a complaint."""
        if self.kind == "text":
            return "not one of the words that belong there" if self.words else "no text"
        low = f" from {self.low:g}" if math.isfinite(self.low) else ""
        high = f" to {self.high:g}" if math.isfinite(self.high) else " on" if low else ""
        return f"not a {'whole ' * (self.kind == 'whole')}number{low}{high}"


class Rule(NamedTuple):
    """What must hold in every row: the complaint where it does not, and the test, true or false by row."""

    complaint: str
    holds: Callable[[pd.DataFrame], pd.Series]


class Schema(NamedTuple):
    """Columns by name, the key, rules, what other columns hold (None: there are none), and former names of columns."""

    columns: Mapping[str, Column]
    key: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    others: Column | None = Column("anything")
    former: Mapping[str, str] = {}


_TEXT, _WORDS, _COUNT = Column("text"), Column("text", missing=True), Column("whole", low=0)
_ANY, _PROBABILITY = Column(missing=True), Column(low=0, high=1, missing=True)
_ADDS_UP = Rule(
    "has more correct and wrong answers than its total",
    lambda cells: cells["correct"] + cells.filter(ERRORS).sum(axis=1) <= cells["total"],
)

#: One row per model and configuration: N (statements), d, ratio_pct (nominal, %), needles, rho (actual, fraction),
#: total (answers), correct, the five kinds of wrong answers, tokens (mean and 90th percentile), and how the prompts
#: were perturbed, empty where they were not; 1 where the model's puzzles were chosen by what they tell, so that its
#: accuracies are not averaged.
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
        **dict.fromkeys(
            ("prompt_mean", "prompt_p90", "output_mean", "output_p90"), Column(low=0, optional=True, missing=True)
        ),
        "perturbation": Column("text", optional=True, missing=True),
        "chosen": Column("whole", low=0, high=1, optional=True),
    },
    ("model", "N", "d", "ratio_pct", "perturbation"),
    (_ADDS_UP,),
    former={"n": "total"},  # SQL does not tell n from N
)


def _fit_schema(numbers: Mapping[str, Column]) -> Schema:
    """Return the schema of a table of fits, one row per model: numbers and a status."""
    required = [name for name in numbers if not name.endswith("50") and not name.startswith("p_")]  # not identified
    complete = Rule(
        "is called a fit, but lacks numbers",
        lambda fits: fits[required].notna().all(axis=1) | (fits["status"] != "ok"),
    )
    return Schema({"model": _TEXT, **numbers, "status": _TEXT}, ("model",), (complete,))


#: One row per model and term of any regression: coefficient on the scale of the link, error, Wald test, interval;
#: for all terms of a model total (answers), loglik, aic, bic and status.
FITS = Schema(
    {
        "model": _TEXT,
        "term": _WORDS,
        **dict.fromkeys(("coef", "se", "z", "low", "high", "loglik", "aic", "bic"), _ANY),
        "p": _PROBABILITY,
        "total": _COUNT,
        "status": _TEXT,
    },
    ("model", "term"),
    (
        Rule(
            "is called a fit, but lacks numbers",
            lambda fits: (
                fits[["coef", "se", "p_min"]].notna().all(axis=1) & (fits["p"].notna() | ~fits["identified"])
                | (fits["status"] != "ok")
            ),
        ),
    ),
)

_TERMS, _PRODUCTS = ("0", "d", "N", "rho", "rho2"), ("dN", "drho", "Nrho", "dNrho")

#: Tables 2, 3 and 6 as numbers, one row per model: coefficients (log-odds), standard errors, p-values; capacity points
#: (statements, fraction, units of d); AIC; total (answers); status ("ok", or why there is no fit).
GLM = _fit_schema(
    {
        f"{kind}_{term}": column
        for kind, column in (("beta", _ANY), ("se", _ANY), ("p", _PROBABILITY))
        for term in _TERMS
    }
    | dict.fromkeys(("ecl50", "nt50", "id50", "aic", "loglik"), _ANY)
    | {"total": _COUNT}
)
INTERACTIONS = _fit_schema(
    {f"{kind}_{term}": column for term in _PRODUCTS for kind, column in (("beta", _ANY), ("p", _PROBABILITY))}
)
AIC = _fit_schema({"p_lr": _PROBABILITY, "aic_linear": _ANY, "aic_quadratic": _ANY})

#: Tables 7 to 10 as numbers: tokens by model, N and d.
TOKENS = Schema(
    {
        "model": _TEXT,
        "N": Column("whole", low=1),
        "d": Column("whole", low=1),
        **dict.fromkeys(("prompt_mean", "prompt_p90", "output_mean", "output_p90"), Column(low=0, missing=True)),
    },
    ("model", "N", "d"),
)

#: The frames of a build, by the names of their files.
FRAMES = {"cells": CELLS, "glm": GLM, "interactions": INTERACTIONS, "aic": AIC, "tokens": TOKENS}

#: One row a printed number or statement: see `fidelity.ledger.compare`.
FIDELITY = Schema(
    {
        "table": _TEXT,
        "model": _WORDS,
        "quantity": _TEXT,
        "condition": _WORDS,
        "kind": Column("text", words=KINDS),
        "evidence": Column("text", words=EVIDENCE, missing=True),
        "published": _WORDS,
        "recomputed": _ANY,
        "shown": _WORDS,
        "verdict": Column("text", words=VERDICTS),
        "reason": _WORDS,
    },
    rules=(
        Rule(
            "gives no reason, and is not computable",
            lambda rows: (rows["verdict"] != "not_computable") | (rows["reason"] != ""),
        ),
    ),
    others=None,
)
