"""What the comparison with the paper says, in words."""

import pandas as pd

#: Verdicts as a reader sees them.
WORDS = {
    "exact": "To the digit",
    "unit": "Within one unit",
    "within": "Within sampling error",
    "differs": "Different",
    "not_computable": "Not computable",
}


def title(table: str) -> str:
    """Return the name of a table, or of the prose, as headings have it."""
    return f"Table {table.removeprefix('table')}" if table.startswith("table") else table.capitalize()


def summarise(checks: pd.DataFrame) -> str:
    """Return in a sentence or two what the numbers say that were not used in the reconstruction, each counted once.

    Stars and capacity points follow from coefficients, which are counted already; prose repeats the tables.
    """
    points = checks["quantity"].isin(["ecl50", "nt50", "id50"]) & (checks["table"] == "table2")
    own = checks[~(checks["quantity"].str.endswith("stars") | points | (checks["table"] == "prose"))]
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
