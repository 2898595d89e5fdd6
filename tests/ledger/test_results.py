"""Numbers out of results, and the refusal where the results do not cover them."""

from fractions import Fraction

import pandas as pd
import pytest
from fixtures.provisional import mini_cells, provisional_cells

from cogniload_repro.ledger.results import NotComputableError, ResultLookup, Results

QWQ = "QwQ-32B"
GPT5 = "gpt-5-2025-08-07"


def lookup(cells, fits=(), tokens=()):
    """Return the lookup of cells with some fits and token statistics of QwQ-32B."""
    glm = pd.DataFrame([{"model": QWQ, "p_d": 0.01, "status": "ok", **dict(fits)}])
    other = pd.DataFrame({"model": [QWQ], "status": ["ok"]})
    stats = pd.DataFrame(
        [{"model": QWQ, "N": 20, "d": 1, "prompt_mean": 400.0, **dict(tokens)}]
    )
    return ResultLookup(Results(cells, glm, other, other, stats))


def test_accuracy_is_the_exact_share():
    """Accuracies are fractions of the pooled counts.

    They are over all cells, or those at the levels named in any order.
    """
    cells = provisional_cells()
    numbers = lookup(cells)
    of_model = cells[cells["model"] == QWQ]
    for rows, levels in (
        (of_model, {}),
        (of_model.query("N == 50"), {"N": 50}),
        (of_model.query("N == 50 and ratio_pct == 25"), {"ratio_pct": 25, "N": 50}),
    ):
        expected = Fraction(int(rows["correct"].sum()), int(rows["total"].sum()))
        assert numbers.accuracy(QWQ, **levels) == expected


def test_only_the_cells_that_a_number_rests_on_have_to_be_there():
    """A cell of the grid is enough for its own number.

    The mini-grid covers no level of the paper's grid whole.
    """
    cells = provisional_cells()
    numbers = lookup(cells[(cells["N"] == 20) & (cells["d"] == 1)])
    assert numbers.tokens(QWQ, "prompt_mean", 20, 1) == 400
    assert 0 <= numbers.accuracy(QWQ, N=20, d=1, ratio_pct=5) <= 1
    present, other = (
        lookup(pd.concat([cells, cells[cells["model"] == model].head(1).assign(N=30)]))
        for model in (QWQ, GPT5)
    )
    assert other.fit(QWQ, "p_d") == 0.01
    for ask in (
        lambda: present.fit(QWQ, "p_d"),
        lambda: present.accuracy(QWQ, N=20),
        lambda: present.tokens(QWQ, "prompt_mean", 20, 1),
    ):
        with pytest.raises(NotComputableError, match="the paper does not have"):
            ask()
    for ask in (
        lambda: numbers.accuracy(QWQ, d=1),
        lambda: lookup(mini_cells()).fit(QWQ, "p_d"),
    ):
        with pytest.raises(NotComputableError, match="the paper's number of puzzles"):
            ask()
