"""Steps of a reader in a browser that several tests take."""

import contextlib
import json
import os
from pathlib import Path

from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).resolve().parents[1]
_BUILT = ("data/build-mini/book/_build/html", "data/build/book/_build/html")
#: The screen of a phone.
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}


def book_html() -> Path | None:
    """Folder of the built HTML.

    COGNILOAD_BOOK when set, otherwise the mini-grid's or the paper grid's.
    """
    named = os.environ.get("COGNILOAD_BOOK")
    places = [Path(named)] if named else [ROOT / place for place in _BUILT]
    return next(
        (place.resolve() for place in places if (place / "index.html").is_file()), None
    )


def pages(html: Path) -> list[str]:
    """The book's own pages, without those that only lead to others."""
    files = sorted(html.rglob("*.html"))
    paths = [
        file.relative_to(html).as_posix()
        for file in files
        if "_static" not in file.parts
    ]
    return [
        page
        for page in paths
        if 'http-equiv="refresh"' not in (html / page).read_text("utf-8")[:600]
    ]


@contextlib.contextmanager
def phone(browser, **more):
    """Give the browser the screen of a phone."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE | more)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def wait(browser, found):
    """Wait for a condition: a function of the browser, or a script that returns something true."""
    ask = found if callable(found) else (lambda b: b.execute_script(f"return {found}"))
    return WebDriverWait(browser, 30, poll_frequency=0.05).until(ask)


def visit(browser, address):
    """Open an address anew, with nothing in the logs."""
    browser.get("about:blank")
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(address)
    wait(browser, "document.readyState === 'complete'")


def turn_to(browser, address):
    """Open an address, unless the browser is on that page already."""
    if browser.current_url.partition("#")[0] != address.partition("#")[0]:
        visit(browser, address)


def complaints(browser):
    """What the console has of errors and warnings since the address was opened."""
    return [
        entry["message"]
        for entry in browser.get_log("browser")
        if entry["level"] in ("SEVERE", "WARNING")
    ]


def traffic(browser):
    """Return the addresses asked for, and those that failed."""
    requests = {}
    failed = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        method = message["method"]
        what = message["params"]
        if method == "Network.requestWillBeSent":
            requests[what["requestId"]] = what["request"]["url"]
        elif method == "Network.responseReceived" and what["response"]["status"] >= 400:
            failed.append(what["response"]["url"])
        elif method == "Network.loadingFailed" and not what.get("canceled"):
            failed.append(requests.get(what["requestId"], "?"))
    return list(requests.values()), failed
