"""Sets of puzzles, and what to ask a model about them."""

from pathlib import Path
from typing import Any

import click

from cogniload_repro.commands.options import FOLDER, FROM_0, FROM_1, JOBS, say

#: Formats of requests to a model; the others are those of `puzzles.sets`.
_ASKING = ("openai-batch", "lm-eval")
_EFFORTS = ("unset", "none", "minimal", "low", "medium", "high", "xhigh", "max")


@click.command()
@click.option(
    "--grid",
    default="paper",
    show_default=True,
    help="paper, mini, or such as 'N=20,50 ratio=5,50 d=1,3'.",
)
@click.option(
    "--per-cell", type=FROM_1, default=100, show_default=True, help="Puzzles per cell."
)
@click.option(
    "--seed", type=FROM_0, default=42, show_default=True, help="Seed of the whole set."
)
@click.option(
    "--rounding",
    default="half-up",
    show_default=True,
    help="Rounding of N × ratio at .5: half-up (as in the paper's data) or half-even (as "
    "in the released Python program).",
)
@click.option(
    "--id-scheme",
    "scheme",
    type=click.Choice(["chain", "spawn"]),
    help="Ids along the authors' chain (drawn by one process), or independent of order, "
    "for new experiments. Default: the first puzzles of each cell of the paper's set, and "
    "the chain for other cells or seeds.",
)
@click.option(
    "--edition",
    default="python",
    show_default=True,
    help="The authors' Python port, or their Elixir original as Elixir 1.14 and 1.15 "
    "(elixir-1.14), 1.16 (elixir-1.16) or 1.17 and later (elixir-1.17, or elixir) run it.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["parquet", "jsonl", *_ASKING]),
    default="parquet",
    show_default=True,
    help="puzzles.parquet or puzzles.jsonl. For asking a model: jsonl adds prompts.jsonl "
    "with a column prompt; openai-batch and lm-eval write puzzles.parquet and "
    "requests-*.jsonl of OpenAI's batch endpoint, or a task folder of "
    "lm-evaluation-harness.",
)
@click.option(
    "--model", default="", help="For openai-batch: the model, as the endpoint calls it."
)
@click.option(
    "--effort",
    type=click.Choice(_EFFORTS),
    default="unset",
    show_default=True,
    help="For openai-batch and lm-eval: the reasoning effort to ask for; the paper used "
    "medium for gpt-5. Unset leaves it to the server.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(min=0),
    help="For the same formats; without it the server's default, which in lm-eval is 0. "
    "The paper states none.",
)
@click.option(
    "--max-tokens",
    type=FROM_1,
    default=32_768,
    show_default=True,
    help="For the same formats: tokens of a response, reasoning included, at most. The "
    "paper's budget is as much for prompt and response together; scoring applies it from "
    "the counts that come back. A lower limit truncates answers that the paper would have "
    "counted; a server whose window holds no more asks for one.",
)
@click.option(
    "--perturb",
    "perturbation",
    help="Every prompt is perturbed so that it is harder to read, in prompts.jsonl or in "
    "the requests: not_not, opposites, wrappers, rail_fence, rectangle_perimeter, "
    "snake_horizontal, snake_vertical, interleave_line, interleave_word, "
    "interleave_symbol, reverse_sentences, reverse_words or reverse_symbols; baseline "
    "prepares the text in the same way and perturbs nothing.",
)
@click.option("--out", type=FOLDER, required=True, help="Folder to write into.")
@JOBS
def puzzles(
    grid: str,
    per_cell: int,
    seed: int,
    rounding: str,
    scheme: str | None,
    edition: str,
    out: Path,
    jobs: int,
    **request: Any,
) -> None:
    """Draw a set of puzzles, byte for byte as the authors' released generators draw them.

    A grid names its statements N, nominal needle ratios in percent and difficulties d from 1 to 12.

    \b
    Examples:
      cogniload puzzles --out sets/paper
      cogniload puzzles --grid N=20,50,ratio=5,50,d=1,3 --per-cell 10 --out sets/small
      cogniload puzzles --edition elixir --out sets/elixir
      cogniload puzzles --per-cell 10 --format openai-batch --model gpt-5-nano \
        --effort medium --out sets/requests
      cogniload puzzles --per-cell 10 --format jsonl --perturb rail_fence --out sets/rails
      cogniload puzzles --grid 'N=20000 ratio=2.5 d=10' --per-cell 5 --id-scheme spawn \
        --seed 7 --out sets/long
    """
    from cogniload_repro.grid import grid_cells
    from cogniload_repro.puzzles.draws import resolve_edition
    from cogniload_repro.puzzles.ids import PuzzleSet, choose_set
    from cogniload_repro.puzzles.sets import write_set

    cells = grid_cells(grid, rounding)
    generator = resolve_edition(edition)
    if scheme:
        puzzles = PuzzleSet(cells, per_cell, seed, scheme, generator)
    else:
        puzzles = choose_set(cells, per_cell, seed, generator, otherwise="chain")
    _check_request(**request)
    kind = request["kind"]
    table = "parquet" if kind in _ASKING else kind
    count = write_set(out, table, puzzles, jobs)
    say(f"{count:,} puzzle{'s' * (count != 1)} in {out}")
    for path in _write_queries(out, out / f"puzzles.{table}", **request):
        say(f"wrote {path}")


def _check_request(
    kind: str,
    perturbation: str | None,
    model: str,
    effort: str,
    temperature: float | None,
    max_tokens: int,
) -> None:
    """Raise ValueError if an option has no meaning in a format, or a format lacks one."""
    asking = ", ".join(_ASKING)
    if kind == "parquet" and perturbation:
        raise ValueError(
            f"--format {kind} holds no prompts; --perturb needs jsonl, {asking}"
        )
    if kind not in _ASKING and (effort != "unset" or temperature is not None):
        raise ValueError(
            f"--format {kind} holds no requests; --effort and --temperature need {asking}"
        )
    if bool(model.strip()) != (kind == "openai-batch"):
        raise ValueError(
            "--format openai-batch needs --model, as the endpoint calls it; no other "
            "format takes one"
        )


def _write_queries(
    out: Path,
    puzzles: Path,
    kind: str,
    perturbation: str | None,
    model: str,
    **sampling: Any,
) -> list[Path]:
    """Write what to ask a model about the puzzles of a set, in the requested format."""
    from cogniload_repro.asking import requests
    from cogniload_repro.asking.protocol import list_queries

    if kind == "parquet":
        return []
    queries = list_queries(puzzles, perturbation)
    settings = {
        name: value for name, value in sampling.items() if value not in ("unset", None)
    }
    if kind == "openai-batch":
        return requests.write_batches(out, queries, model, settings)
    if kind == "lm-eval":
        return [requests.write_harness(out, queries, settings)]
    return [requests.write_prompts(out, queries)]
