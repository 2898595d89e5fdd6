"""The figures of the generator: one panel a difficulty, with the numbers that were measured."""

import numpy as np
import pytest
from samples import table_of

from cogniload_repro.presentation import generation_figures as figures
from cogniload_repro.presentation.style import save_figure
from cogniload_repro.puzzles import measure as checks


@pytest.fixture(scope="module")
def measures():
    """Puzzles of eight lengths and six difficulties."""
    points = [(N, d, N // 2) for N in range(10, 18) for d in (1, 2, 3, 4, 5, 6)]
    return checks.measure_puzzles(table_of(*[(*point, number) for number, point in enumerate(points)]), 5)


def titles(figure):
    """Return the titles of the panels that show something."""
    return [ax.get_title() for ax in figure.axes if ax.lines]


def test_every_difficulty_has_its_panel(measures):
    """Six difficulties take two rows of panels; those without a choice have none for d = 1."""
    all_, some = [f"$d$ = {d}" for d in range(1, 7)], [f"$d$ = {d}" for d in range(2, 7)]
    assert titles(figures.draw_places(measures)) == all_
    assert titles(figures.draw_failures(measures)) == all_
    for figure in (
        figures.draw_counts(measures, "updates"),
        figures.draw_missing(measures),
        figures.draw_merging(measures),
    ):
        assert titles(figure) == some


def test_points_are_the_measured_numbers(measures):
    """Missing people, different others and needles by tenth are drawn as they were counted."""
    panel = figures.draw_missing(measures).axes[-1]
    cast = measures.puzzles[(measures.puzzles["d"] == 6) & (measures.puzzles["N"] == 10)]
    expected = 100 * (1 - cast["lines"] / cast["people"]).mean()
    assert panel.lines[0].get_ydata() == pytest.approx([expected])
    panel = figures.draw_merging(measures).axes[-1]
    own = measures.statements.query("d == 6 and N == 17").sort_values("place")
    assert panel.lines[0].get_ydata() == pytest.approx(own["distinct"].to_numpy())
    profile = checks.profile_places(measures).query("d == 1")
    drawn = figures.draw_places(measures).axes[0].lines
    relative = (profile["needles"] / profile["even"]).to_numpy()
    assert any(np.allclose(line.get_ydata(), relative) for line in drawn if len(line.get_ydata()) == len(relative))


def test_many_levels_are_thinned():
    """Of many levels a few are drawn, the first and the last among them, and few are all drawn."""
    assert figures._spread(range(30, 0, -1), 3) == [1, 15, 30]
    assert figures._spread([5, 1], 3) == [1, 5]


def test_sets_with_few_or_no_failures_are_drawn(tmp_path):
    """A difficulty without a failed attempt has an empty panel, and a set without any an empty figure."""
    some = checks.measure_puzzles(table_of((3, 12, 1, 5), (60, 2, 30, 5)), 3)
    none = checks.measure_puzzles(table_of((3, 12, 1, 5)), 3)
    assert (len(some.failures) > 0, len(none.failures)) == (True, 0)
    for name, measures in (("some", some), ("none", none)):
        save_figure(figures.draw_failures(measures), tmp_path / name)
