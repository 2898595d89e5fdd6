"""Precision of ECL50 and ID50, the puzzles that inform most, adaptive batches, and what an evaluation takes."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from harness import run
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from cogniload_repro.evaluation.forms import read_short
from cogniload_repro.evaluation.planning import (
    CELLS,
    EXPLORATION_SHARE,
    MEANS,
    SHORT,
    Belief,
    choose,
    count_needed,
    fisher_information,
    gradients,
    mean_tokens,
    measure_width,
    next_batch,
    paper_curves,
    prior,
    separate,
    update,
    variances,
)
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import NAMES
from cogniload_repro.published import load_printed
from cogniload_repro.robustness.uncertainty import fit_quadratics
from cogniload_repro.statistics.capacity import many_points
from cogniload_repro.statistics.cell_tables import load_cells

MAKER = Path(__file__).parents[2] / "benchmarks" / "evaluation_designs.py"
NOTHING = np.zeros(len(CELLS), dtype=np.int64)
CURVES = st.tuples(st.floats(-5, 20), st.floats(-1, -0.1), st.floats(-9, -0.5), st.floats(-7, 2), st.floats(-3, 7)).map(
    lambda numbers: np.array([numbers])
)


@given(CURVES)
def test_gradients_are_the_derivatives_of_the_paper_s_points(betas):
    """Where both slopes fall, small steps move log10 ECL50 and ID50 as gradients say."""

    def locate(betas):
        points = many_points(betas, MEANS)
        return np.stack([points["ecl50"], points["id50"]], axis=1)

    step = 1e-6 * np.eye(5)
    numeric = (locate(betas + step) - locate(betas - step)) / 2e-6
    np.testing.assert_allclose(gradients(betas)[0].T, numeric, rtol=1e-4, atol=1e-5)


def test_the_variance_is_that_of_the_fit():
    """With the counts of a paper's model it is the delta method's from the fit's own covariance."""
    cells = load_cells(models=["QwQ-32B"])
    (quadratic,) = fit_quadratics(cells)
    found = variances(quadratic.fit.coef[None], cells["total"].to_numpy())[0]
    c = gradients(quadratic.fit.coef[None])[0]
    np.testing.assert_allclose(found, np.einsum("ja,ab,jb->j", c, quadratic.fit.covariance, c), rtol=1e-6)


def test_the_first_choice_is_the_best_of_all_and_the_others_only_help():
    """Trying every cell finds the same puzzle; more puzzles leave less variance, and beat an even spread."""
    curves, even = paper_curves(), np.ones(len(CELLS))
    scale = variances(curves, even)

    def criterion(counts):
        return (variances(curves, counts) / scale).sum(axis=1).mean()

    tried = [criterion(even + one) for one in np.eye(len(CELLS))]
    assert int(np.argmax(choose(curves, 1, fisher_information(curves, even)))) == int(np.argmin(tried))
    more = choose(curves, 140, fisher_information(curves, even))
    assert more.sum() == 140
    assert criterion(even + more) < 0.6 * criterion(2 * even)
    allowed = np.arange(len(CELLS)) % 7 == 3
    assert choose(curves, 20, fisher_information(curves, even), allowed)[~allowed].sum() == 0


def test_the_short_form_is_what_the_code_derives():
    """The committed table row for row: 280 puzzles, every cell, most on eight of them; twice as informative."""
    counts = read_short()
    maker = runpy.run_path(str(MAKER))
    derived = maker["frame_counts"](maker["derive_short"]())
    assert [(c.N, c.ratio_pct, c.d, n) for c, n in counts.items()] == list(derived.itertuples(index=False, name=None))
    assert set(counts) == set(PAPER_GRID)
    assert sum(counts.values()) == SHORT
    assert sum(count > 1 for count in counts.values()) == 8
    short = np.array([counts[cell] for cell in PAPER_GRID])
    gain = variances(paper_curves(), np.full(len(CELLS), 2)) / variances(paper_curves(), short)
    assert (gain.mean(axis=0) > 1.9).all()
    assert gain.min() > 1


def test_many_answers_outweigh_the_prior():
    """A model's answers a thousand times over leave the fitted curve, none at all leave the prior."""
    (quadratic,) = fit_quadratics(load_cells(models=["Phi-4-reasoning"]))
    found = update(1000 * quadratic.n, 1000 * quadratic.k)
    np.testing.assert_allclose(found.mean, quadratic.fit.coef, atol=0.01)
    np.testing.assert_allclose(update(NOTHING, NOTHING).mean, prior().mean)


