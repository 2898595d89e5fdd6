"""The built book on a local server, the workbench on the paper's grid, and a headless Chromium to read them with."""

import functools
import http.server
import re
import shutil
import threading

import pytest
from browsing import ROOT, book_html, pages

from cogniload_repro.presentation.page_data import workbench_data, write_script


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
    with server:  # which closes its socket
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def paper_bench(tmp_path_factory):
    """Address of a page with the workbench alone, on the committed counts of the whole grid."""
    folder = tmp_path_factory.mktemp("workbench")
    shutil.copytree(ROOT / "book" / "_scripts" / "instruments", folder / "instruments")
    (folder / "instruments" / "cells-data.js").write_text(write_script("cells", workbench_data()), "utf-8")
    text = (ROOT / "book" / "workbench.md").read_text("utf-8")
    shared = "".join(f'<script defer src="instruments/{name}.js"></script>' for name in ("dom", "tables"))
    (raw,) = re.findall(r"```\{raw\} html\n(.*?)```", text, re.S)
    page = f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Workbench</title>{shared}<main>{raw}</main>'
    (folder / "workbench.html").write_text(page, "utf-8")
    return (folder / "workbench.html").as_uri()


@pytest.fixture(scope="session")
def browser():
    """One headless Chromium, which can reach this machine only: starting it takes longer than most tests."""
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
    chromium.set_script_timeout(90)
    yield chromium
    chromium.quit()


def pytest_generate_tests(metafunc):
    """Run tests that take a page once for each page of the built book."""
    if "page" in metafunc.fixturenames:
        folder = book_html()
        metafunc.parametrize("page", (pages(folder) if folder else []) or ["(no book)"])
