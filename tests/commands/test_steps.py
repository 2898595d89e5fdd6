"""The chain, as make calls it: what has changed is made again, whatever dates say, and nothing else."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from html import unescape
from pathlib import Path

import pandas as pd
import pytest
from harness import run, write_lines

from cogniload_repro.commands import steps
from cogniload_repro.commands.choices import OPTIONS, Choices, Source, read_choices, write_choices
from cogniload_repro.commands.steps import MANIFEST_FILE, Build, bring_up_to_date, describe_outputs
from cogniload_repro.puzzles.generate import draw_puzzle

ROOT = Path(__file__).parents[2]
PUZZLES = [draw_puzzle(20, d, 10, number) for d in (1, 5) for number in (7, 8)]


def write_answers(path, *models, right=True):
    """Write one answer of each model to each puzzle."""
    rows = [
        {"model": model, "name": puzzle.name, "response": f"{puzzle.poi}: {puzzle.solution if right else 'nothing'}"}
        for model in models
        for puzzle in PUZZLES
    ]
    return write_lines(path, rows)


@pytest.fixture
def checkout(tmp_path):
    """A checkout in which make finds the package, and has nothing built; its name is not easy."""
    folder = tmp_path / "a b é'c"
    (folder / "data").mkdir(parents=True)
    committed = [place.relative_to(ROOT) for place in (ROOT / "data").iterdir() if not place.name.startswith("build")]
    for name in ("src", "notebooks", "book", *committed):
        (folder / name).symlink_to(ROOT / name)
    (folder / "Makefile").write_text((ROOT / "Makefile").read_text("utf-8"), "utf-8")
    return folder


def make(folder, *arguments, timeout=600):
    """Run make there, with this Python and none of the outer make's variables."""
    outer = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MODEL", *map(str.upper, OPTIONS)}
    return subprocess.run(
        ["make", "VENV=", f"PYTHON={sys.executable}", "GRID=mini", "JOBS=1", *arguments],
        cwd=folder, env={name: value for name, value in os.environ.items() if name not in outer},
        capture_output=True, text=True, check=False, timeout=timeout,
    )  # fmt: skip


