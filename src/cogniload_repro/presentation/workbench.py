"""Data for the page on which a reader changes the regression: counts of all models, and the paper's sentences."""

from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from scipy.stats import norm

from cogniload_repro.formats import format_name
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME, NAMES, order_models
from cogniload_repro.presentation.style import pens
from cogniload_repro.published import ALPHA, STAR_LEVELS, load_claims
from cogniload_repro.statistics.cell_tables import describe_cells, load_cells
from cogniload_repro.statistics.reconstructions import committed_counts, reconstructed_models
from cogniload_repro.statistics.regression import QUADRATIC

#: The specification of Appendix B with its products written out.
PRODUCTS = f"{QUADRATIC} + d:log10_N + d:rho + log10_N:rho + d:log10_N:rho"
#: What the printed tables fix the sums of: a logit fit whose columns lie in its span is identified.
FIXED = "correct ~ C(d) + C(N) + rho + I(rho**2) + d:log10_N + d:rho + log10_N:rho + d:log10_N:rho"
_GRID = ["N", "d", "ratio_pct", "rho"]


class Question(NamedTuple):
    """A sentence of the paper that counts models by one coefficient or capacity point."""

    text: str
    claims: tuple[str, ...]  # ids in claims.csv, which has the number that the paper states
    terms: tuple[str, ...]  # names that the coefficient may go by, the paper's first; or a capacity point
    way: str  # significant and negative, positive or either; none: not significant; above or below: of a point
    formula: str = QUADRATIC  # in which the paper asks
    level: float = ALPHA  # of significance, or the value that the point is compared with


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


def gather_cells(build: str | Path | None = None) -> pd.DataFrame:
    """Return the cells of a build and, for models of the paper that it does not have, the committed ones."""
    own, committed = load_cells(build), load_cells()
    others = committed[~committed["model"].isin(own["model"])]
    together = pd.concat([own, others], ignore_index=True) if len(others) else own
    together.attrs = own.attrs
    return together


def workbench_data(build: str | Path | None = None) -> dict[str, Any]:
    """Return what the page needs of a build, or of the committed cells, ready for JSON.

    Counts of a model are lists over the configurations in grid: n answers, k correct, where known ctx, and of a
    reconstructed model tables, the correct answers in each reconstruction.
    """
    own, cells = load_cells(build), gather_cells(build)
    grid = cells[_GRID].drop_duplicates().sort_values(_GRID).reset_index(drop=True)
    places = pd.MultiIndex.from_frame(grid)
    committed, origins = load_cells(), [describe_cells(own)]
    if set(cells["model"]) > set(own["model"]):
        origins.append(f"Models that the build does not have: {describe_cells(committed)}")
    tables = _count_tables(own) | _count_tables(committed[~committed["model"].isin(own["model"])])
    models = []
    for name, pen in pens(order_models(cells["model"])).items():
        rows = cells[cells["model"] == name]
        counts = rows.set_index(_GRID).reindex(places)
        known = "ctx" in counts and counts.loc[counts["total"] > 0, "ctx"].notna().all()
        models.append({
            "name": format_name(name), "family": pen.family, "color": pen.color, "paper": name in BY_NAME,
            "whole": (rows["total"] > 0).sum() == len(PAPER_GRID),
            "n": _whole(counts["total"]), "k": _whole(counts["correct"]),
            "ctx": _whole(counts["ctx"]) if known else None,
            "tables": [_whole(table.reindex(places)) for table in tables[name]] if name in tables else None,
        })  # fmt: skip
    return {
        "origin": " ".join(f"{part}." for part in origins if part),
        "z": norm.ppf(1 - ALPHA / 2),
        "stars": list(STAR_LEVELS),
        "formulas": {"paper": QUADRATIC, "products": PRODUCTS, "fixed": FIXED},
        "grid": {name: grid[name].tolist() for name in _GRID},
        "models": models,
        "questions": _describe_questions(set(cells["model"])),
    }


def _count_tables(cells: pd.DataFrame) -> dict[str, list[pd.Series]]:
    """Return the correct answers of every reconstruction by configuration, for each reconstructed model."""
    theirs = cells[cells["model"].isin(reconstructed_models(cells))]
    counts, places = committed_counts(theirs), pd.MultiIndex.from_frame(theirs[_GRID])
    groups = theirs.reset_index().groupby("model", observed=True).indices
    return {model: [pd.Series(table[rows], places[rows]) for table in counts] for model, rows in groups.items()}


def _whole(counts: pd.Series) -> list[int]:
    return counts.fillna(0).astype(int).tolist()


def _describe_questions(models: set[str]) -> list[dict[str, Any]]:
    """Return the paper's sentences for the models that the page has.

    Stated is the printed number, or the number of models that are named.
    """
    claims = load_claims().set_index("id")
    rows = []
    for one in QUESTIONS:
        own = claims.loc[list(one.claims)]
        named = [name for name in own["model"] if name]
        stated = str(len(named)) if named else own["value"].iloc[0]
        asked = {"where": own["location"].iloc[0], "stated": stated}
        asked |= {name: getattr(one, name) for name in ("text", "terms", "way", "level", "formula")}
        rows.append(asked | {"models": [name for name in (named or NAMES) if name in models]})
    return rows
