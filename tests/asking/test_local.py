"""A real model, served on this machine, is asked, imported and scored; errors are one sentence.

The model is SmolLM2-135M-Instruct. Tests that need it are skipped where its server has no wheel,
and fail where it has one that is not installed.
"""

import csv
import json
import os
import platform
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

pytest.importorskip(
    "inspect_ai", reason="Inspect is not installed; `make test-evaluate` has it"
)

from inspect_ai.log import read_eval_log

from cogniload_repro.asking import local
from cogniload_repro.asking.logs import read_log_rows
from cogniload_repro.asking.server import WINDOW
from cogniload_repro.importing.imports import import_source
from cogniload_repro.scoring.scores import score_dataset

#: A proxy that does not answer; a server on this machine is asked without it.
NOBODY = "http://127.0.0.1:9"
SERVER = "cogniload_repro.asking.server"
COMMAND = [sys.executable, "-m", "cogniload_repro", "evaluate-local"]
#: Processors for which xllamacpp has wheels, as in the group "local" of pyproject.toml.
PROCESSORS = ("x86_64", "AMD64", "arm64", "aarch64")
served = pytest.mark.skipif(
    platform.machine() not in PROCESSORS,
    reason=f"xllamacpp has no wheel for {platform.machine()}",
)
#: Starts a command as make does, which may be killed while the command runs.
SHELL = ("bash", "-c", '"$@" --ends-with $$; true', "bash")
SHORT = "N=20 ratio=5,50 d=1"


@pytest.fixture
def start(tmp_path):
    """Start the command, which keeps logs and answers in a folder; it ends with the test."""
    processes = []

    def start_command(*options, parent=()):
        command = [
            *parent,
            *COMMAND,
            "--out",
            str(tmp_path / "local"),
            "--jobs",
            "2",
            *options,
        ]
        environment = os.environ | {"HTTP_PROXY": NOBODY, "http_proxy": NOBODY}
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command, stdout=pipe, stderr=pipe, text=True, env=environment
        )
        processes.append(process)
        return process

    yield start_command
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def run(start):
    """Run the command; return its exit status, the path that it prints, and its messages."""

    def run_command(*options):
        process = start(*options)
        path, messages = process.communicate()
        return process.returncode, path.strip(), messages

    return run_command


def read_rows(path):
    """The rows of a JSONL file."""
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def server_of(process):
    """The server that a command has started, once it runs."""
    children = psutil.Process(process.pid).children(recursive=True)
    return next((child for child in children if SERVER in child.cmdline()), None)


