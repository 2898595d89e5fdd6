"""What the comparison with the paper says, as pieces of the book's pages."""

import re

import pandas as pd

from cogniload_repro.fidelity.ledger import VERDICTS, scoreboard
from cogniload_repro.presentation.fragments import Fragment, show_frame
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
#: Longer lists are cut on the page; the CSV file has them whole.
LONGEST = 250
#: More models than this are counted, not named.
MOST_NAMED = 3
_NONE = Fragment("None.", "<p>None.</p>")


def follows(checks: pd.DataFrame) -> pd.Series:
    """Say of each number whether it follows from others that are checked too, so that it is no test of its own.

    Stars follow from a coefficient and its standard error, capacity points from the coefficients of their row, and what
    the prose says from the tables.
    """
    stars = checks["quantity"].str.endswith("stars")
    points = checks["quantity"].isin(["ecl50", "nt50", "id50"]) & (checks["table"] == "table2")
    return stars | points | (checks["table"] == "prose")


def summarise(checks: pd.DataFrame) -> str:
    """Return in a sentence or two what the numbers say that were not used in the reconstruction, each counted once."""
    own = checks[~follows(checks)]
    derived = own.loc[(own["kind"] == "derived") & own["table"].isin(["table2", "table3", "table6"]), "verdict"]
    lengths = own.loc[(own["kind"] == "independent") & own["condition"].str.endswith(", counted"), "verdict"]
    parts = []
    if len(derived):
        exact = (derived == "exact").sum()
        parts.append(
            f"{exact:,} of {len(derived):,} coefficients that were not used in the reconstruction are reproduced to "
            f"the printed digit{_name_uncomputed(derived)}."
        )
    if len(lengths):
        counts = lengths.value_counts()
        parts.append(
            f"Of {len(lengths):,} printed prompt lengths, {counts.get('within', 0):,} agree with newly drawn puzzles "
            f"within three standard errors and {counts.get('differs', 0):,} differ{_name_uncomputed(lengths)}."
        )
    real = own.loc[(own["kind"] == "independent") & ~own["condition"].str.endswith(", counted"), "verdict"]
    if len(real):
        parts.append(
            f"{(real == 'exact').sum():,} of {len(real):,} printed numbers are reproduced to the printed digit "
            f"from these outputs{_name_uncomputed(real)}."
        )
    return " ".join(parts) or "These outputs test none of the printed numbers."


def _name_uncomputed(verdicts: pd.Series) -> str:
    unknown = (verdicts == "not_computable").sum()
    return f"; {unknown:,} cannot be computed here" if unknown else ""


def show_scoreboard(checks: pd.DataFrame, name: str) -> Fragment:
    """Return one row a table and kind: the numbers printed there and how many have each verdict that is given.

    ``name`` is the label for references: several chapters have a scoreboard.
    """
    board = scoreboard(checks)
    if not board["within"].any():  # samples are compared only where tokenizers have been fetched
        board = board.drop(columns="within")
    board = board.rename(columns=_COLUMNS | {"numbers": "Numbers"} | WORDS)
    board["Where"] = board["Where"].map(title)
    caption = "Printed numbers by table and kind, and how many of them are reproduced."
    return show_frame(board, caption=caption, name=name)


def show_verdicts(checks: pd.DataFrame, table: str) -> Fragment:
    """Return what became of one table's numbers: a sentence with counts, and each that came out otherwise."""
    own = checks[checks["table"] == table]
    parts = [_count(rows["verdict"], kind) for kind, rows in own.groupby("kind", sort=False)]
    sentence = f"**{title(table)}**: {'; '.join(parts)}."
    summary = Fragment(sentence, f"<p>{sentence}</p>")
    missed = own[own["verdict"].isin(["unit", "differs"])]
    return (
        summary
        if missed.empty
        else summary + _listing(missed, f"{title(table)}: numbers that are not exact", f"verdicts-{table}")
    )


def show_claims(checks: pd.DataFrame, *locations: str) -> Fragment:
    """Return the numbers that the prose states at places whose names begin so, each with its verdict."""
    prose = checks[checks["table"] == "prose"]
    found = prose.assign(id=prose["condition"].str.split(":").str[0])[["id", "shown", "kind", "verdict"]]
    rows = load_claims().merge(found, on="id")
    rows = rows[rows["location"].str.startswith(locations)]
    rows["verdict"] = rows["verdict"].str.replace("_", " ")
    rows["location"] = rows["location"].str.split(", ").str[0]  # the section, without a paragraph's title
    names = ["Where", "Statement", "Model", "Stated", "Recomputed", "Kind", "Verdict"]
    listed = rows[["location", "claim", "model", "value", "shown", "kind", "verdict"]].set_axis(names, axis=1)
    label = re.sub(r"[^a-z0-9]+", "-", locations[0].lower()).strip("-")
    return show_frame(
        listed, caption="Statements of the paper's prose, recomputed.", name=f"claims-{label}" if label else "claims"
    )


def show_differences(checks: pd.DataFrame) -> Fragment:
    """Return every number that could be computed and is not exact."""
    return _listing(checks[checks["verdict"].isin(["unit", "differs"])], "Numbers that are not exact", "not-exact")


def show_unknown(checks: pd.DataFrame) -> Fragment:
    """Return how many numbers could not be computed, by place and reason, with the models that they belong to."""
    rows = checks[checks["verdict"] == "not_computable"]
    if rows.empty:
        return _NONE
    groups = rows.groupby(["table", "reason"], sort=False)
    listed = groups["model"].agg(numbers="size", models=_name_models).reset_index()
    listed["table"] = listed["table"].map(title)
    listed = listed[["table", "numbers", "models", "reason"]].set_axis(["Where", "Numbers", "Models", "Why"], axis=1)
    return _cut(listed, "Numbers that cannot be computed", "not-computable")


def _count(verdicts: pd.Series, kind: str) -> str:
    """Return the counts of one kind in words."""
    counts = verdicts.value_counts()
    parts = [f"{counts[name]:,} {WORDS[name].lower()}" for name in VERDICTS if name in counts]
    return f"{len(verdicts):,} printed numbers (kind: *{kind}*), of which {', '.join(parts)}"


def _name_models(names: pd.Series) -> str:
    """Return a few models by name, many as their number; statements about several have none."""
    models = list(dict.fromkeys(name for name in names if name))
    return ", ".join(models) if len(models) <= MOST_NAMED else f"{len(models)} models"


def _listing(rows: pd.DataFrame, caption: str, name: str) -> Fragment:
    listed = rows.assign(table=rows["table"].map(title), verdict=rows["verdict"].str.replace("_", " "))
    return _cut(listed[list(_COLUMNS)].rename(columns=_COLUMNS), caption, name)


def _cut(rows: pd.DataFrame, caption: str, name: str) -> Fragment:
    if rows.empty:
        return _NONE
    if len(rows) > LONGEST:
        caption = f"{caption}: the first {LONGEST} of {len(rows):,}, the others are in `fidelity.csv`"
    return show_frame(rows.head(LONGEST), caption=f"{caption}.", name=name)


def title(table: str) -> str:
    """Return the name of a table, or of the prose, as headings have it."""
    return f"Table {table.removeprefix('table')}" if table.startswith("table") else table.capitalize()
