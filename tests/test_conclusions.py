"""The paper's conclusions, as the visible cells of the chapters judge them."""

import ast
import json
import os
import re
from collections import Counter
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from judging import TAG, run_chapter, write_build
from scipy.stats import norm
from statsmodels.stats.meta_analysis import combine_effects

import cogniload_repro as cl
from cogniload_repro.analysis import verdicts
from cogniload_repro.book.backend import Run
from cogniload_repro.book.build import Build
from cogniload_repro.book.page import Page
from cogniload_repro.book.verdict_rows import read_verdicts, show_verdicts
from cogniload_repro.models import NAMES
from cogniload_repro.published import ERRORS, load_conclusions, load_contradictions
from cogniload_repro.regression.glm import fit_finite
from cogniload_repro.storage import write_table

CELLS = cl.load_cells()
NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("[0-9]*.ipynb"))
LEADERS = ["gpt-5-2025-08-07", "o3-2025-04-16"]
HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}

#: The verdicts on the committed counts, by chapter.
EXPECTED = {
    "04_accuracy": {
        "steepest": verdicts.SUPPORTED,
        "dominant_load": verdicts.PARTLY,
        "appendix_a": verdicts.OPEN,
    },
    "05_glm": {
        "slopes": verdicts.SUPPORTED,
        "leaders": verdicts.SUPPORTED,
        "classes": verdicts.PARTLY,
        "larger_models": verdicts.SUPPORTED,
    },
    "06_interactions": {
        "d_by_n": verdicts.DEPENDS,
        "d_by_n_leaders": verdicts.DEPENDS,
        "d_by_rho": verdicts.DEPENDS,
        "d_by_rho_leaders": verdicts.DEPENDS,
        "n_by_rho": verdicts.PARTLY,
        "n_by_rho_gemini": verdicts.DEPENDS,
    },
    "07_aic": {"u_shape": verdicts.SUPPORTED, "trough": verdicts.PARTLY},
    "08_errors": {
        "overflows": verdicts.PARTLY,
        "lower_bound": verdicts.SUPPORTED,
        "budget": verdicts.NOT_SUPPORTED,
    },
    "07_alternatives": {"narrow_range": verdicts.SUPPORTED},
}


def read_code(chapter):
    """The code cells of a chapter."""
    path = NOTEBOOKS[0].with_name(f"{chapter}.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def is_visible(cell):
    """Whether a reader sees the code of a cell."""
    return not HIDDEN & set(cell["metadata"].get("tags", ()))


def statements_in(cell):
    """The names of statements for which a cell has a verdict."""
    names = []
    for node in ast.walk(ast.parse("".join(cell["source"]))):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Dict):
            continue
        if ast.unparse(node.targets[0]) == "judged":
            names += [
                key.value for key in node.value.keys if isinstance(key, ast.Constant)
            ]
    return names


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A build of the committed counts, with what a shortcut scores on a few puzzles."""
    folder = write_build(tmp_path_factory.mktemp("build"), 1)
    counts = CELLS.drop(columns="log10_N").assign(provenance="reconstructed")
    write_table(folder / "cells.parquet", counts)
    return folder


@cache
def run_once(chapter, build):
    """What the cells that lead to a chapter's verdicts compute."""
    return run_chapter(chapter, build)


def run_again(space, chapter, *names, **changed):
    """Run cells of a chapter again with some of their variables changed; return the verdicts."""
    space = space | changed
    for cell in read_code(chapter):
        if cell["id"] in names:
            exec("".join(cell["source"]), space)  # our own notebook
    return {name: verdict.word for name, verdict in space["judged"].items()}


def test_readers_see_the_cells_that_lead_to_a_verdict():
    """Folded is only the first of them, which loads."""
    for path in NOTEBOOKS:
        tagged = [
            cell
            for cell in read_code(path.stem)
            if TAG in cell["metadata"].get("tags", ())
        ]
        assert all(is_visible(cell) for cell in tagged if cell["id"] != "load")


