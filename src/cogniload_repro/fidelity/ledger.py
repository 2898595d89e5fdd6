"""Printed number against recomputed number, one row each, with the kind of agreement.

On reconstructed data four kinds of agreement must not be mixed up:

input
    used by the reconstruction, so it agrees by construction: Tables 4 and 5, the AICs of Table 6 and the p-value
    between them, token lengths.
constraint
    the reconstruction was chosen to meet it: Table 3, accuracies along rho in the prose; and Table 2 for models with
    missing puzzles, where its row chose the puzzles' ratio.
derived
    follows from inputs and could have failed: Table 2 with stars and capacity points; and printed token lengths that
    were not used, because they are off the pattern that the others follow.
independent
    everything, once the outputs are real; and prompts of Tables 7 to 10, drawn and counted here.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd

from cogniload_repro import formats
from cogniload_repro.fidelity.claims import evaluate_claims
from cogniload_repro.fidelity.lookup import NotComputableError, ResultLookup
from cogniload_repro.fidelity.results import Results
from cogniload_repro.fidelity.wording import judge
from cogniload_repro.frames import check_frame
from cogniload_repro.models import BY_NAME
from cogniload_repro.published import ERRORS, TOKEN_TABLES, load_printed
from cogniload_repro.reconstruction.token_draws import printed_tokens
from cogniload_repro.schemas import FIDELITY, KINDS, VERDICTS
from cogniload_repro.statistics.accuracy import percent
from cogniload_repro.statistics.reconstructions import each_reconstruction

COLUMNS = tuple(FIDELITY.columns)

#: What the columns and kinds of `scoreboard` mean, for its readers.
LEGEND = """
  exact   as printed, or a true statement; unit: one unit of the last printed digit apart
  within  two samples that differ by chance; differs: by more; not_computable: the outputs do not hold what it takes
  input and constraint agree by construction; derived and independent numbers could have differed"""

_TABLE2 = {
    **dict.fromkeys(("beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2"), formats.format_beta),
    "ecl50": formats.format_ecl50,
    "nt50": formats.format_nt50,
    "id50": formats.format_id50,
}
_TABLE6 = {"p_lr": formats.format_p_lr, "aic_linear": formats.format_aic, "aic_quadratic": formats.format_aic}


def compare(results: Results, prompts: pd.DataFrame | None = None) -> pd.DataFrame:
    """Compare every printed number of Tables 2 to 10 and of the prose with the recomputed one.

    ``prompts`` has more rows, on prompts (`prompts.comparison.prompt_rows`); they follow those of their tables.

    Returns
    -------
    DataFrame
        Columns `COLUMNS`: table (table2 ... table10, prose), model (empty for statements about several), quantity,
        condition (such as "d=3"), kind, evidence (`claims.evidence_of`), published (as printed), recomputed (number),
        shown (recomputed as it would be printed), verdict (`LEGEND`), reason (why it is not computable).
    """
    lookup = ResultLookup(results)
    rows = [*_compare_fits(results, lookup), *_compare_errors(results, lookup), *_compare_tokens(results, lookup)]
    tables = pd.DataFrame(rows, columns=COLUMNS)
    if prompts is not None and len(prompts):  # an empty frame has no types to join with
        tables = pd.concat([tables, prompts], ignore_index=True)
    tables = tables.sort_values("table", key=lambda names: names.str[5:].astype(int), kind="stable")
    others = each_reconstruction(results.cells) if results.provenance == "reconstructed" else ()
    claims = evaluate_claims(results, others=others)
    claims["condition"] = claims["id"] + np.where(claims["condition"] == "", "", ": ") + claims["condition"]
    claims = claims.assign(table="prose").reindex(columns=COLUMNS, fill_value="")
    rows = _give_reasons(pd.concat([tables, claims], ignore_index=True), set(results.cells["model"]))
    return check_frame(rows, FIDELITY, "the comparison", "this is a bug; please report it")


def scoreboard(fidelity: pd.DataFrame) -> pd.DataFrame:
    """Count the numbers and their verdicts by table and kind, in the paper's order."""
    counts = pd.crosstab([fidelity["table"], fidelity["kind"]], fidelity["verdict"])
    counts = counts.reindex(columns=list(VERDICTS), fill_value=0).reset_index()
    counts.insert(2, "numbers", counts[list(VERDICTS)].sum(axis=1))
    order = {table: place for place, table in enumerate(fidelity["table"].unique())}
    place = counts["table"].map(order) * len(KINDS) + counts["kind"].map(KINDS.index)
    return counts.loc[place.sort_values().index].reset_index(drop=True).rename_axis(columns=None)


