"""The page that fits in the browser, driven as a reader drives it."""

import json
import urllib.parse

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from cogniload_repro.presentation.workbench import gather_cells
from cogniload_repro.statistics.fits import capacity_points, fit
from cogniload_repro.statistics.regression import QUADRATIC

pytestmark = pytest.mark.book

#: Formula, family, levels left out, overflows, rho: twenty regressions that a reader may ask for.
SPECIFICATIONS = [
    (QUADRATIC, "logit", "", "", ""),
    (QUADRATIC, "probit", "", "", ""),
    (QUADRATIC, "cloglog", "", "", ""),
    (QUADRATIC, "quasi-binomial", "", "", ""),
    ("correct ~ 1", "logit", "", "", ""),
    ("correct ~ d + log10_N + rho", "logit", "d:10", "", ""),
    ("correct ~ d + log10_N + rho + I(rho**2)", "logit", "N:50|d:1", "", ""),
    ("correct ~ d + log10_N + rho + I(rho**2)", "logit", "", "omitted", ""),
    ("correct ~ d + log10_N + rho + I(rho**2)", "probit", "", "", "nominal"),
    ("correct ~ C(d) + log10_N + rho + I(rho**2)", "logit", "", "", ""),
    ("correct ~ d + C(N) + rho", "cloglog", "", "", ""),
    ("correct ~ C(d) + C(N) + rho + I(rho**2)", "logit", "ratio_pct:5", "", ""),
    ("correct ~ d + C(d) + log10_N", "logit", "", "", ""),
    ("correct ~ d + N + rho + I(rho**2)", "logit", "", "", ""),
    ("correct ~ d + log10_N + rho + I(rho**2) + I(rho**3)", "logit", "", "", ""),
    ("correct ~ d + I(d**2) + I(d**3) + log10_N + rho", "logit", "", "", ""),
    ("correct ~ d + log10_N + rho + I(rho**2) + d:log10_N", "logit", "", "", ""),
    ("correct ~ d + log10_N + rho + I(rho**2) + d:log10_N + d:rho + log10_N:rho", "probit", "", "", ""),
    ("correct ~ d + log10_N + rho + I(rho**2) + d:log10_N + d:rho + log10_N:rho + d:log10_N:rho", "logit", "", "", ""),
    ("correct ~ d + N + rho + N:rho + d:N", "quasi-binomial", "", "omitted", "nominal"),
]
_REPORT = "return JSON.stringify(cogniload.workbench.report())"


@pytest.fixture(scope="module")
def cells(html):
    """The cells of the build that the book was made of."""
    return gather_cells(html.parents[2])


def _open(browser, address, **words):
    browser.get("about:blank")
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(f"{address}/workbench.html" + (f"#{urllib.parse.urlencode(words)}" if words else ""))
    return _report(browser)


def _report(browser):
    done = "return document.readyState === 'complete' && Boolean(cogniload.workbench.report().timing.intervals)"
    WebDriverWait(browser, 60).until(lambda b: b.execute_script(done))
    return json.loads(browser.execute_script(_REPORT))


def _turn(browser, **words):
    """Change what stands behind the # of the page that is open, and return its report."""
    script = """
        const [address, done] = arguments, report = () => done(JSON.stringify(cogniload.workbench.report()));
        addEventListener("hashchange", () => setTimeout(report), { once: true });
        location.hash = address;
    """
    return json.loads(browser.execute_async_script(script, urllib.parse.urlencode(words)))


def _choose(cells, omit, overflows):
    """Leave out what the address leaves out."""
    for load, level in (one.split(":") for one in omit.split("|") if one):
        cells = cells[cells[load] != int(level)]
    if overflows and "ctx" in cells:
        cells = cells.assign(total=cells["total"] - cells["ctx"].fillna(0))
    return cells[cells["total"] > 0]


def _plain(term):
    """A term as the page names it."""
    return term.replace(" ", "").replace("(ratio_pct/100)**", "rho**").replace("I(ratio_pct/100)", "rho")


@pytest.fixture(scope="module")
def bench(browser, site):
    """The page, opened once."""
    _open(browser, site)
    return browser


