"""Printed number against recomputed number, one row each, with the kind of agreement.

On reconstructed data four kinds of agreement must not be mixed up:

input
    put into the reconstruction, so it comes out: Tables 4 and 5, the AICs of Table 6, token lengths.
constraint
    the reconstruction was chosen to meet it: Table 3, the p-values of Table 6, accuracies along rho in the prose;
    and Table 2 for models with missing puzzles, where its row chose the puzzles' ratio.
derived
    follows from inputs and could have failed: Table 2 with stars and capacity points.
independent
    everything, once the outputs are real.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal

import numpy as np
import pandas as pd

from cogniload_repro import formats
from cogniload_repro.claims.recompute import evaluate_claims
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME
from cogniload_repro.presentation.results import Results
from cogniload_repro.presentation.tables import TOKEN_TABLES
from cogniload_repro.published import ERRORS, load_printed

COLUMNS = ("table", "model", "quantity", "condition", "kind", "published", "recomputed", "shown", "verdict")
VERDICTS = ("exact", "unit", "differs", "not_computable")
KINDS = ("input", "constraint", "derived", "independent")

_TABLE2 = {
    **dict.fromkeys(("beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2"), formats.format_beta),
    "ecl50": formats.format_ecl50,
    "nt50": formats.format_nt50,
    "id50": formats.format_id50,
}
_TABLE6 = {"p_lr": formats.format_p_lr, "aic_linear": formats.format_aic, "aic_quadratic": formats.format_aic}
_COUNTS = ("samples", "acc_pct", *ERRORS)
_TOKENS = ("prompt_mean", "prompt_p90", "output_mean", "output_p90")


def compare(results: Results) -> pd.DataFrame:
    """Compare every printed number of Tables 2 to 10 and of the prose with the recomputed one.

    Returns
    -------
    DataFrame
        Columns `COLUMNS`: table (table2 ... table10, prose), model (empty for statements about several), quantity,
        condition (such as "d=3"), kind, published (as printed), recomputed (number), shown (recomputed as it would
        be printed), verdict (exact: the same string, or a true statement; unit: one unit of the last printed digit
        apart; differs; not_computable: the outputs lack what it takes).
    """
    rows = [*_compare_fits(results), *_compare_errors(results), *_compare_tokens(results)]
    rows.sort(key=lambda row: int(row[0].removeprefix("table")))
    claims = evaluate_claims(results)
    claims["condition"] = claims["id"] + np.where(claims["condition"] == "", "", ": ") + claims["condition"]
    tables = pd.DataFrame(rows, columns=COLUMNS)
    return pd.concat([tables, claims.assign(table="prose")[list(COLUMNS)]], ignore_index=True)


def judge(published: str, shown: str) -> str:
    """Return the verdict on two printed strings: exact, unit or differs.

    Examples
    --------
    >>> judge("-2.07", "-2.05"), judge("4.1", "4.11"), judge("7.18e-05", "7.19e-05")
    ('differs', 'unit', 'unit')
    """
    if shown == published:
        return "exact"
    try:
        printed, computed = Decimal(published), Decimal(shown)
    except ArithmeticError:  # "--", stars
        return "differs"
    unit = Decimal(1).scaleb(min(printed.as_tuple().exponent, computed.as_tuple().exponent))
    return "unit" if abs(printed - computed) <= unit else "differs"


def scoreboard(fidelity: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts by table and kind.

    Returns
    -------
    DataFrame
        Columns table, kind, numbers, exact, unit, differs, not_computable; tables in the paper's order.
    """
    counts = pd.crosstab([fidelity["table"], fidelity["kind"]], fidelity["verdict"])
    counts = counts.reindex(columns=list(VERDICTS), fill_value=0).reset_index()
    counts.insert(2, "numbers", counts[list(VERDICTS)].sum(axis=1))
    order = {table: place for place, table in enumerate(fidelity["table"].unique())}
    place = counts["table"].map(order) * len(KINDS) + counts["kind"].map(KINDS.index)
    return counts.loc[place.sort_values().index].reset_index(drop=True).rename_axis(columns=None)


