"""A whole evaluation against a server that fails as servers do, stopped and taken up again."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy.stats import chi2
from solving_server import CURVE, Server, fate, key_of

pytest.importorskip(
    "inspect_ai", reason="Inspect is not installed; `make test-evaluate` has it"
)

from converted import convert_logs
from harness import score_outputs
from inspect_ai.log import read_eval_log

from cogniload_repro.importing.imports import import_source
from cogniload_repro.regression.glm import fit_finite
from cogniload_repro.scoring.cells import write_cells

INSPECT = [sys.executable, "-m", "inspect_ai"]
GRID = "N=20:50,ratio=5:25:50:75:95,d=1:3:5:7"


def start(folder, port, *arguments):
    """Start Inspect in a folder of its own."""
    environment = {
        **os.environ,
        "LOCAL_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "LOCAL_API_KEY": "none",
    }
    command = [
        *INSPECT,
        *arguments,
        "--display",
        "none",
        "--log-dir",
        str(folder / "logs"),
        "--max-connections",
        "16",
    ]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def wait_for(condition, process, seconds=120):
    """Wait until something is so, or the process has ended."""
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, f"Inspect has ended with {process.returncode}"
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


def newest(folder):
    """The last log of a folder."""
    return max((folder / "logs").glob("*.eval"), key=lambda path: path.stat().st_mtime)


def run_with_faults(folder, *options, stop_at, interrupt_at):
    """Evaluate.

    The server goes away for a while, the evaluation is interrupted and retried; return
    all there is.
    """
    server = Server()
    answered = server.answered
    process = start(
        folder,
        server.port,
        "eval",
        "cogniload_repro/cogniload",
        "--model",
        "openai-api/local/solver",
        *options,
    )
    wait_for(lambda: len(answered) >= stop_at, process)
    server.stop()
    time.sleep(1)
    server = Server(server.port, answered=answered)
    wait_for(lambda: len(answered) >= interrupt_at, process)
    process.send_signal(signal.SIGINT)
    process.wait(300)
    first = read_eval_log(str(newest(folder)))
    files = {
        sample.id
        for sample in first.samples or ()
        if sample.error is None and sample.scores
    }
    before = Counter(answered)
    process = start(folder, server.port, "eval-retry", str(newest(folder)))
    assert process.wait(300) == 0
    server.stop()
    return read_eval_log(str(newest(folder))), files, before, Counter(answered)


@pytest.mark.slow
def test_two_hundred_puzzles_survive_server_and_evaluation(tmp_path):
    """Every puzzle once in the outputs, none asked again that was kept.

    Outcomes, cut-offs and rates as they are.
    """
    log, files, before, after = run_with_faults(
        tmp_path,
        "-T",
        f"grid={GRID}",
        "-T",
        "per_cell=5",
        "-T",
        "seed=11",
        stop_at=50,
        interrupt_at=120,
    )
    assert log.status == "success"
    assert 50 <= len(files) < 200
    texts = {sample.id: sample.input for sample in log.samples}
    assert len(texts) == len(log.samples) == 200
    assert all(
        after[key_of(texts[name])] == before[key_of(texts[name])] for name in files
    )

    report = import_source(convert_logs(newest(tmp_path)), tmp_path, tmp_path)
    assert (sum(report.responses.values()), dict(report.rejected)) == (200, {})
    (scores_path,) = score_outputs(tmp_path)
    fates = {name: fate(text)["end"] for name, text in texts.items()}
    scores = pd.DataFrame(pq.read_table(scores_path).to_pylist()).set_index("name")
    assert (scores["correct"] == (scores.index.map(fates) == "right")).all()
    metrics = {
        name: value.value
        for score in log.results.scores
        for name, value in score.metrics.items()
    }
    cut = sum(end in ("cut", "full") for end in fates.values()) / 200
    assert metrics["cut_off"] == cut > 0.1
    assert metrics["wrong_max_context"] == cut

    (fit,) = fit_finite(write_cells(tmp_path, {}))
    cells = fit.cells
    loads = [np.ones(len(cells)), cells["d"], np.log10(cells["N"])]
    x = np.column_stack([*loads, cells["rho"], cells["rho"] ** 2])
    eta = x @ np.array(CURVE)
    true = float(fit.correct @ eta - fit.answers @ np.logaddexp(0, eta))
    assert 2 * (fit.loglik - true) < chi2.ppf(0.99, 5)
