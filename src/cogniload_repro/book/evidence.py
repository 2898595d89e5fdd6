"""The evidence behind a figure or table: its badge, and the line in the picture."""

from collections.abc import Mapping

import pandas as pd

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.paths import DATA
from cogniload_repro.regression.cell_tables import coverage
from cogniload_repro.regression.reconstructions import from_printed_tables

#: The kinds by name: colour and words of the badge, and the line in the picture. The name "" is
#: that of a figure without data of models, such as a diagram.
EVIDENCE = {
    row.kind: row
    for row in pd.read_csv(DATA / "evidence.csv", keep_default_na=False).itertuples()
}
#: Kinds that do not depend on the counts of a build.
_FIXED = ("", "synthetic", "outputs")
#: Kinds that hold for the paper's whole grid only.
_WHOLE_GRID = ("published", "independent", "identified", "bounded")


def judge_evidence(claim: str | pd.DataFrame, cells: pd.DataFrame | None) -> str:
    """Return the kind of evidence behind numbers from some cells, a key of `EVIDENCE`.

    ``claim`` is the kind for the paper's models on its whole grid: a key of `EVIDENCE`, or a table
    whose column ``identified`` decides. Whatever the claim, scored answers are "outputs". On a part
    of the grid, claims that need the whole grid become "one reconstruction", since no table of the
    paper prints the sums of a part.
    """
    if isinstance(claim, pd.DataFrame):
        claim = "identified" if claim["identified"].all() else "not identified"
    if claim not in EVIDENCE:
        raise ValueError(
            f"unknown evidence {claim!r}; kinds are {', '.join(filter(None, EVIDENCE))}"
        )
    if claim in _FIXED or cells is None or cells.empty:
        return claim
    reconstructed = from_printed_tables(cells)
    if not reconstructed.any():
        return "outputs"
    if not reconstructed.all():
        return "mixed"
    if claim in _WHOLE_GRID and coverage(cells)[0] < len(PAPER_GRID):
        return "one reconstruction"
    return claim


def judge_parts(
    claim: str | pd.DataFrame | Mapping[str, str], cells: pd.DataFrame | None
) -> dict[str, str]:
    """Return the kinds of evidence by part of a figure; "" is the name of the whole.

    ``claim`` is as in `judge_evidence`, or has one kind for each part, such as "left panel".
    """
    claims = claim if isinstance(claim, Mapping) else {"": claim}
    kinds = {part: judge_evidence(claim, cells) for part, claim in claims.items()}
    different = set(kinds.values())
    return kinds if len(different) > 1 else {"": different.pop()}


def write_badges(kinds: Mapping[str, str]) -> str:
    """Return the badges of `judge_parts`, each with its part, as Markdown."""
    badges = []
    for part, kind in kinds.items():
        evidence = EVIDENCE[kind]
        if kind:
            badge = f"{{bdg-{evidence.color}}}`{evidence.words}`"
            badges.append(f"{badge} {part}." if part else badge)
    return " ".join(badges)


def write_line(kinds: Mapping[str, str]) -> str:
    """Return the line on the evidence of `judge_parts` in a picture."""
    if "" in kinds:
        return EVIDENCE[kinds[""]].line
    return "; ".join(f"{part}: {kind}" for part, kind in kinds.items())


def rests_on_paper(kinds: Mapping[str, str]) -> bool:
    """Return whether numbers with this evidence may cite a table of the paper."""
    return not {*kinds.values()} & {"outputs", "mixed", "one reconstruction"}
