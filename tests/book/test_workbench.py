"""The page that fits in the browser: its numbers against the package's, and what a reader does with it."""

import json
import re
import shutil
import urllib.parse

import numpy as np
import pandas as pd
import pytest
from browsing import ROOT, complaints, visit
from selenium.webdriver.common.by import By
from statsmodels.stats.proportion import proportion_confint

import cogniload_repro as cl
from cogniload_repro.presentation.page_data import workbench_data, write_script
from cogniload_repro.robustness.specifications import FIXED_SUMS
from cogniload_repro.statistics.reconstructions import committed_counts
from cogniload_repro.statistics.regression import INTERACTIONS, QUADRATIC, fit_glm

pytestmark = pytest.mark.book

CELLS = cl.load_cells()
SOME = sorted(CELLS["model"].unique())[::3]
#: All models but one, as an address leaves them out.
BUT_ONE = "|".join(sorted(set(CELLS["model"]) - {"QwQ-32B"}))
#: Formula, family, levels left out, overflows, rho: regressions that a reader may ask for.
SPECIFICATIONS = [
    (QUADRATIC, "logit", "", "", ""),
    (QUADRATIC, "logit", "N:50|d:1", "", ""),
    (QUADRATIC, "logit", "", "", "nominal"),
    (INTERACTIONS, "logit", "", "", ""),
    ("correct ~ 1", "logit", "", "", ""),
    ("correct ~ C(d) + C(N) + rho + I(rho**2)", "logit", "ratio_pct:5", "", ""),
    ("correct ~ d + C(d) + log10_N", "logit", "", "", ""),
    ("correct ~ d + I(d**2) + I(d**3) + log10_N + rho", "logit", "", "", ""),
    ("correct ~ d + N + rho + N:rho + d:N", "quasi-binomial", "", "omitted", "nominal"),
]


def _report(browser):
    return json.loads(browser.execute_script("return JSON.stringify(cogniload.workbench.report())"))


def _open(browser, address, **words):
    visit(browser, f"{address}#{urllib.parse.urlencode(words)}")
    return _report(browser)


def _turn(browser, **words):
    """Change what stands behind the # of the page that is open, and return its report."""
    return _follow(browser, urllib.parse.urlencode(words))


def _follow(browser, words):
    script = """
        const [address, done] = arguments, report = () => done(JSON.stringify(cogniload.workbench.report()));
        if (location.hash.slice(1) === address) return report();
        addEventListener("hashchange", () => setTimeout(report), { once: true });
        location.hash = address;
    """
    return json.loads(browser.execute_async_script(script, words))


#: Statuses of a fit whose columns are independent.
STATUSES = ("ok", "separation", "not converged")


@pytest.fixture(scope="module")
def data():
    """What the page has of the committed counts of the whole grid."""
    return workbench_data()


@pytest.fixture(scope="module")
def bench(browser, data, tmp_path_factory):
    """A page with the workbench alone, opened once."""
    folder = tmp_path_factory.mktemp("workbench")
    shutil.copytree(ROOT / "book" / "_scripts" / "instruments", folder / "instruments")
    (folder / "instruments" / "cells-data.js").write_text(write_script("cells", data), "utf-8")
    text = (ROOT / "book" / "workbench.md").read_text("utf-8")
    shared = "".join(
        f'<script defer src="instruments/{name}.js"></script>' for name in ("dom", "tables")
    )
    (raw,) = re.findall(r"```\{raw\} html\n(.*?)```", text, re.S)
    page = f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Workbench</title>{shared}<main>{raw}</main>'
    (folder / "workbench.html").write_text(page, "utf-8")
    _open(browser, (folder / "workbench.html").as_uri())
    return browser


def _choose(model, omit, overflows, place):
    """A model's counts, or those of one reconstruction, without what the address leaves out."""
    own = CELLS[CELLS["model"] == model]
    if place is not None:
        own = own.assign(correct=committed_counts(own)[place])
    for load, level in (one.split(":") for one in omit.split("|") if one):
        own = own[own[load] != int(level)]
    if overflows:
        own = own.assign(total=own["total"] - np.minimum(own["ctx"], own["total"] - own["correct"]))
    return own[own["total"] > 0]


