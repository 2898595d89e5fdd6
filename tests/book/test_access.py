"""The book for everybody: what axe-core finds on its pages, and what the keyboard reaches."""

from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.book

_AXE = (Path(__file__).parent / "_vendor" / "axe.min.js").read_text(encoding="utf-8")
_RUN = """
    const [rules, done] = arguments;
    axe.run({resultTypes: ["violations"], rules}).then(({violations}) => done(violations
        .filter(({impact}) => ["serious", "critical"].includes(impact))
        .map(({id, nodes}) => [id, nodes.map((node) => node.target.join(" "))])));
"""
#: Whether there is an outline or a shadow where the focus is.
_SEEN = """
    const style = getComputedStyle(document.activeElement);
    const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    return [document.activeElement.outerHTML.slice(0, 120), outlined || style.boxShadow !== "none"];
"""


def _violations(browser, address, rules):
    browser.get(address)
    WebDriverWait(browser, 60).until(lambda b: b.execute_script("return document.readyState") == "complete")
    browser.execute_script(_AXE)
    browser.set_script_timeout(120)
    return browser.execute_async_script(_RUN, rules)


def test_axe_finds_nothing_serious_on_a_phone(phone, site, page):
    """Nothing serious or critical on any page at 390 px; contrast, which takes long, has a test of its own."""
    assert _violations(phone, f"{site}/{page}", {"color-contrast": {"enabled": False}}) == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_a_desk(browser, site, page, scheme):
    """Nothing serious or critical on any page, contrast included, whichever colours the reader's machine asks for."""
    wish = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wish)
    try:
        assert _violations(browser, f"{site}/{page}", {}) == []
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_the_keyboard_is_seen_where_it_is(browser, site):
    """Each of the first stops of the tabulator key on a chapter has a mark, and no formula is one."""
    browser.get(f"{site}/notebooks/04_glm.html")
    body, stops = browser.find_element(By.TAG_NAME, "body"), []
    for _ in range(45):
        body.send_keys(Keys.TAB) if not stops else browser.switch_to.active_element.send_keys(Keys.TAB)
        stops.append(browser.execute_script(_SEEN))
    assert [where for where, seen in stops if not seen and "<body" not in where] == []
    assert not [where for where, _ in stops if "mjx" in where]
