"""Cognitive load as one number: state bits times predicates times steps.

Source: the post "Why Some Puzzles Are Hard for LLMs: A Framework for Cognitive Load" (2025-06-08).
The post does not treat CogniLoad: the loads of its cells are our definitions, after the post's.
"""

import numpy as np
import pandas as pd


def cell_loads(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the loads of cells (columns N, d and rho) under three readings of the post.

    S, bits: max(d, 2) people have d attributes of max(d + 1, 3) values each (paper, Table 1).
    C, predicates: a statement has 1 to d conditions and 1 to d updates, each number equally
    likely (section 2.1.3), so that a step takes d + 1 predicates on average. D, steps: one per
    statement.

    Returns
    -------
    DataFrame
        Same index as the cells. Natural logarithms of the load in three readings: everybody (all
        people's state over all statements), person (the state of the person of interest over all
        statements), needles (that person's state over the needles alone). Also log_SC and log_N,
        the two factors of the first; S and C depend on d alone and share an exponent.
    """
    people = cells["d"].clip(lower=2)
    values = (cells["d"] + 1).clip(lower=3)
    state_bits = people * cells["d"] * np.log2(values)
    predicates = cells["d"] + 1
    loads = pd.DataFrame(index=cells.index)
    loads["log_SC"] = np.log(state_bits * predicates)
    loads["log_N"] = np.log(cells["N"])
    loads["everybody"] = loads["log_SC"] + loads["log_N"]
    loads["person"] = loads["everybody"] - np.log(people)
    loads["needles"] = loads["person"] + np.log(cells["rho"])
    return loads