@pytest.mark.parametrize(
    "specification", SPECIFICATIONS, ids=lambda one: " ".join(filter(None, one))
)
def test_the_page_fits_as_statsmodels_does(bench, specification):
    """Coefficients, AIC and status of every model agree with the package's, in the first and last reconstruction."""
    formula, family, omit, overflows, ratio = specification
    words = {
        "formula": formula,
        "family": family,
        "omit": omit,
        "overflows": overflows,
        "ratio": ratio,
    }
    without = "|".join(sorted(set(CELLS["model"]) - set(SOME)))
    found = _turn(
        bench, show=formula, without=without, **{name: text for name, text in words.items() if text}
    )
    assert found["notes"] == []
    assert sorted(theirs["model"] for theirs in found["fits"]) == SOME
    for theirs in found["fits"]:
        for place in {0, theirs["tables"] - 1}:
            chosen = _choose(
                theirs["model"], omit, overflows, None if theirs["identified"] else place
            )
            ours = fit_glm(chosen, found["formula"], family)
            if place == 0:
                # the page has one word for what the package explains level by level
                is_deficient = theirs["status"] == "dependent columns"
                assert is_deficient == (ours.status not in STATUSES)
                assert is_deficient or theirs["status"] == ours.status
            if ours.status != "ok":
                continue
            places = [theirs["names"].index(_plain(term)) for term in ours.terms]
            assert [theirs["coef"][place][at] for at in places] == pytest.approx(
                ours.coef, rel=1e-6, abs=1e-6
            )
            if family != "quasi-binomial":
                assert theirs["aic"][place] == pytest.approx(ours.aic, rel=1e-9)
            if place == 0:
                assert [theirs["se"][at] for at in places] == pytest.approx(ours.se, rel=1e-6)
                assert [theirs["p"][at] for at in places] == pytest.approx(
                    ours.p, rel=1e-5, abs=1e-12
                )


def _plain(term):
    """A term as the page names it."""
    return (
        term.replace(" ", "")
        .replace("(ratio_pct/100)**", "rho**")
        .replace("I(ratio_pct/100)", "rho")
    )


@pytest.mark.parametrize(
    ("words", "identified"),
    [
        ({"formula": f"correct ~ {FIXED_SUMS}"}, True),
        ({"formula": "correct ~ d * log10_N + rho + I(rho**2)"}, True),
        ({"formula": f"{QUADRATIC} + I(rho**3)"}, False),
        ({"formula": "correct ~ C(rho)"}, False),
        ({"family": "quasi-binomial"}, False),
        ({"ratio": "nominal"}, False),
        ({"omit": "N:250"}, False),
        ({"formula": "correct ~ C(N)", "omit": "N:250"}, True),
        ({"overflows": "omitted"}, False),
    ],
)
def test_only_what_the_printed_tables_identify_has_a_single_value(bench, words, identified):
    """Identified fits agree in every reconstruction and are one; others are as many."""
    found = _turn(bench, without=BUT_ONE, **words)
    assert [(one["identified"], one["tables"]) for one in found["fits"]] == [
        (identified, 1 if identified else 24)
    ]
    shown = bench.find_element(By.CSS_SELECTOR, ".workbench-summary").text
    assert ("not identified" in shown) == (not identified)


def test_a_range_is_that_over_the_reconstructions(bench):
    """The cubic's counts of models with a lower AIC are the package's; no star, p-value or verdict is shown."""
    cubic, few = f"{QUADRATIC} + I(rho**3)", SOME[:4]
    _turn(bench, formula=cubic, without="|".join(sorted(set(CELLS["model"]) - set(few))))
    text = bench.find_element(By.CSS_SELECTOR, ".workbench-summary").text
    tables = cl.over_reconstructions(
        CELLS[CELLS["model"].isin(few)], lambda table: cl.compare_fits(table, cubic)
    )
    better = (tables["daic"] < -2).groupby(tables["reconstruction"]).sum()
    assert better.min() < better.max()
    expected = f"{better.min()} to {better.max()} (median {better.median():g})"
    assert f"by more than 2 in {expected} models" in text
    assert "not identified" in text
    values = "return [...document.querySelectorAll('#workbench-coefficients tbody td')].map((one) => one.textContent)"
    assert not [text for text in bench.execute_script(values) if "*" in text]


def test_capacity_points_are_the_packages(bench):
    """Points of the paper's regression are those of Table 2."""
    found, points = (
        {one["model"]: one["points"] for one in _turn(bench)["fits"]},
        cl.capacity_points(cl.fit(CELLS), CELLS),
    )
    for row in points.to_dict("records"):
        ours = {
            name: float("nan") if one is None else one for name, one in found[row["model"]].items()
        }
        assert ours == pytest.approx({name: row[name] for name in ours}, rel=1e-8, nan_ok=True)


def test_the_point_of_a_curved_load_is_where_accuracy_falls_to_one_half(bench):
    """Where d enters squared, ID50 is found by a search: log-odds are 0 there, and fall."""
    means, found = CELLS.groupby("model")[["log10_N", "rho"]].mean(), 0
    for one in _turn(bench, formula="correct ~ d + I(d**2) + log10_N + rho")["fits"]:
        (constant, linear, square, *others), d = one["coef"][0], one["points"]["id50"]
        if d is not None:
            height = constant + linear * d + square * d**2 + others @ means.loc[one["model"]]
            assert (height, linear + 2 * square * d < 0) == (pytest.approx(0, abs=1e-9), True)
            found += 1
    assert found > 10