def said(done):
    """What make has said, which has gone well."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def read_counts(checkout):
    """Right answers by model."""
    cells = pd.read_parquet(checkout / "data/build-mini/cells.parquet")
    return cells.groupby("model")["correct"].sum().to_dict()


def test_make_keeps_choices(checkout):
    """Quotes, blanks, line breaks and all, a choice given to make is in the build for the next call."""
    formula = "correct ~ bs(rho,\n df=4, degree=3)"
    given = [f"FORMULA={formula}", "FAMILY=probit", f"SOURCE={ROOT}"]
    assert "family: probit" in said(make(checkout, "choices", *given))
    kept = Choices(Source(str(ROOT)), formula=formula, family="probit")
    assert read_choices(checkout / "data" / "build-mini") == kept


def test_make_evaluates_nothing_and_stops_before_anything_is_removed(checkout):
    """A bad choice ends make with a sentence: it is checked as it stands, and nothing has been built or taken away."""
    build = checkout / "data" / "build-mini"
    (build / "outputs").mkdir(parents=True)
    (build / "outputs" / "kept.parquet").write_bytes(b"x")
    given = ["FORMULA=correct ~ d;x $(shell touch OWNED) `touch OWNED`", "CELLS=$(shell touch OWNED)"]
    done = make(checkout, "reproduce", *given)
    assert (done.returncode, "Error:" in done.stderr, "cannot be read" in done.stderr) == (2, True, True)
    assert sorted(file.name for file in build.rglob("*") if file.is_file()) == [".lock", "kept.parquet"]
    assert not list(checkout.rglob("OWNED"))


@pytest.mark.slow
def test_sources_are_read_again_when_their_content_has_changed(checkout):
    """Corrected answers count without being asked for again; a refused source changes nothing; a lost one is named.

    Its name, which a shell or make would take for commands, is nothing but a name.
    """
    source = checkout / "a$(touch OWNED);touch$${IFS}OWNED;#`touch OWNED`\n'é.jsonl"
    build = checkout / "data/build-mini"
    write_answers(source, "My Model 7B", "$$", "#1", "it's")
    assert "4 models" in said(make(checkout, "score", f"SOURCE={source.name}"))
    assert set(read_counts(checkout).values()) == {4}
    dates = source.stat()
    write_answers(source, "My Model 7B", "$$", "#1", "it's", right=False)
    os.utime(source, ns=(dates.st_atime_ns, dates.st_mtime_ns))
    said(make(checkout, "score"))
    assert set(read_counts(checkout).values()) == {0}

    before = {path: path.read_bytes() for path in (build / "outputs").iterdir()}
    with open(source, "a", encoding="utf-8") as file:
        file.write("{broken\n")
    refused = make(checkout, "score")
    assert (refused.returncode, "1 row was rejected" in refused.stderr) == (2, True)
    assert {path: path.read_bytes() for path in (build / "outputs").iterdir()} == before
    assert len(pd.read_parquet(build / "rejected.parquet")) == 1
    said(make(checkout, "score", "MAX_REJECTED=1"))
    assert "==" not in said(make(checkout, "score"))  # kept with the source
    source.unlink()
    assert "is not there any more; the build has its outputs" in said(make(checkout, "score"))
    assert not list(checkout.rglob("OWNED"))


@pytest.mark.slow
def test_a_readers_table_is_fitted_again_when_its_content_has_changed(checkout):
    """Whatever its name; the paper's cells come back with an empty choice."""
    table = checkout / ";touch$${IFS}OWNED;#.csv"
    cells = pd.read_csv(ROOT / "data/reconstructed/cells.csv").query("model == 'QwQ-32B'")
    cells.to_csv(table, index=False)
    assert "QwQ-32B" in said(make(checkout, "fit", f"CELLS={table.name}"))
    first = (checkout / "data/build-mini/regression.csv").read_bytes()
    cells.query("N <= 50").to_csv(table, index=False)
    said(make(checkout, "fit"))
    assert (checkout / "data/build-mini/regression.csv").read_bytes() != first
    assert "nothing" not in said(make(checkout, "fit", "CELLS=")).lower()
    assert not (checkout / "data/build-mini/regression.csv").exists()
    assert not list(checkout.rglob("OWNED"))


@pytest.mark.slow
def test_the_documented_way_with_own_outputs(checkout):
    """Own outputs first, then beside the paper's: the added model survives every rebuild and goes when it is told."""
    source = write_answers(checkout / "answers.jsonl", "my-model")
    assert "Outputs: answers.jsonl" in said(make(checkout, "score", "SOURCE=answers.jsonl"))
    refused = make(checkout, "add", "SOURCE=answers.jsonl")
    assert (refused.returncode, "make download-outputs SOURCE=reconstructed" in refused.stderr) == (2, True)
    said(make(checkout, "download-outputs", "SOURCE=reconstructed"))
    line = "Outputs: reconstructed + my-model (answers.jsonl)"
    assert line in said(make(checkout, "add", "SOURCE=answers.jsonl"))
    assert line in said(make(checkout, "score"))
    assert len(read_counts(checkout)) == 23
    assert read_counts(checkout)["my-model"] == 4

    build = checkout / "data/build-mini"
    scores = {path.name: path.stat().st_mtime_ns for path in (build / "scores").iterdir()}
    (build / "puzzles.parquet").unlink()
    assert "puzzles.parquet: missing" in said(make(checkout, "score"))
    write_answers(source, "my-model", right=False)
    assert line in said(make(checkout, "score"))
    assert (len(read_counts(checkout)), read_counts(checkout)["my-model"]) == (23, 0)
    others = [name for name, time in scores.items() if (build / "scores" / name).stat().st_mtime_ns == time]
    assert len(others) == 22  # the paper's were not scored again

    for name, models in (("same.jsonl", ["QwQ-32B"]), ("again.jsonl", ["my-model", "new"])):
        write_answers(checkout / name, *models)
        refused = make(checkout, "add", f"SOURCE={name}")
        assert (refused.returncode, "was already imported from" in refused.stderr) == (2, True)
    assert len(read_choices(build).added) == 1
    (build / "outputs" / "strange.parquet").write_bytes((build / "outputs" / "my-model.parquet").read_bytes())
    refused = make(checkout, "score")
    assert "strange.parquet was put there by hand" in refused.stderr
    (build / "outputs" / "strange.parquet").unlink()
    assert "Outputs: reconstructed\n" in said(make(checkout, "remove", "MODEL=my-model"))
    assert "Outputs: reconstructed\n" in said(make(checkout, "score"))
    assert len(read_counts(checkout)) == 22


