"""The whole chain on parts of the grid and on other models.

What is missing is said, nothing is judged without data.
"""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from reading import NOTEBOOKS, run_chapter
from samples import GPT5, table_of

import cogniload_repro as cl
from cogniload_repro.book import page, tables
from cogniload_repro.book.backend import Run
from cogniload_repro.book.build import Build
from cogniload_repro.book.evidence import judge_evidence
from cogniload_repro.cli import main
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.ledger.results import load_results
from cogniload_repro.models import NAMES
from cogniload_repro.puzzles.baselines import write_baselines
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.regression.cell_tables import describe_cells
from cogniload_repro.storage import FIDELITY, write_table

pytestmark = pytest.mark.usefixtures("one_process")
#: The model of the committed answers.
COMMITTED_MODEL = "SmolLM2-135M-Instruct"
O3 = "o3-2025-04-16"
SMALL = "Qwen3-1.7B"


def points(N, d, ratio_pct):
    """N, d, needles of these levels, on the paper's grid or off it."""
    return [
        (length, level, max(1, round(length * pct / 100)))
        for length in N
        for level in d
        for pct in ratio_pct
    ]


def answers(model, cells, puzzles, *, right=lambda d: 0.5):
    """Responses of one model to so many new puzzles of each cell, a share of them right.

    By chance, but always so.
    """
    rng = np.random.default_rng(1)
    for N, d, needles in cells:
        for puzzle_id in range(100_000, 100_000 + puzzles):
            puzzle = draw_puzzle(N, d, needles, puzzle_id)
            text = (
                f"The final value is {puzzle.solution}"
                if rng.random() < right(d)
                else "I do not know."
            )
            yield {"model": model, "name": puzzle.name, "response": text}


def run(*arguments):
    """Run a command; return what it says."""
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    return result.output


def write(path, rows):
    """Write a source."""
    pd.DataFrame(rows).to_json(path, orient="records", lines=True)
    return path


def score_from(folder, *options):
    """Import and score; return the build folder."""
    build = folder / "build"
    run("download-outputs", "--build", build, *options)
    run("score", "--build", build, "--jobs", 1)
    return build


def build_from(folder, *options):
    """Import, score and fit; return the build folder."""
    build = score_from(folder, *options)
    run("fit", "--build", build)
    return build


def compared(build):
    """The tables of models with a printed number that was compared with one from these outputs."""
    checks = pd.read_parquet(build / "fidelity.parquet").query(
        "verdict != 'not_computable'"
    )
    return set(
        checks.loc[~checks["quantity"].str.startswith("prompt_"), "table"]
    )  # prompts are the default set's


def test_one_own_model_on_two_cells(tmp_path):
    """Counts are shown, every fit says why there is none.

    Nothing is compared with the paper.
    """
    rows = answers("me/mine", points([20], [1, 3], [50]), 4)
    build = build_from(tmp_path, "--source", write(tmp_path / "source.jsonl", rows))
    results = load_results(build)
    assert results.cells["total"].tolist() == [4, 4]
    for frame in (results.glm, results.aic, results.interactions):
        assert (
            frame["status"].str.startswith("the cells determine 2 of the formula").all()
        )
        assert (
            frame.filter(regex="^(beta|se|p|ecl50|nt50|id50|aic|loglik)")
            .isna()
            .all(axis=None)
        )
    fits = cl.fit(results.cells)
    table = tables.table2(fits, cl.capacity_points(results.cells)).frame
    assert table.iloc[0].tolist() == [
        "mine",
        "the cells determine 2 of the formula's 5 coefficients",
        *[""] * 7,
    ]
    assert describe_cells(results.cells) == "Partial grid: 2 of the paper's 140 cells"
    assert not compared(build) & {f"table{number}" for number in range(2, 11)}


