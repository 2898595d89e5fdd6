"""Sets of puzzles and sources of outputs on the command line: exit codes, counts and names."""

import json

import pytest
from harness import run as invoke
from harness import write_lines

from cogniload_repro.puzzles import sets as puzzle_sets
from cogniload_repro.puzzles import verify

SMALL = ("--grid", "N=8 ratio=50 d=2", "--per-cell", "3", "--jobs", "1")


def run(*arguments):
    """Run a command in this process; return its exit code, what it prints, and what it says on standard error."""
    result = invoke(*arguments)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize(("name", "code"), [("8_2_4_770487_red", 0), ("nothing of ours", 1)])
def test_check_tells_programs_whether_there_is_anything(tmp_path, name, code):
    """A source of which no row can be used ends with 1."""
    source = write_lines(tmp_path / "answers.jsonl", [{"model": "mine", "name": name, "response": "?"}])
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
        (("verify", __file__), "test_outputs.py"),
    ],
)
def test_bad_arguments_end_in_one_sentence(tmp_path, arguments, words):
    """The exit code is 2, the sentence names the value, and nothing is made."""
    out = [] if arguments[0] == "verify" else ["--out", tmp_path / "set"]
    code, said, errors = run(arguments[0], *out, *arguments[1:])
    assert (code, said) == (2, "")
    assert words in errors.splitlines()[-1]
    assert errors.splitlines()[-1].startswith("Error: ")
    assert not (tmp_path / "set").exists()


@pytest.fixture
def small(tmp_path):
    """A set of three puzzles."""
    assert run("puzzles", *SMALL, "--format", "jsonl", "--out", tmp_path)[0] == 0
    return tmp_path / "puzzles.jsonl"


def test_verify_counts_and_names(small):
    """Bad puzzles are named in order, without what a terminal obeys, and counted; the exit code tells."""
    assert run("verify", small, "--jobs", 1)[:2] == (0, "3 puzzles: 3 right; 3 drawn by edition python\n")
    first, *rest = small.read_text("utf-8").splitlines()
    hostile = json.dumps({"name": "\x1b[2Jred\ud800", "text": "\x07", "gold": "x"})
    write_lines(small, [first.replace("\\n7. ", "\\n9. "), *rest, "{", rest[0], hostile])
    code, said, _ = run("verify", small, "--jobs", 2)
    name, again = (json.loads(line)["name"] for line in (first, rest[0]))
    labels = [line.partition(": ")[0] for line in said.splitlines()]
    assert (code, labels) == (1, [name, "puzzles.jsonl, line 4", again, "\\x1b[2Jred\\ud800", "6 puzzles"])
    assert said.endswith("\n6 puzzles: 2 right, 1 mismatch, 3 unparsable; 3 drawn by edition python\n")
    assert all(letter.isprintable() or letter == "\n" for letter in said)


def test_verify_suspects_another_generator(small):
    """Where no text is drawn again from its id, the option for that is named."""
    rows = map(json.loads, small.read_text("utf-8").splitlines())
    write_lines(small, [{"name": "8_2_4_1_" + row["gold"], "text": row["text"]} for row in rows])
    code, said, _ = run("verify", small, "--jobs", 1)
    assert (code, said.splitlines()[-1].endswith("add --no-redraw.")) == (1, True)
    assert run("verify", small, "--jobs", 1, "--no-redraw")[:2] == (0, "3 puzzles: 3 right\n")


@pytest.mark.parametrize("command", [("puzzles", *SMALL, "--out"), ("verify",)])
def test_a_stop_by_hand_is_one_sentence(tmp_path, monkeypatch, command):
    """Ctrl-C ends in exit code 130."""

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(puzzle_sets, "write_set", stop)
    monkeypatch.setattr(verify, "verify_set", stop)
    code, said, errors = run(*command, tmp_path)
    assert (code, said, errors.strip().splitlines()[-1].startswith("Error: interrupted;")) == (130, "", True)
