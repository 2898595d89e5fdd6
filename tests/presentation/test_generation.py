"""The chapter on the generator: pictures with one panel a difficulty, and tables, of the numbers that were measured."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from samples import table_of

from cogniload_repro.presentation import generation as figures
from cogniload_repro.presentation.style import save_figure
from cogniload_repro.published import load_table
from cogniload_repro.puzzles import measure as checks
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.storage import DATA


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


@pytest.mark.slow
def test_points_stand_beside_their_numbers_without_assertions_too():
    """A tenth to either side of 1, 2, ..., also where Python runs without assertions and pandas counts otherwise."""
    code = (
        "import test_generation as t; from cogniload_repro.presentation.generation import draw_counts;"
        "m = t.checks.measure_puzzles(t.table_of(*[(12, 3, 6, n) for n in range(5)]), 5);"
        "print([line.get_xdata().tolist() for line in draw_counts(m, 'updates').axes[0].lines[1:3]])"
    )
    folders = [str(Path(__file__).parent), *sys.path]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(folders), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-O", "-W", "ignore", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[1.1, 2.1, 3.1], [0.9, 1.9, 2.9]]


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


def test_a_picture_is_described_by_its_panels(measures, tmp_path):
    """A picture has its files and the range of each panel in words, and the same bytes when drawn again."""
    words = {"caption": "Sense. More", "note": "Drawn here", "empty": "Nothing"}
    shown = [figures.show_panels(figures.draw_failures(measures), "some", tmp_path / place, **words) for place in "ab"]
    assert re.search(r':alt: "Sense\. .*d = 4: [\d.]+ to [\d.]+', shown[0].markdown)
    assert shown[0].markdown == shown[1].markdown
    for name in ("some.png", "some.svg"):
        assert len({(tmp_path / place / "figures" / name).read_bytes() for place in "ab"}) == 1


def test_tables_have_a_row_a_difficulty_with_the_measured_numbers(measures):
    """Failures, spaces and sameness list each d; failed attempts, states and sameness are the measures'."""
    tables = [
        figures.print_failures(measures),
        figures.print_spaces(measures.puzzles),
        figures.print_sameness(measures),
    ]
    assert all(table["$d$"].tolist() == ["1", "2", "3", "4", "5", "6"] for table in tables)
    failures, spaces, sameness = tables
    rates = checks.count_failures(measures, "d")["rate"]
    assert failures["Failed, per 100"].tolist() == [f"{100 * rate:.1f}" for rate in rates]
    assert spaces.loc[3, ["States", "$(d+1)^d$"]].tolist() == ["625", "625"]
    assert sameness.iloc[0, 2] == "100.0"


def test_lengths_of_the_editions_stand_beside_the_printed_ones():
    """The committed table holds the paper's means; a row shows each set with its overhead and its distance."""
    lengths = pd.read_csv(DATA / "companions" / "edition_lengths.csv")
    printed = load_table("tokens").query("model == 'DeepSeek-R1-Distill-Llama-70B'").set_index(["N", "d"])
    own = lengths.set_index(["N", "d"])
    assert (own["printed"] == printed.loc[own.index, "prompt_mean"]).all()
    assert (np.sign((own["printed"] - own["counted"] - own["overhead"]).round(2)) == np.sign(own["z"].round(2))).all()
    shown = figures.print_lengths(lengths)
    assert shown.columns.tolist() == ["$N$", "$d$", "Printed", "Port draw", "Elixir draw", "Expected"]
    assert len(shown) == len(lengths) / 3 == 20
    made_up = pd.DataFrame({"set": ["port", "expected"], "N": 20, "d": 1, "printed": 358.0, "counted": [353.4, 352.0],
                            "se": [1.3, 0.44], "overhead": [4.2, 5.0], "z": [0.2, -1.26]})  # fmt: skip
    row = ["20", "1", "358", "358 (+0.2)", "357 ± 0.4 (-1.3)"]
    assert figures.print_lengths(made_up).values.tolist() == [row]


def test_huge_numbers_are_powers_of_ten():
    """Numbers are written out up to a million, and as powers of ten beyond."""
    assert [figures._power(number) for number in (64, 7776.0, 11.0**10)] == ["64", "7,776", "2.6 × 10¹⁰"]


def test_replay_shows_every_step():
    """The example's replay has the start and a row a statement, who changes in it, and ends with the answer."""
    puzzle = draw_puzzle(20, 3, 10, 607598)
    replay = figures.print_replay(puzzle)
    assert replay["Step"].tolist() == [str(step) for step in range(21)]
    assert (replay["Kind"] == "needle").sum() == 10
    moved = replay["Changes"].str.contains(puzzle.poi)[1:]
    assert moved.tolist() == (replay["Kind"] == "needle")[1:].tolist()
    assert replay[puzzle.category.replace("_", " ")].iloc[-1] == puzzle.solution


def test_nothing_measured_is_said(tmp_path):
    """Where no puzzle is one of this generator, tables are empty; a sentence stands for a picture, under its label."""
    nothing = checks.measure_puzzles(table_of((20, 4, 10, 1)).assign(text="another"), 5)
    tests = figures.print_draws(checks.check_draws(nothing))
    for table in (tests, figures.print_failures(nothing), figures.print_spaces(nothing.puzzles),
                  figures.print_sameness(nothing)):  # fmt: skip
        assert table.empty
    drawn = [
        figures.draw_places(nothing), figures.draw_failures(nothing), figures.draw_missing(nothing),
        figures.draw_merging(nothing), *(figures.draw_counts(nothing, what) for what in ("conditions", "updates")),
    ]  # fmt: skip
    words = {"caption": "Sense", "note": "", "empty": "Nothing"}
    shown = {figures.show_panels(figure, "x", tmp_path, **words).markdown for figure in drawn}
    assert shown == {"(x)=\n\nNothing"}
    assert not any(tmp_path.iterdir())


def test_a_set_of_d_1_only_has_few_pictures():
    """Pictures that start at d = 2 have no panel where there is no such puzzle, the others one."""
    measures = checks.measure_puzzles(table_of((20, 1, 10, 1), (20, 1, 10, 2)), 5)
    assert len(titles(figures.draw_places(measures))) == 1
    for figure in (
        figures.draw_missing(measures),
        figures.draw_merging(measures),
        figures.draw_counts(measures, "updates"),
    ):
        assert titles(figure) == []