def has_ended(process):
    """Whether a process has ended, whether or not anybody has asked how."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def answers_in(folder):
    """Names of the puzzles that the logs in a folder have answers to, log by log."""
    names = []
    for log in sorted(folder.glob("*/logs/*.eval")):
        rows = read_log_rows(str(log))
        names.append({row["name"] for row in rows if not row["error"]})
    return names


def wait_for(condition, seconds=900):
    """Wait until something is so, and return it."""
    end = time.monotonic() + seconds
    result = condition()
    while not result:
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.1)
        result = condition()
    return result


@served
def test_a_real_model_is_asked_imported_and_scored(tmp_path, run):
    """Two puzzles: the log, the table of answers and the scores have the same two answers."""
    status, path, messages = run("--grid", SHORT)
    assert status == 0, messages
    assert "2 puzzles" in messages
    assert "minutes" in messages
    rows = read_rows(path)
    assert {row["model"] for row in rows} == {"SmolLM2-135M-Instruct-local"}
    (log_path,) = Path(path).parent.glob("logs/*.eval")
    log = read_eval_log(str(log_path))
    assert {row["name"]: row["response"] for row in rows} == {
        sample.id: sample.output.completion for sample in log.samples
    }
    assert all(
        0 < row["response_tokens"] < row["prompt_tokens"] < WINDOW for row in rows
    )

    report = import_source(path, tmp_path, tmp_path)
    assert (dict(report.responses), report.rejected) == (
        {"SmolLM2-135M-Instruct-local": 2},
        [],
    )
    puzzles = tmp_path / "puzzles.parquet"
    (scores_path,) = score_dataset(tmp_path / "outputs", puzzles, tmp_path / "scores")
    scores = {row["name"]: row for row in pq.read_table(scores_path).to_pylist()}
    outcomes = {sample.id: sample.scores["outcome"].reason for sample in log.samples}
    assert {name: row["bucket"] for name, row in scores.items()} == outcomes


@served
@pytest.mark.slow
@pytest.mark.parametrize(
    ("parent", "sent", "status"),
    [((), signal.SIGKILL, -9), ((), signal.SIGINT, 130), (SHELL, signal.SIGKILL, -9)],
)
def test_a_stop_ends_the_server_and_loses_no_answer(
    tmp_path, start, run, parent, sent, status
):
    """It, or the make that started it, is stopped: the server ends; the next command continues."""
    options = ("--grid", SHORT, "--per-cell", "2")
    process = start(*options, parent=parent)
    wait_for(lambda: any(answers_in(tmp_path / "local")))
    server = server_of(process)
    assert server is not None
    process.send_signal(sent)
    _, messages = process.communicate()
    assert process.returncode == status
    assert ("run the same command again to finish" in messages) == (
        sent == signal.SIGINT
    )
    wait_for(lambda: has_ended(server), seconds=30)
    (before,) = answers_in(tmp_path / "local")
    assert 0 < len(before) < 4

    status, path, messages = run(*options)
    assert status == 0, messages
    first, second = answers_in(tmp_path / "local")
    assert first == before
    assert first.isdisjoint(second)
    names = [row["name"] for row in read_rows(path)]
    assert len(names) == 4
    assert set(names) == first | second
    assert f" {len(second)} puzzles" in messages


@served
@pytest.mark.slow
def test_a_server_that_dies_is_reported_and_the_same_command_continues(
    tmp_path, start, run
):
    """One sentence says how the server ended; answers so far are in the table."""
    process = start("--grid", SHORT, "--per-cell", "2")
    wait_for(lambda: any(answers_in(tmp_path / "local")))
    server_of(process).kill()
    _, messages = process.communicate()
    assert process.returncode == 2
    assert "the model stopped answering: killed by signal 9" in messages
    assert "The same command continues" in messages
    (table,) = tmp_path.glob("local/*/*.jsonl")
    assert len(read_rows(table)) >= 1
    status, path, messages = run("--grid", SHORT, "--per-cell", "2")
    assert status == 0, messages
    assert len(read_rows(path)) == 4


@served
def test_a_puzzle_longer_than_the_window_is_listed_with_its_tokens(tmp_path, run):
    """It is not asked; a grid of such puzzles alone is refused."""
    status, path, messages = run("--grid", "N=250 ratio=5 d=10")
    assert (status, path) == (2, "")
    assert "no puzzle fits the window" in messages
    (table,) = tmp_path.glob("local/*/not_asked.csv")
    (row,) = csv.DictReader(table.read_text("utf-8").splitlines())
    assert row["name"].startswith("250_10_")
    assert int(row["prompt_tokens"]) > WINDOW
    assert f"window of {WINDOW} tokens" in row["reason"]


@served
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no model at"),
        (b"PK\x03\x04 no model", "is not a GGUF file"),
        (b"GGUF\x03\x00\x00\x00 and no more", "llama.cpp cannot serve broken.gguf"),
    ],
)
def test_a_file_that_holds_no_model_is_refused_in_one_sentence(
    tmp_path, run, content, message
):
    """A missing file, a file of another kind, a damaged one."""
    model = tmp_path / "broken.gguf"
    if content is not None:
        model.write_bytes(content)
    status, path, messages = run("--model", str(model), "--grid", SHORT)
    assert (status, path) == (2, "")
    (line,) = messages.splitlines()
    assert line.startswith("Error: ")
    assert message in line


def test_answers_that_cannot_be_used_are_counted_and_end_the_command(
    tmp_path, monkeypatch
):
    """Such as those with a negative number of tokens; nothing is left out in silence."""
    setup = local.Setup("m", "m.gguf", "0", "server")
    monkeypatch.setattr(local, "describe_setup", lambda _: (tmp_path, setup))
    monkeypatch.setattr(local.server, "serve", lambda *_: nullcontext())
    monkeypatch.setattr(
        local,
        "_keep_fitting_prompts",
        lambda samples, *_: {sample.id: 5 for sample in samples},
    )
    monkeypatch.setattr(local, "_ask", lambda *_: None)
    with pytest.raises(
        ValueError, match=r"2 answers cannot be used; .*/logs` says why"
    ):
        local.evaluate(None, SHORT, 1, tmp_path, 1, print)
