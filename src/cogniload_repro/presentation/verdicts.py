"""What the comparison with the paper says, as sentences and tables for pages."""

import pandas as pd

from cogniload_repro.fidelity.ledger import scoreboard as count_verdicts
from cogniload_repro.published import load_claims

#: Verdicts as a reader sees them.
WORDS = {
    "exact": "To the digit",
    "unit": "Within one unit",
    "within": "Within sampling error",
    "differs": "Different",
    "not_computable": "Not computable",
}
_COLUMNS = {
    "table": "Where", "model": "Model", "quantity": "Quantity", "condition": "Condition",
    "published": "Printed", "shown": "Recomputed", "kind": "Kind", "verdict": "Verdict",
}  # fmt: skip
#: More models than this are counted, not named.
MOST_NAMED = 3


def title(table: str) -> str:
    """Return the name of a table, or of the prose, as headings have it."""
    return f"Table {table.removeprefix('table')}" if table.startswith("table") else table.capitalize()


def follows(checks: pd.DataFrame) -> pd.Series:
    """Return whether each number follows from others that are checked too, so that it is no test of its own.

    Stars follow from a coefficient and its standard error, capacity points from the coefficients of their row, and what
    the prose says from the tables.
    """
    stars = checks["quantity"].str.endswith("stars")
    points = checks["quantity"].isin(["ecl50", "nt50", "id50"]) & (checks["table"] == "table2")
    return stars | points | (checks["table"] == "prose")


def summarise(checks: pd.DataFrame) -> str:
    """Return in a sentence or two what the numbers say that were not used in the reconstruction, each counted once."""
    own = checks[~follows(checks)]
    counted = own["condition"].str.endswith(", counted")
    groups = (
        ((own["kind"] == "derived") & own["table"].isin(["table2", "table3", "table6"]), "exact",
         "coefficients that were not used in the reconstruction are reproduced to the printed digit"),
        (counted, "within", "printed prompt lengths agree with newly drawn puzzles within three standard errors"),
        ((own["kind"] == "independent") & ~counted, "exact",
         "printed numbers are reproduced to the printed digit from these outputs"),
    )  # fmt: skip
    parts = []
    for chosen, verdict, words in groups:
        counts = own.loc[chosen, "verdict"].value_counts()
        if counts.sum():
            differ = "differs" if counts.get("differs", 0) == 1 else "differ"
            others = {"differs": differ, "not_computable": "cannot be computed here"}
            rest = [f"{counts[name]:,} {what}" for name, what in others.items() if name in counts]
            parts.append(f"{counts.get(verdict, 0):,} of {counts.sum():,} {words}{'; ' * bool(rest)}{', '.join(rest)}.")
    return " ".join(parts) or "These outputs test none of the printed numbers."


def scoreboard(checks: pd.DataFrame) -> pd.DataFrame:
    """Return one row per table and kind: the numbers printed there and how many have each verdict that is given."""
    board = count_verdicts(checks)
    if not board["within"].any():  # samples are compared only where tokenizers have counted
        board = board.drop(columns="within")
    board["table"] = board["table"].map(title)
    return board.rename(columns=_COLUMNS | {"numbers": "Numbers"} | WORDS)


def list_claims(checks: pd.DataFrame, *locations: str) -> pd.DataFrame:
    """Return the numbers that the prose states at places whose names begin so, each with its verdict."""
    prose = checks[checks["table"] == "prose"]
    found = prose.assign(id=prose["condition"].str.split(":").str[0])[["id", "shown", "kind", "verdict"]]
    rows = load_claims().merge(found, on="id")
    rows = rows[rows["location"].str.startswith(locations)]
    rows["verdict"] = rows["verdict"].map(WORDS).str.lower()
    rows["location"] = rows["location"].str.split(", ").str[0]  # the section, without a paragraph's title
    names = ["Where", "Statement", "Model", "Stated", "Recomputed", "Kind", "Verdict"]
    return rows[["location", "claim", "model", "value", "shown", "kind", "verdict"]].set_axis(names, axis=1)


def list_differences(checks: pd.DataFrame) -> pd.DataFrame:
    """Return every number that could be computed and is not exact."""
    rows = checks[checks["verdict"].isin(["unit", "differs"])]
    rows = rows.assign(table=rows["table"].map(title), verdict=rows["verdict"].map(WORDS).str.lower())
    return rows[list(_COLUMNS)].rename(columns=_COLUMNS)


def list_unknown(checks: pd.DataFrame) -> pd.DataFrame:
    """Return how many numbers could not be computed, by place and reason, with the models that they belong to."""
    rows = checks[checks["verdict"] == "not_computable"]
    listed = rows.groupby(["table", "reason"], sort=False)["model"].agg(["size", _name_models]).reset_index()
    listed["table"] = listed["table"].map(title)
    listed = listed[["table", "size", "_name_models", "reason"]]
    return listed.set_axis(["Where", "Numbers", "Models", "Reason"], axis=1)


def _name_models(names: pd.Series) -> str:
    """Return a few models by name, many as their number; statements about several have none."""
    models = list(dict.fromkeys(name for name in names if name))
    return ", ".join(models) if len(models) <= MOST_NAMED else f"{len(models)} models"
