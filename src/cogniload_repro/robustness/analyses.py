"""All analyses of one table of cells, together: what the paper's conclusions are held against."""

from dataclasses import dataclass

import pandas as pd

from cogniload_repro.robustness.comparisons import TIERS, compare_pairs, dominant_load
from cogniload_repro.robustness.dispersion import dispersion_table
from cogniload_repro.robustness.interactions import interaction_tests
from cogniload_repro.robustness.overflows import compare_treatments
from cogniload_repro.robustness.specifications import SPECIFICATIONS, fit_specifications, is_settled
from cogniload_repro.robustness.uncertainty import capacity_intervals, trough_table


@dataclass(frozen=True)
class Analyses:
    """The tables that conclusions are drawn from, all of the same cells; see the functions that make them.

    Of the specifications only those that the printed tables settle, for the frontier class.
    """

    intervals: pd.DataFrame
    troughs: pd.DataFrame
    accuracy_pairs: pd.DataFrame
    ecl50_pairs: pd.DataFrame
    loads: pd.DataFrame
    interactions: pd.DataFrame
    specifications: pd.DataFrame
    dispersion: pd.DataFrame
    overflows: pd.DataFrame


def analyse(cells: pd.DataFrame, replicates: int = 1000) -> Analyses:
    """Return every analysis of a cells frame."""
    return Analyses(
        intervals=capacity_intervals(cells, replicates=replicates),
        troughs=trough_table(cells),
        accuracy_pairs=compare_pairs(cells, "accuracy"),
        ecl50_pairs=compare_pairs(cells, "ecl50"),
        loads=dominant_load(cells),
        interactions=interaction_tests(cells),
        specifications=fit_specifications(
            cells[cells["model"].isin(TIERS["frontier"])], [one for one in SPECIFICATIONS if is_settled(one)]
        ),
        dispersion=dispersion_table(cells),
        overflows=compare_treatments(cells),
    )
