"""The files of a source, by what they are."""

import json

import pytest
from harness import read_source

from cogniload_repro.importing.layout import find_files

NAME = "20_1_1_770487_red"


def make(folder, files):
    """Write files, by their path below the folder."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    return folder


def test_every_file_is_read_or_listed(tmp_path):
    """In small or capital letters; hidden files are left out."""
    expected = {
        "answer": [f"QwQ-32B/{NAME}.txt", f"outputs/o3/{NAME}.md"],
        "table": [
            "A.JSONL",
            "a.csv.gz",
            "b.NDJSON",
            "final_state.jsonl",
            "m/samples.parquet",
        ],
        "puzzles": ["puzzles.jsonl"],
        "tokens": ["tokens.csv"],
        "text": [f"exp/a/{NAME}.txt", f"meta/a/{NAME}_state.json"],
        "not read": ["README", "in.zip", "logs/run.eval", "notes.md"],
    }
    names = [name for group in expected.values() for name in group]
    hidden = [".git/x", ".DS_Store", "._a.jsonl", "__MACOSX/a.jsonl"]
    make(tmp_path, dict.fromkeys([*names, *hidden], "red"))
    layout = find_files(tmp_path, "mine")
    found = {}
    for kind, paths in layout.files.items():
        found[kind] = sorted(path.relative_to(tmp_path).as_posix() for path in paths)
    assert found == expected


@pytest.mark.parametrize(
    ("source", "reason"),
    [("gone", "no answers at"), ("a.txt", "the page Import"), ("", "the page Import")],
)
def test_a_source_without_answers_is_refused(tmp_path, source, reason):
    """The sentence says what is read."""
    make(tmp_path, {"a.txt": "red"})
    with pytest.raises(ValueError, match=reason):
        find_files(tmp_path / source, source)


def test_a_log_of_inspect_is_refused_with_the_command_that_converts_it(tmp_path):
    """Alone and in a folder; beside answers it is listed."""
    source = make(tmp_path, {"log.eval": "PK"})
    for path in (source, source / "log.eval"):
        with pytest.raises(
            ValueError, match=r"cogniload_repro\.asking\.logs LOG\.eval"
        ):
            find_files(path, "mine")
    row = {"model": "m", "name": NAME, "response": "red"}
    responses, rejected = read_source(make(source, {"a.jsonl": json.dumps(row)}))
    assert len(responses) == 1
    assert [item.reason for item in rejected] == ["not read"]
    assert "asking.logs" in rejected[0].detail


def test_samples_of_the_harness_have_their_folders_model_and_the_first_filter(tmp_path):
    """A column precedes the folder; the same response under other filters is listed.

    In another file it is another answer.
    """
    sample = {"doc": {"name": NAME}, "resps": [["red"]], "filter": "strict"}
    lines = [sample, sample | {"filter": "flexible"}]
    files = {"org__m/samples_a.jsonl": "\n".join(map(json.dumps, lines))}
    files["org__m/samples_b.jsonl"] = json.dumps(sample)
    named = json.dumps(sample | {"model": "other", "filter": "none"})
    responses, rejected = read_source(make(tmp_path, files | {"x/b.jsonl": named}))
    assert [response.model for response in responses] == ["org__m", "other"]
    reasons = [(item.row, item.reason) for item in rejected]
    assert reasons == [(2, "not read"), (1, "duplicate")]


def test_links_are_followed_to_files_and_listed_otherwise(tmp_path):
    """A link to a folder may lead round in a circle; one to nothing has lost its file."""
    source = make(tmp_path / "source", {f"m/{NAME}.txt": "red"})
    elsewhere = make(tmp_path / "elsewhere", {"a.jsonl": "{}"})
    (source / "linked.jsonl").symlink_to(elsewhere / "a.jsonl")
    (source / "folder").symlink_to(elsewhere)
    (source / "gone.jsonl").symlink_to(tmp_path / "gone")
    layout = find_files(source, "mine")
    assert [path.name for path in layout.files["table"]] == ["linked.jsonl"]
    assert [path.name for path in layout.files["not read"]] == ["folder", "gone.jsonl"]


def test_the_release_has_an_answer_per_file_and_its_tokens_in_a_table(tmp_path):
    """The folder names the model; an empty file is an empty answer."""
    other = "20_1_1_586907_purple"
    tokens = f"model,name,prompt_tokens,completion_tokens\nm,{NAME},900,20\n"
    files = {
        f"m/{NAME}.txt": "red\r\n",
        f"m/{other}.gold.txt": "",
        "tokens.csv": tokens,
    }
    responses, rejected = read_source(make(tmp_path, files))
    assert rejected == []
    facts = {item.name: (item.model, item.response) for item in responses}
    assert facts == {NAME: ("m", "red\n"), other: ("m", "")}
    counts = {
        item.name: (item.prompt_tokens, item.response_tokens) for item in responses
    }
    assert counts == {NAME: (900, 20), other: (None, None)}


def test_tokens_that_belong_to_no_answer_are_listed(tmp_path):
    """Two rows of one answer are refused, since one of them is wrong."""
    header = "model,name,prompt_tokens,response_tokens"
    rows = [f"m,{NAME},900,20", f"other,{NAME},1,1", f"m,{NAME},900,30"]
    files = {f"m/{NAME}.txt": "red", "tokens.csv": "\n".join([header, *rows])}
    _, rejected = read_source(make(tmp_path, files))
    assert {row.row: row.reason for row in rejected} == {3: "duplicate", 2: "not read"}
    assert f"other to {NAME}" in rejected[-1].detail


def test_tokens_with_semicolons_are_refused_with_the_remedy(tmp_path):
    """No column is named that a table of tokens does not have."""
    tokens = f"model;name;prompt_tokens;response_tokens\nm;{NAME};900;20\n"
    files = {f"m/{NAME}.txt": "red", "tokens.csv": tokens}
    with pytest.raises(ValueError, match=r"tokens\.csv.*separated by commas") as caught:
        read_source(make(tmp_path, files))
    assert "response" not in str(caught.value).replace("response_tokens", "")
