"""What the page on which a reader changes the regression starts from: counts of all models, and the paper's sentences.

The page fits in the browser; here stand the data it fits, and what its fits are compared with.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import norm

from cogniload_repro.formats import format_name
from cogniload_repro.models import BY_NAME, NAMES
from cogniload_repro.presentation.style import pens
from cogniload_repro.published import ALPHA, STAR_LEVELS, load_claims
from cogniload_repro.statistics.accuracy import order_models
from cogniload_repro.statistics.cell_tables import describe_cells, load_cells
from cogniload_repro.statistics.fits import capacity_points, fit
from cogniload_repro.statistics.regression import QUADRATIC

#: The specification of Appendix B with its products written out.
PRODUCTS = f"{QUADRATIC} + d:log10_N + d:rho + log10_N:rho + d:log10_N:rho"
#: What a coefficient may have to be, by name: the sign, and whether it is to be significant.
WAYS = {"negative": (-1, True), "positive": (1, True), "either": (0, True), "none": (0, False)}
_GRID = ["N", "d", "ratio_pct", "rho"]


@dataclass(frozen=True)
class Question:
    """A sentence of the paper that counts models by one coefficient or capacity point.

    Attributes
    ----------
    text : str
        What is counted.
    claims : tuple of str
        Its ids in ``claims.csv``, which has the number that the paper states.
    terms : tuple of str
        Names that the coefficient may go by, the paper's first; or a capacity point.
    way : str
        A key of `WAYS`; "above" or "below" for a capacity point.
    formula : str
        In which the paper asks.
    level : float
        Of significance, or the value that the point is compared with.
    """

    text: str
    claims: tuple[str, ...]
    terms: tuple[str, ...]
    way: str
    formula: str = QUADRATIC
    level: float = ALPHA


QUESTIONS = (
    Question("the slope of d is negative and significant", ("C063",), ("d",), "negative"),
    Question("the slope of N is negative and significant", ("C064",), ("log10_N", "N"), "negative"),
    Question("the slope of rho is not significant", ("C066",), ("rho",), "none"),
    Question("the curve in rho is not significant", ("C065",), ("I(rho**2)",), "none"),
    Question("gpt-5 and o3: ECL50 above 300", ("C070", "C071"), ("ecl50",), "above", level=300),
    Question("ID50 below 0", ("C074",), ("id50",), "below", level=0),
    Question("d x N is negative (p < 0.01)", ("C075",), ("d:log10_N", "d:N"), "negative", PRODUCTS, 0.01),
    Question("gpt-5 and o3: d x N is not significant", ("C077", "C078"), ("d:log10_N", "d:N"), "none", PRODUCTS),
    Question("d x rho is negative and significant", ("C079",), ("d:rho",), "negative", PRODUCTS),
    Question("N x rho is significant, of either sign", ("C097",), ("log10_N:rho", "N:rho"), "either", PRODUCTS),
    Question("d x N x rho is positive and significant", ("C083",), ("d:log10_N:rho", "d:N:rho"), "positive", PRODUCTS),
)


def gather_cells(build: str | Path) -> pd.DataFrame:
    """Return the cells of a build and, for models of the paper that it does not have, the committed ones."""
    own, committed = load_cells(build), load_cells()
    others = committed[~committed["model"].isin(own["model"])]
    together = pd.concat([own, others], ignore_index=True) if len(others) else own
    together.attrs = own.attrs
    return together


def workbench_data(build: str | Path) -> dict[str, Any]:
    """Return what the page needs, ready for JSON.

    Returns
    -------
    dict
        origin (note on the build's data), z and stars (of 95% intervals and of p-values), alpha, formulas, grid
        (columns of its configurations), models (name, family, color, paper, built, and by configuration n, k and,
        where they are known, ctx) and questions (see `judge`).
    """
    cells = gather_cells(build)
    own = load_cells(build)
    grid = cells[_GRID].drop_duplicates().sort_values(_GRID).reset_index(drop=True)
    drawn = pens(order_models(cells["model"]))
    places = pd.MultiIndex.from_frame(grid)
    models = []
    for name, pen in drawn.items():
        counts = cells[cells["model"] == name].set_index(_GRID).reindex(places)
        row = {"name": format_name(name), "family": pen.family, "color": pen.color, "paper": name in BY_NAME}
        row |= {"built": bool((own["model"] == name).any())}
        row |= {
            short: counts[long].fillna(0).astype(int).tolist() for short, long in (("n", "total"), ("k", "correct"))
        }
        known = "ctx" in counts and counts.loc[counts["total"] > 0, "ctx"].notna().all()
        models.append(row | {"ctx": counts["ctx"].fillna(0).astype(int).tolist() if known else None})
    return {
        "origin": _describe(own, cells),
        "z": norm.ppf(1 - ALPHA / 2),
        "alpha": ALPHA,
        "stars": list(STAR_LEVELS),
        "formulas": {"paper": QUADRATIC, "products": PRODUCTS},
        "grid": {name: grid[name].tolist() for name in _GRID},
        "models": models,
        "questions": judge(cells),
    }


def _describe(own: pd.DataFrame, cells: pd.DataFrame) -> str:
    """Return the note on the counts of a page: those of the build, and of models that it has from elsewhere."""
    parts = [describe_cells(own)]
    if set(cells["model"]) > set(own["model"]):
        parts.append(f"Models that the build does not have: {describe_cells(load_cells())}")
    return " ".join(f"{part}." for part in parts if part)


def judge(cells: pd.DataFrame, questions: Sequence[Question] = QUESTIONS) -> list[dict[str, Any]]:
    """Return the paper's sentences with what its own regression says of them, over its own models only.

    Returns
    -------
    list of dict
        claims, where, text, terms, way, level, formula, stated (the printed number, or the models
        that are named), models (those asked about), found (those for which it is so).
    """
    claims = load_claims().set_index("id")
    theirs = cells[cells["model"].isin(NAMES)]
    fits = {formula: fit(theirs, formula) for formula in {one.formula for one in questions}} if len(theirs) else {}
    points = capacity_points(fits[QUADRATIC], theirs).set_index("model") if fits else pd.DataFrame()
    rows = []
    for one in questions:
        own = claims.loc[list(one.claims)]
        named = [name for name in own["model"] if name]
        asked = [name for name in (named or NAMES) if name in set(theirs["model"])]
        found: Iterable[str] = ()
        if asked and one.way in ("above", "below"):
            values = points.reindex(asked)[one.terms[0]]
            found = values[values > one.level if one.way == "above" else values < one.level].index
        elif asked:
            found = _find(fits[one.formula], one, asked)
        rows.append({
            "claims": list(one.claims), "where": own["location"].iloc[0], "text": one.text,
            "terms": list(one.terms), "way": one.way, "level": one.level, "formula": one.formula,
            "stated": str(len(named)) if named else own["value"].iloc[0],
            "models": asked, "found": [name for name in asked if name in set(found)],
        })  # fmt: skip
    return rows


def _find(fits: pd.DataFrame, question: Question, asked: list[str]) -> list[str]:
    sign, significant = WAYS[question.way]
    own = fits[
        (fits["term"].str.replace(" ", "") == question.terms[0]) & fits["model"].isin(asked) & (fits["status"] == "ok")
    ]
    kept = ((own["p"] < question.level) == significant) & ((own["coef"] * sign > 0) | (sign == 0))
    return own.loc[kept, "model"].tolist()
