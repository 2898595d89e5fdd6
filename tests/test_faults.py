"""What goes wrong in the world.

Signals, full disks, damaged and monstrous files, with real processes.
"""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
import zipfile

import pandas as pd
import pyarrow as pa
import pytest
from harness import ask as run
from harness import score_outputs, write_lines

from cogniload_repro.storage import OUTPUTS, write_table

NAMES = ["20_1_1_770487_red", "20_1_1_586907_purple"]

#: A command, as a user starts it.
COMMAND = "from cogniload_repro.cli import main; main()"


def contents(folder):
    """The bytes of every file of a folder, by path, but for what is known about it.

    Parameters, stamps, lock.
    """
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock" and path.parent.name != "inputs"
    }


def visible(files):
    """Those that are no part files, and not in the folder where outputs are made."""
    return {
        name: content
        for name, content in files.items()
        if not name.endswith(".part") and name[0] != "."
    }


def write_source(path, models="abcdef", text="Raymond: red"):
    """Write responses of these models, which take turns."""
    rows = [
        {"model": model, "name": name, "response": text}
        for name in NAMES
        for model in models
    ]
    return write_lines(path, rows)


def interrupt(number, script, *arguments, when):
    """Start a script, send it and its children a signal when `when` is true.

    Wait for its end.
    """
    command = [sys.executable, "-c", script, *map(str, arguments)]
    process = subprocess.Popen(
        command, start_new_session=True, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while not when() and time.monotonic() < deadline:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.002)
    os.killpg(process.pid, number)
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """A build whose three partitions take a good part of a second each, with and without scores."""
    folder = tmp_path_factory.mktemp("scored")
    assert (
        run(
            "download-outputs",
            "--build",
            folder,
            "--source",
            write_source(folder / "s.jsonl", "abc"),
        )[0]
        == 0
    )
    for path in (folder / "outputs").iterdir():
        path.unlink()
    for model in "abc":
        rows = 10_000
        columns = [
            [model] * rows,
            NAMES * (rows // 2),
            ["Raymond: red"] * rows,
            [1] * rows,
            [2] * rows,
            [None] * rows,
        ]
        table = pa.table(dict(zip(OUTPUTS.names, columns, strict=True)), schema=OUTPUTS)
        write_table(folder / f"outputs/{model}.parquet", table)
    score_outputs(folder)
    return folder


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_scoring_leaves_whole_partitions_and_the_next_run_finishes(
    scored, tmp_path, number
):
    """What is there is right, what is not is scored the next time, and no rubbish stays."""
    for name in ("outputs", "puzzles.parquet", "sources.json"):
        (tmp_path / name).symlink_to(scored / name)
    scores = tmp_path / "scores"
    code, errors = interrupt(
        number,
        COMMAND,
        "score",
        "--jobs",
        2,
        "--build",
        tmp_path,
        when=lambda: any(scores.glob(".*.part")),
    )
    assert code == (130 if number == signal.SIGINT else -number)
    assert ("interrupted; run the same command again to finish" in errors) == (
        number == signal.SIGINT
    )
    assert "Traceback" not in errors
    partial = visible(contents(scores))
    whole = contents(scored / "scores")
    assert partial.items() < whole.items()
    assert run("score", "--build", tmp_path)[0] == 0
    assert contents(scores) == whole


ROW = {
    "model": "mine",
    "name": NAMES[0],
    "response": "Raymond: red",
    "prompt_tokens": 7,
    "response_tokens": 9,
}
OTHER = {**ROW, "name": NAMES[1], "response": 'Line one,\n"Raymond": purple'}


def lines(*rows):
    """Rows as JSON lines; text stays as it is."""
    return "".join(
        (row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows
    ).encode()


def noise(size):
    """Text that does not compress, the same every time."""
    return random.Random(0).randbytes(size).hex()


#: Files of a source that holds both good rows, and how many rows are to be refused of
#: each, by reason.
FAULTS = {
    "a.jsonl": (
        b"\xef\xbb\xbf"
        + lines(ROW, "", '{"model": "mine", ', "[1]", OTHER, "\x00").replace(
            b"\n", b"\r\n"
        ),
        {"malformed row": 3},
    ),
    "b.csv": (
        pd.DataFrame([ROW, OTHER, {**ROW, "response": "a\nb"}])
        .to_csv(index=False)
        .encode()[:-6],
        {"duplicate": 2, "unreadable file": 1},
    ),
    "d.jsonl.gz": (
        gzip.compress(lines(ROW, {"response": noise(90_000)}))[:60_000],
        {"duplicate": 1, "unreadable file": 1},
    ),
    "f.parquet": (pd.DataFrame([ROW, OTHER]).to_parquet()[:-9], {"unreadable file": 1}),
}


def test_good_rows_are_scored_and_bad_ones_are_named(tmp_path):
    """The strict run says why; without files that are not whole, the good rows are scored."""
    source = tmp_path / "source"
    build = tmp_path / "build"
    source.mkdir()
    for name, (content, _) in FAULTS.items():
        (source / name).write_bytes(content)
    code, message = run("download-outputs", "--build", build, "--source", source)
    assert (code, "Traceback" in message) == (2, False), message
    rejected = pd.read_csv(build / "rejected.csv")
    expected = {
        (name, reason): count
        for name, (_, reasons) in FAULTS.items()
        for reason, count in reasons.items()
    }
    assert rejected.groupby(["file", "reason"]).size().to_dict() == expected
    reasons = rejected["reason"].value_counts().items()
    assert all(f"{count} {reason}, first in" in message for reason, count in reasons)
    command = [
        "download-outputs",
        "--build",
        build,
        "--source",
        source,
        "--max-rejected",
        100,
    ]
    for name in [
        name for name, (_, reasons) in FAULTS.items() if "unreadable file" in reasons
    ]:
        code, message = run(*command)
        assert (code, f"'{name}' cannot be read to its end" in message) == (2, True), (
            message
        )
        (source / name).unlink()
    for _ in range(2):
        code, message = run(*command)
        assert code == 0, message
        score_outputs(build)
        scores = pd.read_parquet(build / "scores/mine.parquet")
        assert sorted(zip(scores["name"], scores["correct"], strict=True)) == [
            (name, True) for name in sorted(NAMES)
        ]
        assert (
            scores[["prompt_tokens", "response_tokens"]].to_numpy().tolist()
            == [[7, 9]] * 2
        )


#: A command under a limit on the size of files, which a full disk resembles where none
#: can be mounted.
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
from cogniload_repro.cli import main
main(sys.argv[2:])
"""


@pytest.mark.parametrize("step", ["import", "archive", "score"])
def test_a_file_that_cannot_be_written_changes_nothing(tmp_path, step):
    """The exit code is 2, no part stays, what was there stays.

    Without the limit the same command succeeds.
    """
    build = tmp_path / "build"
    source = tmp_path / "o.jsonl"
    source.write_bytes(lines(ROW))
    assert run("download-outputs", "--build", build, "--source", source)[0] == 0
    source.write_bytes(
        lines(*({**ROW, "model": m, "response": noise(200_000)} for m in "abc"), OTHER)
    )
    command = ["download-outputs", "--build", build, "--source", source]
    if step == "archive":
        with zipfile.ZipFile(tmp_path / "o.zip", "w") as archive:
            archive.write(source, "o.jsonl")
        command[-1] = tmp_path / "o.zip"
    if step == "score":
        assert run(*command)[0] == 0
        command = ["score", "--build", build, "--jobs", 1]
    before = contents(build)
    limited = [
        sys.executable,
        "-c",
        LIMITED,
        "1000" if step == "score" else "100000",
        *map(str, command),
    ]
    failed = subprocess.run(limited, capture_output=True, text=True)
    assert (failed.returncode, "Traceback" in failed.stderr) == (2, False), (
        failed.stderr
    )
    assert contents(build) == before
    if step != "score":
        assert run(*command)[0] == 0
    assert score_outputs(build)
