"""The built book, and a headless Chromium to read it with."""

import shutil

import pytest
from browsing import book_html


@pytest.fixture(scope="session")
def html():
    """Path of the built HTML."""
    folder = book_html()
    if folder is None:
        pytest.skip(
            "no built book: run `make smoke` first, or set COGNILOAD_BOOK to a folder with its HTML"
        )
    return folder


@pytest.fixture(scope="session")
def browser():
    """One headless Chromium, which can reach this machine only.

    Starting it takes longer than most tests.
    """
    from selenium import webdriver

    binary = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not (binary and driver):
        pytest.skip(
            "no Chromium or chromedriver here: run scripts/install-system-packages.sh"
        )
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
    options.set_capability(
        "goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"}
    )
    chromium = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(driver)
    )
    chromium.set_script_timeout(90)
    yield chromium
    chromium.quit()
