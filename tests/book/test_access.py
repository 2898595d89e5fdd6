"""The book for everybody: what axe-core finds on its pages, and what the keyboard reaches."""

from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

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
#: Whether there is an outline or a shadow where the focus is.
_SEEN = """
    const style = getComputedStyle(document.activeElement);
    const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    return [document.activeElement.outerHTML.slice(0, 120), outlined || style.boxShadow !== "none"];
"""


def _open(browser, address):
    browser.get(address)
    WebDriverWait(browser, 60).until(lambda b: b.execute_script("return document.readyState") == "complete")
    browser.execute_script(_AXE)
    browser.execute_script(_STILL)
    browser.set_script_timeout(300)


def _violations(browser, context, options):
    return browser.execute_async_script(_RUN, context, options)


@contextmanager
def _colours(browser, scheme):
    """Have the reader's machine ask for a scheme, which the page takes up as it stands."""
    wish = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wish)
    try:
        WebDriverWait(browser, 10).until(
            lambda b: b.execute_script("return document.documentElement.dataset.theme") == scheme
        )
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("one", _KINDS)
def test_axe_finds_nothing_serious_on_a_phone(phone, site, one):
    """Nothing serious or critical on a page of each kind at 390 px; all pages, and contrast, have a slow test."""
    _open(phone, f"{site}/{one}")
    assert _violations(phone, _PAGE, _BUT_CONTRAST) == []


#: Boxes of a page, where it is unfolded, that scroll, and those of them that the keyboard does not reach.
_SCROLLING = """
    const found = [...document.querySelectorAll(".bd-article *")].filter((one) =>
        /auto|scroll/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 1
            && one.checkVisibility());
    return [found.length, found.filter((one) => one.tabIndex < 0).map((one) => `${one.tagName} ${one.className}`)];
"""


@pytest.mark.parametrize("narrow", ["window", "article"])
def test_what_comes_to_scroll_comes_to_the_keyboard(browser, site, narrow):
    """A page grown narrow, with its window or without, has more boxes that scroll, and each is a stop."""
    _open(browser, f"{site}/notebooks/05_glm.html")
    wide, _ = browser.execute_script(_SCROLLING)
    try:
        if narrow == "window":
            narrower = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrower)
        else:
            browser.execute_script("document.querySelector('.bd-article').style.width = '300px'")
        WebDriverWait(browser, 10).until(lambda b: b.execute_script(_SCROLLING)[0] > wide)
        WebDriverWait(browser, 10).until(lambda b: b.execute_script(_SCROLLING)[1] == [])
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.slow
def test_axe_finds_nothing_serious_anywhere(phone, site, page):
    """Nothing serious or critical on any page, on a phone and a desk; contrast whichever colours are asked for."""
    _open(phone, f"{site}/{page}")
    found = {"phone": _violations(phone, _PAGE, _BUT_CONTRAST)}
    phone.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    found["desk"] = _violations(phone, _PAGE, _BUT_CONTRAST)
    for scheme in ("light", "dark"):
        with _colours(phone, scheme):
            found[scheme] = _violations(phone, _UNLIKE, _CONTRAST)
    assert {where: those for where, those in found.items() if those} == {}


def test_the_keyboard_is_seen_where_it_is(browser, site):
    """Each of the first stops of the tabulator key on a chapter has a mark, and no formula is one."""
    browser.get(f"{site}/notebooks/05_glm.html")
    body, stops = browser.find_element(By.TAG_NAME, "body"), []
    for _ in range(45):
        body.send_keys(Keys.TAB) if not stops else browser.switch_to.active_element.send_keys(Keys.TAB)
        stops.append(browser.execute_script(_SEEN))
    assert [where for where, seen in stops if not seen and "<body" not in where] == []
    assert not [where for where, _ in stops if "mjx" in where]
