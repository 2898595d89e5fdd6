"""The parameters of a build: of params.yaml, of a call, of the steps made."""

import pytest
import yaml
from harness import ask

from cogniload_repro.commands.params import (
    STEPS,
    Parameters,
    describe_changes,
    read_parameters,
    read_saved_parameters,
    write_parameters,
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of its own, with a source of outputs."""
    monkeypatch.chdir(tmp_path)
    for name in vars(Parameters()):
        monkeypatch.delenv(f"COGNILOAD_{name.upper()}", raising=False)
    (tmp_path / "a b.jsonl").touch()
    return tmp_path


def times_of(build):
    """When each step's file of parameters was written."""
    files = (build / "params").iterdir()
    return {path.stem: path.stat().st_mtime_ns for path in files}


def test_the_committed_file_is_the_papers(folder):
    """Every parameter is in it, with the default of the command."""
    from pathlib import Path

    (folder / "params.yaml").write_bytes(
        (Path(__file__).parents[2] / "params.yaml").read_bytes()
    )
    assert read_parameters() == Parameters()
    assert list(yaml.safe_load((folder / "params.yaml").read_text())) == list(
        vars(Parameters())
    )


def test_a_call_takes_precedence_over_the_environment_and_that_over_the_file(
    folder, monkeypatch
):
    """Paths become absolute.

    A list is words; nothing else is guessed.
    """
    (folder / "params.yaml").write_text(
        "source: a\nadd: [x.csv]\nfamily: probit\nmax_rejected: 3\n"
    )
    monkeypatch.setenv("COGNILOAD_ADD", "'a b.jsonl' https://host/x.zip")
    monkeypatch.setenv("COGNILOAD_MODELS", "o3, mine")
    monkeypatch.setenv("COGNILOAD_FAMILY", "")
    read = read_parameters(max_rejected="5", source=None)
    assert read.source == str(folder / "a")
    assert read.add == (str(folder / "a b.jsonl"), "https://host/x.zip")
    assert read.models == ("o3", "mine")
    assert (read.family, read.max_rejected) == ("logit", 5)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("colour: red", "repeated parameter colour"),
        ("grid: mini\nfamily: logit\ngrid: paper", "repeated parameter grid"),
        ("- 1", "it has no lines such as `grid: paper`"),
        ("{", "expected the node content"),
        (
            "max_rejected: -1",
            "max_rejected must be a whole number of at least 0, not -1",
        ),
        ("max_rejected: " + "9" * 5000, "4300"),
        ("formula: [d]", "formula must be text"),
        ('add: "\'"', "quote a path with spaces"),
        ("models: " + "[" * 999 + "]" * 999, "recursion"),
        ("grid: mini".encode("utf-16"), "codec can't decode"),
    ],
    ids=range(10),
)
def test_what_is_wrong_in_the_file_is_a_sentence_with_its_name(folder, text, complaint):
    """The parameter and the value are in it, shortened if need be."""
    content = text if isinstance(text, bytes) else text.encode()
    (folder / "params.yaml").write_bytes(content)
    with pytest.raises(
        ValueError, match=rf"^params\.yaml: (.|\n)*{complaint}"
    ) as refusal:
        read_parameters()
    assert len(str(refusal.value)) < 400


def test_what_a_step_was_made_with_is_kept_in_a_private_file_and_changes_only_with_it(
    folder,
):
    """An equal file keeps its time, as make looks at it.

    Another content of a source counts as a change.
    """
    build = folder / "build"
    source = str(folder / "a b.jsonl")
    parameters = Parameters(
        source=source, formula="correct ~ d\n + rho", models=("o3",)
    )
    assert read_saved_parameters(build) == Parameters()

    def write_all():
        for step in STEPS:
            write_parameters(build, step, parameters)
        return times_of(build)

    first = write_all()
    assert read_saved_parameters(build) == parameters
    modes = {path.stat().st_mode & 0o777 for path in (build / "params").iterdir()}
    assert modes == {0o600}
    assert write_all() == first
    (folder / "a b.jsonl").write_text("{}")
    second = write_all()
    assert {step for step in STEPS if second[step] != first[step]} == {"outputs"}


def test_rejected_rows_are_no_parameter_of_a_build_without_a_source(folder):
    """No step is done again for a limit that has no effect."""
    write_parameters(folder, "outputs", Parameters())
    first = times_of(folder)
    write_parameters(folder, "outputs", Parameters(max_rejected=9))
    assert times_of(folder) == first


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"SOURCE": "/nowhere/at/all"}, "no outputs at /nowhere/at/all"),
        ({"ADD": "nowhere.csv"}, "no outputs at"),
        ({"FORMULA": "correct ~ d; import os"}, "cannot be read"),
        ({"FORMULA": "correct ~ d + nope"}, "cannot be built from d, N, log10_N"),
        (
            {"FORMULA": "correct ~ I(open('ran', 'w'))"},
            "cannot be built from d, N, log10_N",
        ),
        ({"FAMILY": "normal"}, "no family 'normal'"),
        ({"MODELS": "o3, o5"}, "unknown model 'o5'"),
        ({"SCORER": "kindly"}, "kindly"),
    ],
)
def test_what_is_not_possible_changes_nothing(folder, monkeypatch, given, complaint):
    """A bad value is refused in one sentence, and a good one beside it is not kept."""
    build = folder / "build"
    for step in STEPS:
        write_parameters(build, step, Parameters())
    before = times_of(build)
    for name, value in ({"MODELS": "o3"} | given).items():
        monkeypatch.setenv(f"COGNILOAD_{name}", value)
    code, output = ask("parameters", "--grid", "paper", "--build", build)
    assert (code, [line[:7] for line in output.splitlines()].count("Error: ")) == (2, 1)
    assert complaint in output
    assert times_of(build) == before


def test_the_grid_that_make_has_read_is_the_files(folder):
    """Where YAML reads another one in params.yaml, a build in the wrong folder is refused."""
    (folder / "params.yaml").write_text("{grid: mini}")
    code, output = ask("parameters", "--grid", "paper", "--build", folder / "build")
    assert (
        code,
        "write `grid: paper` or `grid: mini` on a line of its own" in output,
    ) == (2, True)
    assert ask("parameters", "--grid", "mini", "--build", folder / "build") == (0, "")
    assert read_saved_parameters(folder / "build").grid == "mini"


def test_a_book_says_what_is_not_the_papers():
    """By name, and without the user, password or query of an address."""
    sentence = describe_changes(
        Parameters(
            source="https://me:pw@host/x.jsonl?token=1",
            add=("/a/b.csv",),
            family="probit",
        )
    )
    assert sentence.endswith(
        "source: https://host/x.jsonl; add: b.csv; family: probit."
    )
    assert describe_changes(Parameters(grid="mini", max_rejected=4)) == ""