@pytest.mark.parametrize("specification", SPECIFICATIONS, ids=lambda one: " ".join(filter(None, one)))
def test_the_page_fits_as_statsmodels_does(bench, cells, specification):
    """Coefficients, standard errors, AIC and status of every model agree with the package's to 1e-6."""
    formula, family, omit, overflows, ratio = specification
    words = {"formula": formula, "family": family, "omit": omit, "overflows": overflows, "ratio": ratio}
    words["show"] = "-".join(specification)  # so that each address is another
    found = _turn(bench, **{name: text for name, text in words.items() if text})
    chosen = _choose(cells, omit, overflows)
    ours = {model: own for model, own in fit(chosen, found["formula"], family).groupby("model")}
    assert len(found["fits"]) == cells["model"].nunique()
    for theirs in found["fits"]:
        if theirs["model"] not in ours:  # nothing is left of it
            assert theirs["status"] == "not identified"
            continue
        own = ours[theirs["model"]]
        assert theirs["status"] == own["status"].iloc[0]
        if theirs["status"] != "ok":
            continue
        table = pd.DataFrame({name: theirs[name] for name in ("coef", "se", "p")}, index=theirs["names"])
        table = table.loc[[_plain(term) for term in own["term"]]]
        assert table["coef"].to_numpy() == pytest.approx(own["coef"].to_numpy(), rel=1e-6, abs=1e-6)
        assert table["se"].to_numpy() == pytest.approx(own["se"].to_numpy(), rel=1e-6)
        assert table["p"].to_numpy() == pytest.approx(own["p"].to_numpy(), rel=1e-5, abs=1e-12)
        if family != "quasi-binomial":
            assert theirs["aic"] == pytest.approx(own["aic"].iloc[0], rel=1e-9)


def test_capacity_points_and_their_intervals_are_the_packages(browser, site, cells):
    """Points of the paper's regression are those of Table 2, intervals those of the profile likelihood."""
    from cogniload_repro.robustness.uncertainty import capacity_intervals

    found = {one["model"]: one["points"] for one in _open(browser, site)["fits"] if one["status"] == "ok"}
    some = cells[cells["model"].isin(["QwQ-32B", "gpt-5-2025-08-07", "Qwen3-8B"])]
    points = capacity_points(fit(some), some).set_index("model")
    for row in capacity_intervals(some).itertuples():
        estimate, *ends = (float("nan") if one is None else one for one in found[row.model][row.point])
        assert estimate == pytest.approx(points.loc[row.model, row.point], rel=1e-8, nan_ok=True)
        printed = [float("inf"), float("nan")]  # JSON has no infinity
        for end, ours in zip(ends, (row.profile_low, row.profile_high), strict=False):
            assert end == pytest.approx(ours, rel=1e-6, nan_ok=True) or abs(ours) in printed or pd.isna(ours)


def test_the_papers_regression_gives_the_papers_sentences(browser, site):
    """With the paper's formula no sentence changes; with its products those about products are asked and stay."""
    _open(browser, site)
    assert browser.find_elements(By.CSS_SELECTOR, "#workbench .verdict.changed") == []
    products = SPECIFICATIONS[18][0]
    found = _open(browser, site, formula=products)
    base = browser.execute_script("return cogniload.data.cells.questions.map((one) => one.found)")
    products_asked = browser.execute_script(
        "return cogniload.data.cells.questions.map((one) => one.terms[0].includes(':'))"
    )
    for answer, expected, asked in zip(found["answers"], base, products_asked, strict=True):
        assert not asked or answer == expected


def test_a_click_changes_the_address_and_the_address_the_page(browser, site):
    """Choosing a term by its chip fits again at once; the address that results shows the same when opened anew."""
    before = _open(browser, site)
    browser.find_element(By.XPATH, "//div[@id='workbench']//label[.='d × ρ']/input").click()
    after = _report(browser)
    assert after["fits"][0]["names"] == [*before["fits"][0]["names"], "d:rho"]
    address = browser.current_url
    browser.get("about:blank")
    browser.get(address)
    again = _report(browser)
    assert again["fits"] == after["fits"]
    assert "FORMULA='correct ~ d + log10_N + rho + I(rho**2) + d:rho'" in browser.find_element(By.ID, "workbench").text


