"""Tables of the book's pages: sorted, filtered, and every printed number found by its link."""

import pandas as pd
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.book

_ROWS = """
    const rows = [...document.querySelectorAll("#table2 tbody tr")].filter((row) => !row.hidden);
    return rows.map((row) => [row.cells[0].textContent.trim(), row.cells[arguments[0]].textContent.trim()]);
"""


@pytest.fixture
def glm(browser, html):
    """The chapter with Table 2, opened as a file."""
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(f"{html.as_uri()}/notebooks/05_glm.html")
    WebDriverWait(browser, 60).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#table2 button.sort"))
    return browser


def test_a_click_on_a_header_sorts_by_numbers(glm):
    """Stars and dashes do not disturb: descending, then ascending, what is missing last."""
    header = "document.querySelectorAll('#table2 button.sort')[2].click()"
    glm.execute_script(header)
    down = [float(text.rstrip("*")) for _, text in glm.execute_script(_ROWS, 2) if text.rstrip("*")]
    assert down == sorted(down, reverse=True)
    glm.execute_script(header)
    up = [float(text.rstrip("*")) for _, text in glm.execute_script(_ROWS, 2) if text.rstrip("*")]
    assert up == sorted(up)
    assert len(up) >= 10


def test_rows_are_filtered_and_copied_as_csv(glm):
    """Words in the field leave the rows that have them; CSV holds these and the header."""
    box = glm.find_element(By.XPATH, "//table[@id='table2']/ancestor::div[1]/preceding-sibling::div[1]")
    box.find_element(By.TAG_NAME, "input").send_keys("qwen3")
    names = [name for name, _ in glm.execute_script(_ROWS, 1)]
    assert names
    assert all("Qwen3" in name for name in names)
    lines = glm.execute_script("return cogniload.tables.writeCsv(document.getElementById('table2'))").splitlines()
    assert len(lines) == 1 + len(names)
    assert len({line.count(",") for line in lines}) == 1


def test_a_number_has_a_link(browser, html):
    """The address of a number shows it printed and recomputed as the comparison has it, and marks its cell."""
    checks = pd.read_parquet(html.parents[2] / "fidelity.parquet")
    one = checks.query("table == 'table2' and model == 'QwQ-32B' and quantity == 'beta_d'").iloc[0]
    browser.get("about:blank")
    browser.get(f"{html.as_uri()}/notebooks/05_glm.html#table2-QwQ-32B-beta_d")
    panel = WebDriverWait(browser, 60).until(lambda b: b.find_element(By.ID, "table2-number"))
    WebDriverWait(browser, 60).until(lambda _: panel.text)
    assert f"printed {one['published']}" in panel.text
    assert one["kind"] in panel.text
    assert browser.find_element(By.CSS_SELECTOR, "#table2 td.asked").text.startswith(one["shown"] or "")
    browser.execute_script("location.hash = 'table2-nobody-beta_d'")  # a link that leads nowhere does no harm
    log = browser.get_log("browser")
    assert [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")] == []