def test_draws_are_the_same_each_time_and_have_the_covariance_of_the_belief():
    """A hundred thousand curves have its mean and covariance."""
    belief = Belief(np.arange(5.0), np.linalg.inv(np.diag([1, 2, 3, 4, 5.0]) + 0.5))
    drawn = belief.draw(100_000)
    assert (drawn == belief.draw(100_000)).all()
    np.testing.assert_allclose(drawn.mean(axis=0), belief.mean, atol=0.03)
    np.testing.assert_allclose(np.cov(drawn.T), np.diag([1, 2, 3, 4, 5.0]) + 0.5, atol=0.1)


def test_a_quarter_of_each_batch_goes_round_the_grid_and_depends_on_counts_alone():
    """After seventeen batches of 35 every cell has been asked, whatever the answers were; resumed runs ask the same."""
    assert EXPLORATION_SHARE == 0.25
    rng, asked, correct = np.random.default_rng(5), NOTHING.copy(), NOTHING.copy()
    for turn in range(17):
        batch = next_batch(asked, correct, 35)
        assert batch.sum() == 35
        if turn < 2:
            assert (batch == next_batch(asked.copy(), correct.copy(), 35)).all()
        asked = asked + batch
        correct = correct + rng.binomial(batch, 0.5)
    assert (asked > 0).all()
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


def test_the_tokens_are_the_printed_ones():
    """A value of the tables is in its model's row and in all ratios of its cell; none is missing."""
    printed = load_printed("tokens").set_index(["model", "N", "d"]).loc[("o3-2025-04-16", "20", "1")]
    for column, tokens in zip(("prompt_mean", "output_mean"), mean_tokens(), strict=True):
        assert tokens[NAMES.index("o3-2025-04-16"), 0] == float(printed[column])
        assert np.isfinite(tokens).all()


def test_so_many_puzzles_have_that_width():
    """On the grid the number gives the width by the delta method; half the width takes four times as many."""
    needed = count_needed(0.2)
    own = needed[needed["form"] == "grid"]["puzzles"].to_numpy()
    even = np.ones(len(CELLS)) / len(CELLS)
    np.testing.assert_allclose(2 * 1.96 * np.sqrt(variances(paper_curves(), even)[:, 0] / own), 0.2, rtol=0.02)
    for column, tokens in zip(("prompt_tokens", "response_tokens"), mean_tokens(), strict=True):
        shown = needed[needed["form"] == "grid"][column]
        np.testing.assert_allclose(shown, own * tokens.mean(axis=1), rtol=1e-6, atol=1)
    four = count_needed(0.1)["puzzles"] / needed["puzzles"]
    assert four.between(3.7, 4.01).all()
    assert list(needed["form"].unique()) == ["grid", "short", "adaptive"]
    assert (needed.dtypes[["puzzles", "prompt_tokens", "response_tokens"]] == "int64").all()


def test_models_differ_with_the_stated_power_in_the_first_cell():
    """The best cell needs the fewest puzzles; with that many the difference is found with about the stated power."""
    cells = separate("o3-2025-04-16", "gemini-2.5-pro")
    best = cells.iloc[0]
    assert cells["puzzles"].is_monotonic_increasing
    n, rng = int(best["puzzles"]), np.random.default_rng(3)
    one, other = (rng.binomial(n, best[name], 20_000) / n for name in ("o3-2025-04-16", "gemini-2.5-pro"))
    se = np.sqrt((one * (1 - one) + other * (1 - other)) / n)
    assert np.mean(abs(one - other) > 1.96 * se) == pytest.approx(0.8, abs=0.06)


def test_the_command_prints_whole_puzzles_and_tokens_and_a_cost_only_with_prices():
    """--within is translated into the width of log10 ECL50; the old name of an option still works."""
    plain = run("plan", "--within", "10%", "--model", "QwQ-32B")
    assert plain.exit_code == 0, plain.output
    assert all(words in plain.output for words in ("0.0828 wide", "9% below to 10% above"))
    assert "cost" not in plain.output
    rows = [line.split() for line in plain.output.splitlines()[2:6]]
    needed = count_needed(2 * np.log10(1.1)).query("model == 'QwQ-32B'")
    assert rows[0] == ["form", "puzzles", "prompt_tokens", "response_tokens"]
    found = [[int(word.replace(",", "")) for word in row[1:]] for row in rows[1:]]
    assert found == needed.iloc[:, 2:].to_numpy().tolist()
    priced = run("plan", "--price-out", 10, "--distinguish", "o3-2025-04-16", "QwQ-32B")
    assert "cost" in priced.output
    assert "Cells that best distinguish o3-2025-04-16 and QwQ-32B" in priced.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--width", "0"], "width is 0.0; give a positive number"),
        (["--within", "10"], "10 is no share of ECL50"),
        (["--within", "10%", "--width", "0.1"], "give one of them"),
        (["--model", "mine"], "unknown model 'mine'"),
    ],
)
def test_what_cannot_be_planned_is_a_sentence(arguments, message):
    """Unknown models and impossible widths."""
    refused = run("plan", *arguments)
    assert refused.exit_code == 2
    assert message in refused.output
