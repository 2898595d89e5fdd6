"""A small model asked on this machine: the Inspect task, a local server, the answers as a table.

Each setup of a model has a folder with Inspect's logs. Puzzles that are answered in these logs are
not asked again: the same command continues an interrupted run, and another grid extends it.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import file_digest, sha256
from pathlib import Path

import inspect_ai
import pandas as pd
from inspect_ai import Task, task_with
from inspect_ai.dataset import Sample
from inspect_ai.solver import Generate, Solver, TaskState, chain, solver
from tqdm import tqdm

from cogniload_repro.asking import server
from cogniload_repro.asking.logs import read_log_rows
from cogniload_repro.asking.server import MAX_TOKENS, Server
from cogniload_repro.asking.tasks import cogniload
from cogniload_repro.files import locked, write_whole
from cogniload_repro.importing.rejections import RowError
from cogniload_repro.importing.responses import SETTINGS, is_safe, read_response
from cogniload_repro.puzzles.sets import write_jsonl
from cogniload_repro.storage import OUTPUTS

#: The model always writes its likeliest token, so that the same prompt gives the same answer.
TEMPERATURE = 0.0
#: An answer times out after this multiple of its expected time, but not before these seconds.
_PATIENCE = 20
_PATIENCE_SECONDS = 600
# an error quotes the request first; the reason is at its end
_REASON_CHARS = 200
# the cause of the last failed attempt, as the client words it
_RAISED = re.compile(r"RetryError.* raised (\w+)")


@dataclass(frozen=True)
class Setup:
    """What a model's answers depend on: its file, the server, and how it is asked."""

    model: str
    version: str
    digest: str
    provider: str
    window: int = server.WINDOW
    max_tokens: int = MAX_TOKENS
    temperature: float = TEMPERATURE

    def folder(self, parent: Path) -> Path:
        """Return the folder for the answers under this setup alone."""
        digest = sha256(json.dumps(asdict(self)).encode()).hexdigest()
        return parent / f"{self.model}-{digest[:8]}"


def describe_setup(model: Path | None) -> tuple[Path, Setup]:
    """Return the file of a model (default: SmolLM2-135M-Instruct) and its setup.

    The model's name ends in "-local", unlike those of the paper's models and of the committed
    answers. Raises ValueError if the model cannot be served on this machine.
    """
    provider = server.server_version()
    path = model or server.find_bundled_model()
    server.check_model(path)
    name = path.stem if model else server.BUNDLED_MODEL
    if "/" in name or not is_safe(name):
        raise ValueError(
            f"answers of a model named {name!r} could not be imported; rename {path}"
        )
    with path.open("rb") as weights:
        digest = file_digest(weights, sha256).hexdigest()[:32]
    return path, Setup(f"{name}-local", path.name, digest, provider)


def evaluate(
    model: Path | None,
    grid: str,
    per_cell: int,
    parent: Path,
    threads: int,
    say: Callable[[str], None],
) -> Path:
    """Ask a model the puzzles of a grid that it has not answered; return the file of its answers.

    The file (JSON lines) is named after the model and has all its answers. Beside it are the logs,
    and ``not_asked.csv`` with the puzzles of the grid that exceed the model's context window.
    """
    path, setup = describe_setup(model)
    task = cogniload(
        grid=grid, per_cell=per_cell, effort="unset", max_tokens=MAX_TOKENS
    )
    folder = setup.folder(parent)
    answers = folder / f"{setup.model}.jsonl"
    with locked(folder):
        write_whole(folder / "setup.json", json.dumps(asdict(setup), indent=1) + "\n")
        answered = {row["name"] for row in read_answers(folder / "logs", setup)}
        samples = [sample for sample in task.dataset if sample.id not in answered]
        prompts: dict[str, int] = {}
        try:
            if samples:
                with server.serve(path, threads, folder / "server.log") as running:
                    prompts = _keep_fitting_prompts(samples, running, folder, say)
                    if prompts:
                        _ask(task, prompts, setup, running, folder / "logs", say)
        finally:
            rows = read_answers(folder / "logs", setup)
            write_jsonl(answers, rows)
    unanswered = prompts.keys() - {row["name"] for row in rows}
    if unanswered:
        raise ValueError(
            f"{len(unanswered):,} answers cannot be used; `cogniload check {folder / 'logs'}` says "
            "why, and the same command asks these again"
        )
    if not rows:
        raise ValueError(
            f"no puzzle fits the window of {setup.model}; take a smaller N or d"
        )
    return answers


