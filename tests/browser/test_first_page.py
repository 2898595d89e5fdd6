"""The puzzle of the first page, answered as a reader answers it."""

import pytest
from browsing import phone, visit, wait
from selenium.webdriver.common.by import By

import cogniload_repro as cl

pytestmark = pytest.mark.book


@pytest.fixture
def puzzle(browser, html):
    """The puzzle on the page, and its text solved by the package."""
    visit(browser, f"{html.as_uri()}/notebooks/00_introduction.html")
    wait(browser, lambda b: b.find_elements(By.CSS_SELECTOR, ".choices button"))
    shown = browser.find_element(By.CSS_SELECTOR, ".first-puzzle")
    return shown, cl.draw_puzzle(N=6, d=1, needles=2, puzzle_id=8)


def answer(shown, value):
    """The page's reply to an answer."""
    buttons = shown.find_elements(By.CSS_SELECTOR, ".choices button")
    next(button for button in buttons if button.text == value).click()
    return shown.find_element(By.CSS_SELECTOR, "[role='status']").text


def test_the_reply_is_that_of_the_puzzle(puzzle):
    """Only the solution is right; another answer is shown where it was last true."""
    shown, drawn = puzzle
    colors = [name for name in shown.get_attribute("data-values").split()]
    states = [state[drawn.poi][drawn.category] for state in drawn.states()]
    assert drawn.solution in colors
    assert shown.get_attribute("data-shortcut") in colors
    for color in colors:
        reply = answer(shown, color)
        assert reply.startswith("Right.") == (color == drawn.solution)
        assert ("shortcut" in reply) == (color == shown.get_attribute("data-shortcut"))
        if color in states and color != drawn.solution:
            last = max(step for step, value in enumerate(states) if value == color)
            assert f"statement {last + 1} changed it" in reply


def test_a_step_shows_one_note_more(puzzle):
    """After the last statement the puzzle starts again."""
    shown, drawn = puzzle
    for step in [*range(1, len(drawn.statements) + 1), 0]:
        answer(shown, "Step")
        notes = shown.find_elements(By.CSS_SELECTOR, ".note")
        assert sum(note.is_displayed() for note in notes) == step


@pytest.mark.parametrize("screen", ["desk", "phone"])
def test_question_and_picture_are_on_the_first_screen(browser, puzzle, screen):
    """At 1,400 x 900 and at 390 x 844 nobody has to scroll to the result."""
    places = """
        return [".choices", ".first-screen strong", ".first-screen figure, #summary"].map(
            (place) => document.querySelector(place).getBoundingClientRect().top);
    """
    if screen == "phone":
        with phone(browser):
            tops = browser.execute_script(places)
    else:
        tops = browser.execute_script(places)
    assert max(tops) < 844
