"""The built book, read page by page in a headless browser."""

import json
import re

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.book

_OWN = ("data:", "blob:", "about:")
_NO_RESULTS = tuple(f"notebooks/{name}.html" for name in ("02_generation", "glossary"))
#: Pictures wait for a reader to come near.
_FETCH = "document.querySelectorAll('article img').forEach((i) => { i.loading = 'eager'; });"
_FETCHED = "return [...document.querySelectorAll('article img')].every((i) => i.complete);"
#: A picture whose place a figure that answers has taken has the size of that.
_PICTURES = """
    const shown = (i) => i.closest("figure.answered")?.previousElementSibling.querySelector(".figure-panels") ?? i;
    return [...document.querySelectorAll("article img")].map(i => [
        i.getAttribute("src"),
        (i.complete && i.naturalWidth > 0 || shown(i) !== i) && shown(i).getBoundingClientRect().width > 100,
        i.alt,
    ]);
"""
_UNSET_MATH = """
    return document.querySelectorAll("article .math").length
        - document.querySelectorAll("article .math > mjx-container").length;
"""
_OVERHANG = "return document.documentElement.scrollWidth - window.innerWidth;"


def _open(browser, address):
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(address)
    WebDriverWait(browser, 60).until(lambda b: b.execute_script("return document.readyState") == "complete")
    WebDriverWait(browser, 60).until(lambda b: b.execute_script(_UNSET_MATH) == 0)
    browser.execute_script(_FETCH)
    WebDriverWait(browser, 60).until(lambda b: b.execute_script(_FETCHED))


def _displayed(browser, selector):
    return WebDriverWait(browser, 60).until(
        lambda b: next((found for found in b.find_elements(By.CSS_SELECTOR, selector) if found.is_displayed()), None)
    )


def _traffic(browser):
    """Return the addresses asked for, and those that failed."""
    asked, failed = {}, []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        method, what = message["method"], message["params"]
        if method == "Network.requestWillBeSent":
            asked[what["requestId"]] = what["request"]["url"]
        elif method == "Network.responseReceived" and what["response"]["status"] >= 400:
            failed.append(what["response"]["url"])
        elif method == "Network.loadingFailed" and not what.get("canceled"):
            failed.append(asked.get(what["requestId"], "?"))
    return list(asked.values()), failed


def test_page_loads_cleanly_from_this_host(browser, site, page):
    """No console message, no failed request, no other host; formulas are set, pictures shown and described."""
    _open(browser, f"{site}/{page}")
    asked, failed = _traffic(browser)
    assert f"{site}/{page}" in asked
    assert [address for address in asked if not address.startswith((site, *_OWN))] == []
    assert failed == []
    assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    for source, has_size, alt in browser.execute_script(_PICTURES):
        assert has_size, source
        assert len(alt) > 20, source
    assert browser.execute_script(_OVERHANG) <= 0


_PLACES = """
    return [...document.querySelectorAll("article img")].filter((i) => i.getAttribute("src").endsWith(".svg"))
        .map((i) => [i.getAttribute("src"), i.loading, i.width > 0 && i.height > 0]);
"""


def test_a_page_is_read_before_the_rest_of_it_is_there(browser, html, page):
    """From a disk no page asks for the index of the search or for a library of icons, and a picture has its place."""
    browser.execute_cdp_cmd("Network.clearBrowserCache", {})
    browser.get_log("performance")
    browser.get(f"{html.resolve().as_uri()}/{page}")
    asked, failed = _traffic(browser)
    assert failed == []
    heavy = ("fontawesome", *(() if page == "search.html" else ("searchindex",)))
    assert [address for address in asked if any(name in address for name in heavy)] == []
    places = browser.execute_script(_PLACES)
    assert [place for place in places if place[1:] != ["lazy", True]] == []


_ICONS = """
    const done = arguments[0];
    document.fonts.ready.then((fonts) => done([
        [...fonts].filter(({family, status}) => family.includes("Awesome") && status === "loaded").length,
        [...document.querySelectorAll("i.fa-solid")].map((i) => getComputedStyle(i, "::before").content)
            .filter((letter) => !/[\uf000-\uf8ff]/.test(letter)).length,
    ]));
"""


