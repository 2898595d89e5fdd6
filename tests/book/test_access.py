"""The book for everybody: what axe-core finds on its pages, and what the keyboard reaches."""

from pathlib import Path

import pytest
from browsing import phone, visit, wait
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.book

_AXE = (Path(__file__).parent / "_vendor" / "axe.min.js").read_text(encoding="utf-8")
_RUN = """
    const [context, options, done] = arguments;
    axe.run(context, {resultTypes: ["violations"], ...options}).then(({violations}) => done(violations
        .filter(({impact}) => ["serious", "critical"].includes(impact))
        .map(({id, nodes}) => [id, nodes.map((node) => node.target.join(" "))])));
"""
_PAGE = {"include": [["html"]]}
_BUT_CONTRAST = {"rules": {"color-contrast": {"enabled": False}}}
_CONTRAST = {"runOnly": ["color-contrast"]}
#: Colours that fade from one scheme to the other are neither's.
_STILL = """
    const style = document.createElement("style");
    style.textContent = "*, ::before, ::after { transition: none !important; animation: none !important }";
    document.head.append(style);
"""
#: Contrast takes most of the time, and plain rows of a table look like the two before them.
_UNLIKE = _PAGE | {"exclude": [["tbody tr:nth-of-type(n+9):not(:has([style], td [class]))"]]}
#: Pages of every kind: prose, chapters, instruments, tables of functions.
_KINDS = ("notebooks/00_introduction.html", "notebooks/05_glm.html", "explorer.html", "workbench.html", "api.html")


def _violations(browser, context, options):
    return browser.execute_async_script(_RUN, context, options)


def _open(browser, address):
    visit(browser, address)
    browser.execute_script(_AXE)
    browser.execute_script(_STILL)


@pytest.mark.parametrize("one", _KINDS)
def test_axe_finds_nothing_serious_on_a_phone(browser, site, one):
    """Nothing serious or critical on a page of each kind at 390 px; all pages, and contrast, have a slow test."""
    with phone(browser):
        _open(browser, f"{site}/{one}")
        assert _violations(browser, _PAGE, _BUT_CONTRAST) == []


@pytest.mark.slow
def test_axe_finds_nothing_serious_anywhere(browser, site, page):
    """Nothing serious or critical on any page, on a phone and a desk; contrast whichever colours are asked for."""
    with phone(browser):
        _open(browser, f"{site}/{page}")
        found = {"phone": _violations(browser, _PAGE, _BUT_CONTRAST)}
    found["desk"] = _violations(browser, _PAGE, _BUT_CONTRAST)
    for scheme in ("light", "dark"):
        wish = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wish)
        wait(browser, f"document.documentElement.dataset.theme === '{scheme}'")
        found[scheme] = _violations(browser, _UNLIKE, _CONTRAST)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert {where: those for where, those in found.items() if those} == {}


#: Boxes of a page that scroll, and those of them that the keyboard does not reach.
_SCROLLING = """
    const found = [...document.querySelectorAll(".bd-article *")].filter((one) =>
        /auto|scroll/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 1
            && one.checkVisibility());
    return [found.length, found.filter((one) => one.tabIndex < 0).map((one) => `${one.tagName} ${one.className}`)];
"""


@pytest.mark.parametrize("narrow", ["window", "article"])
def test_what_comes_to_scroll_comes_to_the_keyboard(browser, site, narrow):
    """A page grown narrow, with its window or without, has more boxes that scroll, and each is a stop."""
    visit(browser, f"{site}/notebooks/05_glm.html")
    wide, _ = browser.execute_script(_SCROLLING)
    is_reached = lambda b: b.execute_script(_SCROLLING)[0] > wide and b.execute_script(_SCROLLING)[1] == []  # noqa: E731
    if narrow == "window":
        with phone(browser, mobile=False):
            wait(browser, is_reached)
    else:
        browser.execute_script("document.querySelector('.bd-article').style.width = '300px'")
        wait(browser, is_reached)


def test_the_keyboard_is_seen_where_it_is(browser, site):
    """Each of the first stops of the tabulator key on a chapter has a mark, and no formula is one."""
    visit(browser, f"{site}/notebooks/05_glm.html")
    seen = """
        const style = getComputedStyle(document.activeElement);
        const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
        return [document.activeElement.outerHTML.slice(0, 120), outlined || style.boxShadow !== "none"];
    """
    body, stops = browser.find_element(By.TAG_NAME, "body"), []
    for _ in range(45):
        body.send_keys(Keys.TAB) if not stops else browser.switch_to.active_element.send_keys(Keys.TAB)
        stops.append(browser.execute_script(seen))
    assert [where for where, is_seen in stops if not is_seen and "<body" not in where] == []
    assert not [where for where, _ in stops if where.startswith("<mjx")]