def test_a_dropped_file_joins_the_models_and_its_name_stays_text(forgetful, html, tmp_path):
    """From a file's address too: a table with a hostile name is fitted, placed, and shown letter by letter."""
    browser = forgetful
    name = "<img src=x onerror=alert(1)></script>"
    rows = ["model,N,d,ratio_pct,rho,n,correct"]
    for N in (20, 50):
        for d in (1, 5, 10):
            for ratio in (5, 50, 95):
                rows.append(f"{name},{N},{d},{ratio},{ratio / 100},100,{95 - 4 * d - N // 2}")
    file = tmp_path / "cells.csv"
    file.write_text("\n".join(rows), encoding="utf-8")
    models = len(_open(browser, html.as_uri())["fits"])
    browser.find_element(By.ID, "workbench-file").send_keys(str(file))
    WebDriverWait(browser, 60).until(lambda b: name in b.find_element(By.CSS_SELECTOR, ".workbench-taken").text)
    found = _report(browser)["fits"]
    assert len(found) == models + 1
    assert found[-1]["model"] == name
    assert found[-1]["status"] == "ok"
    assert "1,800 answers in 18 configurations" in browser.find_element(By.CSS_SELECTOR, ".workbench-taken").text
    places = [row.text for row in browser.find_elements(By.CSS_SELECTOR, ".workbench-places tbody tr")]
    assert len(places) == 4
    assert all(row.startswith(name) for row in places)
    assert browser.find_elements(By.CSS_SELECTOR, "#workbench img, #workbench script") == []
    log = browser.get_log("browser")
    assert [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")] == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("model,N,d,n\na,1,1,1\n", "lacks the columns correct, rho (or ratio_pct)"),
        ("model,N,d,rho,n,correct\na,20,3,0.5,10,11\n", "row 1: correct is not a whole number from 0 to n"),
        ("model,N,d,rho,n,correct\na,20,3,0.5,10,1\na,20,3,0.5,10,1\n", "row 2: this model and configuration"),
        ("", "is empty"),
    ],
)  # fmt: skip
def test_a_file_that_will_not_do_is_refused_with_a_sentence(browser, site, tmp_path, text, complaint):
    """It says what is missing, and the page stays as it was."""
    (tmp_path / "cells.csv").write_text(text, encoding="utf-8")
    before = _open(browser, site)["fits"]
    browser.find_element(By.ID, "workbench-file").send_keys(str(tmp_path / "cells.csv"))
    WebDriverWait(browser, 60).until(lambda b: b.find_elements(By.CSS_SELECTOR, ".workbench-taken [role=alert]"))
    assert complaint in browser.find_element(By.CSS_SELECTOR, ".workbench-taken").text
    assert _report(browser)["fits"] == before


def test_separation_is_found_where_it_is(browser, site):
    """Small tables of many sure cells: the page and the package's linear programme say the same of each."""
    _open(browser, site)
    rng = np.random.default_rng(15)
    tables = []
    for number in range(60):
        n, kinds = 10, rng.choice([0, 5, 10], size=6, p=[0.45, 0.1, 0.45])
        for (N, d), k in zip(
            rng.permutation([(20, 1), (20, 5), (50, 1), (50, 5), (99, 1), (99, 5)]), kinds, strict=True
        ):
            tables.append({"model": f"m{number}", "N": N, "d": d, "rho": 0.5, "total": n, "correct": int(k)})
    cells = pd.DataFrame(tables)
    ours = fit(cells, "correct ~ d + log10_N").groupby("model", sort=False)["status"].first()
    fit_in_page = """
        const { readFormula, layColumns, fit } = cogniload.regression;
        const terms = readFormula("correct ~ d + log10_N");
        return arguments[0].map((cells) => fit(cells, layColumns(terms, cells), "logit", 1.96).status);
    """
    rows = [own.assign(k=own["correct"]).to_dict("records") for _, own in cells.groupby("model", sort=False)]
    assert browser.execute_script(fit_in_page, rows) == ours.tolist()
    assert {"ok", "separation"} <= set(ours)
