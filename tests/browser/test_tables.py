"""Tables of the book's pages: sorted, filtered, and every printed number found by its link."""

import pytest
from browsing import visit, wait
from selenium.webdriver.common.by import By

pytestmark = pytest.mark.book

_ROWS = """
    const column = arguments[0];
    const rows = [...document.querySelectorAll("#table2 tbody tr")].filter((row) => !row.hidden);
    return rows.map(({cells}) => [cells[0].textContent.trim(), cells[column].textContent.trim()]);
"""


def test_rows_are_sorted_and_filtered(browser, html):
    """Stars and dashes do not disturb the order; any name of a model filters."""
    visit(browser, f"{html.as_uri()}/notebooks/05_glm.html")
    wait(browser, lambda b: b.find_elements(By.CSS_SELECTOR, "#table2 button.sort"))
    for ascending in (False, True):
        browser.execute_script(
            "document.querySelectorAll('#table2 button.sort')[2].click()"
        )
        rows = [
            float(text.rstrip("*"))
            for _, text in browser.execute_script(_ROWS, 2)
            if text.rstrip("*")
        ]
        assert len(rows) >= 10
        assert rows == sorted(rows, reverse=not ascending)
    box = browser.find_element(
        By.XPATH, "//table[@id='table2']/ancestor::div[1]/preceding-sibling::div[1]"
    )
    field = box.find_element(By.TAG_NAME, "input")
    for words in ("qwen3", "DS-Llama-70B", "DeepSeek-R1-Distill-Llama-70B", "nobody"):
        field.clear()
        field.send_keys(words)
        names = [name for name, _ in browser.execute_script(_ROWS, 1)]
        assert (
            ("no row has these words" in box.text)
            == (words == "nobody")
            == (names == [])
        )
        assert len(names) == 1 or all("Qwen3" in name for name in names)
    read = "return arguments[0].map((text) => cogniload.tables.numberOf(text))"
    texts = ["< 0.001", "0.001", "0.002***", "1,234", "−0.5", "12% (3)", "> 5", "5"]
    small, bound, starred, many, minus, share, more, five = browser.execute_script(
        read, texts
    )
    assert small < bound < starred
    assert (many, minus, share) == (1234, -0.5, 12)
    assert more > five
    assert browser.execute_script(read, ["none", "–", "N"]) == [None] * 3
