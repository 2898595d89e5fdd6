"""The page that compares two models.

Its numbers are those of the build, and bad addresses are told.
"""

import json
import re
from contextlib import nullcontext
from urllib.parse import urlencode

import numpy as np
import pytest
from browsing import complaints, phone, visit, wait
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

import cogniload_repro as cl
from cogniload_repro.book.compare_rows import (
    compare_pair,
    identified_specifications,
    pair_rows,
)
from cogniload_repro.book.page_data import cells_to_show
from cogniload_repro.book.terminal import format_pair
from cogniload_repro.formats import display_names
from cogniload_repro.models import NAMES
from cogniload_repro.regression.cell_tables import accuracy_by

pytestmark = pytest.mark.book

_ROWS = """
    return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)].map((row) =>
        [...row.cells].map((cell) => cell.textContent));
"""
#: The colour of a problem's text and of what it stands on, as lists of red, green and blue.
_COLORS = """
    const read = (color) => color.match(/[\\d.]+/g).map(Number);
    const problem = document.querySelector(".problem");
    let box = problem;
    const isClear = (node) => read(getComputedStyle(node).backgroundColor)[3] === 0;
    while (isClear(box)) box = box.parentElement;
    return [getComputedStyle(problem).color, getComputedStyle(box).backgroundColor].map(read);
"""
#: The axis: texts and places of its marks; per length the places of both points; sizes of letters.
_CHART = """
    const middle = (node) => {
        const box = node.getBoundingClientRect();
        return (box.left + box.right) / 2;
    };
    const chart = document.querySelector("#compare .chart");
    const lines = [...chart.querySelectorAll(".line")];
    const marks = [...lines[0].querySelectorAll("b")];
    const axis = marks.map((mark) => [parseFloat(mark.textContent), middle(mark)]);
    const lengths = lines.filter((line) => line.textContent.startsWith("N = "));
    const points = lengths.map((line) => [parseFloat(line.textContent.slice(4)),
        ...[".one", ".other"].map((side) => middle(line.querySelector(`.point${side}`)))]);
    const sizes = [...chart.querySelectorAll("span, b, .load")]
        .map((node) => parseFloat(getComputedStyle(node).fontSize));
    const boxes = [...chart.querySelectorAll("*")].map((node) => node.getBoundingClientRect());
    const width = Math.max(...boxes.map(({right}) => right)) - innerWidth;
    return [axis, points, sizes, width];
"""
_DECIMAL = r"-?[\d,]+\.\d"
NAMED = cl.models.BY_LABEL
_HOSTILE = "<img src=x onerror=alert(1)></script>"


@pytest.fixture(scope="module")
def cells(html):
    """The cells that the page's build shows."""
    build = html.parents[2]
    if not (build / "cells.parquet").is_file():
        pytest.skip("the book lies apart from its build")
    return cells_to_show(build)


def _open(browser, html, **choice):
    """Open the page at a choice."""
    visit(browser, f"{html.as_uri()}/compare.html#{urlencode(choice)}")
    wait(browser, lambda b: b.find_elements(By.ID, "compare-fit-table"))


def _rows(browser, table):
    """A table's texts by the first cell of their row, in the order of the rows."""
    return {label: texts for label, *texts in browser.execute_script(_ROWS, table)}


def _name_term(browser, term):
    """The term of a formula as the page writes it."""
    return browser.execute_script(
        "return cogniload.compare.nameTerm(arguments[0])", term
    )


def _numbers(text):
    return [
        float(number)
        for number in re.findall(r"-?[\d.]+(?:e[+-]\d+)?", text.replace(",", ""))
    ]


def _check_difference(browser, pair):
    """The first row has the difference of a pair with its interval, both p and the verdict."""
    (overall, p, p_holm, verdict), *_ = _rows(browser, "compare-pair").values()
    difference = [pair.estimate, pair.low, pair.high]
    assert _numbers(overall) == pytest.approx(100 * np.array(difference), abs=0.051)
    assert verdict.startswith(pair.verdict)
    for text, number in ((p, pair.p), (p_holm, pair.p_holm)):
        assert (text == "--") == np.isnan(number)
        if text != "--":
            assert _numbers(text)[0] == pytest.approx(number, abs=0.0011)