def test_a_factor_counts_at_its_means(bench):
    """ECL50 beside C(rho): the dummies at their means over the cells, in every reconstruction."""
    (qwq,) = _turn(
        bench, formula="correct ~ d + log10_N + C(rho)", ratio="nominal", without=BUT_ONE
    )["fits"]
    means = CELLS[CELLS["model"] == "QwQ-32B"].assign(rho=lambda rows: rows["ratio_pct"])
    weights = {"Intercept": 1, "d": means["d"].mean()}
    for level in sorted(means["rho"].unique())[1:]:
        weights[f"C(rho)[T.{level / 100:g}]"] = (means["rho"] == level).mean()
    coef = dict(zip(qwq["names"], qwq["coef"][0], strict=True))
    height = sum(weight * coef[name] for name, weight in weights.items())
    assert qwq["points"]["ecl50"] == pytest.approx(10 ** (-height / coef["log10_N"]), rel=1e-8)


@pytest.mark.parametrize(
    ("words", "formula", "note"),
    [
        ({"formula": "correct ~ d*log10_N + rho"}, "correct ~ d + log10_N + rho + d:log10_N", ""),
        ({"formula": "d + 1 + d"}, "correct ~ d", ""),
        ({"formula": "correct ~ np.log(N) + d"}, QUADRATIC, "np.log(N)"),
        ({"formula": "correct ~ C(d):C(N)"}, QUADRATIC, "C(d):C(N)"),
        ({"formula": "correct ~ d + rho # x"}, QUADRATIC, "rho # x"),
        ({"without": "gpt-6"}, QUADRATIC, "gpt-6"),
    ],
)
def test_an_address_is_understood_or_what_is_not_is_said(bench, words, formula, note):
    """Products are expanded; anything else is reported, and the paper's choice is in its place."""
    found = _turn(bench, **words)
    assert found["formula"] == formula
    text = bench.find_element(By.CSS_SELECTOR, ".workbench-summary").text
    assert (f"“{note}”" in text) if note else ("Not understood" not in text)


def test_a_click_changes_the_address_and_the_address_the_page(browser, html):
    """In the book: a chip fits again at once; the address that results shows the same when followed anew."""
    before = _open(browser, f"{html.as_uri()}/workbench.html", without=BUT_ONE)
    browser.find_element(By.XPATH, "//div[@id='workbench']//label[.='d × ρ']/input").click()
    after = _report(browser)
    assert after["fits"][0]["names"] == [*before["fits"][0]["names"], "d:rho"]
    words = browser.current_url.partition("#")[2]
    browser.find_element(
        By.XPATH, "//div[@id='workbench']//label[.='quasi-binomial']/input"
    ).click()
    assert "family=quasi-binomial" in browser.current_url
    assert _turn(browser, without=BUT_ONE)["fits"] == before["fits"]
    assert _follow(browser, words)["fits"] == after["fits"]
    assert (
        'cl.fit(cells, "correct ~ d + log10_N + rho + I(rho**2) + d:rho"'
        in browser.find_element(By.ID, "workbench").text
    )
    assert complaints(browser) == []


# ---- a reader's files ----------------------------------------------------------------------------------------------
_HEAD = "model,N,d,ratio_pct,total,correct"
_READ = """
    const [text] = arguments, bytes = Array.isArray(text) ? Uint8Array.from(text) : new TextEncoder().encode(text);
    try { return cogniload.cells.readTable(bytes.buffer, "f.csv"); } catch (error) { return error.message; }
"""


