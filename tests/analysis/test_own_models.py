"""A reader's models: ranks among the paper's, guessing, the last clause."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from cogniload_repro.analysis.own_models import compare_with_baselines, rank_models
from cogniload_repro.models import NAMES
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.reconstructions import each_reconstruction

PAPER = load_cells()
QWQ = PAPER[PAPER["model"] == "QwQ-32B"]
#: Cells on which the best models are always, or nearly always, right.
EASY = "N <= 50 and d >= 5 and ratio_pct in (5, 50, 95)"


FEW = PAPER[PAPER["model"].isin(["QwQ-32B", "Qwen3-8B", "o3-2025-04-16"])]


def rank(cells, paper=PAPER):
    """The rank of one model among models of the paper."""
    (row,) = rank_models(cells.assign(model="mine"), paper).to_dict("records")
    return row


def accuracies(query):
    """Mean accuracy over some cells, by reconstruction and model."""
    tables = (
        table.query(query).eval("accuracy = correct / total")
        for table in each_reconstruction(PAPER)
    )
    return pd.DataFrame([table.groupby("model")["accuracy"].mean() for table in tables])


def test_a_rank_counts_all_22_models_those_without_a_finite_fit_too():
    """On easy cells the best models have no regression; they rank above all others nevertheless."""
    row = rank(QWQ.query(EASY))
    assert row["of"] == 23
    accuracy = QWQ.query(EASY).eval("correct / total").mean()
    ranks = 1 + (accuracies(EASY) > accuracy + 1e-9).sum(axis=1)
    assert (row["rank_low"], row["rank_high"]) == (ranks.min(), ranks.max())
    assert (
        row["best"]
        <= row["rank_low"]
        <= row["rank"]
        <= row["rank_high"]
        <= row["worst"]
    )


def test_a_model_with_accuracy_1_counts_in_the_rank_of_another():
    """Where a model of the paper is always right, no model ranks before it."""
    cells = "N == 20 and d == 3 and ratio_pct in (5, 10)"
    perfect = accuracies(cells).min() == 1
    assert perfect.any()
    row = rank(QWQ.query(cells).assign(correct=lambda rows: rows["total"] - 1))
    assert row["rank_low"] > perfect.sum()


def test_the_same_counts_under_another_name_rank_next_to_the_original():
    """On whole levels of N the rank is the same in every reconstruction.

    The means are identified there.
    """
    row = rank(QWQ.query("N < 250"))
    assert (row["cells"], row["total"], row["identified"]) == (105, 10_500, True)
    assert row["rank_low"] == row["rank"] == row["rank_high"]
    assert row["nearest"] == "QwQ-32B"
    assert (
        row["best"] < row["rank"] < row["worst"]
    )  # its neighbours do not differ significantly


def test_a_rank_on_part_of_a_level_has_the_range_of_all_reconstructions():
    """Three ratios at two lengths are no level of the printed tables.

    One table of counts would be an accident.
    """
    cells = "N in (20, 250) and d in (1, 10) and ratio_pct in (25, 50, 75)"
    row = rank(QWQ.query(cells))
    assert not row["identified"]
    assert row["rank_low"] < row["rank_high"]
    ranks = 1 + (accuracies(cells) > row["accuracy"] + 1e-9).sum(axis=1)
    assert (row["rank_low"], row["rank_high"]) == (ranks.min(), ranks.max())
    assert ranks.min() <= row["rank"] <= ranks.max()


@pytest.mark.parametrize(
    ("share", "place", "nearest"),
    [(1, 1, "gpt-5-2025-08-07"), (0, 23, "DeepSeek-R1-Distill-Qwen-1.5B")],
)
def test_a_model_that_is_always_right_or_always_wrong_has_a_rank_and_an_interval(
    share, place, nearest
):
    """The perfect model is first and the other one last, without a regression.

    No other rank is open.
    """
    row = rank(QWQ.assign(correct=share * QWQ["total"]))
    assert [row[name] for name in ("rank", "best", "worst")] == [place] * 3
    assert row["nearest"] == nearest
    assert row["accuracy"] == share
    assert row["low"] <= share <= row["high"]
    assert 0 < row["high"] - row["low"] < 0.001


def test_levels_that_the_paper_does_not_have_do_not_count():
    """Answers elsewhere change no accuracy and no rank; a model that has no others has neither."""
    elsewhere = QWQ.head(3).assign(N=1000, correct=0)
    row = rank(pd.concat([QWQ, elsewhere]), FEW)
    plain = rank(QWQ, FEW)
    assert row["cells"] == 140
    assert row["total"] == plain["total"] + elsewhere["total"].sum()
    assert [row[name] for name in ("accuracy", "rank")] == [
        plain[name] for name in ("accuracy", "rank")
    ]
    alone = rank(elsewhere, FEW)
    assert alone["cells"] == 0
    assert pd.isna([alone["accuracy"], alone["rank"]]).all()


def test_a_few_answers_leave_many_ranks_open():
    """Of 18 answers the interval of ranks is wide, and that of accuracy is Wilson's."""
    few = QWQ.query("N <= 50 and d <= 5 and ratio_pct in (5, 50, 95)")
    right = np.arange(len(few)) % 4 == 0
    row = rank(few.assign(total=1, correct=right.astype(int)))
    ends = binomtest(int(right.sum()), 18).proportion_ci(method="wilson")
    assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high))
    assert row["worst"] - row["best"] >= 4
    assert row["of"] == len(NAMES) + 1


