"""The parameters of a build, and the files with what each step reads."""

import json
import os
import time
from pathlib import Path

import pytest
import yaml
from harness import ask

from cogniload_repro.commands.inputs import BOOK_PARAMETERS, digest, read_parameters
from cogniload_repro.commands.params import Parameters

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of its own, with a source of outputs and no notebooks."""
    monkeypatch.chdir(tmp_path)
    for name in vars(Parameters()):
        monkeypatch.delenv(f"COGNILOAD_{name.upper()}", raising=False)
    (tmp_path / "a b.jsonl").touch()
    return tmp_path


def save(build):
    """Save what the steps read, as make does."""
    code, output = ask("parameters", "--build", build)
    assert (code, output) == (0, ""), output
    book = json.loads((build / "inputs/book.json").read_text("utf-8"))
    book["models"] = tuple(book["models"])
    return read_parameters(build, **{name: book[name] for name in BOOK_PARAMETERS})


def times_of(build):
    """When each file of inputs was written."""
    return {
        path.stem: path.stat().st_mtime_ns for path in build.glob("inputs/**/*.json")
    }


def test_the_committed_file_is_the_papers(folder):
    """It has every parameter but the grid, with the paper's value."""
    committed = (ROOT / "params.yaml").read_text("utf-8")
    (folder / "params.yaml").write_text(committed)
    assert save(folder / "build") == Parameters()
    assert ["grid", *yaml.safe_load(committed)] == list(vars(Parameters()))


def test_the_environment_takes_precedence_over_the_file(folder, monkeypatch):
    """Paths become absolute; several sources are separated as in a shell, models by commas."""
    (folder / "params.yaml").write_text(
        "add: [a b.jsonl]\nfamily: probit\nmax_rejected: 3\n"
    )
    assert save(folder / "build").add == (str(folder / "a b.jsonl"),)
    monkeypatch.setenv("COGNILOAD_ADD", "'a b.jsonl' https://host/x.zip")
    monkeypatch.setenv("COGNILOAD_MODELS", "o3, mine")
    saved = save(folder / "build")
    assert saved.add == (str(folder / "a b.jsonl"), "https://host/x.zip")
    assert saved.models == ("o3", "mine")
    assert (saved.family, saved.max_rejected) == ("probit", 3)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("colour: red", "params.yaml: unknown 'colour'; use grid, source, add"),
        ("? [a]\n: b", "params.yaml: while constructing a mapping"),
        (
            "family: [probit, logit]",
            "params.yaml: family is ['probit', 'logit']; write",
        ),
        ("formula: {a: b}", "params.yaml: formula is {'a': 'b'}; write lines"),
        ("models: [[a]]", "params.yaml: models is [['a']]; write lines"),
        ("family: \udcff", "params.yaml: 'utf-8' codec can't decode byte 0xff"),
        *[
            (text, "params.yaml: it has no parameters; write lines such as")
            for text in ("5", "hello", "- 1", "- [a]", "true", "2026-01-01")
        ],
        *[
            (text, "params.yaml: ")
            for text in ("{", "a: b: c", "\tfamily: logit", "&a [*a]", "[" * 3000, "\0")
        ],
        ("max_rejected: -1", "-1 is not in the range"),
        ("add: nowhere.csv", "no outputs at nowhere.csv"),
        ("source: nowhere.csv", "no outputs at nowhere.csv"),
    ],
)
def test_what_is_wrong_in_the_file_changes_nothing(folder, text, complaint):
    """One sentence says what."""
    save(folder / "build")
    before = times_of(folder / "build")
    (folder / "params.yaml").write_text(text, "utf-8", "surrogateescape")
    code, output = ask("parameters", "--build", folder / "build")
    assert code == 2
    assert [line for line in output.splitlines() if line.startswith("Error: ")], output
    assert complaint in output
    assert times_of(folder / "build") == before


def test_a_file_of_inputs_is_private_and_written_only_if_it_changes(
    folder, monkeypatch
):
    """A formula concerns the book alone; another content of a source, all steps."""
    build = folder / "build"
    monkeypatch.setenv("COGNILOAD_ADD", "'a b.jsonl'")
    save(build)
    first = times_of(build)
    assert {path.stat().st_mode & 0o777 for path in build.glob("inputs/**/*.json")} == {
        0o600
    }
    save(build)
    assert times_of(build) == first
    monkeypatch.setenv("COGNILOAD_FORMULA", "correct ~ d")
    save(build)
    second = times_of(build)
    assert {name for name in first if second[name] != first[name]} == {"book"}
    (folder / "a b.jsonl").write_text("{}")
    save(build)
    third = times_of(build)
    assert {name for name in first if third[name] != second[name]} == {
        "outputs",
        "book",
    }


def test_a_digest_is_that_of_names_and_contents(folder):
    """Not of times, and not of compiled code."""
    code = folder / "code"
    (code / "__pycache__").mkdir(parents=True)
    (code / "a.py").write_text("1")
    first = digest(code)
    (code / "__pycache__/a.pyc").write_text("1")
    (code / "a.py").touch()
    assert digest(code) == first
    (code / "a.py").rename(code / "b.py")
    assert digest(code) != first


def test_a_book_says_what_is_not_the_papers():
    """By name, and without the user, password or query of an address."""
    sentence = Parameters(
        source="https://me:pw@host/x.jsonl?token=1", add=("/a/b.csv",), family="probit"
    ).notice()
    assert sentence.endswith(
        "source: https://host/x.jsonl; add: b.csv; family: probit."
    )
    assert Parameters(grid="mini", max_rejected=4).notice() == ""


def test_inputs_and_results_from_the_future_are_made_again(folder):
    """A clock was set back; a change would be older than what was made before it."""
    build = folder / "build"
    save(build)
    (build / "fidelity.csv").touch()
    (build / "cells.parquet").touch()
    future = time.time() + 3600
    os.utime(build / "inputs/outputs.json", (future, future))
    os.utime(build / "cells.parquet", (future, future))
    save(build)
    assert (build / "inputs/outputs.json").stat().st_mtime <= time.time()
    assert not (build / "cells.parquet").exists()
    assert (build / "fidelity.csv").exists()


def test_a_source_with_other_bytes_of_the_same_size_and_time_is_another(
    folder, monkeypatch
):
    """A file that is replaced by a copy that keeps its time, alone or in a folder."""
    build = folder / "build"
    file = folder / "answers" / "a.jsonl"
    file.parent.mkdir()
    for source in (file, file.parent):
        file.write_text("red")
        monkeypatch.setenv("COGNILOAD_ADD", f"'{source}'")
        save(build)
        before = (build / "inputs/outputs.json").read_text("utf-8")
        about = file.stat()
        file.write_text("tan")
        os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
        save(build)
        assert (build / "inputs/outputs.json").read_text("utf-8") != before
