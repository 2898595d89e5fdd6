"""Printed number against recomputed number, one row each, with the kind of agreement.

On reconstructed data an *input* was used by the reconstruction and agrees by construction (Tables
4 and 5, the AICs and p-value of Table 6), or is taken as printed (token lengths, Tables 7 to 10); a
*constraint* it was chosen to meet (Table 3, accuracies along rho in the prose, Table 2 where it was
used, what the authors' results page repeats); *derived* numbers follow from inputs and could have
failed (Table 2); *independent* ones do not depend on anything used (roots on the results page,
prompts drawn here); *imputed* ones were replaced as misprints, and have no verdict. Everything is
independent once the outputs are real.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain

import numpy as np
import pandas as pd

from cogniload_repro import formats
from cogniload_repro.fidelity.claims import evaluate_claims
from cogniload_repro.fidelity.precision import judge
from cogniload_repro.fidelity.results import (
    NotComputableError,
    PrintedNumber,
    ResultLookup,
    Results,
)
from cogniload_repro.fidelity.results_page import print_results_page
from cogniload_repro.published import ERRORS, TOKEN_TABLES, load_printed
from cogniload_repro.reconstruction.printed import BETAS, load_imputed_aics, uses_table2
from cogniload_repro.schemas import FIDELITY, KINDS, TESTED, VERDICTS
from cogniload_repro.statistics.cell_tables import percent
from cogniload_repro.statistics.design import PRODUCTS
from cogniload_repro.statistics.reconstructions import each_reconstruction

COLUMNS = FIDELITY

#: Verdicts as a reader sees them.
WORDS = {
    "exact": "To the digit",
    "unit": "Within one unit",
    "within": "Within sampling error",
    "differs": "Different",
    "not_computable": "Not computable",
}

#: What the columns and kinds of `scoreboard` mean, for its readers.
LEGEND = """
  exact   as printed, or a true statement; unit: one unit of the last printed digit apart
  within  two samples that differ by chance; differs: by more; not_computable: the outputs do not hold what it takes
  input and constraint agree by construction; derived and independent numbers could have differed,
  and the last line counts them; numbers that were replaced as misprints are left out"""

#: What the last line of `scoreboard` counts.
COULD_HAVE_FAILED = "could have failed"

_TABLE2 = {
    **dict.fromkeys(BETAS, formats.format_beta),
    "ecl50": formats.format_ecl50,
    **dict.fromkeys(("nt50", "id50"), formats.format_point),
}
_TABLE3 = {
    f"{kind}_{term}": form
    for term in PRODUCTS
    for kind, form in (("beta", formats.format_beta), ("p", formats.format_p))
}
_TABLE6 = dict.fromkeys(("p_lr", "aic_linear", "aic_quadratic"), formats.format_thousandths)


def compare(results: Results, prompts: pd.DataFrame | None = None) -> pd.DataFrame:
    """Compare every published number with the recomputed one (`schemas.FIDELITY`).

    These are Tables 2 to 10, the authors' results page and the numbers of the prose. ``prompts``
    has more rows, on prompts (`prompts.prompt_rows`); they follow those of their tables.
    """
    results = results.of_paper()
    lookup = ResultLookup(results)
    printed = chain(_print_fits(results, lookup), _print_errors(lookup), _print_tokens(lookup))
    tables = _judge_all(printed, lookup, results.reconstructed)
    page = _judge_all(print_results_page(lookup), lookup, results.reconstructed)
    if prompts is not None and len(prompts):  # an empty frame has no types to join with
        tables = pd.concat([tables, prompts], ignore_index=True)
    tables = tables.sort_values("table", key=lambda names: names.str[5:].astype(int), kind="stable")
    others = each_reconstruction(results.cells) if results.reconstructed else ()
    claims = evaluate_claims(results, others=others)
    claims["condition"] = (
        claims["id"] + np.where(claims["condition"] == "", "", ": ") + claims["condition"]
    )
    claims = claims.assign(table="prose").reindex(columns=COLUMNS, fill_value="")
    rows = pd.concat([tables, page, claims], ignore_index=True)
    return _give_reasons(rows, set(results.cells["model"]))


def scoreboard(fidelity: pd.DataFrame) -> pd.DataFrame:
    """Count the numbers and their verdicts by table and kind, in the paper's order.

    Imputed numbers are left out. The last row counts those that could have failed: derived and
    independent numbers that can be computed.
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


