"""The built book on a local server, and a headless Chromium to read it with."""

import contextlib
import functools
import http.server
import os
import shutil
import threading
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_BUILT = ("data/build-mini/book/_build/html", "data/build/book/_build/html")
#: The screen of a phone.
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}


def book_html() -> Path | None:
    """Folder of the built HTML: COGNILOAD_BOOK when set, otherwise the mini-grid's or the paper grid's."""
    named = os.environ.get("COGNILOAD_BOOK")
    places = [Path(named)] if named else [_ROOT / place for place in _BUILT]
    return next((place for place in places if (place / "index.html").is_file()), None)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Say nothing: the test report is the log."""


@pytest.fixture(scope="session")
def html():
    """Path of the built HTML."""
    folder = book_html()
    if folder is None:
        pytest.skip("no built book: run `make smoke` first, or set COGNILOAD_BOOK to a folder with its HTML")
    return folder


@pytest.fixture(scope="session")
def site(html):
    """Address of the book, served from this machine to this machine."""
    handler = functools.partial(_Quiet, directory=str(html))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@contextlib.contextmanager
def _chromium():
    """Headless Chromium that keeps its console and network logs and can reach this machine only."""
    from selenium import webdriver

    binary = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not (binary and driver):
        pytest.skip("no Chromium or chromedriver here: run scripts/install-system-packages.sh")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--window-size=1280,1000",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chromium = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield chromium
    finally:
        chromium.quit()


@pytest.fixture(scope="session")
def browser():
    """One browser for all tests of a process: starting it takes longer than most of them."""
    with _chromium() as chromium:
        yield chromium


@pytest.fixture
def forgetful():
    """A browser of one test's own, for what pages store.

    To clear the storage of the common one would not do: for pages of a disk its processes may keep what they knew
    of the storage before, and a busy machine makes them.
    """
    with _chromium() as chromium:
        yield chromium


def pytest_generate_tests(metafunc):
    """Run tests that take a page once for each page of the built book."""
    if "page" in metafunc.fixturenames:
        folder = book_html()
        files = sorted(folder.rglob("*.html")) if folder else []
        pages = [
            file.relative_to(folder).as_posix()
            for file in files
            if file.name != "index.html" and "_static" not in file.parts
        ]
        metafunc.parametrize("page", pages or ["(no book)"])


@pytest.fixture
def phone(browser):
    """The browser with the screen of a phone."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
