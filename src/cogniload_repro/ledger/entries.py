"""The ledger: one row per published number, with the recomputed number and the kind of comparison.

With scored responses, every number is *independent*. On reconstructed data the kinds are:

- *input*: used by the reconstruction, so that it agrees by construction (Tables 4 and 5, the AICs
  and p-value of Table 6), or taken as printed (token lengths, Tables 7 to 10)
- *constraint*: the reconstruction was chosen to meet it (Table 3, accuracies along rho in the
  prose, rows of Table 2 that were used, numbers that the authors' results page repeats)
- *derived*: follows from inputs and could have differed (Table 2)
- *independent*: does not depend on anything used (roots on the results page, prompts drawn here)
- *imputed*: replaced as a misprint; it has no verdict
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain

import numpy as np
import pandas as pd

from cogniload_repro import formats
from cogniload_repro.counts.printed import BETAS, load_imputed_aics, uses_table2
from cogniload_repro.ledger.claims import evaluate_claims
from cogniload_repro.ledger.precision import judge
from cogniload_repro.ledger.results import (
    NotComputableError,
    PrintedNumber,
    ResultLookup,
    Results,
)
from cogniload_repro.ledger.results_page import list_results_page
from cogniload_repro.published import ERRORS, TOKEN_TABLES, load_claims, load_printed
from cogniload_repro.regression.cell_tables import percent
from cogniload_repro.regression.design import PRODUCTS
from cogniload_repro.regression.reconstructions import each_reconstruction
from cogniload_repro.schemas import FIDELITY, KINDS, TESTED, VERDICTS

#: Verdicts in words, for readers.
WORDS = {
    "exact": "Exact",
    "unit": "Within one unit",
    "within": "Within sampling error",
    "differs": "Different",
    "not_computable": "Not computable",
}

#: What the columns and kinds of `scoreboard` mean, for its readers.
LEGEND = """
  exact    the number as printed, or a true statement
  unit     one unit of the last printed digit apart
  within   two samples that differ by no more than sampling error
  differs  by more
  not_computable  the outputs do not determine the number
  Inputs and constraints agree by construction. Derived and independent numbers could have differed;
  the last line counts them. Numbers that were replaced as misprints are left out."""

#: Name of the last line of `scoreboard`.
COULD_HAVE_FAILED = "could have failed"

#: Formats of the numbers of regressions, by table and column.
_FORMS_OF_FITS: dict[str, dict[str, Callable[[float], str]]] = {
    "table2": {
        **dict.fromkeys(BETAS, formats.format_beta),
        "ecl50": formats.format_ecl50,
        "nt50": formats.format_point,
        "id50": formats.format_point,
    },
    "table3": {},
    "table6": dict.fromkeys(
        ("p_lr", "aic_linear", "aic_quadratic"), formats.format_thousandths
    ),
}
for _product in PRODUCTS:
    _FORMS_OF_FITS["table3"][f"beta_{_product}"] = formats.format_beta
    _FORMS_OF_FITS["table3"][f"p_{_product}"] = formats.format_p


def compare(results: Results, prompts: pd.DataFrame | None = None) -> pd.DataFrame:
    """Compare every published number with the recomputed one (`schemas.FIDELITY`).

    One row per number of Tables 2 to 10, of the authors' results page and of the prose.
    ``prompts`` has further rows on prompt lengths (`prompts.prompt_rows`), which are placed after
    those of their tables.
    """
    results = results.of_paper()
    lookup = ResultLookup(results)
    printed = chain(_list_fits(lookup), _list_errors(lookup), _list_tokens(lookup))
    tables = _judge_all(printed, results.reconstructed)
    page = _judge_all(list_results_page(lookup), results.reconstructed)
    if prompts is not None and len(prompts):  # an empty frame would change types
        tables = pd.concat([tables, prompts], ignore_index=True)
    tables = tables.sort_values(
        "table", key=lambda names: names.str[5:].astype(int), kind="stable"
    )
    claims = evaluate_claims(load_claims(), results, each_reconstruction(results.cells))
    named = claims["id"] + ": " + claims["condition"]
    claims["condition"] = named.str.removesuffix(": ")
    claims = claims.assign(table="prose").reindex(columns=FIDELITY, fill_value="")
    rows = pd.concat([tables, page, claims], ignore_index=True)
    return _give_reasons(rows, set(results.cells["model"]))


def scoreboard(fidelity: pd.DataFrame) -> pd.DataFrame:
    """Count the numbers and their verdicts by table and kind, in the paper's order.

    Imputed numbers are left out. The last row counts the numbers that could have differed: the
    derived and independent ones that can be computed.
    """
    judged = fidelity[fidelity["kind"] != "imputed"]
    counts = pd.crosstab([judged["table"], judged["kind"]], judged["verdict"])
    counts = counts.reindex(columns=list(VERDICTS), fill_value=0).reset_index()
    order = {table: place for place, table in enumerate(judged["table"].unique())}
    place = counts["table"].map(order) * len(KINDS) + counts["kind"].map(KINDS.index)
    counts = counts.loc[place.sort_values().index]
    tested = counts.loc[counts["kind"].isin(TESTED), list(VERDICTS)].sum()
    tested["not_computable"] = 0
    last = pd.DataFrame([{"table": "all", "kind": COULD_HAVE_FAILED, **tested}])
    board = pd.concat([counts, last], ignore_index=True)
    board.insert(2, "numbers", board[list(VERDICTS)].sum(axis=1))
    return board.rename_axis(columns=None)


def find_differences(fidelity: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers whose printed form or verdict differs from an earlier comparison.

    A number that is in only one of the two has empty strings in the columns of the other.
    """
    key = ["table", "model", "quantity", "condition"]
    values = ["shown", "verdict"]
    now = fidelity[key + values].fillna("").astype(str)
    then = before[key + values].fillna("").astype(str)
    both = now.merge(
        then, on=key, how="outer", suffixes=("", "_before"), sort=False
    ).fillna("")
    is_different = (both["shown"] != both["shown_before"]) | (
        both["verdict"] != both["verdict_before"]
    )
    columns = [*key, "shown_before", "shown", "verdict_before", "verdict"]
    return both.loc[is_different, columns].reset_index(drop=True)


