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

from collections.abc import Iterator

import pandas as pd

from cogniload_repro.ledger.claims import evaluate_claims
from cogniload_repro.ledger.columns import (
    COLUMNS,
    RESULTS_PAGE,
    Column,
    kind_of_number,
)
from cogniload_repro.ledger.precision import judge
from cogniload_repro.ledger.results import NotComputableError, ResultLookup, Results
from cogniload_repro.published import TABLES, TOKEN_TABLES, load_claims, load_printed
from cogniload_repro.regression.reconstructions import each_reconstruction
from cogniload_repro.storage import FIDELITY, KINDS, TESTED, VERDICTS

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


def compare(results: Results, prompts: pd.DataFrame | None = None) -> pd.DataFrame:
    """Compare every published number with the recomputed one (`storage.FIDELITY`).

    One row per number of Tables 2 to 10, of the authors' results page and of the prose.
    ``prompts`` has further rows on prompt lengths (`prompts.prompt_rows`), which are placed after
    those of their tables.
    """
    results = results.of_paper()
    lookup = ResultLookup(results)
    rows = pd.DataFrame(_judge_all(lookup, results.reconstructed), columns=FIDELITY)
    is_on_page = rows["table"] == RESULTS_PAGE
    tables = rows[~is_on_page]
    if prompts is not None and len(prompts):  # an empty frame would change types
        tables = pd.concat([tables, prompts], ignore_index=True)
    tables = tables.sort_values(
        "table", key=lambda names: names.str[5:].astype(int), kind="stable"
    )
    claims = evaluate_claims(load_claims(), results, each_reconstruction(results.cells))
    named = claims["id"] + ": " + claims["condition"]
    claims["condition"] = named.str.removesuffix(": ")
    claims["table"] = "prose"
    claims = claims.reindex(columns=FIDELITY, fill_value="")
    return pd.concat([tables, rows[is_on_page], claims], ignore_index=True)


def scoreboard(fidelity: pd.DataFrame) -> pd.DataFrame:
    """Count the numbers and their verdicts by table and kind, in the paper's order.

    Imputed numbers are left out. The last row counts the numbers that could have differed: the
    derived and independent ones that can be computed.
    """
    judged = fidelity[fidelity["kind"] != "imputed"]
    table = pd.Categorical(judged["table"], judged["table"].unique())
    kind = pd.Categorical(judged["kind"], KINDS)
    verdicts = list(VERDICTS)
    counts = pd.crosstab([table, kind], judged["verdict"].to_numpy())
    counts = counts.reindex(columns=verdicts, fill_value=0)
    keys = ["table", "kind"]
    counts = counts.rename_axis(keys).reset_index()
    counts = counts.astype(dict.fromkeys(keys, str))
    is_tested = counts["kind"].isin(TESTED)
    tested = counts.loc[is_tested, verdicts].sum()
    tested["not_computable"] = 0
    last = {"table": "all", "kind": COULD_HAVE_FAILED, **tested}
    board = pd.concat([counts, pd.DataFrame([last])], ignore_index=True)
    numbers = board[verdicts].sum(axis=1)
    board.insert(2, "numbers", numbers)
    return board.rename_axis(columns=None)


def _judge_all(lookup: ResultLookup, reconstructed: bool) -> Iterator[dict]:
    """Yield the ledger's row of every number in `COLUMNS`, in the order of the printed tables."""
    for table, columns in COLUMNS.items():
        for printed in load_printed(table).to_dict("records"):
            if printed.get("in_paper", "yes") != "yes":
                continue
            levels = {load: int(printed[load]) for load in TABLES[table][1]}
            for quantity, column in columns.items():
                text = printed[column.printed] or column.empty
                if text is None:
                    continue
                at = levels | {**column.levels}
                model = printed["model"]
                row = {
                    "table": RESULTS_PAGE if table == "results_page" else table,
                    "model": model,
                    "quantity": quantity,
                    "condition": " ".join(f"{load}={at[load]}" for load in at),
                    "published": text,
                    "kind": "independent",
                    "evidence": "",
                }
                if table == "tokens":
                    row["table"] = TOKEN_TABLES[levels["N"]]
                if reconstructed:
                    row["kind"] = kind_of_number(table, model, quantity, text)
                    row["evidence"] = "identified"
                yield row | _recompute(row, column, lookup, at)


def _recompute(
    row: dict[str, str],
    column: Column,
    lookup: ResultLookup,
    levels: dict[str, int],
) -> dict[str, object]:
    """Return the recomputed part of a row: the number, as it is shown, and the verdict.

    A number is not computable unless every cell behind it has the paper's number of puzzles. An
    imputed number has the replacement beside it and no verdict.
    """
    try:
        number = lookup.number(row["model"], column.quantity, **levels)
    except NotComputableError as error:
        return {"shown": "", "verdict": "not_computable", "reason": str(error)}
    shown = column.form(float(number))
    verdict = "" if row["kind"] == "imputed" else judge(row["published"], shown)
    return {
        "recomputed": float(number),
        "shown": shown,
        "verdict": verdict,
        "reason": "",
    }


def title(table: str) -> str:
    """Return the name of a table or of the prose for headings, such as "Table 2"."""
    if table.startswith("table"):
        return f"Table {table.removeprefix('table')}"
    return table.capitalize()