def find_moved(fidelity: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers that differ from an earlier comparison; empty strings where a number is in only one."""
    key, values = ["table", "model", "quantity", "condition"], ["shown", "verdict"]
    now, then = (frame[key + values].fillna("").astype(str) for frame in (fidelity, before))
    both = now.merge(then, on=key, how="outer", suffixes=("", "_before"), sort=False).fillna("")
    moved = (both["shown"] != both["shown_before"]) | (both["verdict"] != both["verdict_before"])
    return both.loc[moved, [*key, "shown_before", "shown", "verdict_before", "verdict"]].reset_index(drop=True)


def _give_reasons(rows: pd.DataFrame, models: set[str]) -> pd.DataFrame:
    """Fill in why a number is not computable where that is not said yet; one reason for all of an absent model."""
    unknown = rows["verdict"] == "not_computable"
    absent = unknown & (rows["model"] != "") & ~rows["model"].isin(models)
    rows.loc[absent, "reason"] = "no outputs of this model"
    rows.loc[unknown & (rows["reason"] == ""), "reason"] = "the outputs do not settle it"
    return rows


def _compare_fits(results: Results, lookup: ResultLookup) -> Iterator[tuple]:
    """Tables 2, 3 and 6: regressions over the whole grid."""
    for table, computed, kind in (
        ("table2", results.glm, lambda model: "constraint" if BY_NAME[model].missing else "derived"),
        ("table3", results.interactions, lambda model: "constraint"),
        ("table6", results.aic, lambda model: "input"),
    ):
        computed = computed.set_index("model")
        for printed in load_printed(table).to_dict("records"):
            model = printed["model"]
            own, reason = _fitted(computed, model, _quantities(table)[0][0], lookup)
            for quantity, form, p in _quantities(table):
                head = (table, model, quantity, "", *_worth(kind(model), results))
                # a threshold that does not exist is printed, too
                yield _row(head, printed[quantity] or formats.NONE, own, quantity, form, reason)
                if p:
                    head = (table, model, f"{quantity} stars", "", *head[-2:])
                    yield _row(head, printed[f"{quantity}_stars"], own, p, formats.stars, reason)


def _fitted(computed: pd.DataFrame, model: str, quantity: str, lookup: ResultLookup) -> tuple[pd.Series | None, str]:
    """Return a model's fit if it is one on the paper's puzzles, or why it is none."""
    try:
        _require(lookup, model)
        status = computed.loc[model, "status"]
        if status != "ok":
            return None, f"no fit: {status}"
        lookup.fit(model, quantity)
    except NotComputableError as error:
        return None, str(error)
    return computed.loc[model], ""


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


def _compare_errors(results: Results, lookup: ResultLookup) -> Iterator[tuple]:
    """Tables 4 and 5: samples, accuracy and error types by d and by N."""
    for table, key in (("table4", "d"), ("table5", "N")):
        for printed in load_printed(table).to_dict("records"):
            model, levels = printed["model"], {key: int(printed[key])}
            for quantity in ("samples", "acc_pct", *ERRORS):
                head = (table, model, quantity, f"{key}={levels[key]}", *_worth("input", results))
                find = partial(_count, lookup, model, quantity)
                yield _found(head, printed[quantity], find, levels, formats.format_count, lookup)


def _count(lookup: ResultLookup, model: str, quantity: str, **levels: int) -> int:
    if quantity != "acc_pct":
        return lookup.count(model, quantity, *levels.popitem())
    accuracy = lookup.accuracy(model, **levels)
    return percent(accuracy.numerator, accuracy.denominator)


def _compare_tokens(results: Results, lookup: ResultLookup) -> Iterator[tuple]:
    """Tables 7 to 10: what is printed, also where a digit looks misread."""
    used = printed_tokens().to_dict("index")
    for printed in load_printed("tokens").to_dict("records"):
        model, levels = printed["model"], {"N": int(printed["N"]), "d": int(printed["d"])}
        for quantity in ("prompt_mean", "prompt_p90", "output_mean", "output_p90"):
            if printed[quantity]:
                kind = "input" if used[model, *levels.values()][quantity] == float(printed[quantity]) else "derived"
                condition = " ".join(f"{key}={level}" for key, level in levels.items())
                head = (TOKEN_TABLES[levels["N"]], model, quantity, condition, *_worth(kind, results))
                find = partial(lookup.tokens, model, quantity)
                yield _found(head, printed[quantity], find, levels, "{:.0f}".format, lookup)


def _found(
    head: tuple,
    published: str,
    find: Callable[..., float],
    levels: dict[str, int],
    form: Callable[[float], str],
    lookup: ResultLookup,
) -> tuple:
    """Return the row of a number at some levels of N and d, if it rests on the paper's puzzles."""
    try:
        _require(lookup, head[1], **levels)
        return _row(head, published, {head[2]: find(**levels)}, head[2], form)
    except NotComputableError as error:
        return _row(head, published, None, head[2], form, str(error))


def _require(lookup: ResultLookup, model: str, **levels: int) -> None:
    try:
        lookup.require(model, **levels)
    except NotComputableError:
        raise NotComputableError("cells without the paper's number of puzzles") from None


def _row(head: tuple, published: str, known, quantity: str, form: Callable[[float], str], reason: str = "") -> tuple:
    """Return a row of the comparison; without known numbers it is not computable for the reason given."""
    if known is None:
        return (*head, published, np.nan, "", "not_computable", reason)
    shown = form(known[quantity])
    return (*head, published, float(known[quantity]), shown, judge(published, shown), "")


def _worth(kind: str, results: Results) -> tuple[str, str]:
    """Return kind and evidence of a number of the tables."""
    return (kind, "identified") if results.provenance == "reconstructed" else ("independent", "")
