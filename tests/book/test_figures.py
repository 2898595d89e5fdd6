"""Figures that answer, on the chapter of accuracies opened from a disk."""

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.book

_FIRST = "[data-figure=figure1]"
_LINES = f"""
    const lines = document.querySelectorAll("{_FIRST} .figure-panel:first-child .mark-line path");
    return [...lines].filter((line) => Number(line.getAttribute("stroke-width")) > 2).length;
"""


@pytest.fixture
def chapter(browser, html):
    """The chapter, with its first figure drawn."""
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(f"{html.as_uri()}/notebooks/04_accuracy.html#figure1")
    WebDriverWait(browser, 60).until(lambda b: b.find_elements(By.CSS_SELECTOR, f"{_FIRST}[data-ready]"))
    yield browser
    log = browser.get_log("browser")
    assert [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")] == []


def test_a_few_models_are_in_colour_and_a_click_adds_one(chapter):
    """The lines in colour are those ticked; ticking another draws it, `All` draws all."""
    ticked = f"return document.querySelectorAll('{_FIRST} .figure-models input:checked').length"
    before = chapter.execute_script(_LINES)
    assert 0 < before == chapter.execute_script(ticked)
    box = chapter.find_element(By.CSS_SELECTOR, f"{_FIRST} .figure-models input:not(:checked)")
    chapter.execute_script("arguments[0].click()", box)
    WebDriverWait(chapter, 60).until(lambda b: b.execute_script(_LINES) == before + 1)
    button = chapter.find_element(By.XPATH, "//*[@data-figure='figure1']//button[.='All']")
    chapter.execute_script("arguments[0].click()", button)  # the page's own bar may lie over it
    everyone = len(chapter.find_elements(By.CSS_SELECTOR, f"{_FIRST} .figure-models input"))
    WebDriverWait(chapter, 60).until(lambda b: b.execute_script(_LINES) == everyone)


def test_a_point_leads_to_puzzles(chapter):
    """A click on a point opens the explorer at its level."""
    point = chapter.find_elements(By.CSS_SELECTOR, f"{_FIRST} .figure-panel .mark-symbol path")[-1]
    chapter.execute_script("arguments[0].scrollIntoView({ block: 'center' })", point)
    ActionChains(chapter).move_to_element(point).click().perform()
    WebDriverWait(chapter, 60).until(lambda b: "explorer.html#" in b.current_url)


def test_the_picture_comes_back(chapter):
    """The still picture is one click away, and is what is printed."""
    picture = chapter.find_element(By.CSS_SELECTOR, "figure#figure1 img")
    assert not picture.is_displayed()
    button = chapter.find_element(By.XPATH, "//*[@data-figure='figure1']//button[.='Still picture']")
    chapter.execute_script("arguments[0].click()", button)
    assert picture.is_displayed()


_FIGURES = {
    "05_glm": "slopes",
    "07_aic": "curve-gain",
    "09_tokens": "prompt-lengths",
    "10_conclusions": "fingerprints",
}


@pytest.mark.parametrize("name", _FIGURES)
def test_slopes_errors_lengths_and_capacity_points_answer_too(browser, html, name):
    """Each stands in place of its picture, with some models in colour; another one can be ticked."""
    page, figure = html / "notebooks" / f"{name}.html", f"[data-figure={_FIGURES[name]}]"
    if not page.is_file() or f'data-figure="{_FIGURES[name]}"' not in page.read_text(encoding="utf-8"):
        pytest.skip(f"the chapter {name} of this book has no such figure")
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(f"{html.as_uri()}/notebooks/{name}.html#{_FIGURES[name]}")
    WebDriverWait(browser, 60).until(lambda b: b.find_elements(By.CSS_SELECTOR, f"{figure}[data-ready]"))
    assert not browser.find_element(By.CSS_SELECTOR, f"figure#{_FIGURES[name]} img").is_displayed()
    marks = f"return document.querySelectorAll('{figure} .mark-symbol path[fill]:not([fill=transparent])').length"
    assert browser.execute_script(marks) > 0
    box = browser.find_element(By.CSS_SELECTOR, f"{figure} .figure-models input:not(:checked)")
    browser.execute_script("arguments[0].click()", box)
    swatch = "return [...document.querySelectorAll(arguments[0])].filter((one) => one.checked).length"
    assert browser.execute_script(swatch, f"{figure} .figure-models input") == 5
    assert [one["message"] for one in browser.get_log("browser") if one["level"] in ("SEVERE", "WARNING")] == []
