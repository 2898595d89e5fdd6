"""Numbers of an evaluation."""

import numpy as np
import pytest

from cogniload_repro.evaluation import metrics
from cogniload_repro.robustness.uncertainty import capacity_intervals
from cogniload_repro.scoring.verdict import BUCKETS
from cogniload_repro.statistics.capacity import grid_means
from cogniload_repro.statistics.cell_tables import load_cells
from cogniload_repro.statistics.fits import capacity_points, fit


def answers(cells, stopped="stop"):
    """Answers with these counts of right and wrong ones."""
    for row in cells.itertuples():
        facts = {"N": row.N, "d": row.d, "ratio_pct": float(row.ratio_pct), "rho": row.rho}
        for place in range(row.total):
            bucket = "correct_valid" if place < row.correct else "wrong_logic"
            yield {**facts, "bucket": bucket, "stopped": stopped, "prompt_tokens": None, "response_tokens": 7}


@pytest.fixture(scope="module")
def judged():
    """The counts of one of the paper's models, as judged answers."""
    return list(answers(load_cells(models=["Phi-4-reasoning"])))


def test_a_paper_s_model_has_the_paper_s_numbers(judged):
    """Accuracy and capacity points with their profile intervals are those that the book shows."""
    cells = load_cells(models=["Phi-4-reasoning"])
    found = metrics.measure(judged)
    assert found["accuracy"] == cells["correct"].sum() / cells["total"].sum()
    for row in capacity_intervals(cells).itertuples():
        for end, number in (("", row.estimate), ("_low", row.profile_low), ("_high", row.profile_high)):
            if np.isfinite(number):
                assert found[row.point + end] == pytest.approx(number)
            else:
                assert row.point + end not in found


def test_accuracies_by_load_and_shares_are_counts_over_answers(judged):
    """One number per level of d, N and rho; buckets add up to one; both ways to be cut off count, as does a box."""
    found = metrics.measure(judged)
    assert [name for name in found if "=" in name] == [
        *(f"d={d}" for d in (1, 3, 5, 7, 10)), *(f"N={N}" for N in (20, 50, 100, 250)),
        *(f"rho={rho}%" for rho in (5, 10, 25, 50, 75, 90, 95)),
    ]  # fmt: skip
    own = [one for one in judged if one["d"] == 3]
    assert found["d=3"] == sum(one["bucket"] == "correct_valid" for one in own) / len(own)
    assert sum(found[bucket] for bucket in BUCKETS) == pytest.approx(1)
    assert found["accuracy_low"] < found["accuracy"] < found["accuracy_high"]
    assert "boxed" not in found
    ends = [{"stopped": "stop", "boxed": True}, {"stopped": "length", "boxed": False}, {"stopped": "context"}]
    shares = metrics.measure([one | end for one, end in zip(judged, ends, strict=False)])
    assert (shares["cut_off"], shares["boxed"]) == (pytest.approx(2 / 3), 0.5)


@pytest.mark.parametrize("chosen", [False, True])
def test_a_log_and_the_book_evaluate_points_at_the_same_means(judged, chosen):
    """Of some cells, with and without the mark of puzzles that were chosen: the paper's grid only with it."""
    some = [one for one in judged if one["N"] in (20, 50)]
    cells = load_cells(models=["Phi-4-reasoning"])
    near = cells[cells["N"] <= 50].assign(model="mine", chosen=int(chosen))
    book = capacity_intervals(near).set_index("point")["estimate"]
    found = metrics.measure(some, chosen)
    assert found["id50"] == pytest.approx(book["id50"])
    assert found["ecl50"] == pytest.approx(book["ecl50"])
    assert capacity_points(fit(near), near)["id50"].item() == pytest.approx(book["id50"])
    assert (grid_means(near) == grid_means(cells)) == chosen


def test_what_does_not_exist_is_left_out():
    """All answers right: no points."""
    cells = load_cells(models=["Phi-4-reasoning"])
    assert not {"ecl50", "nt50", "id50"} & set(metrics.measure(list(answers(cells.assign(correct=cells["total"])))))