def _compare_fits(results: Results) -> Iterator[tuple]:
    """Tables 2, 3 and 6: regressions over the whole grid."""
    covered = _covered(results.cells)
    for table, computed, kind in (
        ("table2", results.glm, lambda model: "constraint" if BY_NAME[model].missing else "derived"),
        ("table3", results.interactions, lambda model: "constraint"),
        ("table6", results.aic, None),
    ):
        computed = computed.set_index("model")
        for printed in load_printed(table).to_dict("records"):
            model = printed["model"]
            usable = model in computed.index and computed["status"][model] == "ok" and len(PAPER_GRID) == covered(model)
            own = computed.loc[model] if usable else None
            for quantity, form, p in _quantities(table):
                sort = kind(model) if kind else ("constraint" if quantity == "p_lr" else "input")
                head = (table, model, quantity, "", _kind(sort, results))
                yield _row(head, printed[quantity] or formats.NONE, own, quantity, form)
                if p:
                    head = (table, model, f"{quantity} stars", "", head[-1])
                    yield _text_row(head, printed[f"{quantity}_stars"], None if own is None else formats.stars(own[p]))


def _quantities(table: str) -> list[tuple[str, Callable[[float], str], str]]:
    """Return quantity, format and the p-value column of its printed stars, if it has any."""
    if table == "table2":
        return [(name, form, name.replace("beta_", "p_") if "beta" in name else "") for name, form in _TABLE2.items()]
    if table == "table6":
        return [(name, form, "") for name, form in _TABLE6.items()]
    return [
        (f"{kind}_{term}", form, f"p_{term}" if kind == "p" else "")
        for term in ("dN", "drho", "Nrho", "dNrho")
        for kind, form in (("beta", formats.format_beta), ("p", formats.format_p))
    ]


def _compare_errors(results: Results) -> Iterator[tuple]:
    """Tables 4 and 5: samples, accuracy and error buckets by d and by N."""
    covered = _covered(results.cells)
    for table, key, computed in (("table4", "d", results.by_d), ("table5", "N", results.by_N)):
        computed = computed.set_index(["model", key])
        whole = len(PAPER_GRID) // len({getattr(cell, key) for cell in PAPER_GRID})
        for printed in load_printed(table).to_dict("records"):
            model, level = printed["model"], int(printed[key])
            own = computed.loc[(model, level)] if covered(model, **{key: level}) == whole else None
            for quantity in _COUNTS:
                head = (table, model, quantity, f"{key}={level}", _kind("input", results))
                yield _row(head, printed[quantity], own, quantity, formats.format_count)


def _compare_tokens(results: Results) -> Iterator[tuple]:
    """Tables 7 to 10: what is printed, also where a digit looks misread."""
    covered = _covered(results.cells)
    computed = results.tokens.set_index(["model", "N", "d"])
    whole = len({cell.ratio_pct for cell in PAPER_GRID})
    for printed in load_printed("tokens").to_dict("records"):
        model, N, d = printed["model"], int(printed["N"]), int(printed["d"])
        own = computed.loc[(model, N, d)] if covered(model, N=N, d=d) == whole else None
        for quantity in _TOKENS:
            if printed[quantity]:
                head = (TOKEN_TABLES[N], model, quantity, f"N={N} d={d}", _kind("input", results))
                yield _row(head, printed[quantity], own, quantity, lambda tokens: f"{tokens:.0f}")


def _row(head: tuple, published: str, own: pd.Series | None, quantity: str, form: Callable[[float], str]) -> tuple:
    value = np.nan if own is None else float(own[quantity])
    if own is None or (np.isnan(value) and quantity != "nt50"):
        return (*head, published, np.nan, "", "not_computable")
    shown = form(value)
    return (*head, published, value, shown, judge(published, shown))


def _text_row(head: tuple, published: str, shown: str | None) -> tuple:
    if shown is None:
        return (*head, published, np.nan, "", "not_computable")
    return (*head, published, np.nan, shown, judge(published, shown))


def _kind(sort: str, results: Results) -> str:
    return sort if results.provenance == "reconstructed" else "independent"


def _covered(cells: pd.DataFrame) -> Callable[..., int]:
    """Return a function that counts the paper's cells that a model has answers in, at given levels."""
    grid = {(cell.N, float(cell.ratio_pct), cell.d) for cell in PAPER_GRID}
    keys = zip(cells["N"], cells["ratio_pct"].astype(float), cells["d"], strict=True)
    present = cells[np.array([key in grid for key in keys], dtype=bool) & (cells["n"] > 0)]

    def count(model: str, **levels: int) -> int:
        own = present[present["model"] == model]
        for name, level in levels.items():
            own = own[own[name] == level]
        return len(own)

    return count
