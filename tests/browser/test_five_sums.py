"""The slider of chapter 1: an AIC is moved, and a row of Table 2 follows."""

from pathlib import Path

import numpy as np
import pytest
from browsing import complaints, phone, visit, wait
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from cogniload_repro.reconstruction.printed import exact_sums
from cogniload_repro.regression.design import X
from cogniload_repro.regression.likelihood import maximise_all

pytestmark = pytest.mark.book

_AXE = (Path(__file__).parent / "_vendor" / "axe.min.js").read_text(encoding="utf-8")
_RUN = """
    const done = arguments[0];
    axe.run("#five-sums").then(({violations}) => done(violations.map(({id}) => id)));
"""
#: The shown AIC; per number its name, the printed text, the shown one and what is marked in it.
_SHOWN = """
    const rows = [...document.querySelectorAll("#five-sums-row tbody tr")];
    return [document.querySelector("#five-sums output").textContent, rows.map((row) =>
        [...[...row.cells].map((cell) => cell.textContent),
            row.querySelector("mark")?.textContent ?? ""])];
"""
_MOVE = """
    const slider = document.querySelector("#five-sums input");
    slider.value = arguments[0];
    slider.dispatchEvent(new Event("input"));
"""
_MIDDLE = 20


@pytest.fixture
def instrument(browser, html):
    """The instrument at the printed AIC."""
    visit(browser, f"{html.as_uri()}/notebooks/01_identification.html")
    wait(browser, lambda b: b.find_elements(By.ID, "five-sums-row"))
    return browser.find_element(By.ID, "five-sums")


@pytest.mark.parametrize("kind", [0, 1])
def test_the_row_is_that_of_the_shown_aic(browser, instrument, kind):
    """The five sums of the row have this AIC; a digit is marked from the first other one."""
    Select(browser.find_element(By.ID, "five-sums-kind")).select_by_index(kind)
    data = browser.execute_script("return cogniload.data.fiveSums")
    moves = data["moves"][kind]
    answers = np.full((1, len(X)), 100)
    for place in (5, _MIDDLE, _MIDDLE + 3, 35):
        browser.execute_script(_MOVE, place)
        text, rows = browser.execute_script(_SHOWN)
        value = float(text.replace(",", ""))
        assert value == pytest.approx(moves["aic"] + data["shifts"][place], abs=6e-4)

        sums = np.append(exact_sums(data["model"]), moves["sums"][place])[None]
        covariates = X[:, : 4 + kind]
        _, logliks = maximise_all(covariates, answers, sums[:, : 4 + kind])
        assert 2 * (4 + kind) - 2 * logliks[0] == pytest.approx(value, abs=2e-3)
        betas, _ = maximise_all(X[:, :5], answers, sums)
        shown = [float(number) for _, _, number, _ in rows]
        assert shown[:5] == pytest.approx(betas[0], abs=0.00501)
        for _, printed, number, marked in rows:
            assert (marked == "") == (printed == number)
            assert number.endswith(marked)
            assert printed.startswith(number.removesuffix(marked))


def test_all_numbers_agree_at_the_printed_aic_and_few_far_from_it(browser, instrument):
    """The status says how many."""
    status = instrument.find_element(By.CSS_SELECTOR, "[role=status]")
    assert status.text.startswith("All 8 numbers agree")
    browser.execute_script(_MOVE, 0)
    assert "of 8 numbers agree with Table 2 (not " in status.text
    assert complaints(browser) == []


def test_the_keyboard_moves_the_aic(browser, instrument):
    """One value per arrow key, said in the slider's words; a button leads back."""
    slider = instrument.find_element(By.CSS_SELECTOR, "input")
    printed = slider.get_attribute("aria-valuetext")
    slider.send_keys(Keys.ARROW_RIGHT)
    assert int(slider.get_attribute("value")) == _MIDDLE + 1
    assert slider.get_attribute("aria-valuetext") != printed
    reset = instrument.find_elements(By.CSS_SELECTOR, "button")[-1]
    reset.send_keys(Keys.ENTER)
    assert slider.get_attribute("aria-valuetext") == printed


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_it_whole_and_axe_finds_nothing(browser, instrument, scheme):
    """With a marked digit, in both colours."""
    browser.execute_script(_AXE)
    with phone(browser):
        theme = "document.documentElement.dataset.theme = arguments[0]"
        browser.execute_script(theme, scheme)
        browser.execute_script(_MOVE, 0)
        width = "return document.querySelector('#five-sums-row').getBoundingClientRect().right"
        assert browser.execute_script(width) <= 390
        assert browser.execute_async_script(_RUN) == []