def test_icons_are_drawn_from_the_style_sheet(browser, html):
    """The theme's icons come with its style sheet: their font is loaded, and each has its letter."""
    browser.get(f"{html.resolve().as_uri()}/notebooks/00_introduction.html")
    fonts, without = browser.execute_async_script(_ICONS)
    assert fonts >= 1
    assert without == 0
    assert not list(html.rglob("*.woff*"))


def test_page_fits_a_phone(phone, site, page):
    """At 390 px nothing makes the page scroll sideways, and every picture still has a size."""
    _open(phone, f"{site}/{page}")
    assert phone.execute_script("return window.innerWidth") == 390
    assert phone.execute_script(_OVERHANG) <= 0
    assert all(has_size for _, has_size, _ in phone.execute_script(_PICTURES))


def test_search_finds_a_model_without_network(browser, site):
    """Typing a model's name into the search field leads to pages that have it, served from this host."""
    _open(browser, f"{site}/notebooks/00_introduction.html")
    _displayed(browser, ".search-button-field").click()
    _displayed(browser, "input[type=search]").send_keys("QwQ-32B", Keys.ENTER)
    link = "#search-results li a[href*='notebooks/05_glm.html']"  # results are shown one after the other
    WebDriverWait(browser, 60).until(lambda b: b.find_elements(By.CSS_SELECTOR, link))
    found = [link.get_attribute("href") for link in browser.find_elements(By.CSS_SELECTOR, "#search-results li a")]
    assert all(address.startswith(site) for address in found)


@pytest.mark.parametrize(
    ("words", "chapter"),
    [("ECL50", "05_glm"), ("interaction", "06_interactions"), ("tokenizer", "09_tokens"), ("gpt-5", "05_glm")],
)
def test_search_finds_terms_from_a_file(browser, html, words, chapter):
    """Without a server too, a reader finds the page on a term."""
    _open(browser, f"{html.resolve().as_uri()}/search.html?q={words}")
    link = f"#search-results li a[href*='notebooks/{chapter}.html']"
    WebDriverWait(browser, 60).until(lambda b: b.find_elements(By.CSS_SELECTOR, link))


def test_pages_with_results_say_where_the_data_come_from(html, page):
    """Every page with results carries the label, and its figures and tables the note when data are reconstructed."""
    text = (html / page).read_text(encoding="utf-8")
    if not page.startswith("notebooks/") or page in _NO_RESULTS:
        assert "figures/figure" not in text
        return
    label = re.search(r'class="provenance admonition">\s*<p class="admonition-title">(.*?)</p>', text)
    assert label, "no label"
    if "econstructed" in label[1]:
        captions = re.findall(r"<(?:figcaption|caption)>(.*?)</(?:figcaption|caption)>", text, re.S)
        assert all("econstructed" in caption for caption in captions if re.search(r"\d, recomputed\.", caption))


def test_figures_and_tables_can_be_downloaded(html, page):
    """Every figure of the paper is offered as PNG and SVG, every table as CSV and LaTeX, and the files are there."""
    text = (html / page).read_text(encoding="utf-8")
    offered = re.findall(r'class="reference download internal" download="" href="([^"]+)"', text)
    for address in offered:
        assert ((html / page).parent / address).stat().st_size > 0
    names = {address.rsplit("/", 1)[1] for address in offered}
    figures, printed = set(re.findall(r'id="(figure\d+)"', text)), set(re.findall(r'id="(table\d+)"', text))
    assert {f"{figure}.{kind}" for figure in figures for kind in ("png", "svg")} <= names
    assert {f"{table}.{kind}" for table in printed for kind in ("csv", "tex")} <= names


def test_every_figure_and_table_of_the_paper_is_in_the_book(html):
    """Tables 1 to 10 and Figures 1 and 3 to 7 each have their place."""
    text = "".join(file.read_text(encoding="utf-8") for file in html.rglob("*.html"))
    assert {f"table{n}" for n in range(1, 11)} <= set(re.findall(r'id="(table\d+)"', text))
    assert {f"figure{n}" for n in (1, 3, 4, 5, 6, 7)} <= set(re.findall(r'id="(figure\d+)"', text))


def test_no_page_shows_an_error_or_an_address_in_memory(html, page):
    """No cell wrote to stderr or failed, and nothing prints as an object without a form of its own."""
    text = (html / page).read_text(encoding="utf-8")
    assert not re.search(r'class="output (stderr|traceback)', text)
    assert not re.search(r"object at 0x[0-9a-f]+|&lt;[\w.]+ at 0x", text)