def read_answers(logs: Path, setup: Setup) -> list[dict]:
    """Return the answers in a folder of logs, one row per answered puzzle."""
    rows = {}
    for log in sorted(logs.glob("*.eval")):
        for answer in read_log_rows(str(log)):
            try:
                output = read_response(answer)
            except RowError:
                continue
            row = {name: getattr(output, name) for name in OUTPUTS.names}
            for name in SETTINGS:
                row[name] = answer.get(name)
            row |= {
                "model": setup.model,
                "provider": setup.provider,
                "version": setup.version,
            }
            known = {name: value for name, value in row.items() if value is not None}
            rows[output.name] = known
    return list(rows.values())


def _keep_fitting_prompts(
    samples: Sequence[Sample], running: Server, folder: Path, say: Callable[[str], None]
) -> dict[str, int]:
    """Return the lengths in tokens of the prompts that fit the window with the longest answer.

    The keys are the names of the puzzles. All other puzzles are listed in ``not_asked.csv``.
    """
    window = running.read_context_window()
    tokens = {
        str(sample.id): running.count_tokens(str(sample.input)) for sample in samples
    }
    table = pd.DataFrame(tokens.items(), columns=["name", "prompt_tokens"])
    too_long = table[table["prompt_tokens"] + MAX_TOKENS > window].assign(
        reason=f"with {MAX_TOKENS} for the answer it exceeds the window of {window} tokens"
    )
    path = write_whole(folder / "not_asked.csv", too_long.to_csv(index=False))
    if len(too_long):
        say(
            f"{len(too_long):,} of {len(tokens):,} puzzles are too long for the model's window "
            f"of {window:,} tokens and are not asked; {path} lists them"
        )
    return {
        name: count for name, count in tokens.items() if count + MAX_TOKENS <= window
    }


def _ask(
    task: Task,
    prompts: Mapping[str, int],
    setup: Setup,
    running: Server,
    logs: Path,
    say: Callable[[str], None],
) -> None:
    """Ask the model one puzzle at a time; raise ValueError if the run ends early."""
    reading, writing = running.measure_speed()
    tokens = sum(prompts.values())
    least_minutes = math.ceil(tokens / reading / 60)
    most_minutes = math.ceil(
        (tokens / reading + len(prompts) * MAX_TOKENS / writing) / 60
    )
    say(
        f"Asking {setup.model} {len(prompts):,} puzzles ({tokens:,} tokens): "
        f"{least_minutes:,} to {most_minutes:,} minutes, depending on how much it writes. "
        "If interrupted, the same command continues."
    )
    longest = max(prompts.values()) / reading + MAX_TOKENS / writing
    limit = max(_PATIENCE_SECONDS, round(_PATIENCE * longest))
    # progress is measured in prompt tokens, as long puzzles take longer
    with tqdm(total=tokens, unit="tokens") as bar:
        finished = inspect_ai.eval(
            task_with(task, solver=chain(task.solver, show_progress(bar, prompts))),
            model=f"openai-api/local/{setup.model}",
            model_base_url=f"{running.address}/v1",
            model_args={"api_key": "none"},
            sample_id=list(prompts),
            metadata=asdict(setup),
            display="none",
            log_dir=str(logs),
            log_buffer=1,  # an answer is in the log as soon as it is given
            fail_on_error=True,
            temperature=TEMPERATURE,
            max_connections=1,
            max_retries=0,
            attempt_timeout=limit,
        )
    if not finished or finished[0].status == "cancelled":
        raise KeyboardInterrupt
    log = finished[0]
    if log.status != "success":
        error = log.error.message if log.error else log.status
        if "AttemptTimeoutError" in error:
            error = f"it gave no answer within {limit // 60:,} minutes"
        elif raised := _RAISED.search(error):
            error = f"{raised[1]} (output of the server: {running.log})"
        reason = running.describe_end() or " ".join(error.split())[-_REASON_CHARS:]
        raise ValueError(
            f"the model stopped answering: {reason}. The same command continues the run"
        )


@solver
def show_progress(bar: tqdm, prompts: Mapping[str, int]) -> Solver:
    """Advance the progress bar when a puzzle has been answered."""

    async def solve(state: TaskState, _: Generate) -> TaskState:
        bar.update(prompts[str(state.sample_id)])
        return state

    return solve
