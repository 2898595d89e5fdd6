"""The chapters as they are committed.

Their sentences and the numbers in them, on data that the author did not see.
"""

import ast
import json
import re
from importlib import import_module
from itertools import combinations
from pathlib import Path
from runpy import run_path

import pandas as pd
import pytest
from harness import run as command
from harness import write_lines
from judging import write_build
from reading import read_sources, run_chapter
from samples import table_of
from test_conclusions import EXPECTED

import cogniload_repro as cl
from cogniload_repro.book import page
from cogniload_repro.book.chapters import list_chapters
from cogniload_repro.grid import PAPER_GRID, grid_cells
from cogniload_repro.puzzles.sets import PuzzleSet, draw_rows
from cogniload_repro.scoring.outcome import BUCKETS
from cogniload_repro.scoring.response import score_response
from cogniload_repro.storage import write_table

_ROOT = Path(__file__).parents[1]
_NOTEBOOKS = sorted((_ROOT / "notebooks").glob("*.ipynb"))
#: Chapters, which are analyses.
ANALYSES = [path.stem for path in _NOTEBOOKS if path.stem[0].isdigit()]


@pytest.mark.parametrize("name", ANALYSES)
def test_a_chapter_is_an_analysis_that_a_reader_can_edit(name):
    """A chapter has one cell of parameters, and its cells define no functions and no classes."""
    (path,) = (path for path in _NOTEBOOKS if path.stem == name)
    cells = [
        cell
        for cell in json.loads(path.read_text("utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    tags = [set(cell["metadata"].get("tags", ())) for cell in cells]
    assert sum("parameters" in cell_tags for cell_tags in tags) == 1
    nodes = [
        node for cell in cells for node in ast.walk(ast.parse("".join(cell["source"])))
    ]
    assert not [
        node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]


@pytest.mark.parametrize("name", [path.stem for path in _NOTEBOOKS])
def test_what_a_chapter_imports_is_there(name):
    """A name that has gone from the package is found before the book is built."""
    for source in read_sources(name).values():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom):
                module = import_module(node.module)
                for alias in node.names:
                    if not hasattr(module, alias.name):
                        import_module(f"{node.module}.{alias.name}")


@pytest.mark.parametrize("name", [path.stem for path in _NOTEBOOKS])
def test_code_of_a_notebook_fits_80_columns(name):
    """Wider lines scroll on the page, and wrap on GitHub."""
    lines = "\n".join(read_sources(name).values()).split("\n")
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.slow
def test_the_readme_has_the_findings_of_the_first_page(tmp_path, monkeypatch):
    """Both are one list; `scripts/write_findings.py` copies it."""
    write_table(tmp_path / "cells.parquet", cl.load_cells().drop(columns="log10_N"))
    puzzles = pd.DataFrame(draw_rows(PuzzleSet(PAPER_GRID, 100)))
    write_table(tmp_path / "baselines.parquet", cl.baselines(puzzles))
    # the lead counts the ledger, which this build has not
    outputs = run_chapter("00_introduction", monkeypatch, skip=["lead"], build=tmp_path)
    findings = outputs["findings"].markdown
    readme = (_ROOT / "README.md").read_text(encoding="utf-8")
    script = run_path(str(_ROOT / "scripts" / "write_findings.py"))
    findings = script["plain_links"](findings)
    assert readme == script["replace_part"](readme, "findings", findings)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A build of the committed counts and known verdicts, with five puzzles a configuration."""
    folder = write_build(tmp_path_factory.mktemp("build"), 5)
    write_table(folder / "cells.parquet", cl.load_cells().drop(columns="log10_N"))
    (folder / "verdicts").mkdir()
    for chapter, words in EXPECTED.items():
        rows = pd.DataFrame(words.items(), columns=["conclusion", "verdict"])
        rows = rows.assign(claim="", evidence="")
        rows.to_csv(folder / "verdicts" / f"{chapter}.csv", index=False)
    return folder


#: Chapters whose answer takes longer than five seconds.
DEAR = ("05_glm", "07_alternatives")


def mark(name):
    """The name of a chapter, as slow if it is."""
    return pytest.param(name, marks=[pytest.mark.slow] * (name in DEAR))


# not the first page, and not the last chapter, whose model is not the paper's
@pytest.mark.parametrize("name", list(map(mark, ANALYSES[1:-1])))
def test_the_readme_has_question_and_answer_of_each_chapter(
    name, published, monkeypatch
):
    """`scripts/write_findings.py` copies them from a build; here the cells up to the answer run."""
    options = {"last": "lead", "build": published, "per_cell": 1}
    shown = run_chapter(name, monkeypatch, **options)["lead"].markdown
    (title, *_) = read_sources(name, "markdown").values()
    question = title.splitlines()[0].removeprefix("# ")
    answer = run_path(str(_ROOT / "scripts" / "write_findings.py"))["find_answer"](
        shown
    )
    readme = (_ROOT / "README.md").read_text(encoding="utf-8")
    assert f"notebooks/{name}.ipynb) | {question} | {answer} |" in readme


@pytest.mark.parametrize("levels", [(1, 4), (1,)])
def test_the_generator_chapter_holds_for_any_puzzles(levels, tmp_path, monkeypatch):
    """Its sentences have their numbers for a build of a few puzzles, for d = 1 alone too."""
    puzzles = table_of(
        *[
            (N, d, N // 2, number)
            for N in (20, 50)
            for d in levels
            for number in range(2)
        ]
    )
    write_table(tmp_path / "puzzles.parquet", puzzles)
    values = run_chapter("02_generation", monkeypatch, build=tmp_path, per_cell=1)
    lead = values["lead"].markdown
    assert "nan" not in lead
    assert levels == (1, 4) or " 0% of the puzzles" in lead


@pytest.fixture(scope="module")
def scoring():
    """What the visible cells of the scorer's chapter compute."""
    cells = read_sources("03_scoring")
    space = {}
    exec(cells["load"].partition("build = ")[0], space)  # our own notebook
    for cell in (
        "explain",
        "examples",
        "made-up",
        "made-up-more",
        "ambiguous",
        "changes",
    ):
        exec(cells[cell], space)
    return space


def test_every_consequence_is_what_the_scorer_does(scoring):
    """The sentence of each example agrees with the bucket that its response falls into."""
    assert [
        score_response(response, **question)
        for _, question, response in scoring["made_up"]
    ] == [
        "correct_valid",
        "correct_valid",
        "wrong_other",
        "wrong_other",
        "wrong_logic",
        "correct_valid",
        "correct_valid",
        "correct_valid",
        "correct_valid",
        "wrong_other",
        "correct_last_sentence",
        "wrong_other",
        "wrong_max_context",
        "wrong_max_context",
    ]
    assert scoring["found"] == list(BUCKETS)


def test_made_up_endings_distinguish_the_scorers(scoring):
    """Each scorer changes some verdicts on the ambiguous responses, but not all."""
    assert list(scoring["changed"].index) == [
        "prose",
        "late_drop",
        "cut_windows",
        "last_mention",
    ]
    assert scoring["changed"].between(1, len(scoring["ways"]) - 1).all()


def test_the_scorers_chapter_counts_the_answers_that_were_scored(
    one_process, tmp_path, monkeypatch
):
    """Its table has as many responses as were scored, and other scorers judge each of them."""
    rows = list(draw_rows(PuzzleSet(grid_cells("N=20 ratio=50 d=1,3"), 3, 5)))
    endings = ["{poi}: {gold}.", "I do not know.", "{gold}"]
    answers = [
        {
            "model": "mine",
            "name": row["name"],
            "response": endings[place % 3].format(**row),
        }
        for place, row in enumerate(rows)
    ]
    source = write_lines(tmp_path / "answers.jsonl", answers)
    for step in (["download-outputs", "--source", source], ["score", "--jobs", "1"]):
        assert command(*step, "--build", tmp_path).exit_code == 0
    tables = {}

    def keep(self, frame, name, **more):
        tables[name] = frame
        return cl.markdown.sentence(name)

    monkeypatch.setattr(page.Page, "table", keep)
    run_chapter("03_scoring", monkeypatch, build=tmp_path)
    counted = tables["scoring-buckets"]["Responses in this build"].astype(int)
    assert counted.sum() == len(rows)
    assert set(tables["scoring-readings"]["Responses"]) == {len(rows)}


def test_runs_of_alike_models_lie_in_no_other_run():
    """Of four models the first three do not differ, nor do the last two."""
    space = {"level": 0.05, "combinations": combinations, "pd": pd}
    p_of_pair = {"ab": 0.9, "ac": 0.2, "ad": 0.01, "bc": 0.5, "bd": 0.02, "cd": 0.06}
    rows = [(*pair, p) for pair, p in p_of_pair.items()]
    space["pairs"] = pd.DataFrame(rows, columns=["first", "second", "p_holm"])
    exec(read_sources("11_comparison")["runs"], space)  # our own notebook
    assert space["groups"] == [{"a", "b", "c"}, {"c", "d"}]


def test_sampling_errors_are_those_of_shares():
    """Independent answers give the textbook error, alike ones count as one each.

    Drops have the largest variance.
    """
    space = {}
    for cell in ("load", "shares", "sampling"):
        exec(
            read_sources("related")[cell].partition("\n\ndata = ")[0], space
        )  # our own notebook
    first, _, drop, *_ = space["z"].to_dict("records")
    error = ((0.99 * 0.01 + 0.65 * 0.35) / 240) ** 0.5
    assert list(first.values()) == pytest.approx([0.34 / error, 0.34 / error / 8**0.5])
    # 5 points between two averages over 13 perturbations, of 8 answers to 60 problems
    assert list(drop.values()) == pytest.approx(
        [0.05 / (0.5 * 14 / 13 / 480) ** 0.5, 0.05 / (1 / 60) ** 0.5]
    )
    assert set(space["verdict"]) == {"supported", "supported in part", "not supported"}


@pytest.mark.parametrize("whole_grid", [True, False])
def test_chapters_link_to_chapters_that_the_same_book_has(whole_grid):
    """A book of a part of the grid has fewer chapters, and no link leads to one that it lacks."""
    chapters = list_chapters(_NOTEBOOKS[0].parent, whole_grid=whole_grid)
    names = {chapter.source.stem for chapter in chapters}
    dead = {
        (chapter.source.stem, target)
        for chapter in chapters
        for target in re.findall(
            r"\]\((\d\d_\w+)", chapter.source.read_text(encoding="utf-8")
        )
        if target not in names
    }
    assert dead == set()