@pytest.mark.slow
def test_the_whole_chain_in_a_path_and_with_names_that_are_not_easy(checkout):
    """The book is built, built again only where it was damaged, and is then what it was."""
    models = ["My Model 7B", "$$", "#1", "it's é", "a/$x^2$"]
    source = write_answers(checkout / "an swers é'.jsonl", *models)
    said(make(checkout, "reproduce", f"SOURCE={source.name}", timeout=900))
    html = checkout / "data/build-mini/book/_build/html"
    page = html / "notebooks/05_glm.html"
    words = unescape(re.sub(r"<[^>]+>", "", page.read_text("utf-8")))
    assert [name for name in models if name not in words.replace("’", "'")] == []
    assert "==" not in said(make(checkout, "reproduce"))
    before = {path: path.read_bytes() for path in (page, html / "index.html")}
    page.write_bytes(page.read_bytes()[:-100])
    (html / "index.html").unlink()
    healed = said(make(checkout, "reproduce", timeout=900))
    assert "missing or modified; rebuilding" in healed
    assert {path: path.read_bytes() for path in before} == before


def run_here(arguments, more):
    """Run a step in this process, which has the libraries already."""
    done = run(*arguments)
    assert done.exit_code == 0, done.output


@pytest.fixture
def built(checkout, monkeypatch):
    """A build with four answers scored, and its choices."""
    build, choices = Path("data/build-mini"), Choices(Source(str(write_answers(checkout / "answers.jsonl", "a", "b"))))
    monkeypatch.chdir(checkout)
    monkeypatch.setattr(steps, "_run", run_here)
    monkeypatch.setattr("cogniload_repro.executors.open_executor", lambda *_: nullcontext())
    write_choices(build, choices)
    bring_up_to_date(Build(build, "mini", 1, choices), "scores")
    return build, choices


def bring(built, until="scores"):
    """Bring the build up to date; return the names of the files that were written."""
    build, choices = built
    before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in build.rglob("*.parquet")}
    bring_up_to_date(Build(build, "mini", 1, choices), until)
    return {
        path.relative_to(build).as_posix()
        for path in build.rglob("*.parquet")
        if before.get(path) != (path.stat().st_ino, path.stat().st_mtime_ns)
    }


def test_damage_is_healed_by_the_step_that_wrote_it(built, capfd):
    """Cut, missing and exchanged files come back as they were, and nothing is made of them once more."""
    build, _ = built
    whole = {path: path.read_bytes() for path in build.rglob("*.parquet")}
    assert bring(built) == set()
    assert "==" not in capfd.readouterr().out
    (build / "cells.parquet").unlink()
    (build / ".puzzles.parquet.1.part").write_bytes(b"left by a killed run")
    assert "cells.parquet" in bring(built)
    assert not (build / ".puzzles.parquet.1.part").exists()
    assert "cells.parquet: missing or modified; rebuilding" in capfd.readouterr().out
    for name in ("outputs/a.parquet", "scores/a.parquet", "puzzles.parquet"):
        (build / name).write_bytes((build / name).read_bytes()[:-9])
        os.utime(build / name, (1, 1))
    assert {"outputs/a.parquet", "scores/a.parquet", "puzzles.parquet"} <= bring(built)
    assert {path: path.read_bytes() for path in build.rglob("*.parquet")} == whole