def test_an_own_model_beside_the_papers(tmp_path):
    """All are there, the own one last.

    The paper's come from counts, the own one from its scored answers.
    """
    source = write(
        tmp_path / "mine.jsonl", answers("me/mine", points([20], [1, 3], [50]), 3)
    )
    build = score_from(
        tmp_path, "--grid", "N=20,50 ratio=50 d=1,3", "--jobs", 1, "--add", source
    )
    cells = cl.load_cells(build)
    scored = [COMMITTED_MODEL, "me/mine"]
    models = cells["model"].unique().tolist()
    assert models[-3:] == ["o4-mini-2025-04-16", *scored]
    assert len(models) == len(NAMES) + 2
    assert cells.query("provenance == 'scored'")["model"].unique().tolist() == scored
    outputs = {path.name for path in (build / "outputs").glob("*.parquet")}
    assert outputs == {f"{COMMITTED_MODEL}.parquet", "me%2Fmine.parquet"}
    note = describe_cells(cells)
    assert note.startswith("The paper's models: reconstructed from its tables")
    assert note.endswith("Partial grid: 2 to 4 of the paper's 140 cells")


#: Chapters that speak about the paper's models, and those that take longer.
CHAPTERS = ["04_accuracy", "05_glm", "07_aic", "08_errors", "11_comparison"]
DEARER = ["06_interactions", "09_tokens", "10_conclusions", "07_alternatives"]
#: Own models whose accuracy rises with d: on the whole grid, on levels that the paper
#: does not have, on fewer, on one.
OWN = {
    "whole grid": [(cell.N, cell.d, cell.needles) for cell in PAPER_GRID],
    "foreign levels": points([20, 200, 1000], [1, 3, 5], [10, 50, 90]),
    "fewer levels": points([50, 250], [1, 10], [10, 50, 90]),
    "one level": points([100], [3], [50]),
}


def said(build, chapters, monkeypatch):
    """What chapters say about the paper, on a build.

    The texts of their verdicts, leads and statements by chapter, but for those that hold for any
    build.
    """
    texts = {name: [] for name in chapters}
    for name in chapters:
        for owner, kind in ((cl, "show_verdicts"), (Build, "state")):
            method = getattr(owner, kind)

            def keep(*arguments, method=method, name=name):
                fragment = method(*arguments)
                texts[name].append(fragment)
                return fragment

            monkeypatch.setattr(owner, kind, keep)
        monkeypatch.setattr(page, "find_run", lambda name=name: Run(name, Path(build)))
        run_chapter(name, monkeypatch, build=build)
        monkeypatch.undo()
    joined = {}
    for name, fragments in texts.items():
        joined[name] = "\n".join(fragment.markdown for fragment in fragments)
    return joined


@pytest.mark.parametrize("name", [*CHAPTERS, "06_interactions", "09_tokens"])
def test_the_mini_grids_book_judges_nothing(name):
    """Lead and verdicts are a sentence on what the build covers.

    In the executed notebooks of `make smoke`.
    """
    executed = NOTEBOOKS.parent / "data/build-mini/notebooks" / f"{name}.ipynb"
    if not executed.exists():
        pytest.skip("no book of the mini-grid: run `make smoke` first")
    cells = json.loads(executed.read_text("utf-8"))["cells"]
    texts = []
    for cell in cells:
        for output in cell.get("outputs", ()):
            for kind, text in output.get("data", {}).items():
                if kind.endswith("text/markdown"):
                    texts.append("".join(text))
    assert sum(text.startswith("This build holds ") for text in texts) >= 2
    assert not [text for text in texts if text.startswith("| Claim |")]


