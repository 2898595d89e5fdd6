"""The commands as a chain: what they say when one is left out, what all do alike.

Fits, and two models compared.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from extreme_models import few_rows
from harness import ask, run, write_lines

import cogniload_repro as cl
from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.generate import draw_grid

ROOT = Path(__file__).parents[2]


def test_every_step_names_the_one_before_it(tmp_path, monkeypatch):
    """A book that lacks something names the step that makes it.

    Outside a checkout it is refused at once.
    """
    monkeypatch.chdir(ROOT)
    for step in ("score", "fit", "render"):
        code, output = ask(step, "--build", tmp_path / "elsewhere")
        assert (code, "`cogniload " in output) == (2, True)
    (tmp_path / "data/build").mkdir(parents=True)
    (tmp_path / "data/build/fidelity.csv").touch()
    monkeypatch.chdir(tmp_path)
    code, output = ask("render")
    assert (code, "in a checkout of the package" in output) == (2, True)


def test_lost_outputs_of_a_model_are_missed(tmp_path):
    """A score without them would leave the model out."""
    rows = [{"model": "mine", "name": "20_1_1_770487_red", "response": "red"}]
    build = tmp_path / "build"
    source = write_lines(tmp_path / "answers.jsonl", rows)
    run("download-outputs", "--source", source, "--build", build)
    run("score", "--build", build)
    (build / "outputs" / "mine.parquet").unlink()
    code, output = ask("score", "--build", build)
    assert (code, "mine.parquet" in output) == (2, True)


def test_a_reader_that_has_enough_ends_a_command():
    """`cogniload ... | head` says nothing of a pipe."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "cogniload_repro", "score", "--help"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        command,
        stdout=write,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        check=False,
    )
    os.close(write)
    assert "rror" not in done.stderr


def test_a_score_is_explained_on_the_command_line(tmp_path):
    """From standard input or a file."""
    (tmp_path / "answer.txt").write_text("Raymond: red\n", encoding="utf-8")
    name = "20_1_1_770487_red"
    code, output = ask("explain", name, text="Raymond: red\n")
    assert (code, output.splitlines()[-1]) == (0, "correct_poi: window 2 has 'red'")
    assert ask("explain", name, tmp_path / "answer.txt") == (code, output)
    assert ask("explain", "20_1_1_770487_blue", text="")[0] == 2


@pytest.fixture(scope="module")
def build(one_process, tmp_path_factory):
    """A build with real answers of two models to the same puzzles.

    The second is right where the first is, and more.
    """
    folder = tmp_path_factory.mktemp("compared")
    rng = np.random.default_rng(3)
    rows = []
    for puzzle in draw_grid(grid_cells("N=20,50 ratio=25,75 d=1,3"), 10, 5):
        luck = rng.random()
        for name, share in (("weak", 0.4), ("strong", 0.8)):
            answer = (
                f"{puzzle.poi}: {puzzle.solution}."
                if luck < share
                else "I do not know."
            )
            rows.append({"model": name, "name": puzzle.name, "response": answer})
    answers = write_lines(folder / "answers.jsonl", rows)
    for step in (["download-outputs", "--source", answers], ["score", "--jobs", "1"]):
        assert run(*step, "--build", folder / "build").exit_code == 0
    return folder / "build"


def test_scored_models_are_compared(build):
    """The more accurate model comes first."""
    output = run("compare-models", "strong", "weak", "--build", build).output
    assert output.startswith("Accuracy of strong minus weak, in points")
    overall = output.splitlines()[2]
    assert overall.endswith("different")
    assert "Reconstructed" not in output


@pytest.fixture(scope="module")
def fitted(build):
    """The same build with its fits, and what the command has said."""
    done = run("fit", "--build", build)
    assert done.exit_code == 0, done.output
    return build, done.output


def test_all_is_compared_with_the_paper_where_a_fit_is_missing(fitted):
    """Eight cells do not identify products; the table says why there is no fit."""
    build, output = fitted
    table = pd.read_parquet(build / "glm.parquet").set_index("model")
    why = "the cells determine 4 of the formula's 5 coefficients"
    assert table.loc["weak", "status"] == why
    assert "not_computable" in output.replace(" ", "_")
    assert (build / "fidelity.csv").is_file()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--formula", "correct ~ d; import os"), "cannot be built from d, N, log10_N"),
        (("--formula", "correct ~ d + nope"), "cannot be built from d, N, log10_N"),
        (("--formula", "5"), "must read 'correct ~ ...'"),
        (("--family", "normal"), "no family 'normal'"),
        (("--models", "strong", "--models", "stong"), "unknown model 'stong'"),
    ],
)
def test_a_regression_that_chapters_cannot_fit_is_refused_before_they_run(
    fitted, monkeypatch, options, complaint
):
    """In one sentence."""
    build, _ = fitted
    monkeypatch.chdir(ROOT)
    code, output = ask("render", "--build", build, *options)
    assert (code, len(output.splitlines())) == (2, 1), output
    assert complaint in output
    assert not (build / "notebooks").exists()


