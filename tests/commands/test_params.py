"""The parameters of a build: of params.yaml, of one call, and those that its steps were made with."""

from dataclasses import replace

import pytest
import yaml
from harness import ask

from cogniload_repro.commands.params import (
    STEPS,
    Parameters,
    describe_changes,
    is_made_with,
    made_with,
    read_parameters,
    write_parameters,
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of its own, with a source of outputs."""
    monkeypatch.chdir(tmp_path)
    for name in ("SOURCE", "ADD", "MAX_REJECTED", "SCORER", "FORMULA", "FAMILY", "MODELS"):
        monkeypatch.delenv(f"COGNILOAD_{name}", raising=False)
    (tmp_path / "a b.jsonl").touch()
    return tmp_path


def test_the_committed_file_is_the_papers(folder):
    """Every parameter is in it, with the default of the command."""
    from pathlib import Path

    (folder / "params.yaml").write_bytes((Path(__file__).parents[2] / "params.yaml").read_bytes())
    assert read_parameters() == Parameters()
    assert list(yaml.safe_load((folder / "params.yaml").read_text())) == list(vars(Parameters()))


def test_a_call_takes_precedence_over_the_environment_and_that_over_the_file(folder, monkeypatch):
    """Paths become absolute; a list is words; short names of models become whole ones; nothing else is guessed."""
    (folder / "params.yaml").write_text(
        "source: 'a#sha256=0a'\nadd: [x.csv]\nfamily: probit\nmax_rejected: 3\n"
    )
    monkeypatch.setenv("COGNILOAD_ADD", "'a b.jsonl' https://host/x.zip")
    monkeypatch.setenv("COGNILOAD_MODELS", "o3, mine")
    monkeypatch.setenv("COGNILOAD_FAMILY", "")
    read = read_parameters(max_rejected="5", source=None)
    assert read.source == f"{folder / 'a'}#sha256=0a"
    assert read.add == (str(folder / "a b.jsonl"), "https://host/x.zip")
    assert read.models == ("o3-2025-04-16", "mine")
    assert (read.family, read.max_rejected) == ("logit", 5)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("colour: red", "unknown parameter colour"),
        ("- 1", "no parameters by name"),
        ("{", "is not YAML"),
        ("max_rejected: -1", "max_rejected must be a whole number from 0, not -1"),
        ("max_rejected: true", "must be a whole number"),
        ("formula: [d]", "formula must be a text"),
        ("add: {a: 1}", "add must be a list of texts"),
        ('add: "\'"', "no outputs at '; of several sources in ADD, a path with blanks or quotes"),
    ],
)
def test_what_is_not_a_parameter_is_a_sentence(folder, text, complaint):
    """The name and the value are in it."""
    (folder / "params.yaml").write_text(text)
    with pytest.raises(ValueError, match=complaint):
        read_parameters()


def test_what_a_step_was_made_with_is_kept_in_a_private_file_and_changes_only_with_it(folder):
    """An equal file keeps its time, as make looks at it; another content of a source counts as a change."""
    build, source = folder / "build", str(folder / "a b.jsonl")
    parameters = Parameters(source=source, formula="correct ~ d\n + rho", models=("o3",))
    assert made_with(build) == Parameters()
    for step in STEPS:
        write_parameters(build, step, parameters)
    assert made_with(build) == parameters
    files = sorted((build / "params").iterdir())
    times = [path.stat().st_mtime_ns for path in files]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    for step in STEPS:
        write_parameters(build, step, parameters)
    assert [path.stat().st_mtime_ns for path in files] == times
    (folder / "a b.jsonl").write_text("{}")
    assert not is_made_with(build, "outputs", parameters)
    plain = Parameters()
    write_parameters(folder / "plain", "outputs", plain)
    assert is_made_with(
        folder / "plain", "outputs", replace(plain, max_rejected=9)
    )  # without effect
    write_parameters(build, "outputs", parameters)
    changed = [
        path.stem
        for path, time in zip(files, times, strict=True)
        if path.stat().st_mtime_ns != time
    ]
    assert changed == ["outputs"]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"SOURCE": "/nowhere/at/all"}, "no outputs at /nowhere/at/all"),
        ({"SOURCE": "s3://bucket/file"}, "an address is https://"),
        ({"ADD": "nowhere.csv"}, "no outputs at"),
        ({"FORMULA": "correct ~ d; import os"}, "cannot be read"),
        ({"FORMULA": "correct ~ d + nope"}, "cannot be built from d, N, log10_N"),
        ({"FORMULA": "correct ~ I(open('ran', 'w'))"}, "cannot be built from d, N, log10_N"),
        ({"FAMILY": "normal"}, "no family 'normal'"),
        ({"MODELS": "o3, o5"}, "unknown model 'o5'"),
        ({"SCORER": "kindly"}, "kindly"),
    ],
)
def test_what_is_not_possible_changes_nothing(folder, monkeypatch, given, complaint):
    """A bad value is refused in one sentence, a good one beside it is not kept, and the command is not run."""
    build = folder / "build"
    for step in STEPS:
        write_parameters(build, step, Parameters())
    before = {path: path.stat().st_mtime_ns for path in (build / "params").iterdir()}
    for name, value in ({"MODELS": "o3"} | given).items():
        monkeypatch.setenv(f"COGNILOAD_{name}", value)
    code, said = ask("prepare", "outputs", "--build", build, "--", "touch", folder / "ran")
    assert (code, [line[:7] for line in said.splitlines()].count("Error: ")) == (2, 1)
    assert complaint in said
    assert {path: path.stat().st_mtime_ns for path in (build / "params").iterdir()} == before
    assert not (folder / "ran").exists()


def test_a_book_says_what_is_not_the_papers():
    """By name, and without the user, password or query of an address."""
    said = describe_changes(
        Parameters(source="https://me:pw@host/x.jsonl?token=1", add=("/a/b.csv",), family="probit")
    )
    assert said.endswith("source: https://host/x.jsonl; add: b.csv; family: probit.")
    assert describe_changes(Parameters(grid="mini", max_rejected=4)) == ""
