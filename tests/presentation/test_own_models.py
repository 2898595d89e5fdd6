"""Ranks of models that the paper does not have."""

import pandas as pd

from cogniload_repro.presentation.own_models import describe_rank, rank_models
from cogniload_repro.statistics.cell_tables import load_cells

PAPER = load_cells()
COPY = PAPER[PAPER["model"] == "QwQ-32B"].assign(model="mine")


def test_a_copy_of_a_model_ranks_next_to_it():
    """The same counts under another name have the rank of the original, on part of the grid too."""
    copy = COPY.query("N < 250")
    ranked = rank_models(copy, PAPER)
    (row,) = ranked.to_dict("records")
    assert (row["cells"], row["of_ecl50"], row["total"]) == (105, 23, copy["total"].sum())
    assert row["nearest_ecl50"] == "QwQ-32B"
    assert row["best_ecl50"] <= row["rank_ecl50"] <= row["worst_ecl50"]
    assert (row["of"], row["nearest"]) == (23, "QwQ-32B")
    assert row["best"] <= row["rank"] <= row["worst"]
    better = PAPER.query("N < 250").groupby("model")[["correct", "total"]].sum().eval("correct / total")
    assert row["rank"] == 1 + (better > better["QwQ-32B"] + 1e-12).sum()
    assert f"rank {row['rank']:.0f} of 23" in describe_rank(next(ranked.itertuples()))


def test_a_model_without_a_finite_fit_has_no_rank():
    """All answers correct: accuracy with its interval, and nothing else."""
    (row,) = rank_models(COPY.assign(correct=COPY["total"]), PAPER).to_dict("records")
    assert row["accuracy"] == 1
    assert pd.isna([row["rank"], row["rank_ecl50"]]).all()
