"""What an evaluation takes."""

import numpy as np
import pytest
from click.testing import CliRunner

from cogniload_repro.cli import main
from cogniload_repro.evaluation.costs import count_needed, mean_tokens, read_designs, separate
from cogniload_repro.evaluation.forms import paper_curves
from cogniload_repro.evaluation.precision import CELLS, variances
from cogniload_repro.models import NAMES
from cogniload_repro.published import load_printed


def test_the_tokens_are_the_printed_ones():
    """A value of the tables stands in its model's row and in all ratios of its cell; none is missing."""
    prompts, responses = mean_tokens()
    printed = load_printed("tokens").set_index(["model", "N", "d"]).loc[("o3-2025-04-16", "20", "1")]
    row = NAMES.index("o3-2025-04-16")
    assert prompts[row, 0] == float(printed["prompt_mean"])
    assert responses[row, 0] == float(printed["output_mean"])
    assert np.isfinite(prompts).all()
    assert np.isfinite(responses).all()


def test_so_many_puzzles_have_that_width():
    """On the grid the number gives the width by the delta method; half the width takes four times as many."""
    needed = count_needed(0.2)
    own = needed[needed["form"] == "grid"]["puzzles"].to_numpy()
    even = np.ones(len(CELLS)) / len(CELLS)
    np.testing.assert_allclose(2 * 1.96 * np.sqrt(variances(paper_curves(), even)[:, 0] / own), 0.2, rtol=0.02)
    four = count_needed(0.1)["puzzles"] / needed["puzzles"]
    assert four.between(3.7, 4.01).all()
    assert list(needed["form"].unique()) == ["grid", "short", "adaptive"]


def test_models_are_told_apart_where_they_differ():
    """The best cell needs the fewest puzzles, and twice that many difference is found with about the stated power."""
    cells = separate("o3-2025-04-16", "gemini-2.5-pro")
    best = cells.iloc[0]
    assert cells["puzzles"].is_monotonic_increasing
    n, rng = int(best["puzzles"]), np.random.default_rng(3)
    one, other = (rng.binomial(n, best[name], 20_000) / n for name in ("o3-2025-04-16", "gemini-2.5-pro"))
    se = np.sqrt((one * (1 - one) + other * (1 - other)) / n)
    assert np.mean(abs(one - other) > 1.96 * se) == pytest.approx(0.8, abs=0.06)


def test_the_designs_have_every_truth_and_the_grid_as_their_measure():
    """Six designs, three truths; the grid's gain is one."""
    designs = read_designs()
    assert (designs.groupby("truth")["design"].nunique() == 6).all()
    assert (designs[designs["design"] == "grid"]["gain_ecl50"] == 1).all()
    assert designs.filter(like="covers").stack().between(0, 1).all()


def test_the_command_prints_puzzles_tokens_cost_and_cells():
    """Prices in, costs out; unknown models and impossible widths are a sentence."""
    runner = CliRunner()
    told = runner.invoke(main, ["plan", "--price-out", "10", "--apart", "o3-2025-04-16", "QwQ-32B"])
    assert told.exit_code == 0
    assert {"grid", "short", "adaptive", "cost"} <= set(told.output.split())
    assert "QwQ-32B" in told.output
    for arguments, message in (
        (["--width", "0"], "width is 0.0; give a positive number"),
        (["--model", "mine"], "the paper has no model 'mine'"),
        (["--apart", "mine", "QwQ-32B"], "the paper has no model 'mine'"),
    ):
        refused = runner.invoke(main, ["plan", *arguments])
        assert refused.exit_code == 2
        assert message in refused.output
