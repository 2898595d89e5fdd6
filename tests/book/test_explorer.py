"""The page that steps through puzzles, driven as a reader drives it."""

import pytest
from browsing import complaints, turn_to, wait
from selenium.webdriver.common.by import By

pytestmark = pytest.mark.book

_HOSTILE = "<img src=x onerror=alert(1)></script>"


@pytest.fixture
def explorer(browser, html):
    """The page, open from a file."""
    turn_to(browser, f"{html.as_uri()}/explorer.html")
    wait(browser, lambda b: b.find_elements(By.ID, "explorer-people"))
    return browser


def test_every_puzzle_ends_at_its_answer(explorer):
    """Replayed in the page, twenty puzzles and all others end at the value in their name, with its needles."""
    ends = explorer.execute_script("""
        return cogniload.data.puzzles.puzzles.map((puzzle) => {
            const { answer, needles } = cogniload.explorer.solve(puzzle);
            return [puzzle.name, puzzle.gold, puzzle.needles, answer, needles];
        });
    """)
    assert len(ends) >= 20
    for name, gold, needles, answer, counted in ends:
        assert name.endswith(f"_{answer}")
        assert (answer, counted) == (gold, needles)


def test_stepping_shows_who_matches_and_the_answer_at_the_end(explorer):
    """A click goes one statement on, the address keeps the place, and the last one shows question and answer."""
    explorer.find_element(By.ID, "explorer-go-start").click()
    explorer.find_element(By.ID, "explorer-go-next").click()
    assert "Matches:" in explorer.find_element(By.CSS_SELECTOR, ".explorer-steps .statement").text
    assert "step=1" in explorer.current_url
    explorer.find_element(By.ID, "explorer-go-end").click()
    gold = explorer.find_element(By.CSS_SELECTOR, ".explorer-steps .answer strong").text
    name = explorer.execute_script(
        "return document.getElementById('explorer-puzzle').selectedOptions[0].text"
    )
    levels = [
        int(one.text) for one in explorer.find_elements(By.CSS_SELECTOR, "#explorer-d option")
    ]
    assert levels == sorted(levels)
    assert name.endswith(f"_{gold}")
    assert complaints(explorer) == []


def test_a_response_stays_text(explorer):
    """A response that looks like markup is shown letter by letter."""
    explorer.execute_script(
        """
        for (const { answers } of cogniload.data.puzzles.puzzles) answers.push({ ...answers[0], text: arguments[0] });
        location.hash = "answer=99";
        """,
        _HOSTILE,
    )
    wait(
        explorer,
        lambda b: b.find_element(By.CSS_SELECTOR, ".explorer-answers pre").text == _HOSTILE,
    )
    assert explorer.find_elements(By.CSS_SELECTOR, "#explorer img, #explorer script") == []


def test_counts_of_a_configuration_are_ranges_over_the_reconstructions(explorer):
    """For reconstructed models the least and the most of all tables of counts; overflows are not known."""
    caption = explorer.find_element(By.CSS_SELECTOR, "#explorer-models caption").text
    rows = explorer.execute_script("""
        const { grid, models } = cogniload.data.cells;
        const [N, d, rho] = ["N", "d", "ratio_pct"].map((load) => +document.getElementById(`explorer-${load}`).value);
        const at = grid.N.findIndex((one, i) => one === N && grid.d[i] === d && grid.ratio_pct[i] === rho);
        const tablesOf = (row) => models.find(({ name }) => name === row.cells[0].textContent).tables;
        return [...document.querySelectorAll("#explorer-models tbody tr")].map((row) =>
            [row.cells[2].textContent, row.cells[4].textContent, tablesOf(row)?.map((table) => table[at])]);
    """)
    assert rows
    for shown, overflows, counts in rows:
        if counts:
            ends = dict.fromkeys([min(counts), max(counts)])
            assert shown == " to ".join(map(str, ends))
            assert overflows == "–"
    assert ("Not identified" in caption) == any(counts for *_, counts in rows)
