"""Accuracy where the last clause is right against where it is wrong, within cells."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.robustness.shortcut import shortcut_use


def answers(*cells):
    """Scores and baselines of cells, each as answers and correct ones where the clause is wrong, then where right."""
    rows = [
        ("m", f"{N}-{clause}-{number}", N, clause, number < correct)
        for N, counts in enumerate(cells, 20) for clause, (size, correct) in enumerate(counts) for number in range(size)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["model", "name", "N", "last_clause", "correct"]).assign(d=1, ratio_pct=5.0)
    return frame.drop(columns="last_clause"), frame[["name", "last_clause"]]


def test_one_cell_is_the_difference_of_two_shares():
    """Of one cell it is the plain difference, with nearly the standard error of two binomials."""
    (row,) = shortcut_use(*answers(((400, 100), (600, 300)))).itertuples()
    assert (row.answers, row.right, row.wrong) == (1000, 0.5, 0.25)
    se = np.sqrt(0.25 * 0.75 / 400 + 0.25 / 600)
    assert [row.ci_low, row.ci_high] == pytest.approx([0.25 - 1.96 * se, 0.25 + 1.96 * se], rel=0.01)


def test_loads_do_not_pass_for_a_shortcut():
    """An easy cell in which the clause is mostly right makes no difference; a cell with one kind alone has no part."""
    (row,) = shortcut_use(*answers(((100, 90), (900, 810)), ((900, 90), (100, 10)), ((0, 0), (50, 50)))).itertuples()
    assert (row.answers, row.difference) == (2000, pytest.approx(0))
    assert row.p == pytest.approx(1)
    assert row.ci_low < 0 < row.ci_high
    (row,) = shortcut_use(*answers(((2, 1), (2, 2)))).itertuples()
    assert row.ci_high == 1  # no difference is larger


def test_the_interval_covers_with_two_answers_a_cell():
    """Nineteen of twenty intervals hold the true difference, with as few answers per cell as an evaluation may have."""
    rng, held = np.random.default_rng(5), []
    for _ in range(300):
        cells = [((2, rng.binomial(2, base)), (2, rng.binomial(2, base + 0.2))) for base in rng.uniform(0, 0.8, 60)]
        (row,) = shortcut_use(*answers(*cells)).itertuples()
        held.append(row.ci_low < 0.2 < row.ci_high)
    assert np.mean(held) == pytest.approx(0.95, abs=0.035)


def test_models_keep_their_order_and_one_without_both_kinds_is_unknown():
    """A category of names, a puzzle that the baselines lack, a model without comparison."""
    scores, baselines = answers(((4, 1), (4, 3)))
    other = scores[scores["name"].str.contains("-1-")].assign(model="a")
    unknown = scores.head(1).assign(name="no such puzzle")
    every = pd.concat([scores, other, unknown], ignore_index=True).astype({"model": "category"})
    table = shortcut_use(every, baselines).set_index("model")
    assert list(table.index) == ["m", "a"]
    assert table["answers"].tolist() == [8, 0]
    assert table.loc["a", ["difference", "p"]].isna().all()