def find_moved(fidelity: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers that differ from an earlier comparison; empty strings where a number is in only one."""
    key, values = ["table", "model", "quantity", "condition"], ["shown", "verdict"]
    now, then = (frame[key + values].fillna("").astype(str) for frame in (fidelity, before))
    both = now.merge(then, on=key, how="outer", suffixes=("", "_before"), sort=False).fillna("")
    moved = (both["shown"] != both["shown_before"]) | (both["verdict"] != both["verdict_before"])
    return both.loc[
        moved, [*key, "shown_before", "shown", "verdict_before", "verdict"]
    ].reset_index(drop=True)


def _give_reasons(rows: pd.DataFrame, models: set[str]) -> pd.DataFrame:
    """Fill in why a number is not computable where that is not said yet; one reason for all of an absent model."""
    unknown = rows["verdict"] == "not_computable"
    absent = unknown & (rows["model"] != "") & ~rows["model"].isin(models)
    rows.loc[absent, "reason"] = "no outputs of this model"
    rows.loc[unknown & (rows["reason"] == ""), "reason"] = "the outputs do not settle it"
    return rows


def _judge_all(
    numbers: Iterable[PrintedNumber],
    lookup: ResultLookup,
    reconstructed: bool,
) -> pd.DataFrame:
    """Return the rows of printed numbers as a table."""
    rows = [_judge(number, lookup, reconstructed) for number in numbers]
    return pd.DataFrame(rows, columns=COLUMNS)


def _judge(printed: PrintedNumber, lookup: ResultLookup, reconstructed: bool) -> tuple:
    """Return the row of a printed number; it is computable if it rests on the paper's puzzles.

    A number that the reconstruction replaced is shown beside the replacement, without a verdict.
    """
    table, model, quantity, levels, kind, published, find, form = printed
    condition = " ".join(f"{key}={level}" for key, level in levels.items())
    worth = (kind, "identified") if reconstructed else ("independent", "")
    head = (table, model, quantity, condition, *worth, published)
    try:
        lookup.require(model, **levels)
        found = find()
    except NotComputableError as error:
        return (*head, np.nan, "", "not_computable", str(error))
    shown = form(found)
    verdict = "" if worth[0] == "imputed" else judge(published, shown)
    return (*head, float(found), shown, verdict, "")


def _print_fits(results: Results, lookup: ResultLookup) -> Iterator[PrintedNumber]:
    """Tables 2, 3 and 6: regressions over the whole grid, with the stars of their p-values."""
    for table, frame, forms in (
        ("table2", results.glm, _TABLE2),
        ("table3", results.interactions, _TABLE3),
        ("table6", results.aic, _TABLE6),
    ):
        fits = frame.set_index("model")
        for printed in load_printed(table).to_dict("records"):
            model = printed["model"]
            find = partial(_find_fit, fits, model, next(iter(forms)), lookup)
            for quantity, form in forms.items():
                kind = _kind_of_fit(table, model, quantity)
                # a threshold that does not exist is printed, too
                published = printed[quantity] or formats.NONE
                yield table, model, quantity, {}, kind, published, partial(find, quantity), form
                if (stars := f"{quantity}_stars") in printed:
                    p, name = quantity.replace("beta_", "p_"), f"{quantity} stars"
                    yield (
                        table,
                        model,
                        name,
                        {},
                        kind,
                        printed[stars],
                        partial(find, p),
                        formats.stars,
                    )


def _kind_of_fit(table: str, model: str, quantity: str) -> str:
    """Return what agreement with a number of Tables 2, 3 and 6 is worth."""
    if table == "table6":
        is_imputed = model in load_imputed_aics().index and quantity.startswith("aic")
        return "imputed" if is_imputed else "input"
    return "constraint" if table == "table3" or uses_table2(model) else "derived"


def _find_fit(
    fits: pd.DataFrame, model: str, first: str, lookup: ResultLookup, quantity: str
) -> float:
    """Return a number of a model's fit, NaN for a threshold that does not exist."""
    if (status := fits.loc[model, "status"]) != "ok":
        raise NotComputableError(f"no fit: {status}")
    lookup.fit(model, first)
    return fits.loc[model, quantity]


def _print_errors(lookup: ResultLookup) -> Iterator[PrintedNumber]:
    """Tables 4 and 5: samples, accuracy and error types by d and by N."""

    def find(model: str, quantity: str, key: str, level: int) -> int:
        if quantity != "acc_pct":
            return lookup.count(model, quantity, key, level)
        return percent(*lookup.accuracy(model, **{key: level}).as_integer_ratio())

    for table, key in (("table4", "d"), ("table5", "N")):
        for printed in load_printed(table).to_dict("records"):
            model, level = printed["model"], int(printed[key])
            for quantity in ("samples", "acc_pct", *ERRORS):
                found = partial(find, model, quantity, key, level)
                yield (
                    table,
                    model,
                    quantity,
                    {key: level},
                    "input",
                    printed[quantity],
                    found,
                    formats.format_count,
                )


def _print_tokens(lookup: ResultLookup) -> Iterator[PrintedNumber]:
    """Tables 7 to 10: what is printed, also where a digit looks misread."""
    for printed in load_printed("tokens").to_dict("records"):
        model, levels = printed["model"], {"N": int(printed["N"]), "d": int(printed["d"])}
        for quantity in ("prompt_mean", "prompt_p90", "output_mean", "output_p90"):
            if published := printed[quantity]:
                find = partial(lookup.tokens, model, quantity, **levels)
                table = TOKEN_TABLES[levels["N"]]
                yield table, model, quantity, levels, "input", published, find, "{:.0f}".format


def title(table: str) -> str:
    """Return the name of a table, or of the prose, as headings have it."""
    return (
        f"Table {table.removeprefix('table')}" if table.startswith("table") else table.capitalize()
    )
