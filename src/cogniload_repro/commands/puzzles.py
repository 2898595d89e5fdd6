"""The command that draws sets of puzzles, and writes them as requests to a model."""

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
    help="paper, mini, or a grid such as 'N=20,50 ratio=5,50 d=1,3'.",
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
    help="chain: ids along the authors' chain, drawn by one process. spawn: ids that do "
    "not depend on the order, for new experiments. Default: the first puzzles of each cell "
    "of the paper's set; for other cells or seeds, chain.",
)
@click.option(
    "--edition",
    default="python",
    show_default=True,
    help="python: the authors' Python port. elixir-1.14, elixir-1.16, elixir-1.17: their "
    "Elixir original as run by Elixir 1.14 and 1.15, 1.16, or 1.17 and later (also elixir).",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["parquet", "jsonl", *_ASKING]),
    default="parquet",
    show_default=True,
    help="parquet: puzzles.parquet. jsonl: puzzles.jsonl, and prompts.jsonl with a column "
    "prompt. openai-batch: puzzles.parquet, and requests-*.jsonl for OpenAI's batch "
    "endpoint. lm-eval: puzzles.parquet, and a task folder for lm-evaluation-harness.",
)
@click.option(
    "--model", default="", help="For openai-batch: the endpoint's name for the model."
)
@click.option(
    "--effort",
    type=click.Choice(_EFFORTS),
    default="unset",
    show_default=True,
    help="For openai-batch and lm-eval: the reasoning effort to request; the paper used "
    "medium for gpt-5. unset: the server decides.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(min=0),
    help="For the same formats: the sampling temperature, which the paper does not state. "
    "Default: the server's, and 0 in lm-eval.",
)
@click.option(
    "--max-tokens",
    type=FROM_1,
    default=32_768,
    show_default=True,
    help="For the same formats: maximum tokens of a response, including the reasoning. In "
    "the paper the same number covers prompt and response together; the scorer applies that "
    "budget from the token counts of the responses. A lower limit truncates answers that the "
    "paper would have counted; set one only if the server's context window requires it.",
)
@click.option(
    "--perturb",
    "perturbation",
    help="Perturb every prompt (in prompts.jsonl or the requests), to make it harder to "
    "read: not_not, opposites, wrappers, rail_fence, rectangle_perimeter, "
    "snake_horizontal, snake_vertical, interleave_line, interleave_word, "
    "interleave_symbol, reverse_sentences, reverse_words or reverse_symbols; baseline "
    "prepares the text in the same way, but does not perturb it.",
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
    """Draw a set of puzzles.

    The puzzles equal those of the authors' released generators, byte for byte. A grid lists lengths
    N (statements), nominal needle ratios in percent, and difficulties d from 1 to 12.

    \b
    Examples:
      cogniload puzzles --out sets/paper
      cogniload puzzles --grid N=20,50,ratio=5,50,d=1,3 --per-cell 10 --out sets/small
      cogniload puzzles --edition elixir --out sets/elixir
      cogniload puzzles --per-cell 10 --format openai-batch --model gpt-5-nano \\
        --effort medium --out sets/requests
      cogniload puzzles --per-cell 10 --format jsonl --perturb rail_fence --out sets/rails
      cogniload puzzles --grid 'N=20000 ratio=2.5 d=10' --per-cell 5 --id-scheme spawn \\
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
    """Raise ValueError if an option does not apply to the format, or a required one is missing."""
    asking = ", ".join(_ASKING)
    if kind == "parquet" and perturbation:
        raise ValueError(
            f"--format {kind} has no prompts; --perturb needs one of: jsonl, {asking}"
        )
    if kind not in _ASKING and (effort != "unset" or temperature is not None):
        raise ValueError(
            f"--format {kind} has no requests; --effort and --temperature need one of: {asking}"
        )
    if bool(model.strip()) != (kind == "openai-batch"):
        raise ValueError(
            "--format openai-batch needs --model, the endpoint's name for the model; no "
            "other format takes one"
        )


def _write_queries(
    out: Path,
    puzzles: Path,
    kind: str,
    perturbation: str | None,
    model: str,
    **sampling: Any,
) -> list[Path]:
    """Write the prompts for a set of puzzles in the requested format; return the paths."""
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
