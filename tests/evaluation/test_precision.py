"""Precision of ECL50 and ID50: gradients, variances, and the puzzle that tells most."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.evaluation.forms import paper_curves
from cogniload_repro.evaluation.precision import CELLS, MEANS, choose, gradients, inform, locate, variances
from cogniload_repro.robustness.uncertainty import fit_quadratics, standard_error
from cogniload_repro.statistics.capacity import many_points
from cogniload_repro.statistics.cell_tables import load_cells

CURVES = st.tuples(st.floats(-5, 20), st.floats(-1, -0.1), st.floats(-9, -0.5), st.floats(-7, 2), st.floats(-3, 7)).map(
    lambda numbers: np.array([numbers])
)


@given(CURVES)
def test_points_are_those_of_the_paper_s_definition_and_gradients_their_derivatives(betas):
    """Where both slopes fall, points are as elsewhere, and small steps move them as gradients say."""
    points = many_points(betas, MEANS)
    np.testing.assert_allclose(locate(betas)[0], [points["ecl50"][0], points["id50"][0]], rtol=1e-9, atol=1e-9)
    step = 1e-6 * np.eye(5)
    numeric = (locate(betas + step) - locate(betas - step)) / 2e-6
    np.testing.assert_allclose(gradients(betas)[0].T, numeric, rtol=1e-4, atol=1e-5)


def test_the_variance_is_that_of_the_fit():
    """With the counts of a paper's model it is the square of the standard error that the book shows."""
    cells = load_cells(models=["QwQ-32B"])
    (quadratic,) = fit_quadratics(cells)
    found = np.sqrt(variances(quadratic.fit.coef[None], cells["total"].to_numpy()))[0]
    assert found == pytest.approx([standard_error(quadratic, "ecl50"), standard_error(quadratic, "id50")], rel=1e-6)


def test_the_first_choice_is_the_best_of_all_and_the_others_only_help():
    """Trying every cell finds the same puzzle; more puzzles leave less variance, and beat an even spread."""
    curves, even = paper_curves(), np.ones(len(CELLS))
    scale = variances(curves, even)

    def criterion(counts):
        return (variances(curves, counts) / scale).sum(axis=1).mean()

    tried = [criterion(even + one) for one in np.eye(len(CELLS))]
    chosen = choose(curves, 1, inform(curves, even))
    assert int(np.argmax(chosen)) == int(np.argmin(tried))
    more = choose(curves, 140, inform(curves, even))
    assert more.sum() == 140
    assert criterion(even + more) < 0.6 * criterion(2 * even)


def test_only_candidates_are_chosen():
    """Cells that are not to be asked are not."""
    allowed = np.arange(len(CELLS)) % 7 == 3
    chosen = choose(paper_curves(), 20, inform(paper_curves(), np.ones(len(CELLS))), allowed)
    assert chosen[~allowed].sum() == 0
    assert chosen.sum() == 20
