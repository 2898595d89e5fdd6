"""The page that steps through puzzles, driven as a reader drives it."""

from urllib.parse import urlencode

import pytest
from browsing import complaints, turn_to, wait
from selenium.webdriver.common.by import By

import cogniload_repro as cl
from cogniload_repro.book.page_data import cells_to_show
from cogniload_repro.formats import display_names
from cogniload_repro.grid import count_needles

pytestmark = pytest.mark.book

_HOSTILE = "<img src=x onerror=alert(1)></script>"


@pytest.fixture
def explorer(browser, html):
    """The page, open from a file."""
    turn_to(browser, f"{html.as_uri()}/explorer.html")
    wait(browser, lambda b: b.find_elements(By.ID, "explorer-people"))
    return browser


def test_every_puzzle_ends_at_its_answer(explorer):
    """Replayed in the page, every puzzle ends at the value in its name.

    It has the needles of its ratio.
    """
    ends = explorer.execute_script("""
        return cogniload.data.puzzles.puzzles.map((puzzle) => {
            const { answer, isNeedle } = cogniload.explorer.solve(puzzle);
            const needles = isNeedle.filter(Boolean).length;
            return [puzzle.name, puzzle.gold, puzzle.N, puzzle.ratio_pct, answer, needles];
        });
    """)
    assert len(ends) >= 20
    for name, gold, N, ratio_pct, answer, needles in ends:
        assert name.endswith(f"_{answer}")
        assert answer == gold
        assert needles == count_needles(N, ratio_pct)


def test_stepping_shows_who_matches_and_the_answer_only_at_the_end(explorer):
    """A click goes one statement on, the address keeps the place; no menu gives the answer away."""
    explorer.find_element(By.ID, "explorer-go-start").click()
    options = explorer.find_elements(By.CSS_SELECTOR, "#explorer-puzzle option")
    assert [option.text for option in options] == [
        f"puzzle {place} of {len(options)}" for place in range(1, len(options) + 1)
    ]
    end = explorer.find_element(By.CSS_SELECTOR, "#explorer .answer")
    assert not end.is_displayed()
    statement = explorer.find_element(By.CSS_SELECTOR, "#explorer .statement")
    assert statement.text.endswith("?")
    explorer.find_element(By.ID, "explorer-go-next").click()
    assert "Matches:" in statement.text
    assert "step=1" in explorer.current_url
    explorer.find_element(By.ID, "explorer-go-end").click()
    gold = end.find_element(By.TAG_NAME, "strong").text
    assert end.text.endswith(f"_{gold}).")
    levels = explorer.find_elements(By.CSS_SELECTOR, "#explorer-d option")
    numbers = [int(level.text) for level in levels]
    assert numbers == sorted(numbers)
    assert complaints(explorer) == []


def test_a_name_stays_text(explorer):
    """A model whose name looks like markup is shown letter by letter."""
    explorer.execute_script(
        """
        cogniload.data.puzzles.models[0] = arguments[0];
        location.hash = "step=2";
        """,
        _HOSTILE,
    )
    script = "document.querySelector('#explorer-models tbody').textContent"
    wait(explorer, f"{script}.includes({_HOSTILE!r})")
    inserted = "#explorer img, #explorer script"
    assert explorer.find_elements(By.CSS_SELECTOR, inserted) == []
    explorer.refresh()


def test_counts_of_a_configuration_are_those_of_the_build(explorer, html):
    """For reconstructed models the least and the most of all tables of counts; else the count."""
    build = html.parents[2]
    if not (build / "cells.parquet").is_file():
        pytest.skip("the book lies apart from its build")
    cells = cells_to_show(build)
    names = display_names(cells["model"])
    place = {"N": 20, "d": 1, "ratio_pct": 50}
    explorer.execute_script(f"location.hash = '{urlencode(place)}'")
    caption = f"N = {place['N']}, d = {place['d']}, ρ = {place['ratio_pct']}%"
    wait(
        explorer,
        f"document.querySelector('#explorer-models caption').textContent.includes('{caption}')",
    )
    rows = explorer.execute_script("""
        return [...document.querySelectorAll("#explorer-models tbody tr")].map((row) =>
            [...row.cells].map((cell) => cell.textContent));
    """)
    is_configuration = (cells[list(place)] == list(place.values())).all(axis=1) & (
        cells["total"] > 0
    )
    expected = cells[is_configuration].set_index("model")
    assert {row[0] for row in rows} == {names[model] for model in expected.index}
    samples = cl.load_reconstructions()
    samples = samples[(samples[list(place)] == list(place.values())).all(axis=1)]
    counts = samples.groupby("model")["correct"].agg(["min", "max"])
    for model, row in expected.iterrows():
        least, most = (
            counts.loc[model]
            if row["provenance"] == "reconstructed"
            else [row["correct"]] * 2
        )
        (texts,) = (cells for cells in rows if cells[0] == names[model])
        correct = " to ".join(map(str, dict.fromkeys([least, most])))
        assert texts[1:3] == [str(row["total"]), correct]
