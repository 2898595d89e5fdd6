"""The command line as a user meets it: exit codes and one clear sentence."""

import json
from pathlib import Path

import pytest
from harness import run

ROOT = Path(__file__).resolve().parents[1]


def assert_refused(arguments, *words: str) -> None:
    """Exit code 2 and one line on standard error that holds these words."""
    done = run(*arguments)
    assert done.exit_code == 2, done.output
    message = done.stderr.strip().splitlines()[-1]
    assert message.startswith("Error: ")
    assert [word for word in words if word not in message] == [], message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("download-outputs", "--grid", "N=21 ratio=5 d=1"), ("21", "reconstructed")),
        (("score",), ("make download-outputs",)),
        (("fit",), ("make",)),
    ],
)
def test_what_is_not_possible_is_a_sentence(tmp_path, arguments, words):
    """It names the value or the remedy, and nothing but the lock is in the build."""
    assert_refused([*arguments, "--build", tmp_path], *words)
    assert {file.name for file in tmp_path.iterdir()} <= {".lock"}


def test_no_text_of_a_source_reaches_the_terminal_as_a_command(tmp_path):
    """A heading and the name of a request are shown letter by letter, on both streams."""
    title = "\x1b]0;OWNED\x07\x1b[2J"
    (tmp_path / "a.csv").write_text(f"name,{title}\n1,2\n", encoding="utf-8")
    request = {"custom_id": title, "response": None, "error": {"message": title}}
    (tmp_path / "b.jsonl").write_text(json.dumps(request) + "\n", encoding="utf-8")
    for source in (tmp_path, tmp_path / title):
        done = run(
            "download-outputs", "--source", source, "--build", tmp_path / "build"
        )
        assert (done.exit_code, "OWNED" in done.output) == (2, True)
        assert not set(done.output) & {"\x1b", "\x07"}


def test_a_missing_argument_or_option_is_named():
    """Click keeps its name apart from the message."""
    assert_refused(("check",), "SOURCE")
    assert_refused(("puzzles",), "--out")