@pytest.mark.parametrize(
    "text",
    [
        f"{_HEAD}\na,20,3,50,10,4\n",
        f"\ufeff{_HEAD}\r\na,20,3,50.0,10,4\r\n",
        '"correct","model","N","d","ratio_pct","total"\n4,"a",20,3,50,10\n',
    ],
    ids=["plain", "Windows", "as R writes it"],
)
def test_a_table_is_read(bench, text):
    """The six columns in any order are the same counts; needles are those of the nominal ratio."""
    (model,) = bench.execute_script(_READ, text)
    assert model["name"] == "a"
    assert model["cells"] == [
        {"N": 20, "d": 3, "ratio_pct": 50, "rho": 0.5, "n": 10, "k": 4, "ctx": None}
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "f.csv: it lacks model, N, d, ratio_pct, total, correct; its columns must be"),
        ("model,N,d,n\na,1,1,1\n", "it lacks ratio_pct, total, correct"),
        (f"{_HEAD},rho\na,20,3,50,10,4,0.5\n", "it has other columns (rho) than"),
        (f"{_HEAD},model\na,20,3,50,10,4,a\n", "it has other columns (one comes twice)"),
        (f"{_HEAD.replace(',', ';')}\na;20;3;50;10;4\n", "it lacks model"),
        (f"{_HEAD}\n", "it has no row"),
        (
            f"{_HEAD}\na,20,3,50,10,11\n",
            "row 1: correct is “11”, not a whole number from 0 to total",
        ),
        (f"{_HEAD}\na,0x14,3,50,10,1\n", "row 1: N is “0x14”"),
        (f"{_HEAD}\na,20,3,50,1.000,1\n", "row 1: total is “1.000”"),
        (f"{_HEAD}\na,20,3,1e1,10,1\n", "row 1: ratio_pct is “1e1”"),
        (f"{_HEAD}\na,20,3,101,10,1\n", "row 1: ratio_pct is “101”"),
        (f"{_HEAD}\na,20,3,50,10\n", "row 1: another number of fields"),
        (f"{_HEAD}\n,20,3,50,10,1\n", "row 1: the name of the model is missing"),
        (f"{_HEAD}\na,20,3,50,10,1\na,20,3,50,10,1\n", "row 2: this model and configuration"),
        (
            f"{_HEAD}\n" + "".join(f"m{number},20,3,50,1,1\n" for number in range(101)),
            "row 101: more than 100",
        ),
        (
            f"{_HEAD}\n" + "".join(f"a,{N},1,50,1,1\n" for N in range(2, 100_002, 2)),
            "row 2001: more than 2,000",
        ),
        (list("Modèle".encode("latin-1")), "it is not UTF-8"),
        (list("model".encode("utf-16")), "it is not UTF-8"),
    ],
)
def test_a_table_that_will_not_do_is_refused_with_its_row(bench, text, complaint):
    """One sentence says what is wrong, and where."""
    assert complaint in bench.execute_script(_READ, text)


def test_files_that_are_dropped_together_have_a_line_each(bench, tmp_path):
    """What can be read is taken; every other file is refused by name."""
    texts = {
        "good.csv": f"{_HEAD}\nmine,20,3,50,10,4\n",
        "old.csv": "model,n\na,1\n",
        "empty.csv": "",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
    bench.find_element("id", "workbench-file").send_keys(
        "\n".join(str(tmp_path / name) for name in texts)
    )
    said = bench.execute_async_script("""
        const done = arguments[0], place = document.querySelector(".workbench-mine");
        const said = () => [...place.children].map((one) => one.innerText);
        const look = () => (place.children.length < 3 ? setTimeout(look, 20) : done(said()));
        look();
    """)
    assert re.match(
        r"mine: 10 answers in 1 configurations, [01] of the \d+ that the others have", said[0]
    )
    assert [one.partition(":")[0] for one in said[1:]] == ["old.csv", "empty.csv"]
    bench.find_element("css selector", ".workbench-mine button").click()


def test_the_intervals_of_points_are_wilsons(bench):
    """Accuracies of a level's cells together, as statsmodels has them."""
    found = bench.execute_script(
        "return cogniload.cells.accuracy([{ n: 10, k: 4 }, { n: 20, k: 3 }], 1.959963984540054)"
    )
    assert [found["low"], found["high"]] == pytest.approx(
        proportion_confint(7, 30, method="wilson")
    )
    assert (found["n"], found["k"], found["estimate"]) == (30, 7, pytest.approx(7 / 30))


def test_separation_is_found_where_it_is(bench):
    """Small tables of many sure cells: the page and the package's linear programme say the same of each."""
    rng = np.random.default_rng(15)
    rows = []
    for number in range(30):
        kinds = rng.choice([0, 5, 10], size=6, p=[0.45, 0.1, 0.45])
        loads = rng.permutation([(20, 1), (20, 5), (50, 1), (50, 5), (99, 1), (99, 5)])
        rows += [(f"m{number}", N, d, 0.5, 10, k) for (N, d), k in zip(loads, kinds, strict=True)]
    cells = pd.DataFrame(rows, columns=["model", "N", "d", "rho", "total", "correct"])
    in_page = """
        const { readFormula, layDesign, fit } = cogniload.regression, [models] = arguments;
        const { terms } = readFormula("correct ~ d + log10_N"), pick = (rows, name) => rows.map((row) => row[name]);
        const judge = (rows) => fit(layDesign(terms, rows), pick(rows, "correct"), pick(rows, "total"), "logit", 1.96);
        return models.map((rows) => judge(rows).status);
    """
    models = [own.to_dict("records") for _, own in cells.groupby("model", sort=False)]
    ours = cl.fit(cells, "correct ~ d + log10_N").groupby("model", sort=False)["status"].first()
    assert bench.execute_script(in_page, models) == ours.tolist()
    assert {"ok", "separation"} <= set(ours)