def _check_accuracies(browser, cells, models):
    """The rows of the shortest and the longest puzzles have the accuracies of both models."""
    rows = _rows(browser, "compare-accuracy-table")
    accuracy = accuracy_by(cells, "model", "N").set_index(["model", "N"])["accuracy"]
    for N in (20, 250):
        for model, text in zip(models, rows[f"N = {N}"], strict=True):
            if (model, N) in accuracy:
                expected = 100 * accuracy[model, N]
                assert _numbers(text)[0] == pytest.approx(expected, abs=0.051)


def test_numbers_of_a_pair_are_those_of_the_build(browser, html, cells):
    """For three pairs and regressions drawn at random: difference, accuracies, coefficients."""
    names = display_names(cells["model"])
    pairs = pair_rows(cells)
    pairs = pairs[pairs["N"].isna()]
    rng = np.random.default_rng(46)
    regressions = identified_specifications()
    for pair in pairs.iloc[rng.choice(len(pairs), 3, replace=False)].itertuples():
        regression = regressions[rng.integers(len(regressions))]
        models = [pair.first, pair.second]
        chosen = {"first": names[pair.first], "second": names[pair.second]}
        _open(browser, html)
        title = _name_term(browser, regression.name)
        _open(browser, html, regression=title, **chosen)

        _check_difference(browser, pair)
        _check_accuracies(browser, cells, models)
        rows = _rows(browser, "compare-fit-table")
        fits = cl.fit(cells[cells["model"].isin(models)], regression.formula)
        for fit in fits[fits["status"] == "ok"].itertuples():
            text = rows[_name_term(browser, fit.term)][models.index(fit.model)]
            assert _numbers(text) == pytest.approx(
                [fit.coef, fit.low, fit.high], rel=0.006
            )
        assert complaints(browser) == []


def test_all_models_are_in_the_menus_own_ones_too(browser, html, cells):
    """The paper's models and whatever else was scored, each once."""
    _open(browser, html)
    names = display_names(cells["model"])
    for menu in ("compare-first", "compare-second"):
        options = Select(browser.find_element(By.ID, menu)).options
        assert sorted(option.text for option in options) == sorted(names.values())
    assert set(NAMES) <= set(names)


def test_a_choice_changes_the_address_and_an_address_the_choice(browser, html):
    """A link to the address that a choice leaves shows the same tables."""
    _open(browser, html, first="QwQ-32B", second="Qwen3-32B")
    Select(browser.find_element(By.ID, "compare-regression")).select_by_visible_text(
        "d as factor"
    )
    fitted = _rows(browser, "compare-fit-table")
    assert "d = 3" in fitted
    address = browser.current_url
    _open(browser, html)
    assert _rows(browser, "compare-fit-table") != fitted
    browser.get(address)
    wait(
        browser,
        "document.getElementById('compare-first').selectedOptions[0].text === 'QwQ-32B'",
    )
    assert _rows(browser, "compare-fit-table") == fitted


def test_back_and_forward_show_the_choices_again(browser, html):
    """Each choice is an entry of the history; its address has the short names."""
    _open(browser, html, first="QwQ-32B", second="Qwen3-32B")
    menu = Select(browser.find_element(By.ID, "compare-second"))
    verdict = "document.querySelector('#compare [role=status]').textContent"
    before = browser.execute_script(f"return {verdict}")
    menu.select_by_visible_text("gpt-5-2025-08-07")
    assert browser.current_url.endswith("#first=QwQ-32B&second=gpt-5")
    after = browser.execute_script(f"return {verdict}")
    assert "gpt-5-2025-08-07 minus QwQ-32B" in after
    for step, text in (("back", before), ("forward", after), ("back", before)):
        getattr(browser, step)()
        wait(browser, f"{verdict} === {json.dumps(text)}")
    assert menu.first_selected_option.text == "Qwen3-32B"


