"""Interactive figures, on the chapter of accuracies opened from a disk."""

import pytest
from browsing import complaints, turn_to, wait
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.book

_FIRST = "[data-figure=figure1]"
_WIDE = f"""[...document.querySelectorAll("{_FIRST} .figure-panel:first-child .mark-line path")]
        .filter((line) => Number(line.getAttribute("stroke-width")) > %s).length"""
_CHIPS = "document.querySelectorAll('.figure-models button').length"


def _press(browser, place, text):
    """Press a button by what stands on it."""
    found = f"[...document.querySelectorAll('{place} button')].find((one) => one.textContent === '{text}')"
    browser.execute_script(f"{found}?.click()")


@pytest.fixture
def chapter(browser, html):
    """The chapter with its first figure drawn, and the models that it begins with."""
    turn_to(browser, f"{html.as_uri()}/notebooks/04_accuracy.html#figure1")
    wait(browser, lambda b: b.find_elements(By.CSS_SELECTOR, f"{_FIRST} button"))
    _press(browser, _FIRST, "Interactive figure")
    wait(browser, lambda b: b.find_elements(By.CSS_SELECTOR, f"{_FIRST}[data-ready]"))
    _press(browser, ".figure-choice", "A few")
    wait(browser, f"0 < {_CHIPS} && {_CHIPS} === {_WIDE % 2}")
    yield browser
    assert complaints(browser) == []


def test_models_are_chosen_once_for_the_page(chapter):
    """The lines in colour are those chosen; `All` draws all, a click on a name takes it away."""
    assert len(chapter.find_elements(By.CSS_SELECTOR, ".figure-choice")) == 1
    few = chapter.execute_script(f"return {_CHIPS}")
    _press(chapter, ".figure-choice", "All")
    wait(chapter, f"{_CHIPS} > {few} && {_WIDE % 2} === {_CHIPS}")
    everyone = chapter.execute_script(f"return {_CHIPS}")
    chapter.execute_script("document.querySelector('.figure-models button').click()")
    wait(chapter, f"{_CHIPS} === {everyone - 1} && {_WIDE % 2} === {everyone - 1}")


def test_letters_of_any_name_highlight_a_line(chapter):
    """Full and short names find a model while they are typed; Enter adds it; the chosen keep their names."""
    field, said = (
        chapter.find_element(By.CSS_SELECTOR, f".figure-choice {one}") for one in ("input", ".said")
    )
    for letters in ("Distill-L", "gpt5-m"):
        few = chapter.execute_script(f"return {_CHIPS}")
        field.clear()
        field.send_keys(letters)
        wait(chapter, f"{_WIDE % 3} === 1")
        assert chapter.execute_script(f"return {_CHIPS}") == few
        assert said.text.startswith("1 highlighted")
        field.send_keys(Keys.ENTER)
        wait(chapter, f"{_WIDE % 3} === 0")
        assert chapter.execute_script(f"return {_CHIPS}") in (few, few + 1)
    field.send_keys("zzz")
    wait(chapter, lambda _: said.text == "no such model")
    field.clear()


def test_the_picture_comes_back_and_points_lead_to_puzzles(chapter):
    """The static image is one click away; Figures 5 to 7 are always static. A point, or a link, opens the explorer."""
    picture = chapter.find_element(By.CSS_SELECTOR, "figure#figure1 img")
    assert not picture.is_displayed()
    _press(chapter, _FIRST, "Static image")
    assert picture.is_displayed()
    _press(chapter, _FIRST, "Interactive figure")
    found = (
        "return [...document.querySelectorAll('.figure-answers')].map((one) => one.dataset.figure)"
    )
    assert set(chapter.execute_script(found)) == {"figure1", "figure3", "figure4"}
    links = (
        f"return [...document.querySelectorAll('{_FIRST} .figure-links a')].map((one) => one.href)"
    )
    assert any("explorer.html#N=" in link for link in chapter.execute_script(links))
    point = chapter.find_elements(By.CSS_SELECTOR, f"{_FIRST} .figure-panel .mark-symbol path")[-1]
    chapter.execute_script("arguments[0].scrollIntoView({ block: 'center' })", point)
    ActionChains(chapter).move_to_element(point).click().perform()
    wait(chapter, lambda b: "explorer.html#" in b.current_url)
