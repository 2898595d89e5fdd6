"""The script of `make evaluate-local`: a real model is asked, imported and scored.

The model is SmolLM2-135M-Instruct. Tests that ask it are skipped where its server has no wheel, and
fail where it has one that is not installed.
"""

import csv
import json
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytest.importorskip(
    "inspect_ai", reason="Inspect is not installed; `make test-evaluate` has it"
)

from harness import score_outputs
from inspect_ai.log import read_eval_log

from cogniload_repro.importing.imports import import_source

#: A proxy that does not answer; a server on this machine is asked without it.
NOBODY = "http://127.0.0.1:9"
SCRIPT = Path(__file__).parents[1] / "scripts" / "ask_small_model.py"
#: Processors for which xllamacpp has wheels, as in the group "local" of pyproject.toml.
PROCESSORS = ("x86_64", "AMD64", "arm64", "aarch64")
served = pytest.mark.skipif(
    platform.machine() not in PROCESSORS,
    reason=f"xllamacpp has no wheel for {platform.machine()}",
)
MODEL = "SmolLM2-135M-Instruct-local"
SHORT = ("--grid", "N=20 ratio=5,50 d=1")


@pytest.fixture
def start(tmp_path):
    """Start the script, which keeps logs and answers in a folder; it ends with the test."""
    processes = []

    def start_script(*options):
        command = [sys.executable, str(SCRIPT), "--out", str(tmp_path), "--jobs", "2"]
        environment = os.environ | {"HTTP_PROXY": NOBODY, "http_proxy": NOBODY}
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            [*command, *options], stdout=pipe, stderr=pipe, text=True, env=environment
        )
        processes.append(process)
        return process

    yield start_script
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def run(start):
    """Run the script; return its exit status, the path that it prints, and its messages."""

    def run_script(*options):
        process = start(*options)
        path, messages = process.communicate()
        return process.returncode, path.strip(), messages

    return run_script


def read_rows(path):
    """The rows of a JSONL file."""
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def answered(folder):
    """Names of the puzzles that the logs in a folder have answers to, log by log."""
    names = []
    for path in sorted(folder.glob("*/logs/*.eval")):
        samples = read_eval_log(str(path)).samples or ()
        names.append({sample.id for sample in samples if sample.output.choices})
    return names


@served
def test_a_real_model_is_asked_imported_and_scored(tmp_path, run):
    """Two puzzles: the log, the table of answers and the scores have the same two answers."""
    status, path, messages = run(*SHORT)
    assert status == 0, messages
    rows = read_rows(path)
    assert {row["model"] for row in rows} == {MODEL}
    assert str(tmp_path) not in json.dumps(rows)
    (log_path,) = Path(path).parent.glob("logs/*.eval")
    log = read_eval_log(str(log_path))
    assert {row["name"]: row["response"] for row in rows} == {
        sample.id: sample.output.completion for sample in log.samples
    }

    report = import_source(path, tmp_path, tmp_path)
    assert (dict(report.responses), report.rejected) == ({MODEL: 2}, [])
    (scores_path,) = score_outputs(tmp_path)
    scores = pq.read_table(scores_path).to_pylist()
    expected = {sample.id: sample.scores["outcome"].reason for sample in log.samples}
    assert {row["name"]: row["bucket"] for row in scores} == expected
    assert all(0 < row["response_tokens"] < row["prompt_tokens"] for row in scores)


@served
@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_after_a_stop_the_same_command_asks_the_rest(tmp_path, start, run, sent):
    """No answer is lost, and no puzzle is asked twice."""
    options = (*SHORT, "--per-cell", "2")
    process = start(*options)
    end = time.monotonic() + 600
    while not any(answered(tmp_path)):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.1)
    process.send_signal(sent)
    process.communicate()
    assert process.returncode != 0
    (before,) = answered(tmp_path)
    status, path, messages = run(*options)
    assert status == 0, messages
    first, second = answered(tmp_path)
    assert first == before
    assert first.isdisjoint(second)
    assert {row["name"] for row in read_rows(path)} == first | second
    assert len(first | second) == 4


@served
def test_a_puzzle_longer_than_the_window_is_listed_with_its_tokens(tmp_path, run):
    """It is not asked; without another one there is no table to add."""
    status, path, messages = run("--grid", "N=250 ratio=5 d=10")
    assert (status, path) == (1, "")
    assert "too long" in messages
    (table,) = tmp_path.glob("*/not_asked.csv")
    (row,) = csv.DictReader(table.read_text("utf-8").splitlines())
    assert row["name"].startswith("250_10_")
    assert int(row["tokens"]) > 8_192


@pytest.mark.parametrize("content", [None, b"PK\x03\x04 no model"])
def test_a_file_that_is_no_model_is_refused(tmp_path, run, content):
    """A missing file, and one of another kind."""
    model = tmp_path / "broken.gguf"
    if content is not None:
        model.write_bytes(content)
    status, path, messages = run("--model", str(model), *SHORT)
    assert (status, path) == (1, "")
    assert messages.strip().endswith(
        "is not a GGUF file, the only format that llama.cpp reads"
    )
