"""A model dropped on the workbench, on the book's other pages."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from cogniload_repro.presentation.workbench import gather_cells

pytestmark = pytest.mark.book

_NAME = "<img src=x onerror=alert(1)> mine"


@pytest.fixture
def dropped(forgetful, html, tmp_path):
    """A browser that has read, from a disk, a file with the counts of QwQ-32B under another name."""
    own = gather_cells(html.parents[2]).query("model == 'QwQ-32B'").assign(model=_NAME)
    kinds = ["valid_logic", "poi_logic", "last_logic", "other"]
    file = tmp_path / "cells.csv"
    own[["model", "N", "d", "ratio_pct", "total", "correct", "ctx", *kinds]].to_csv(file, index=False)
    browser = forgetful
    browser.get(f"{html.as_uri()}/workbench.html")
    chooser = WebDriverWait(browser, 60).until(lambda b: b.find_element(By.ID, "workbench-file"))
    chooser.send_keys(str(file))
    WebDriverWait(browser, 60).until(lambda b: "Kept in this browser" in b.find_element(By.TAG_NAME, "main").text)
    return browser, own


def _open(browser, html, chapter):
    browser.get(f"{html.as_uri()}/notebooks/{chapter}.html")
    return WebDriverWait(browser, 60).until(lambda b: b.find_elements(By.CSS_SELECTOR, ".dropped-models"))[0]


def _wait(browser, selector, count):
    WebDriverWait(browser, 60).until(lambda b: len(b.find_elements(By.CSS_SELECTOR, selector)) == count)


def _kept(html):
    return f"cogniload dropped {html.as_posix()}/"


@pytest.mark.parametrize(("chapter", "number"), [("05_glm", 2), ("06_interactions", 3)])
def test_its_row_is_that_of_the_same_counts(dropped, html, chapter, number):
    """The row says whose it is, and has the numbers of the model whose counts the file holds."""
    browser, _ = dropped
    note = _open(browser, html, chapter)
    assert _NAME in note.text
    assert f"Table {number}" in note.text
    rows = browser.find_elements(By.CSS_SELECTOR, f"#table{number} tbody tr")
    texts = [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "td, th")] for row in rows]
    assert texts[0][0] == f"{_NAME} dropped by you, in this browser only"
    (same,) = [row for row in texts if row[0] == "QwQ-32B"]
    assert texts[0][1:] == same[1:]


@pytest.mark.slow  # and when a browser tells one tab of another's storage is its own affair
def test_what_another_tab_does_is_seen_without_loading_again(dropped, html):
    """A model taken out in another tab leaves page and figure, and one that is dropped there comes, each row once."""
    browser, _ = dropped
    key = _kept(html)
    _open(browser, html, "05_glm")
    slopes = "[data-figure=slopes]"
    browser.execute_script(f"document.querySelector('{slopes}').scrollIntoView()")
    _wait(browser, f"{slopes}[data-ready]", 1)
    named = f"{slopes} input[data-model^='<img']"
    _wait(browser, named, 1)
    first, kept = (
        browser.current_window_handle,
        browser.execute_script("return localStorage.getItem(arguments[0])", key),
    )
    browser.switch_to.new_window("tab")
    try:
        _open(browser, html, "09_tokens")
        browser.find_element(By.CSS_SELECTOR, ".dropped-models button").click()
        _wait(browser, ".dropped-models", 0)
        browser.switch_to.window(first)
        for selector in (".dropped-models", "tr.dropped", named):
            _wait(browser, selector, 0)
        browser.switch_to.window(browser.window_handles[-1])
        for what in (kept, f" {kept}"):  # the same twice, in other letters
            browser.execute_script("localStorage.setItem(arguments[0], arguments[1])", key, what)
    finally:
        browser.switch_to.window(browser.window_handles[-1])
        browser.close()
        browser.switch_to.window(first)
    for selector in (".dropped-models", "tr.dropped", named):
        _wait(browser, selector, 1)


def test_a_page_from_the_cache_and_a_broken_table_are_no_hindrance(dropped, html):
    """A page that is gone back to shows what is kept now; a table that cannot be filled keeps no note away."""
    browser, _ = dropped
    key = _kept(html)
    _open(browser, html, "05_glm")
    back = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));"
    kept = browser.execute_script(
        f"const kept = localStorage.getItem(arguments[0]); localStorage.removeItem(arguments[0]); {back} return kept",
        key,
    )
    _wait(browser, ".dropped-models, tr.dropped", 0)
    browser.execute_script(
        "document.querySelector('#table2').closest('table').tHead.remove();"
        f"localStorage.setItem(arguments[0], arguments[1]); {back}", key, kept
    )  # fmt: skip
    _wait(browser, ".dropped-models", 1)
    note = browser.find_element(By.CSS_SELECTOR, ".dropped-models").text
    assert _NAME in note
    assert "Table 2" not in note
    assert not browser.find_elements(By.CSS_SELECTOR, "tr.dropped")


def test_figures_show_it_with_its_place(dropped, html):
    """A figure that answers has it among its models, chosen, and says which places its interval leaves open."""
    browser, _ = dropped
    _open(browser, html, "04_accuracy")
    figure = "[data-figure=figure1]"
    browser.execute_script(f"document.querySelector('{figure}').scrollIntoView()")
    WebDriverWait(browser, 60).until(lambda b: b.find_elements(By.CSS_SELECTOR, f"{figure}[data-ready]"))
    box = browser.execute_script(
        f"return [...document.querySelectorAll('{figure} input')].find((one) => one.dataset.model === arguments[0])",
        _NAME,
    )
    assert box.is_selected()
    assert _NAME in browser.find_element(By.CSS_SELECTOR, f"{figure} .figure-places").text


def test_a_page_without_room_says_so_and_taking_it_out_ends_it(dropped, html):
    """Where nothing takes it the note says that; after a click on it no page shows it any more."""
    browser, _ = dropped
    assert "leaves them out" in _open(browser, html, "09_tokens").text
    browser.find_element(By.CSS_SELECTOR, ".dropped-models button").click()
    _wait(browser, ".dropped-models", 0)
    browser.get(f"{html.as_uri()}/notebooks/05_glm.html")
    WebDriverWait(browser, 60).until(lambda b: b.execute_script("return document.readyState === 'complete'"))
    assert not browser.find_elements(By.CSS_SELECTOR, ".dropped-models, tr.dropped")


def test_what_others_left_there_is_not_read(forgetful, html):
    """Anything else under the same key is no model, and no page stumbles over it."""
    browser = forgetful
    browser.get(f"{html.as_uri()}/notebooks/05_glm.html")
    for kept in ("{", "[1]", '[{"name": 1, "cells": []}]', '[{"name": "x", "cells": [["y"]]}]', "null"):
        browser.execute_script("localStorage.setItem(arguments[0], arguments[1])", _kept(html), kept)
        browser.get_log("browser")
        browser.refresh()
        WebDriverWait(browser, 60).until(lambda b: b.execute_script("return document.readyState === 'complete'"))
        assert browser.execute_script("return localStorage.getItem(arguments[0])", _kept(html)) == kept
        assert browser.execute_script("return cogniload.dropped.read().length") == 0, kept
        assert not browser.find_elements(By.CSS_SELECTOR, ".dropped-models"), kept
        assert [one["message"] for one in browser.get_log("browser") if one["level"] == "SEVERE"] == [], kept