def test_the_line_on_outputs_names_what_was_added(tmp_path):
    """The base by its source, what was added by its models; very many of them are counted."""
    assert describe_outputs(tmp_path) == "Outputs: none"
    models = {"reconstructed": ["x"], "a.csv": ["b", "c"], "many.csv": list(map(str, range(1000)))}
    (tmp_path / "sources.json").write_text(json.dumps([{"source": one, "models": own} for one, own in models.items()]))
    assert describe_outputs(tmp_path) == "Outputs: reconstructed + b, c (a.csv) + 1,000 models (many.csv)"


def test_regressions_are_inputs_of_fits_and_not_of_outputs(tmp_path, monkeypatch):
    """An edited module of the regressions changes what fits are made from, and not what outputs and scores are."""
    package = tmp_path / "package"
    shutil.copytree(ROOT / "src" / "cogniload_repro", package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(steps, "PACKAGE", package)
    monkeypatch.chdir(ROOT)

    def made_from():
        build = Build(tmp_path / "build", "mini", 1, Choices())
        return {step.name: step.made_from(build) for step in steps.STEPS}

    before = made_from()
    for module in ("regression", "formulas", "fits"):
        with open(package / "statistics" / f"{module}.py", "a", encoding="utf-8") as file:
            file.write("# edited\n")
    after = made_from()
    assert {name for name in before if before[name] != after[name]} >= {"fits", "book"}
    assert all(before[name] == after[name] for name in ("outputs", "scores"))


@pytest.fixture
def known(tmp_path):
    """A build of two files, which a step has made."""
    (tmp_path / "scores").mkdir()
    for name in ("cells.parquet", "scores/a.parquet"):
        (tmp_path / name).write_text(name)
    Build(tmp_path).record("scores", {"outputs": "1"}, "cells.parquet", "scores/*")
    return tmp_path


def test_a_step_is_known_by_what_it_was_made_from_and_its_damage_by_content(known, monkeypatch):
    """Missing, cut and exchanged files are found, whatever their dates; what looks the same is not read again."""
    for inputs, same in (({"outputs": "1"}, True), ({"outputs": "2"}, False), ({}, False)):
        assert Build(known).is_done("scores", inputs) == same
    assert not Build(known).is_done("fits", {})
    os.utime(known / "cells.parquet", (1, 1))
    os.utime(known / "scores/a.parquet", (4e9, 4e9))
    build = Build(known)
    assert build.find_damage("scores") == []
    build.save()
    with monkeypatch.context() as patch:
        patch.setattr(steps, "digest_of", None)
        assert Build(known).find_damage("scores") == []
    (known / "cells.parquet").write_text("Cells.parquet")
    os.utime(known / "cells.parquet", (1, 1))
    (known / "scores/a.parquet").unlink()
    assert Build(known).find_damage("scores") == ["cells.parquet", "scores/a.parquet"]


@pytest.mark.parametrize("content", ["{", "[]", '{"steps": 1, "looks": {}}'])
def test_a_damaged_manifest_counts_as_none(known, content):
    """Everything is made again then."""
    (known / MANIFEST_FILE).write_text(content)
    assert Build(known).steps == {}


def test_clean_leaves_downloads_and_environments(tmp_path):
    """What is a download stays, with its folder; everything else of both builds goes."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    kept = {tmp_path / "data/build/downloads/outputs.zip", tmp_path / ".venv/.ready", tmp_path / "data/models.csv"}
    gone = {tmp_path / "data/build/cells.csv", tmp_path / "data/build/.manifest.json", tmp_path / "data/build-mini/a/b"}
    for path in kept | gone:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == kept | {tmp_path / "Makefile"}
    assert not (tmp_path / "data/build-mini").exists()