def answered(*models):
    """Scores and baselines of models on 90 puzzles.

    Of each, whether it is correct by (guess, clause, number).
    """
    puzzles = [
        (f"p{number}", (1 / 2, 1 / 4, 1 / 6)[number % 3], number % 2)
        for number in range(90)
    ]
    baselines = pd.DataFrame(puzzles, columns=["name", "guess", "last_clause"])
    rows = [
        (model, name, bool(is_correct(clause, number)))
        for model, is_correct in models
        for number, (name, _, clause) in enumerate(puzzles)
    ]
    return pd.DataFrame(rows, columns=["model", "name", "correct"]), baselines


def test_accuracy_is_compared_with_guessing_by_the_test_that_its_interval_inverts():
    """Perfect, like guessing, and worse.

    Above, not different, below, as the interval lies to the guesser's mean.
    """
    models = (
        ("perfect", lambda clause, number: True),
        ("chance", lambda clause, number: number % 3 == 0),
        ("silent", lambda clause, number: number % 30 == 0),
    )
    table = compare_with_baselines(*answered(*models)).set_index("model")
    assert table["against_guess"].tolist() == ["above", "not different", "below"]
    assert table["guess"].tolist() == pytest.approx([11 / 36] * 3)
    inside = (table["low"] < table["guess"]) & (table["guess"] < table["high"])
    assert (
        inside.tolist() == (table["p_guess"] >= 0.05).tolist() == [False, True, False]
    )


def test_accuracy_is_compared_with_the_last_clause_on_the_same_puzzles():
    """Who repeats the clause has its accuracy and an interval around zero.

    Who is always right is above it.
    """
    models = (
        ("repeats", lambda clause, number: clause),
        ("perfect", lambda clause, number: True),
    )
    table = compare_with_baselines(*answered(*models)).set_index("model")
    assert table["clause"].tolist() == [0.5, 0.5]
    assert table["above"].tolist() == [0, 0.5]
    assert table.loc["repeats", "above_low"] < 0 < table.loc["repeats", "above_high"]
    assert table.loc["repeats", "p_above"] == 1
    assert (
        0
        < table.loc["perfect", "above_low"]
        < 0.5
        < table.loc["perfect", "above_high"]
        < 1
    )
    assert table.loc["perfect", "p_above"] < 1e-6
