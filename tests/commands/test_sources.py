import json

import pytest
from harness import run as invoke
from harness import write_lines

from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles import sets as puzzle_sets
from cogniload_repro.puzzles import verify
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.sets import write_set

SMALL = ("--grid", "N=8 ratio=50 d=2", "--per-cell", "3", "--jobs", "1")


def run(*arguments):
    """Run a command in this process; return its exit code, what it prints, and what it says on standard error."""
    result = invoke(*arguments)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize(("name", "code"), [("8_2_4_770487_red", 0), ("nothing of ours", 1)])
def test_check_tells_programs_whether_there_is_anything(tmp_path, name, code):
    """A source of which no row can be used ends with 1, whichever way it is reported."""
    source = write_lines(tmp_path / "answers.jsonl", [{"model": "mine", "name": name, "response": "?"}])
    for form in ([], ["--json"]):
        assert run("check", source, "--build", tmp_path / "build", *form)[0] == code


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--grid", "N=20,ratio=50"), "'N=20,ratio=50' is not a grid"),
        (("--grid", "N=0,ratio=5,d=3"), "N is 0"),
        (("--per-cell", "0"), "0 is not in the range"),
        (("--seed", "-1"), "-1 is not in the range"),
        (("--id-scheme", "default"), "'default' is not one of"),
        (("--out", __file__), "is a file"),
    ],
)
def test_bad_arguments_end_in_one_sentence(tmp_path, arguments, words):
    """The exit code is 2, the sentence names the value, and nothing is made."""
    code, said, errors = run("puzzles", "--out", tmp_path / "set", *arguments)
    assert (code, said) == (2, "")
    assert words in errors.splitlines()[-1]
    assert errors.splitlines()[-1].startswith("Error: ")
    assert not (tmp_path / "set").exists()


def test_another_set_in_the_folder_is_refused(tmp_path):
    """The sentence says in what the two differ; the same command says again what is there."""
    assert run("puzzles", *SMALL, "--out", tmp_path)[0] == 0
    code, _, errors = run("puzzles", *SMALL, "--out", tmp_path, "--seed", 7)
    assert (code, errors) == (
        2,
        f"Error: {tmp_path} holds another set, with seed 42 instead of 7; choose another folder\n",
    )
    assert run("puzzles", *SMALL, "--out", tmp_path)[:2] == (0, f"3 puzzles in {tmp_path}\n")


@pytest.fixture
def small(tmp_path):
    """A set of three puzzles."""
    write_set(tmp_path, "jsonl", PuzzleSet(grid_cells("N=8 ratio=50 d=2"), 3))
    return tmp_path / "puzzles.jsonl"


@pytest.mark.parametrize("jobs", [1, 2])
def test_verify_counts_and_names(small, jobs):
    """Bad puzzles are named in order, counted at the end, and the exit code tells."""
    assert run("verify", small, "--jobs", 1)[:2] == (0, "3 puzzles: 3 right; 3 drawn by edition python\n")
    first, *rest = small.read_text("utf-8").splitlines()
    damaged = first.replace("\\n7. ", "\\n9. ")
    small.write_text("\n".join([damaged, *rest, "{", rest[0]]), "utf-8")
    code, said, _ = run("verify", small, "--jobs", jobs)
    name, again = (json.loads(line)["name"] for line in (first, rest[0]))
    assert code == 1
    labels = [line.partition(": ")[0] for line in said.splitlines()]
    assert labels == [name, "puzzles.jsonl, line 4", again, "5 puzzles"]
    assert said.endswith("\n5 puzzles: 2 right, 1 mismatch, 2 unparsable; 3 drawn by edition python\n")


def test_verify_suspects_another_generator(small):
    """Where no text is drawn again from its id, the option for that is named."""
    small.write_text("".join(
        json.dumps({"name": "8_2_4_1_" + (row := json.loads(line))["gold"], "text": row["text"]}) + "\n"
        for line in small.read_text("utf-8").splitlines()
    ))  # fmt: skip
    code, said, _ = run("verify", small, "--jobs", 1)
    assert (code, said.splitlines()[-1].endswith("add --no-redraw.")) == (1, True)
    assert run("verify", small, "--jobs", 1, "--no-redraw")[:2] == (0, "3 puzzles: 3 right\n")


def test_verify_prints_nothing_that_a_terminal_obeys(small):
    """Names from files are shown with their control characters spelled out."""
    small.write_text(json.dumps({"name": "\x1b[2Jred\ud800", "text": "\x07", "gold": "x"}))
    code, said, _ = run("verify", small, "--jobs", 1)
    assert (code, said.splitlines()[0][:17]) == (1, "\\x1b[2Jred\\ud800:")
    assert all(letter.isprintable() or letter == "\n" for letter in said)


@pytest.mark.parametrize("name", ["table.csv", "empty.jsonl", "cut.parquet"])
def test_verify_refuses_what_it_cannot_read(tmp_path, name):
    """The exit code is 2 and the sentence names the file."""
    (tmp_path / name).write_bytes(b"")
    code, _, errors = run("verify", tmp_path / name, "--jobs", 1)
    assert (code, name in errors, errors.count("\n")) == (2, True, 1)


@pytest.mark.parametrize(
    ("module", "function", "arguments", "words"),
    [
        (puzzle_sets, "write_set", ("puzzles", *SMALL, "--out", "x"), "the same command goes on from here"),
        (verify, "verify_set", ("verify", "--jobs", "1"), "nothing was changed"),
    ],
)
def test_a_stop_by_hand_is_quiet(small, monkeypatch, module, function, arguments, words):
    """Ctrl-C ends in one sentence and exit code 130."""

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, function, stop)
    code, said, errors = run(*arguments, *([small] if arguments[0] == "verify" else []))
    assert (code, said, errors) == (130, "", f"\nStopped; {words}\n")
