"""Sets of puzzles and sources of outputs on the command line: exit codes, counts and names."""

import pytest
from harness import run as invoke
from harness import write_lines

from cogniload_repro.puzzles import sets as puzzle_sets

SMALL = ("--grid", "N=8 ratio=50 d=2", "--per-cell", "3", "--jobs", "1")


def run(*arguments):
    """Run a command in this process; return its exit code, what it prints, and what it says on standard error."""
    result = invoke(*arguments)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize(("name", "code"), [("8_2_4_770487_red", 0), ("nothing of ours", 1)])
def test_check_tells_programs_whether_there_is_anything(tmp_path, name, code):
    """A source of which no row can be used ends with 1."""
    source = write_lines(
        tmp_path / "answers.jsonl", [{"model": "mine", "name": name, "response": "?"}]
    )
    assert run("check", source, "--build", tmp_path / "build")[0] == code


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("puzzles", "--grid", "N=20,ratio=50"), "grid 'N=20,ratio=50' is none"),
        (("puzzles", "--per-cell", "0"), "0 is not in the range"),
        (("puzzles", "--out", __file__), "is a file"),
        (("puzzles", "--perturb", "not_not"), "holds no prompts"),
        (("puzzles", "--format", "openai-batch"), "needs --model"),
        (("puzzles", "--format", "jsonl", "--model", "m"), "no other format takes one"),
        (("puzzles", "--effort", "medium"), "holds no requests"),
    ],
)
def test_bad_arguments_end_in_one_sentence(tmp_path, arguments, words):
    """The exit code is 2, the sentence names the value, and nothing is made."""
    code, said, errors = run(arguments[0], "--out", tmp_path / "set", *arguments[1:])
    assert (code, said) == (2, "")
    assert words in errors.splitlines()[-1]
    assert errors.splitlines()[-1].startswith("Error: ")
    assert not (tmp_path / "set").exists()


def test_a_stop_by_hand_is_one_sentence(tmp_path, monkeypatch):
    """Ctrl-C ends in exit code 130."""

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(puzzle_sets, "write_set", stop)
    code, said, errors = run("puzzles", *SMALL, "--out", tmp_path)
    assert (code, said, errors.strip().splitlines()[-1].startswith("Error: interrupted;")) == (
        130,
        "",
        True,
    )
