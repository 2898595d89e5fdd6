"""Adaptive batches: what answers teach, and what is asked next."""

import numpy as np
import pytest
from scipy.special import expit

from cogniload_repro.evaluation.adaptive import SPREAD, Belief, measure_width, next_batch, prior, update
from cogniload_repro.evaluation.forms import paper_curves
from cogniload_repro.evaluation.precision import CELLS, variances
from cogniload_repro.robustness.uncertainty import fit_quadratics
from cogniload_repro.statistics.cell_tables import load_cells

NOTHING = np.zeros(len(CELLS), dtype=np.int64)


def test_many_answers_outweigh_the_prior():
    """A model's answers a thousand times over leave the fitted curve, none at all leave the prior."""
    (quadratic,) = fit_quadratics(load_cells(models=["Phi-4-reasoning"]))
    found = update(1000 * quadratic.n, 1000 * quadratic.k)
    np.testing.assert_allclose(found.mean, quadratic.fit.coef, atol=0.01)
    np.testing.assert_allclose(update(NOTHING, NOTHING).mean, prior().mean)


def test_draws_are_the_same_each_time_and_spread_as_the_belief_says():
    """A hundred thousand curves have its mean and covariance."""
    belief = Belief(np.arange(5.0), np.linalg.inv(np.diag([1, 2, 3, 4, 5.0]) + 0.5))
    drawn = belief.draw(100_000)
    assert (drawn == belief.draw(100_000)).all()
    np.testing.assert_allclose(drawn.mean(axis=0), belief.mean, atol=0.03)
    np.testing.assert_allclose(np.cov(drawn.T), np.diag([1, 2, 3, 4, 5.0]) + 0.5, atol=0.1)


def test_a_quarter_of_each_batch_goes_round_the_grid():
    """After sixteen batches of 35, every cell has been asked once by the spread part, whatever the answers were."""
    rng, asked, correct = np.random.default_rng(5), NOTHING.copy(), NOTHING.copy()
    for _ in range(17):
        batch = next_batch(asked, correct, 35)
        assert batch.sum() == 35
        asked = asked + batch
        correct = correct + rng.binomial(batch, 0.5)
    assert (asked > 0).all()
    assert round(SPREAD * 35) * 17 >= len(CELLS)


def test_the_next_batch_depends_on_the_counts_only():
    """A run that is taken up again asks the same; one puzzle alone can be asked, and is."""
    asked, correct = next_batch(NOTHING, NOTHING, 35), NOTHING
    assert (next_batch(asked, correct, 35) == next_batch(asked.copy(), correct.copy(), 35)).all()
    assert next_batch(asked, correct, 1).sum() == 1


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_a_model_that_is_always_wrong_or_right_is_no_error(right):
    """Batches go on, and the interval is never called narrow by mistake."""
    asked, correct = NOTHING.copy(), NOTHING.copy()
    assert measure_width(asked, correct) == np.inf
    for _ in range(4):
        batch = next_batch(asked, correct, 20)
        asked, correct = asked + batch, correct + (right * batch).astype(int)
    assert measure_width(asked, correct) > 0.3


def test_280_puzzles_say_more_than_twice_as_many_on_the_grid():
    """Simulated for every fourth of the paper's models; the interval's width is that of the standard error."""
    rng, gains = np.random.default_rng(1), []
    for curve in paper_curves()[::4]:
        p, asked, correct = expit(CELLS @ curve), NOTHING.copy(), NOTHING.copy()
        for _ in range(8):
            batch = next_batch(asked, correct, 35)
            asked, correct = asked + batch, correct + rng.binomial(batch, p)
        gains.append(variances(curve[None], np.full(len(CELLS), 2)) / variances(curve[None], asked))
        own = update(asked, correct).mean[None]
        assert measure_width(asked, correct) == pytest.approx(2 * 1.96 * np.sqrt(variances(own, asked)[0, 0]), rel=1e-3)
    assert (np.mean(gains, axis=0) > 2).all()
