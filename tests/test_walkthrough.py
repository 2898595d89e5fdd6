"""The page on evaluating a model, command by command.

What a reader copies is run against a server of the test.

Commands run in a copy of the tracked files. What a reader has to fill in is filled in:
the name of a log, the model, the server's address; and the build is that of the mini
grid.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from solving_server import Server

pytest.importorskip(
    "inspect_ai", reason="Inspect is not installed; `make test-evaluate` has it"
)

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = {
    ".venv/bin/cogniload": "-m cogniload_repro",
    ".venv-evaluate/bin/inspect": "-m inspect_ai",
}
ASK = """
import urllib.request
def ask(prompt):
    messages = [{"role": "user", "content": prompt}]
    body = json.dumps({"model": "mine", "messages": messages, "max_tokens": 30000}).encode()
    request = urllib.request.Request("http://127.0.0.1:%d/v1/chat/completions", body)
    for _ in range(3):
        try:
            answer = json.load(urllib.request.urlopen(request))
            break
        except urllib.error.HTTPError:
            continue
    choice, usage = answer["choices"][0], answer["usage"]
    message = choice["message"]
    text = message.get("reasoning_content", "") + "\\n" + message["content"]
    return text, choice["finish_reason"], usage["prompt_tokens"], usage["completion_tokens"]
"""


def read_blocks(tab):
    """The commands and programs of a tab of the page, in order: language and text."""
    cells = json.loads((ROOT / "notebooks" / "evaluate.ipynb").read_text("utf-8"))[
        "cells"
    ]
    page = "\n".join(
        "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
    )
    (text,) = re.findall(
        rf"^:+{{tab-item}} {re.escape(tab)}\n(.*?)^:::::$", page, re.M | re.S
    )
    return re.findall(r"^```(sh|python)\n(.*?)^```", text, re.M | re.S)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the tracked files, with programs where the pages say that they are."""
    folder = tmp_path_factory.mktemp("walk") / "copy"
    files = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"],
        capture_output=True,
        text=True,
        check=True,
    )
    for file in filter(None, files.stdout.split("\0")):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, folder / file)
    variables = f'VENV= PYTHON="{sys.executable}" GRID=mini JOBS=2'
    commands = {
        place: f'exec "{sys.executable}" {module} "$@"'
        for place, module in PROGRAMS.items()
    }
    for place, command in (
        commands | {"bin/make": f'exec {shutil.which("make")} {variables} "$@"'}
    ).items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(f"#!/bin/sh\n{command}\n")
        (folder / place).chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def walk(copy):
    """Run a block of commands in the copy and return what it printed."""
    server = Server(pause=0)
    environment = os.environ | {
        "PATH": f"{copy / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(copy / "src"),
        "INSPECT_DISPLAY": "none",
        "LOCAL_BASE_URL": f"http://127.0.0.1:{server.port}/v1",
        "LOCAL_API_KEY": "none",
    }
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        environment.pop(name, None)

    def run(language, block):
        block = re.sub(r"openai/gpt\S+", "openai-api/local/solver", block).replace(
            "8000", str(server.port)
        )
        if language == "python":
            program = ASK % server.port + block
            command = [sys.executable, "-c", f"import json\n{program}"]
            return subprocess.run(
                command,
                cwd=copy,
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        output = ""
        for line in block.splitlines():
            if "NAME" in line:
                logs = sorted(
                    (copy / "logs").glob("*.eval"),
                    key=lambda path: path.stat().st_mtime,
                )
                line = line.replace("logs/NAME.eval", str(logs[-1].relative_to(copy)))
            if line.startswith("export "):
                environment.update(word.split("=", 1) for word in line.split()[1:])
                continue
            done = subprocess.run(
                ["bash", "-ec", line],
                cwd=copy,
                env=environment,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, (
                f"{line}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
            )
            output += done.stdout
        return output

    yield run
    server.stop()


@pytest.mark.slow
def test_an_evaluation_can_be_walked_through(walk, copy):
    """A model is asked and stands next to the paper's; another server's model is asked too."""
    first, served = read_blocks("Run an evaluation")
    walk(*first)
    cells = pd.read_parquet(copy / "data" / "build-mini" / "cells.parquet")
    assert cells.loc[cells["model"] == "openai-api/local/solver", "total"].sum() == 280
    assert (
        copy
        / "data"
        / "build-mini"
        / "book"
        / "_build"
        / "html"
        / "notebooks"
        / "13_your_model.html"
    ).exists()
    walk(*served)
    assert len(list((copy / "logs").glob("*.eval"))) == 2


@pytest.mark.slow
def test_puzzles_for_other_programs_can_be_walked_through(walk, copy):
    """Puzzles are drawn, asked by the loop, checked and added."""
    puzzles, loop, add = read_blocks("Puzzles for other programs")
    walk(*puzzles)
    prompts = copy / "sets" / "mine" / "prompts.jsonl"
    lines = prompts.read_text("utf-8").splitlines()
    assert len(lines) == 280
    prompts.write_text(
        "\n".join(lines[::2]) + "\n", "utf-8"
    )  # one of each cell: the loop waits for each answer
    walk(*loop)
    answers = [
        json.loads(line)
        for line in (copy / "answers.jsonl").read_text("utf-8").splitlines()
    ]
    assert {row["finish_reason"] for row in answers} == {"stop", "length"}
    assert "mine" in walk(*add)
    outputs = pd.read_parquet(copy / "data" / "build-mini" / "outputs" / "mine.parquet")
    assert len(outputs) == 140
    assert outputs["stopped"].value_counts()["length"] == sum(
        row["finish_reason"] == "length" for row in answers
    )