def _give_reasons(rows: pd.DataFrame, models: set[str]) -> pd.DataFrame:
    """Fill in missing reasons why numbers are not computable."""
    is_unknown = rows["verdict"] == "not_computable"
    is_absent = is_unknown & (rows["model"] != "") & ~rows["model"].isin(models)
    rows.loc[is_absent, "reason"] = "no outputs of this model"
    rows.loc[is_unknown & (rows["reason"] == ""), "reason"] = (
        "the outputs do not determine it"
    )
    return rows


def _judge_all(numbers: Iterable[PrintedNumber], reconstructed: bool) -> pd.DataFrame:
    """Return the ledger's rows of published numbers as a table."""
    rows = [_judge(number, reconstructed) for number in numbers]
    return pd.DataFrame(rows, columns=FIDELITY)


def _judge(printed: PrintedNumber, reconstructed: bool) -> dict[str, object]:
    """Return the ledger's row of a published number.

    It is not computable unless every cell behind it has the paper's number of puzzles. An imputed
    number has the replacement beside it and no verdict.
    """
    levels = [f"{load}={level}" for load, level in printed.levels.items()]
    row: dict[str, object] = {
        "table": printed.table,
        "model": printed.model,
        "quantity": printed.quantity,
        "condition": " ".join(levels),
        "kind": printed.kind if reconstructed else "independent",
        "evidence": "identified" if reconstructed else "",
        "published": printed.published,
        "recomputed": np.nan,
        "shown": "",
        "verdict": "not_computable",
        "reason": "",
    }
    try:
        number = printed.recompute()
    except NotComputableError as error:
        return row | {"reason": str(error)}
    text = printed.form(number)
    verdict = "" if row["kind"] == "imputed" else judge(printed.published, text)
    return row | {"recomputed": float(number), "shown": text, "verdict": verdict}


# ---- the numbers of each table ----
def _list_fits(lookup: ResultLookup) -> Iterator[PrintedNumber]:
    """Yield the numbers of Tables 2, 3 and 6 (regressions), and the stars of the p-values."""
    for table, forms in _FORMS_OF_FITS.items():
        for row in load_printed(table).to_dict("records"):
            model = row["model"]
            for quantity, form in forms.items():
                kind = _kind_of_fit(table, model, quantity)
                # a dash, for a capacity point that does not exist, is a number to compare
                published = row[quantity] or formats.NONE
                recompute = partial(lookup.fit, model, quantity)
                number = PrintedNumber(
                    table, model, quantity, {}, kind, published, recompute, form
                )
                yield number
                if f"{quantity}_stars" in row:
                    p_value = quantity.replace("beta_", "p_")
                    yield number._replace(
                        quantity=f"{quantity} stars",
                        published=row[f"{quantity}_stars"],
                        recompute=partial(lookup.fit, model, p_value),
                        form=formats.stars,
                    )


def _kind_of_fit(table: str, model: str, quantity: str) -> str:
    """Return the kind of a number in Table 2, 3 or 6: input, constraint, derived or imputed."""
    if table == "table6":
        is_imputed = model in load_imputed_aics().index and quantity.startswith("aic")
        return "imputed" if is_imputed else "input"
    return "constraint" if table == "table3" or uses_table2(model) else "derived"


def _list_errors(lookup: ResultLookup) -> Iterator[PrintedNumber]:
    """Yield the numbers of Tables 4 and 5: samples, accuracy and error types by d and by N."""
    for table, load in (("table4", "d"), ("table5", "N")):
        for row in load_printed(table).to_dict("records"):
            model = row["model"]
            levels = {load: int(row[load])}
            for quantity in ("samples", "acc_pct", *ERRORS):
                recompute = partial(_find_count, lookup, model, quantity, levels)
                published = row[quantity]
                form = formats.format_count
                yield PrintedNumber(
                    table, model, quantity, levels, "input", published, recompute, form
                )


def _find_count(
    lookup: ResultLookup, model: str, quantity: str, levels: dict[str, int]
) -> int:
    """Return a number of Table 4 or 5: samples, accuracy (%) or errors of one type."""
    total = lookup.count(model, "total", **levels)
    if quantity == "samples":
        return total
    if quantity == "acc_pct":
        return percent(lookup.count(model, "correct", **levels), total)
    return lookup.count(model, quantity, **levels)


def _list_tokens(lookup: ResultLookup) -> Iterator[PrintedNumber]:
    """Yield the numbers of Tables 7 to 10 as printed, even if a digit looks misread."""
    for row in load_printed("tokens").to_dict("records"):
        model = row["model"]
        levels = {"N": int(row["N"]), "d": int(row["d"])}
        for quantity in ("prompt_mean", "prompt_p90", "output_mean", "output_p90"):
            if row[quantity]:
                recompute = partial(lookup.tokens, model, quantity, **levels)
                table = TOKEN_TABLES[levels["N"]]
                published = row[quantity]
                form = formats.format_count
                yield PrintedNumber(
                    table, model, quantity, levels, "input", published, recompute, form
                )


def title(table: str) -> str:
    """Return the name of a table or of the prose for headings, such as "Table 2"."""
    if table.startswith("table"):
        return f"Table {table.removeprefix('table')}"
    return table.capitalize()