def test_no_sentence_of_the_mini_grids_book_has_an_unknown_number():
    """Where a number is not known, its sentence is left out."""
    folder = NOTEBOOKS.parent / "data/build-mini/notebooks"
    if not folder.exists():
        pytest.skip("no book of the mini-grid: run `make smoke` first")
    for executed in folder.glob("*.ipynb"):
        for cell in json.loads(executed.read_text("utf-8"))["cells"]:
            for output in cell.get("outputs", ()):
                text = "".join(output.get("data", {}).get("text/markdown", ""))
                assert not re.search(r"\bnan\b", text), (executed.name, text[:200])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("what", "chapters"),
    [(what, CHAPTERS + DEARER * (what in ("whole grid", "one level"))) for what in OWN],
)
def test_nothing_is_judged_without_the_papers_models(
    what, chapters, tmp_path, monkeypatch
):
    """Every verdict and lead becomes a sentence on what the build covers.

    Whatever its models do on whatever levels.
    """
    rows = answers("me/rising", OWN[what], 3, right=lambda d: 0.2 + 0.07 * d)
    build = build_from(tmp_path, "--source", write(tmp_path / "source.jsonl", rows))
    for text in said(build, chapters, monkeypatch).values():
        assert text.startswith("This build holds ")
        assert len(set(text.split("\n"))) == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_outputs_of_all_the_papers_models_make_every_chapter(tmp_path, monkeypatch):
    """With answers of the 22 models on the whole grid and their tokens, statements are judged.

    Everything rests on their scores.
    """
    rows = []
    for place, model in enumerate(NAMES):
        best = 0.9 - 0.02 * place
        rows += answers(
            model, OWN["whole grid"], 1, right=lambda d, best=best: best - 0.04 * d
        )
    rows = [row | {"prompt_tokens": 400, "response_tokens": 900} for row in rows]
    build = build_from(tmp_path, "--source", write(tmp_path / "source.jsonl", rows))
    results = load_results(build)
    assert not results.reconstructed
    assert set(results.cells["provenance"]) == {"scored"}
    assert results.cells["total"].sum() == len(rows)
    assert set(pd.read_parquet(build / "fidelity.parquet")["kind"]) <= {
        "independent",
        "input",
    }
    data = Build(build)
    assert data.complete
    assert judge_evidence("identified", data.cells()) == "outputs"
    chapters = [path.stem for path in NOTEBOOKS.glob("[0-9]*.ipynb")]
    chapters.remove("13_your_model")
    texts = said(build, chapters, monkeypatch)
    assert not [name for name, text in texts.items() if "This build holds" in text]


def write_build(folder, cells):
    """Write a build with these cells, one puzzle a cell, and a ledger without a row."""
    puzzles = table_of(*((cell.N, cell.d, cell.needles, 7) for cell in PAPER_GRID))
    write_table(folder / "puzzles.parquet", puzzles)
    write_baselines(folder / "puzzles.parquet", folder / "baselines.parquet")
    write_table(folder / "cells.parquet", cells)
    ledger = pd.DataFrame(columns=list(FIDELITY), dtype=str)
    ledger.to_parquet(folder / "fidelity.parquet")
    return folder


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_verdicts_follow_the_outputs(tmp_path, monkeypatch):
    """With two models swapped the paper's statements on them lose their support."""
    cells = cl.load_cells().drop(columns="log10_N")
    cells["model"] = cells["model"].replace({GPT5: SMALL, SMALL: GPT5})
    cells["provenance"] = "scored"
    write_build(tmp_path, cells)
    judging = {*CHAPTERS, *DEARER} - {"09_tokens", "10_conclusions"}
    chapters = [
        *sorted(judging),
        "10_conclusions",
    ]  # which reads what the others have judged
    texts = said(tmp_path, chapters, monkeypatch)
    lead = "gpt-5 and o3 lead by a wide margin"
    assert f"| {lead} | not supported |" in texts["05_glm"]
    _, _, refuted = texts["10_conclusions"].partition("**Not supported: ")
    for title in (
        "The models form three classes",
        "Difficulty and length do not compound in gpt-5 and o3",
    ):
        assert title in refuted
    budget = "gpt-5 and o3 stay well below the token budget"  # now true of one of them
    assert f"| {budget} | supported in part |" in texts["08_errors"]
    assert all(
        "| supported |" in texts[name]
        for name in ("04_accuracy", "07_aic", "08_errors")
    )
