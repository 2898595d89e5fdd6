"""The rows of the page Compare and of the command compare-models."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.analysis.comparisons import (
    compare_accuracies,
    compare_pairs,
)
from cogniload_repro.analysis.differences import MARGIN
from cogniload_repro.analysis.overflows import overflow_shares
from cogniload_repro.analysis.specifications import (
    SPECIFICATIONS,
    Specification,
    fit_specifications,
)
from cogniload_repro.analysis.uncertainty import capacity_intervals, correct_within
from cogniload_repro.book.page_data import cells_to_show, list_columns
from cogniload_repro.formats import display_names
from cogniload_repro.models import NAMES, order_models, resolve_model
from cogniload_repro.published import ALPHA, CONFIDENCE
from cogniload_repro.regression.cell_tables import (
    accuracy_by,
    describe_cells,
    load_cells,
)
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.glm import fit_all
from cogniload_repro.regression.identification import is_mean_identified
from cogniload_repro.regression.reconstructions import (
    from_printed_tables,
    over_reconstructions,
    range_over,
)

_ESTIMATE = ["estimate", "low", "high"]
_LEVEL = ["model", "load", "level", *_ESTIMATE, "identified"]
_MODELS = ["first", "second"]
_TEST = ["cells", "N", *_ESTIMATE, "p", "p_holm", "verdict", "identified"]


def compare_data(build: str | Path) -> dict[str, Any]:
    """Return what the page Compare shows of a build's models and the paper's.

    ``origins`` say where the counts of each model come from ("" for scored answers).
    """
    cells = cells_to_show(build)
    models = order_models(cells["model"])
    names = display_names(models)
    pairs = pair_rows(cells)
    regressions = []
    for specification in identified_specifications():
        rows = list_columns(regression_rows(cells, specification), models)
        title = {"name": specification.name, "formula": specification.formula}
        regressions.append(title | {"rows": rows})
    return {
        "models": [names[model] for model in models],
        "origins": [describe_cells(cells[cells["model"] == model]) for model in models],
        "margin": MARGIN,
        "confidence": CONFIDENCE,
        "pairs": list_columns(pairs, models),
        "tests": count_tests(pairs),
        "accuracy": list_columns(accuracy_rows(cells), models),
        "overflow": list_columns(overflow_rows(cells), models),
        "regressions": regressions,
    }


def compare_pair(build: str | Path, first: str, second: str) -> dict[str, Any]:
    """Return the rows of the page Compare on two models, under the paper's regression.

    A model is called by its full or short name. ``cells`` has the number of cells of each, in the
    order asked for; ``tests`` is the number of pairs over which p is Holm-adjusted.
    """
    cells = cells_to_show(build)
    try:
        names = [resolve_model(name, cells["model"]) for name in (first, second)]
    except ValueError as error:
        raise ValueError(
            f"{error}; {build} has no such model, another --build may have it"
        ) from None
    if names[0] == names[1]:
        raise ValueError(f"{names[0]} stands twice; name two models")
    pairs = pair_rows(cells)
    is_pair = pairs[["first", "second"]].isin(names).all(axis=1)
    cells = cells[cells["model"].isin(names)]
    origins = {
        model: describe_cells(counts) for model, counts in cells.groupby("model")
    }
    return {
        "origins": origins,
        "cells": cells["model"].value_counts()[names],
        "tests": count_tests(pairs),
        "pair": pairs[is_pair],
        "accuracy": accuracy_rows(cells),
        "overflow": overflow_rows(cells),
        "regression": regression_rows(cells, SPECIFICATIONS[0]),
    }


# ---- accuracies and overflows ----
def accuracy_rows(cells: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies: model, load, level (of the load), estimate, low, high, identified.

    The first load is "all puzzles". Ends are those of the 90% Wilson interval. Where the printed
    tables do not identify the accuracy, the estimate is the median over the reconstructions, with
    their range.
    """
    overall = {"load": "all puzzles", "level": np.nan, "identified": True}
    parts = [_accuracies(cells).assign(**overall)]
    parts += [_accuracies_along(cells, load) for load in ("N", "d", "ratio_pct")]
    return pd.concat(parts, ignore_index=True)[_LEVEL]


def _accuracies(cells: pd.DataFrame, *loads: str) -> pd.DataFrame:
    rows = accuracy_by(cells, "model", *loads)
    names = dict.fromkeys(loads, "level") | {"accuracy": "estimate"}
    return rows.rename(columns=names)


