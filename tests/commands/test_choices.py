"""What a reader has chosen for a build, kept for later calls of make."""

import pytest
from harness import run, write_lines

from cogniload_repro.commands.choices import (
    OPTIONS,
    Choices,
    Source,
    choose_added,
    choose_removed,
    describe_changes,
    describe_choices,
    keep_choices,
    read_choices,
)
from cogniload_repro.storage import RECONSTRUCTED

TABLE = str(RECONSTRUCTED / "cells.csv")


def test_choices_are_kept_until_they_are_given_again(tmp_path):
    """A later call keeps what an earlier one chose; an empty value goes back to the default; a source has options."""
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.touch()
    second.touch()
    keep_choices(tmp_path, {"formula": "correct ~ d", "family": "probit"})
    keep_choices(tmp_path, {"source": str(first), "max_rejected": "3"}, model="mine", edition="elixir")
    kept = keep_choices(tmp_path, {"family": ""})
    assert kept == Choices(Source(str(first), "mine", "elixir", max_rejected=3), formula="correct ~ d")
    assert read_choices(tmp_path) == kept
    assert keep_choices(tmp_path, {"source": str(second)}).source == Source(str(second))
    assert keep_choices(tmp_path, dict.fromkeys(OPTIONS, "") | {"scorer": "pseudocode"}) == Choices()


def test_paths_mean_the_same_from_every_folder(tmp_path, monkeypatch):
    """A path is kept whole, with blanks, accents, quotes and line breaks; only its owner may read the file."""
    name = "an\nswers of é'c;#$.jsonl"
    (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert keep_choices("build", {"source": name}).source.address == str(tmp_path / name)
    monkeypatch.chdir("/")
    assert read_choices(tmp_path / "build").source.file == tmp_path / name
    assert (tmp_path / "build" / "choices.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"sources": [{"address": 1}]}', '{"sources": []}'])
def test_a_damaged_file_is_named(tmp_path, content):
    """Nothing is guessed: the sentence names the file."""
    (tmp_path / "choices.json").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"choices\.json is damaged"):
        read_choices(tmp_path)


def test_sources_are_added_and_removed(tmp_path):
    """A model goes with its source when it is the only one; another stays without it."""
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    one.touch()
    two.touch()
    choices = choose_added(choose_added(Choices(), {"source": str(one)}), {"source": str(two)}, model="b")
    assert [(source.label, source.model) for source in choices.added] == [("one.jsonl", None), ("two.jsonl", "b")]
    again = choose_added(choices, {"source": str(one), "max_rejected": "2"})
    assert [(source.label, source.max_rejected) for source in again.added] == [("two.jsonl", 0), ("one.jsonl", 2)]
    held = [["QwQ-32B"], ["a", "c"], ["b"]]
    assert choose_removed(choices, {"model": "b"}, held).added == choices.added[:1]
    assert choose_removed(choices, {"model": "a"}, held).added[0].without == ("a",)
    assert choose_removed(choices, {"source": str(one)}, held).added == choices.added[1:]
    with pytest.raises(ValueError, match="cannot remove QwQ-32B; added models are: a, b, c"):
        choose_removed(choices, {"model": "QwQ-32B"}, held)
    with pytest.raises(ValueError, match="is already the main source"):
        choose_added(Choices(Source(str(one))), {"source": str(one)})
    with pytest.raises(ValueError, match="give the outputs to be added"):
        choose_added(choices, {})


def test_a_source_is_added_with_its_outputs(tmp_path):
    """One that is refused leaves the choices as they were."""
    row = {"name": "20_1_1_770487_red", "response": ""}
    paths = [write_lines(tmp_path / f"{name}.jsonl", [row | {"model": name}]) for name in ("one", "two")]
    build = ["--build", tmp_path / "build"]
    assert run("download-outputs", paths[0], *build).exit_code == 0
    bad = write_lines(tmp_path / "bad.jsonl", ["{"])
    for path, code, labels in ((bad, 2, []), (paths[1], 0, ["two.jsonl"])):
        assert run("download-outputs", "--add", path, *build).exit_code == code
        assert [source.label for source in read_choices(tmp_path / "build").added] == labels


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"source": "/nowhere/at/all"}, "no outputs at /nowhere/at/all"),
        ({"source": "s3://bucket/file"}, "s3:// is not known"),
        ({"formula": "correct ~ d; import os"}, "cannot be read"),
        ({"formula": "correct ~ prompt_mean", "cells": TABLE}, "no column prompt_mean"),
        ({"family": "normal"}, "no family 'normal'"),
        ({"cells": "nowhere.csv"}, "no table of cells at .*nowhere.csv"),
        ({"max_rejected": "-1"}, "MAX_REJECTED must be a whole number from 0, not '-1'"),
        ({"scorer": "kindly"}, "unknown reading 'kindly'"),
        ({"colour": "red"}, "unknown option colour; options are: source"),
    ],
)
def test_what_is_not_possible_changes_nothing(tmp_path, given, complaint):
    """A bad value is refused in one sentence, and good ones beside it are not kept either."""
    keep_choices(tmp_path, {"formula": "correct ~ rho"})
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(ValueError, match=complaint):
        keep_choices(tmp_path, {"formula": "correct ~ d"} | given)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_choices_are_described():
    """Outputs and choices are named, without the user, password or query of an address; a book names the way back."""
    source = Source("https://me:pw@host/x.jsonl?token=1")
    choices = Choices(source, (Source("/a/b.csv"),), family="probit")
    assert describe_choices(choices) == "outputs: https://host/x.jsonl + b.csv; family: probit"
    assert describe_choices(choices) in describe_changes(choices)
    assert all(way in describe_changes(choices) for way in ("FORMULA=", "SOURCE=reconstructed", "make remove MODEL="))
    assert describe_changes(Choices()) == ""
