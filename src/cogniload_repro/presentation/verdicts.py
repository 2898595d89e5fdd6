"""What the comparison with the paper says, as pieces of the book's pages."""

import pandas as pd

from cogniload_repro.fidelity import VERDICTS, scoreboard
from cogniload_repro.presentation.pages import Fragment, show_frame
from cogniload_repro.published import load_claims

#: Verdicts as a reader sees them.
WORDS = {
    "exact": "To the digit",
    "unit": "Within one unit",
    "differs": "Different",
    "not_computable": "Not computable",
}
_COLUMNS = {
    "table": "Where", "model": "Model", "quantity": "Quantity", "condition": "Condition",
    "published": "Printed", "shown": "Recomputed", "kind": "Kind", "verdict": "Verdict",
}  # fmt: skip
#: Longer lists are cut on the page; the CSV file has them whole.
LONGEST = 250


def count_verdicts(checks: pd.DataFrame, *kinds: str) -> dict[str, str]:
    """Return how many printed numbers of these kinds there are, in total and with each verdict, as text."""
    counts = checks.loc[checks["kind"].isin(kinds), "verdict"].value_counts()
    return {"total": f"{counts.sum():,}", **{name: f"{counts.get(name, 0):,}" for name in VERDICTS}}


def show_scoreboard(checks: pd.DataFrame) -> Fragment:
    """Return one row a table and kind: the numbers printed there and how many have each verdict."""
    board = scoreboard(checks).rename(columns=_COLUMNS | {"numbers": "Numbers"} | WORDS)
    board["Where"] = board["Where"].map(_title)
    return show_frame(board, caption="Printed numbers by table and kind of evidence, and how many of them come out.")


def show_verdicts(checks: pd.DataFrame, table: str) -> Fragment:
    """Return what became of one table's numbers: a sentence with counts, and each that came out otherwise."""
    own = checks[checks["table"] == table]
    counts = own["verdict"].value_counts()
    parts = [f"{counts[name]:,} {WORDS[name].lower()}" for name in VERDICTS if name in counts]
    kinds = " and ".join(f"*{kind}*" for kind in own["kind"].unique())
    sentence = f"**{_title(table)}**: {len(own):,} printed numbers, of which {', '.join(parts)} (kind: {kinds})."
    summary = Fragment(sentence, f"<p>{sentence}</p>")
    missed = own[own["verdict"].isin(["unit", "differs"])]
    return summary if missed.empty else summary + _listing(missed, f"{_title(table)}: numbers that are not exact")


def show_claims(checks: pd.DataFrame, *locations: str) -> Fragment:
    """Return the numbers that the prose states at places whose names begin so, each with its verdict."""
    prose = checks[checks["table"] == "prose"]
    found = prose.assign(id=prose["condition"].str.split(":").str[0])[["id", "shown", "kind", "verdict"]]
    rows = load_claims().merge(found, on="id")
    rows = rows[rows["location"].str.startswith(locations)]
    rows["verdict"] = rows["verdict"].str.replace("_", " ")
    names = ["Where", "Statement", "Model", "Stated", "Recomputed", "Kind", "Verdict"]
    listed = rows[["location", "claim", "model", "value", "shown", "kind", "verdict"]].set_axis(names, axis=1)
    return show_frame(listed, caption="Statements of the paper's prose, recomputed.")


def show_differences(checks: pd.DataFrame) -> Fragment:
    """Return every number that could be computed and is not exact."""
    return _listing(checks[checks["verdict"].isin(["unit", "differs"])], "Numbers that are not exact")


def show_unknown(checks: pd.DataFrame) -> Fragment:
    """Return every number that could not be computed."""
    return _listing(checks[checks["verdict"] == "not_computable"], "Numbers that cannot be computed")


def _listing(rows: pd.DataFrame, caption: str) -> Fragment:
    if rows.empty:
        return Fragment("None.", "<p>None.</p>")
    if len(rows) > LONGEST:
        caption = f"{caption}: the first {LONGEST} of {len(rows):,}, the others are in `fidelity.csv`"
    listed = rows.head(LONGEST).assign(table=rows["table"].map(_title), verdict=rows["verdict"].str.replace("_", " "))
    return show_frame(listed[list(_COLUMNS)].rename(columns=_COLUMNS), caption=f"{caption}.")


def _title(table: str) -> str:
    return f"Table {table.removeprefix('table')}" if table.startswith("table") else table.capitalize()