@pytest.mark.parametrize("is_built", [True, False])
def test_a_regression_of_ones_own_is_printed(build, tmp_path, is_built):
    """As `cl.fit` fits it; without a build, to the committed counts."""
    folder = build if is_built else tmp_path / "none"
    model = "strong" if is_built else "o3"
    family = "probit" if is_built else "logit"
    options = (
        "--formula",
        "correct ~ d + log10_N",
        "--family",
        family,
        "--model",
        model,
    )
    code, output = ask("fit", "--build", folder, *options)
    assert code == 0, output
    cells = cl.load_cells(build if is_built else None, [model])
    expected = cl.fit(cells, "correct ~ d + log10_N", family)
    for term, coef in zip(expected["term"], expected["coef"], strict=True):
        assert f"{term} {coef:.4g} " in output


def test_a_regression_that_is_not_identified_is_printed_with_its_range(tmp_path):
    """In square brackets, and compared with the paper's."""
    options = ("--model", "o3", "--formula", "correct ~ C(ratio_pct)")
    output = run("fit", "--build", tmp_path, *options).output
    assert re.search(r"C\(ratio_pct\)\[T.10\] -?[\d.e-]+ \[.* to .*\]", output), output
    output = run("fit", "--build", tmp_path, *options, "--compare").output
    assert "medians over the reconstructions where not identified" in output


def test_two_models_with_answers_are_compared_puzzle_by_puzzle(build):
    """By McNemar's test on the puzzles that both have answered, in the order asked for."""
    alone = []
    for models in (("strong", "weak"), ("weak", "strong")):
        output = run("compare-models", *models, "--build", build).output
        assert f"80 puzzles answered by both (first model: {models[0]})" in output
        assert "McNemar's test: p" in output
        alone.append(re.findall(r"(?:first|second)_alone +(\d+)", output))
    assert alone[0] == alone[1][::-1]
    assert alone[0] != alone[1]


def test_two_ledgers_are_compared(fitted, tmp_path):
    """A number that another ledger has otherwise has moved."""
    build, _ = fitted
    ledger = build / "fidelity.csv"
    other = pd.read_csv(ledger, dtype=str, keep_default_na=False)
    other.loc[3, "shown"] += "1"
    other.to_csv(tmp_path / "other.csv", index=False)
    command = [
        sys.executable,
        "scripts/compare_ledgers.py",
        tmp_path / "other.csv",
        ledger,
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    output = subprocess.check_output(command, cwd=ROOT, env=environment, text=True)
    assert output.startswith(f"1 of {len(other):,} numbers differ")


def test_committed_counts_are_compared_with_their_label_and_their_ranges(tmp_path):
    """Rows by rho have ranges in square brackets."""
    models = ("gpt-5", "gemini-2.5-pro")
    output = run("compare-models", *models, "--build", tmp_path / "none").output
    assert output.startswith("Accuracy of gpt-5-2025-08-07 minus gemini-2.5-pro")
    sheet = output.partition("\nAccuracy, ")[2].partition("\n\n")[0]
    for row in sheet.splitlines()[2:]:
        assert ("[" in row) == row.startswith("ratio_pct")
    assert "Reconstructed from the paper's tables" in output


def test_a_model_is_found_by_the_name_that_is_shown_and_a_misspelt_one_is_suggested(
    one_process, tmp_path
):
    """A model that some server names, with 18 answers.

    No verdict on one reconstruction, and both kinds of puzzles.
    """
    source = write_lines(tmp_path / "answers.jsonl", few_rows())
    grid = "N=20,50 ratio=5,50,95 d=1,3,5"
    for step in (["download-outputs", "--grid", grid, "--add", source], ["score"]):
        assert run(*step, "--jobs", "1", "--build", tmp_path).exit_code == 0
    output = run("compare-models", "tiny", "QwQ-32B", "--build", tmp_path).output
    assert (
        output.startswith("Accuracy of tiny minus QwQ-32B")
        or "QwQ-32B minus tiny" in output
    )
    assert "openai" not in output
    assert re.search(r"different in \d+ of 24", output)
    code, output = ask("compare-models", "gpt5", "o3", "--build", tmp_path)
    assert (code, "did you mean gpt-5?" in output) == (2, True)
