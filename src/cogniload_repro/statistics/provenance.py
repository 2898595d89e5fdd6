"""The words that say where data come from, and how they are shown."""

import pandas as pd

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME
from cogniload_repro.schemas import PROVENANCE
from cogniload_repro.statistics.accuracy import coverage


def source_note(cells: pd.DataFrame, provenance: str) -> str:
    """Return the line that pictures and captions carry: reconstructed data, a partial grid, or neither.

    Raises
    ------
    ValueError
        If the provenance is neither reconstructed nor imported.
    """
    parts = []
    if origin := origin_note(provenance, strangers=not set(cells["model"]) <= set(BY_NAME)):
        parts.append(origin)
    fewest, most = coverage(cells)
    if fewest < len(PAPER_GRID):
        some = f"{most}" if fewest == most else f"{fewest} to {most}"
        parts.append(f"Partial grid: {some} of the paper's {len(PAPER_GRID)} cells")
    return ". ".join(parts)


def origin_note(provenance: str, *, strangers: bool = False) -> str:
    """Return the warning that reconstructed data need, and nothing for data that are what they seem.

    With ``strangers``, models that the paper does not have, the warning speaks of the paper's models only:
    nothing printed exists from which the others could be reconstructed.
    """
    if provenance not in PROVENANCE:
        raise ValueError(f"provenance {provenance!r} is not one of: {', '.join(PROVENANCE)}")
    if provenance != "reconstructed":
        return ""
    if strangers:
        return "The paper's models: reconstructed from its tables, not raw outputs"
    return "Reconstructed from the paper's tables, not raw outputs"