def _accuracies_along(cells: pd.DataFrame, load: str) -> pd.DataFrame:
    rows = _accuracies(cells, load).assign(load=load, identified=True)
    groups = GRID.groupby(load)
    levels = [level for level, inside in groups if not is_mean_identified(inside)]
    is_open = from_printed_tables(cells) & cells[load].isin(levels)
    if not is_open.any():
        return rows
    samples = over_reconstructions(
        cells[is_open], lambda table: _accuracies(table, load)
    )
    by_level = samples.groupby(["model", "level"])
    medians = by_level[["estimate"]].median()
    ranges = medians.join(range_over(by_level, ["estimate"]))
    rows = rows.set_index(["model", "level"])
    rows.loc[ranges.index, _ESTIMATE] = ranges.to_numpy()
    rows.loc[ranges.index, "identified"] = False
    return rows.reset_index()


def overflow_rows(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the share of answers that ran out of context by N and d, as in `accuracy_rows`.

    Configurations in which this number is not known are left out.
    """
    is_tested = cells["ctx"].notna()
    parts = []
    for load in ("N", "d"):
        shares = overflow_shares(cells[is_tested], load)
        shares = shares.rename(columns={load: "level", "share": "estimate"})
        parts.append(shares.assign(load=load, identified=True))
    return pd.concat(parts, ignore_index=True).reindex(columns=_LEVEL)


# ---- regressions ----
def identified_specifications() -> list[Specification]:
    """Return the regressions that the printed tables identify, the paper's first."""
    cells = load_cells(models=NAMES[0])  # the same for each of the paper's models
    return [one for one in SPECIFICATIONS if fit_all(cells, *one[1:])[0].identified]


def regression_rows(cells: pd.DataFrame, specification: Specification) -> pd.DataFrame:
    """Return a regression: model, quantity, estimate, low, high, p, status, identified.

    Quantities are aic, capacity points (of the paper's regression with profile-likelihood
    intervals, of others ECL50 alone) and the terms.
    """
    fits = fit_specifications(cells, [specification])
    aic = fits[["model", "status"]].assign(quantity="aic", estimate=fits["aic"])
    points = fits[["model"]].assign(quantity="ecl50", estimate=fits["ecl50"])
    if specification == SPECIFICATIONS[0]:
        profile = {"point": "quantity", "profile_low": "low", "profile_high": "high"}
        points = capacity_intervals(cells).rename(columns=profile)
    finite = fits[fits["status"] == "ok"]
    terms = [_list_coefficients(fit) for fit in finite["fit"]]
    rows = pd.concat([aic, points, *terms], ignore_index=True)
    rows = rows.fillna({"status": "ok"}).assign(identified=True)
    columns = ["model", "quantity", *_ESTIMATE, "p", "status", "identified"]
    return rows.reindex(columns=columns)


def _list_coefficients(fit: Any) -> pd.DataFrame:
    """Return the coefficients of a `glm.Fit`, with Wald intervals."""
    reach = norm.ppf(1 - ALPHA / 2) * fit.se
    terms = pd.DataFrame({"quantity": fit.terms, "estimate": fit.coef, "p": fit.p})
    return terms.assign(model=fit.model, low=fit.coef - reach, high=fit.coef + reach)


# ---- pairs ----
def pair_rows(cells: pd.DataFrame) -> pd.DataFrame:
    """Return each pair: first, second, cells, N, `_ESTIMATE`, p, p_holm, verdict, identified.

    The estimate is the first model's accuracy minus the second's, over the cells of both (N is
    missing) or at one length. The verdict, like p and the interval, is that of a pair chosen
    beforehand; p_holm is adjusted over all pairs. At one length both are adjusted over the lengths
    of the pair. A difference that the printed tables do not identify has its range over the
    reconstructions. Pairs without a common cell are left out.
    """
    overall = compare_pairs(cells)
    names = overall[_MODELS].itertuples(index=False, name=None)
    lengths = compare_accuracies(cells, names, "N")
    lengths["p_holm"] = correct_within(lengths, _MODELS)
    rows = pd.concat([overall, lengths], ignore_index=True)
    is_known = rows["identified"].astype(bool)
    rows["low"] = rows["ci_low"].where(is_known, rows["difference_p10"])
    rows["high"] = rows["ci_high"].where(is_known, rows["difference_p90"])
    return rows.rename(columns={"difference": "estimate"})[[*_MODELS, *_TEST]]


def count_tests(pairs: pd.DataFrame) -> int:
    """Return over how many pairs p is Holm-adjusted."""
    overall = pairs[pairs["N"].isna()]
    return int(overall["p"].count())