#: What fits or tests: functions of the package, of scipy and of statsmodels.
FITS_AND_TESTS = {
    *("fit", "glm", "GLM", "compare_fits", "capacity_points", "intervals"),
    *("aic_table", "interactions_table", "estimate_misfit"),
    *("fit_specifications", "compare_specifications", "dispersion_table"),
    *("simple_slopes", "tilts_along_ratio", "finished_ranges"),
    *("u_contrasts", "trends", "trough_table"),
    *("compare_accuracies", "compare_pairs", "compare_ecl50", "shortcut_bound"),
    *("derive_all", "derive_each", "compare_table2", "least_deviations"),
    *("solve_aic", "maximise", "maximise_all", "polyfit", "lstsq"),
    *("correct_holm", "correct_within", "holm", "sf", "cdf"),
    *("spearmanr", "fisher_exact", "combine_effects", "isotonic_regression"),
    *("rank_models", "compare_with_baselines", "shortcut_use"),
}
#: The first page has no code; a solution is folded until a reader wants it.
WITHOUT_CODE = "00_introduction"


def list_calls(cell):
    """The names of the functions that a cell calls."""
    calls = set()
    for node in ast.walk(ast.parse("".join(cell["source"]))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            calls.add(name)
    return calls


def test_no_fit_and_no_test_is_folded():
    """One rule: analysis is open, drawing and wording are folded, in every chapter."""
    folded = set()
    for path in NOTEBOOKS:
        for cell in read_code(path.stem):
            is_solution = "solution" in cell["metadata"].get("tags", ())
            if is_visible(cell) or is_solution or path.stem == WITHOUT_CODE:
                continue
            if list_calls(cell) & FITS_AND_TESTS:
                folded.add((path.stem, cell["id"]))
    assert folded == set()


def test_every_conclusion_is_judged_in_one_visible_cell():
    """Each conclusion has one verdict in one chapter, and readers see how it follows."""
    judged = Counter()
    for path in NOTEBOOKS:
        for cell in read_code(path.stem):
            names = statements_in(cell)
            assert is_visible(cell) or not names
            judged.update(names)
    names = load_conclusions()["name"]
    assert {name: judged[name] for name in names} == dict.fromkeys(names, 1)
    expected = [name for chapter in EXPECTED.values() for name in chapter]
    assert sorted(expected) == sorted(names)


@pytest.mark.parametrize(
    "chapter",
    [*list(EXPECTED)[:-1], pytest.param("07_alternatives", marks=pytest.mark.slow)],
)
def test_the_committed_counts_lead_to_the_known_verdicts(chapter, build):
    """The cells with the tag are enough."""
    judged = run_once(chapter, build)["judged"]
    expected = EXPECTED[chapter]
    assert {name: judged[name].word for name in expected} == expected


def test_contradictions_in_main_results_are_verdicts():
    """What the paper's own tables contradict is not a supported conclusion."""
    main = load_contradictions().query("affects == 'main result'")
    words = {
        name: word for chapter in EXPECTED.values() for name, word in chapter.items()
    }
    assert len(main)
    found = {words[name] for name in main["conclusion"]}
    assert not found & {verdicts.SUPPORTED, verdicts.UNKNOWN}


@pytest.mark.skipif(
    "COGNILOAD_PAPER" not in os.environ,
    reason="needs the paper's text: COGNILOAD_PAPER=FILE",
)
def test_statements_and_passages_are_the_papers_words():
    """What stands in quotation marks is in the paper, but for spaces and marks of mathematics."""

    def plain(text):
        macros = {
            "×": r"\times",
            "ρ": r"\rho",
            "β": r"\beta",
            "≈": r"\approx",
            "∈": r"\in ",
        }
        for sign, macro in macros.items():
            text = text.replace(macro, sign)
        return re.sub(r"[\s$*{}|\\]", "", text)

    paper = plain(Path(os.environ["COGNILOAD_PAPER"]).read_text("utf-8"))
    contradictions = load_contradictions()
    quoted = [
        *load_conclusions()["statement"],
        *contradictions["passage_1"],
        *contradictions["passage_2"],
    ]
    rows_of_tables = re.compile(r"\d \d")
    sentences = [text for text in quoted if not rows_of_tables.search(text)]
    assert [text for text in sentences if plain(text) not in paper] == []


def test_an_interaction_is_judged_at_the_tested_levels_after_holm(build):
    """Negative in most models at every level counts, raw p decide nothing; nor do overflows."""
    space = run_once("06_interactions", build)
    slopes = space["paper_slopes"]
    for change, word in (
        (
            {"p_holm": 0.001, "slope": -1.0},
            verdicts.DEPENDS,
        ),  # among finished answers not
        ({"p_holm": 0.5, "p": 0.001, "slope": -1.0}, verdicts.NOT_SUPPORTED),
    ):
        judged = run_again(
            space,
            "06_interactions",
            *["judged", "counts-by-level", "pro", "survivals", "printed"],
            paper_slopes=slopes.assign(**change),
        )
        assert judged["d_by_n"] == word


def test_one_pair_in_the_wrong_order_counts(build):
    """A leader that is not shown to be ahead does not lead; a class out of order is none."""
    space = run_once("05_glm", build)
    pairs = space["pairs"]
    behind = (pairs["first"] == LEADERS[1]) & (pairs["second"] == "Qwen3-8B")
    swapped = pairs.rename(columns={"first": "second", "second": "first"})
    beside = (pairs["first"] == LEADERS[0]) & (pairs["second"] == "gemini-2.5-flash")

    def judge(changed):
        cells = "judge-lengths", "judge-classes", "judged"
        words = run_again(space, "05_glm", *cells, pairs=changed)
        return words["leaders"], words["classes"]

    none = (verdicts.NOT_SUPPORTED, verdicts.NOT_SUPPORTED)
    assert judge(pairs.mask(behind, swapped)) == none
    tied = pairs["p_holm"].mask(behind, 0.3)
    assert judge(pairs.assign(p_holm=tied)) == none
    tied_neighbours = pairs["p_holm"].mask(beside, 0.3)
    assert judge(pairs.assign(p_holm=tied_neighbours))[1] == verdicts.PARTLY


def run_cell(chapter, name, **space):
    """Run one cell; return its variables."""
    (cell,) = (cell for cell in read_code(chapter) if cell["id"] == name)
    exec("".join(cell["source"]), space)  # our own notebook
    return space


def test_the_standard_error_of_falls_is_the_spread_of_drawn_tables():
    """The difference of two falls varies over drawn tables as its standard error says."""
    counts = CELLS[CELLS["model"] == "o4-mini-2025-04-16"].reset_index(drop=True)
    shared = {"pd": pd, "np": np, "cl": cl, "norm": norm, "level": 0.05}
    row = run_cell("04_accuracy", "dominant", paper=counts, **shared)["dominant"].iloc[
        0
    ]
    fitted = np.asarray(cl.glm(counts, "o4-mini-2025-04-16").fittedvalues)
    rng = np.random.default_rng(7)
    total = counts["total"].to_numpy()
    drawn = rng.binomial(total, fitted, size=(1000, len(counts)))
    falls = {}
    for load in ("N", "d"):
        lowest = (counts[load] == counts[load].min()).to_numpy()
        highest = (counts[load] == counts[load].max()).to_numpy()
        shortest = drawn[:, lowest].sum(axis=1) / total[lowest].sum()
        falls[load] = shortest - drawn[:, highest].sum(axis=1) / total[highest].sum()
    assert (falls["N"] - falls["d"]).std() == pytest.approx(row["se"], rel=0.1)


def test_tau_solves_its_equation():
    """At Paule and Mandel's tau Cochran's Q equals its degrees of freedom."""
    shared = {"pd": pd, "np": np, "cl": cl, "data": SimpleNamespace(paper=CELLS)}
    shared["combine_effects"] = combine_effects
    table = run_cell("07_alternatives", "shared", **shared)["heterogeneity"]
    fits = list(fit_finite(CELLS))
    terms = ("d", "log10_N", "rho", "I(rho ** 2)")
    for place, term in enumerate(terms, start=1):
        slopes = np.array([fit.coef[place] for fit in fits])
        errors = np.array([fit.se[place] for fit in fits])
        weight = 1 / (errors**2 + table.loc[term, "tau"] ** 2)
        mean = weight @ slopes / weight.sum()
        assert weight @ (slopes - mean) ** 2 == pytest.approx(len(NAMES) - 1, rel=1e-3)
        assert table.loc[term, "mean"] == pytest.approx(mean)


@pytest.fixture
def page_of(tmp_path):
    """A function that returns the page of a build with some cells."""

    def write(cells):
        counts = cells.drop(columns="log10_N").assign(provenance="reconstructed")
        write_table(tmp_path / "cells.parquet", counts)
        return Page(Build(tmp_path))

    return write


def test_conclusions_are_about_the_models_of_the_paper(page_of):
    """A reader's model, as bad as can be, enters no verdict."""
    counts = CELLS[CELLS["model"] == "QwQ-32B"]
    flat = counts.assign(
        model="mine", correct=counts["total"] // 2, **dict.fromkeys(ERRORS, 0)
    )
    page = page_of(pd.concat([flat, CELLS], ignore_index=True))
    assert page.data.complete
    assert page.data.paper["model"].unique().tolist() == list(CELLS["model"].unique())


def test_without_a_finite_fit_of_each_model_nothing_is_tested(page_of, tmp_path):
    """A model of the paper that is always right leaves every statement untested."""
    counts = CELLS.copy()
    is_perfect = counts["model"] == LEADERS[1]
    counts.loc[is_perfect, "correct"] = counts["total"]
    counts.loc[is_perfect, list(ERRORS)] = 0
    page = page_of(counts)
    assert not page.data.complete
    page.run = Run("05_glm", tmp_path)
    claim = "22 models were evaluated"
    show_verdicts(page, {"slopes": verdicts.each([True]), claim: verdicts.single(True)})
    rows = read_verdicts(page.data)
    assert rows["conclusion"].tolist() == ["slopes", ""]
    assert rows["claim"].tolist() == [
        "Difficulty and length lower accuracy in all models",
        claim,
    ]
    assert set(rows["verdict"]) == {verdicts.UNKNOWN}
    assert set(rows["chapter"]) == {"05_glm"}


def test_the_rows_of_all_chapters_are_read_together(page_of, tmp_path):
    """A chapter's rows have its name; what it judges in a second table stands below the first."""
    page = page_of(CELLS)
    for chapter in ("05_glm", "06_interactions"):
        chapter_page = Page(Build(tmp_path))
        chapter_page.run = Run(chapter, tmp_path)
        show_verdicts(chapter_page, {"a claim": verdicts.each([True, False])})
        show_verdicts(
            chapter_page, {"slopes": verdicts.each([True])}, {"slopes": "All are."}
        )
    rows = read_verdicts(page.data)
    assert rows["chapter"].tolist() == ["05_glm"] * 2 + ["06_interactions"] * 2
    assert rows["verdict"].tolist() == [verdicts.PARTLY, verdicts.SUPPORTED] * 2
    assert rows["evidence"].tolist() == ["1 of 2 models", "All are."] * 2


def test_a_reader_who_runs_a_chapter_changes_no_verdict(page_of, tmp_path):
    """Rows are kept only in a run of the book."""
    page = page_of(CELLS)
    show_verdicts(page, {"slopes": verdicts.each([False])})
    assert read_verdicts(page.data).empty
    assert not (tmp_path / "verdicts").exists()
