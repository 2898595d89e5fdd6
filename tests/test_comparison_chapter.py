"""The chapter that compares models: how many pairs each length distinguishes."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from reading import read_sources
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportions_ztest

import cogniload_repro as cl

CELLS = read_sources("11_comparison")


@pytest.fixture(scope="module")
def pairs():
    """The pairs of the paper's models at each length, with the chapter's answers."""
    space = {"cl": cl, "pd": pd, "np": np, "norm": norm, "level": 0.05}
    space["paper"] = cl.load_cells()
    exec(CELLS["separation"], space)  # our own notebook
    return space["both"]


@pytest.mark.parametrize("N", [20, 250])
@pytest.mark.parametrize("equal", [True, False])
def test_pairs_are_distinguished_as_statsmodels_tests_them(pairs, N, equal):
    """Two-sample tests of proportions with Holm's adjustment over the 231 pairs of a length."""
    counts = cl.accuracy_by(cl.load_cells(), "model", "N").query("N == @N")
    answers = 350 if equal else counts["total"]
    counts = counts.assign(n=answers, correct=answers * counts["accuracy"])
    rows = counts[["correct", "n"]].to_numpy()
    p = [
        proportions_ztest([first[0], second[0]], [first[1], second[1]])[1]
        for first, second in combinations(rows, 2)
    ]
    expected = multipletests(p, 0.05, method="holm")[0].sum()
    at_length = pairs[pairs["N"] == N]
    assert len(at_length) == len(p) == 231
    assert at_length["equal" if equal else "existing"].sum() == expected


def test_the_longest_puzzles_distinguish_the_strongest_models(pairs):
    """The opposite of what holds over all pairs: both must be said."""
    by_length = pairs.groupby("N")[["equal", "strong"]].sum()
    assert by_length["equal"].idxmin() == 250
    assert by_length["strong"].idxmin() == 20
    assert by_length.loc[250, "strong"] > 10 * by_length.loc[20, "strong"]