def test_the_verdict_is_the_commands(browser, html, cells):
    """The sentence has the difference, its interval and the word that the command prints."""
    names = display_names(cells["model"])
    for pair in [("o3", "gpt-5"), ("QwQ-32B", "Qwen3-32B"), ("gpt-5", "Qwen3-1.7B")]:
        printed = list(format_pair(compare_pair(html.parents[2], *pair)))
        overall = printed[1].splitlines()[1].split()
        numbers = _numbers(" ".join(overall[2:6]))[:3]
        _open(browser, html, first=pair[0], second=pair[1])
        text = browser.find_element(By.CSS_SELECTOR, "#compare [role=status]").text
        title = printed[0].removeprefix("Accuracy of ").removesuffix(", in points")
        verdict, difference = text.split(f" {title}: ")
        assert verdict == f"Verdict: {overall[-1]}."
        shown = [float(number) for number in re.findall(_DECIMAL, difference)]
        assert shown == pytest.approx(numbers)
        assert set(title.split(" minus ")) <= set(names.values())


def test_the_chart_has_both_models_on_one_axis(browser, html, cells):
    """A point's place is its accuracy; on a phone nothing is cut off and labels are readable."""
    _open(browser, html, first="o3", second="QwQ-32B")
    accuracy = accuracy_by(cells, "model", "N").set_index(["model", "N"])["accuracy"]
    for screen in (nullcontext(), phone(browser)):
        with screen:
            axis, points, sizes, width = browser.execute_script(_CHART)
            low, left = axis[0]
            high, right = axis[-1]
            for N, *places in points:
                shares = [accuracy[NAMED[name], N] for name in ("o3", "QwQ-32B")]
                scale = (right - left) / (high - low)
                expected = [left + (100 * share - low) * scale for share in shares]
                assert places == pytest.approx(expected, abs=1.5)
            assert min(sizes) >= 11
            assert width <= 0
    assert len(points) >= 2
    label = browser.find_element(By.CSS_SELECTOR, ".chart[role=img]")
    assert "o3-2025-04-16 and QwQ-32B" in label.get_attribute("aria-label")


def test_where_the_counts_come_from_is_said_once(browser, html):
    """And not once per model."""
    _open(browser, html, first="o3", second="gpt-5")
    text = browser.find_element(By.ID, "compare").text
    assert text.count("econstructed from") == 1
    assert "Both models: reconstructed from" in text


def test_an_unknown_model_is_named_with_a_close_one(browser, html):
    """Both models and the regression are told in sentences."""
    _open(browser, html, first="gpt5", second="nobody", regression="none")
    text = browser.find_element(By.CSS_SELECTOR, "#compare .problem").text
    assert "unknown first model: “gpt5”. Did you mean gpt-5?" in text
    assert "unknown second model: “nobody”." in text
    assert "unknown regression: “none”." in text


def _contrast(colors):
    """Contrast of two colours by WCAG 2: relative luminances, from sRGB."""
    channels = np.array([color[:3] for color in colors]) / 255
    linear = np.where(
        channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
    )
    dark, light = sorted(linear @ [0.2126, 0.7152, 0.0722])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_address_that_is_no_choice_is_told_legibly(browser, html, scheme):
    """The message quotes the address as text, with the contrast that WCAG asks for."""
    wish = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wish)
    try:
        _open(browser, html, first=_HOSTILE)
        wait(browser, f"document.documentElement.dataset.theme === '{scheme}'")
        problem = browser.find_element(By.CSS_SELECTOR, "#compare .problem")
        assert problem.is_displayed()
        assert _HOSTILE in problem.text
        assert browser.find_elements(By.CSS_SELECTOR, "#compare img") == []
        assert _contrast(browser.execute_script(_COLORS)) >= 4.5
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize(
    "address",
    ["formula=" + "d*" * 100_000, "first=" + "x" * 100_000, "__proto__=1&toString=2"],
)
def test_no_address_takes_the_page_long(browser, html, address):
    """Products of many factors, long names and names of the language are refused at once."""
    _open(browser, html)
    change = f"location.hash = {address!r}"
    script = f"{change}; const done = arguments[0]; setTimeout(() => done(performance.now()), 0)"
    begun = browser.execute_script("return performance.now()")
    assert browser.execute_async_script(script) - begun < 5000
    wait(browser, "document.querySelector('#compare .problem').textContent.length > 0")
    assert len(browser.find_element(By.CSS_SELECTOR, "#compare .problem").text) < 5000
