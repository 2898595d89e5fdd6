"""The chapter on the generator: its tables, and what it says where nothing can be measured."""

import re

import pytest
from samples import table_of

from cogniload_repro.presentation import generation_pages as pages
from cogniload_repro.puzzles import measure as checks
from cogniload_repro.puzzles.generate import draw_puzzle

PIECES = (pages.show_draws, pages.show_failures, pages.show_spaces, pages.show_domains, pages.show_sameness)


@pytest.fixture(scope="module")
def table():
    """Some puzzles of four cells."""
    points = ((N, d, N // 2) for N in (20, 40) for d in (1, 4) for _ in range(5))
    return table_of(*[(*point, number) for number, point in enumerate(points)])


@pytest.fixture(scope="module")
def measures(table):
    """What is measured on them."""
    return checks.measure_puzzles(table, 5)


@pytest.fixture(scope="module")
def nothing(table):
    """Measures of puzzles that all come from elsewhere."""
    return checks.measure_puzzles(table.assign(text="another"), 5)


def rows(markdown):
    """Return the rows of a table, header and rule aside."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
    return lines[2:]


def test_tables_have_a_row_a_difficulty(measures):
    """Failures, spaces and sameness list each d, and the caption the numbers of puzzles and statements."""
    for show in (pages.show_failures, pages.show_spaces, pages.show_sameness):
        markdown = show(measures).markdown
        assert [row.split("|")[1].strip() for row in rows(markdown)] == ["1", "4"]
        assert "20 puzzles, 600 statements." in markdown


def test_numbers_shown_are_those_measured(measures):
    """Failed attempts, space of states and sameness are the measures', formatted."""
    first, second = rows(pages.show_failures(measures).markdown)
    rate = checks.count_failures(measures, "d").set_index("d")["rate"]
    assert f"| {100 * rate[1]:.1f}".replace(".", "\\.") in first
    assert f"| {100 * rate[4]:.1f}".replace(".", "\\.") in second
    assert "| 625 | 625 |" in rows(pages.show_spaces(measures).markdown)[1]
    assert "| 100\\.0 | 1\\.0 | 1\\.0 |" in rows(pages.show_sameness(measures).markdown)[0]


def test_huge_numbers_are_powers_of_ten():
    """Numbers are written out up to a million, and as powers of ten beyond."""
    assert [pages._power(number) for number in (64, 7776.0, 11.0**10)] == ["64", "7,776", "2.6 × 10¹⁰"]


def test_replay_shows_every_step():
    """The example's replay has the start and a row a statement, who changes in it, and ends with the answer."""
    puzzle = draw_puzzle(20, 3, 10, 607598)
    found = rows(pages.show_replay(puzzle).markdown)
    assert [row.split("|")[1].strip() for row in found] == [str(step) for step in range(21)]
    assert sum("| needle |" in row for row in found) == 10
    for row in found[1:]:
        assert (puzzle.poi in row) == ("| needle |" in row)
    assert puzzle.solution in found[-1]


def test_figures_are_described(tmp_path, measures):
    """Each figure has its files, a caption that says what it is, and a description with the range of each panel."""
    for name in pages._FIGURES:
        markdown = pages.show_figure(measures, name, tmp_path).markdown
        assert {path.suffix for path in tmp_path.rglob(f"generator_{name}.*")} == {".png", ".svg"}
        assert "Drawn here, not reconstructed." in markdown
        assert re.search(r":alt: .*d = 4: [\d.]+ to [\d.]+", markdown)


def test_a_figure_drawn_again_is_the_same(tmp_path, measures):
    """A second run changes no byte of picture and text."""
    first, second = (pages.show_figure(measures, "failures", tmp_path / place) for place in "ab")
    assert first.markdown == second.markdown
    for name in ("generator_failures.png", "generator_failures.svg"):
        assert len({(tmp_path / place / "figures" / name).read_bytes() for place in "ab"}) == 1


def test_nothing_measured_is_said(tmp_path, nothing):
    """Where no puzzle is one of this generator, every piece says so and no file is made."""
    assert nothing.asked == 20
    pieces = [show(nothing) for show in PIECES] + [
        pages.show_figure(nothing, name, tmp_path) for name in pages._FIGURES
    ]
    assert all(piece.markdown.startswith("Nothing to measure") for piece in pieces)
    assert not any(tmp_path.iterdir())


def test_a_set_of_d_1_only_has_few_figures(tmp_path):
    """Figures that start at d = 2 say so where there is no such puzzle, the others are drawn."""
    measures = checks.measure_puzzles(table_of((20, 1, 10, 1), (20, 1, 10, 2)), 5)
    said = {name: pages.show_figure(measures, name, tmp_path).markdown for name in pages._FIGURES}
    assert {name for name, markdown in said.items() if "Nothing to measure" in markdown} == {
        "conditions", "updates", "missing", "merging"
    }  # fmt: skip
