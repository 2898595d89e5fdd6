"""The page that steps through puzzles, driven as a reader drives it."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.book

_HOSTILE = "<img src=x onerror=alert(1)></script>"


@pytest.fixture(params=["server", "disk"])
def explorer(browser, site, html, request):
    """The page, open, from a server and from a file."""
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(f"{site if request.param == 'server' else html.as_uri()}/explorer.html")
    WebDriverWait(browser, 60).until(lambda b: b.find_elements(By.ID, "explorer-people"))
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
    explorer.find_element(By.ID, "explorer-go-next").click()
    assert "Matches:" in explorer.find_element(By.CSS_SELECTOR, ".explorer-steps .statement").text
    assert "step=1" in explorer.current_url
    explorer.find_element(By.ID, "explorer-go-end").click()
    gold = explorer.find_element(By.CSS_SELECTOR, ".explorer-steps .answer strong").text
    name = explorer.execute_script("return document.getElementById('explorer-puzzle').selectedOptions[0].text")
    assert name.endswith(f"_{gold}")
    log = explorer.get_log("browser")
    assert [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")] == []


def test_a_response_stays_text(explorer):
    """A response that looks like markup is shown letter by letter."""
    explorer.execute_script(
        """
        const hostile = { ...cogniload.data.puzzles.puzzles[0].answers[0], text: arguments[0], model: arguments[0] };
        for (const puzzle of cogniload.data.puzzles.puzzles) puzzle.responses = [hostile];
        location.hash = "answer=99";
        """,
        _HOSTILE,
    )
    WebDriverWait(explorer, 60).until(
        lambda b: b.find_element(By.CSS_SELECTOR, ".explorer-answers pre").text == _HOSTILE
    )
    assert explorer.find_elements(By.CSS_SELECTOR, "#explorer img, #explorer script") == []
