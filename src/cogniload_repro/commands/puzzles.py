"""Sets of puzzles, drawn and verified; how many an evaluation needs, and the probes of SCAP."""

import json
import math
from collections import Counter
from pathlib import Path

import click
from tqdm import tqdm

from cogniload_repro.commands.options import (
    EXISTING_FILE,
    FILE,
    FOLDER,
    FROM_0,
    FROM_1,
    JOBS,
    KEY_ORDER,
    ended_by_hand,
    say,
    takes_source,
)
from cogniload_repro.escapes import for_terminal
from cogniload_repro.files import write_whole

#: Formats of requests to a model; the others are those of `puzzles.sets` and the card of a data set.
_ASKING = ("openai-batch", "chat", "lm-eval")


@click.command()
@click.option("--grid", default="paper", show_default=True, help="paper, mini, or such as 'N=20,50 ratio=5,50 d=1,3'.")
@click.option("--per-cell", type=FROM_1, default=100, show_default=True, help="Puzzles per cell.")
@click.option("--seed", type=FROM_0, default=42, show_default=True, help="Seed of the whole set.")
@click.option(
    "--rounding", default="half-up", show_default=True,
    help="Rounding of N × ratio at .5: half-up (the paper's data) or half-even (the released port).",
)  # fmt: skip
@click.option(
    "--id-scheme", "scheme", type=click.Choice(["chain", "spawn"]), default="chain", show_default=True,
    help="Ids along the authors' chain (drawn by one process, but for the default set), or independent of order, for "
    "new experiments.",
)  # fmt: skip
@click.option(
    "--edition", default="python", show_default=True,
    help="The authors' Python port, or their Elixir original as Elixir 1.14 and 1.15 (elixir-1.14), 1.16 (elixir-1.16) "
    "or 1.17 and later (elixir-1.17, or elixir) run it.",
)  # fmt: skip
@KEY_ORDER
@click.option(
    "--format", "kind", type=click.Choice(["parquet", "jsonl", "release", *_ASKING, "huggingface"]),
    default="parquet", show_default=True,
    help="puzzles.parquet, puzzles.jsonl, or the folders of the authors' release: the same texts, "
    "and ten of the sixteen keys of each _state.json, in which needles and hays are the puzzle's and not what is left "
    "of them (0). The others are puzzles.parquet and, for asking a model: requests-*.jsonl of OpenAI's batch endpoint; "
    "chat.jsonl with messages; a task folder of lm-evaluation-harness; or the card of a Hugging Face data set.",
)  # fmt: skip
@click.option("--model", default="", help="For openai-batch: the model, as the endpoint calls it.")
@click.option(
    "--effort", type=click.Choice(["unset", "none", "minimal", "low", "medium", "high", "xhigh", "max"]),
    default="unset", show_default=True,
    help="For openai-batch, chat and lm-eval: the reasoning effort to ask for; the paper used medium for gpt-5. Unset "
    "leaves it to the server.",
)  # fmt: skip
@click.option(
    "--temperature", type=click.FloatRange(min=0),
    help="For the same formats; without it the server's default, which in lm-eval is 0. The paper states none.",
)  # fmt: skip
@click.option(
    "--max-tokens", type=FROM_1, default=32_768, show_default=True,
    help="For the same formats: tokens of a response, reasoning included, at most. The paper's budget is as much for "
    "prompt and response together; scoring applies it from the counts that come back. A lower limit truncates answers "
    "that the paper would have counted; a server whose window holds no more asks for one.",
)  # fmt: skip
@click.option(
    "--perturb", "perturbation",
    help="Every prompt is perturbed so that it is harder to read, in queries.jsonl or in the requests: not_not, "
    "opposites, wrappers, rail_fence, rectangle_perimeter, snake_horizontal, snake_vertical, interleave_line, "
    "interleave_word, interleave_symbol, reverse_sentences, reverse_words or reverse_symbols; baseline prepares the "
    "text in the same way and perturbs nothing.",
)  # fmt: skip
@click.option(
    "--overload", type=FROM_1, default=1, show_default=True, help="Puzzles per query, of which the last is scored."
)
@click.option("--out", type=FOLDER, required=True, help="Folder to write into.")
@JOBS
def puzzles(
    grid: str, per_cell: int, seed: int, rounding: str, scheme: str, edition: str, key_order: str | None, kind: str,
    perturbation: str | None, overload: int, out: Path, jobs: int, **request,
) -> None:  # fmt: skip
    """Draw a set of puzzles, byte for byte as the authors' released generators draw them.

    The same command completes a set that was stopped: a table is drawn anew, the release's files are kept. A folder
    with another set is refused. A grid names its statements N, nominal needle ratios in percent and difficulties d
    from 1 to 12.

    \b
    Examples:
      cogniload puzzles --out sets/paper
      cogniload puzzles --grid N=20,50,ratio=5,50,d=1,3 --per-cell 10 --format jsonl --out sets/small
      cogniload puzzles --edition elixir --out sets/elixir
      cogniload puzzles --per-cell 10 --format openai-batch --model gpt-5-nano --effort medium --out sets/requests
      cogniload puzzles --per-cell 10 --format chat --perturb rail_fence --out sets/rails
      cogniload puzzles --grid 'N=20000 ratio=2.5 d=10' --per-cell 5 --id-scheme spawn --seed 7 --out sets/long
    """
    from cogniload_repro.companions.protocol import name_condition
    from cogniload_repro.grid import grid_cells
    from cogniload_repro.puzzles.editions import resolve_edition
    from cogniload_repro.puzzles.ids import PuzzleSet
    from cogniload_repro.puzzles.sets import write_set

    puzzles = PuzzleSet(grid_cells(grid, rounding), per_cell, seed, scheme, resolve_edition(edition, key_order))
    name_condition(perturbation, overload)
    if kind not in _ASKING and (request["effort"] != "unset" or request["temperature"] is not None):
        raise ValueError(f"--format {kind} holds no requests; --effort and --temperature need {', '.join(_ASKING)}")
    if bool(request["model"].strip()) != (kind == "openai-batch"):
        raise ValueError("--format openai-batch needs --model, as the endpoint calls it; no other format takes one")
    table = "parquet" if kind in (*_ASKING, "huggingface") else kind
    with ended_by_hand("the same command goes on from here"):
        count = write_set(out, table, puzzles, jobs)
    say(f"{count:,} puzzle{'s' * (count != 1)} in {out}")
    for path in _write_queries(out, kind, perturbation, overload, **request):
        say(f"wrote {path}")
    if kind == "openai-batch" and request["effort"] == "unset":
        say("No reasoning effort is requested, so the server's default applies; the paper used --effort medium.")
    if kind == "lm-eval" and request["temperature"] is None:
        say("The task asks for temperature 0, the harness's default; --temperature sets another.")


def _write_queries(out: Path, kind: str, perturbation: str | None, overload: int, model: str, effort: str,
                   temperature: float | None, max_tokens: int) -> list[Path]:  # fmt: skip
    """Write what to ask a model about the puzzles of a set, in the requested format."""
    from cogniload_repro.companions.protocol import list_queries, write_queries
    from cogniload_repro.evaluation import requests

    queries = list_queries(out, perturbation, overload)
    asked = {"effort": effort, "temperature": temperature, "max_tokens": max_tokens}
    sampling = {name: value for name, value in asked.items() if value not in ("unset", None)}
    if kind == "openai-batch":
        return requests.write_batches(out, queries, model, sampling)
    if kind in ("chat", "lm-eval"):
        return [{"chat": requests.write_chats, "lm-eval": requests.write_harness}[kind](out, queries, sampling)]
    is_plain = perturbation is None and overload == 1
    if kind == "huggingface":
        return requests.write_data_set(out, () if is_plain else queries)
    return [] if is_plain else [write_queries(out, queries)]


@click.command()
@takes_source("Puzzles to solve: a .parquet or .jsonl file, or a folder.", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--redraw/--no-redraw", default=True, show_default=True,
    help="Also draw each puzzle again from its name, under all editions until one fits; turn off for puzzles of "
    "another generator.",
)  # fmt: skip
@JOBS
def verify(source: Path, redraw: bool, jobs: int) -> None:
    """Solve every puzzle of SOURCE from its text and report mismatches.

    SOURCE is a .parquet or .jsonl file of puzzles, or a folder with one or in the format of the authors' release. The
    edition of the generator that it follows is named. The exit code is 0 when all are right, 1 when some are not or
    editions are mixed, and 2 when nothing can be read.

    \b
    Examples:
      cogniload verify sets/paper
      cogniload verify --no-redraw length_20.jsonl
    """
    from cogniload_repro.puzzles.verify import ANOTHER_TEXT, PUZZLE_VERDICTS, verify_set

    counts: Counter[str] = Counter()
    editions: Counter[str] = Counter()
    redrawn = 0
    with ended_by_hand("nothing was changed"), tqdm(desc="verify", disable=None) as bar:
        for verdict in verify_set(source, redraw=redraw, jobs=jobs):
            counts[verdict.verdict] += 1
            editions.update(filter(None, [verdict.edition]))
            redrawn += verdict.detail == ANOTHER_TEXT
            bar.update()
            if verdict.verdict != "right":
                line = f"{verdict.name}: {verdict.verdict}: {verdict.detail}"
                tqdm.write(for_terminal(line).replace("\n", "\\n"))
    verdicts = ", ".join(f"{counts[word]:,} {word}" for word in PUZZLE_VERDICTS if counts[word])
    origins = ", ".join(f"{count:,} drawn by edition {edition}" for edition, count in editions.most_common())
    say("; ".join(filter(None, [f"{counts.total():,} puzzles: {verdicts}", origins])))
    if len(editions) > 1:
        say("The set mixes editions of the generator: keep each in a set of its own.")
    if redrawn == counts.total():
        say("No text is the one drawn from its id: for puzzles of another generator, add --no-redraw.")
    if set(counts) != {"right"} or len(editions) > 1:
        raise click.exceptions.Exit(1)


@click.command()
@click.option("--width", type=float, help="Width of the 95% interval of log10 ECL50 to reach (0.1 if nothing is said).")
@click.option("--within", help="The same as a distance from ECL50: 10% for ECL50 / 1.1 to ECL50 x 1.1.")
@click.option("--model", help="A model of the paper that yours resembles; by default the median of all.")
@click.option("--price-in", type=click.FloatRange(min=0), help="Price of a million tokens of prompts.")
@click.option("--price-out", type=click.FloatRange(min=0), help="Price of a million tokens of responses.")
@click.option(
    "--distinguish", "pair", nargs=2, metavar="A B",
    help="Also list the cells that best distinguish two models.",
)  # fmt: skip
def plan(
    width: float | None, within: str | None, model: str | None, pair: tuple[str, str] | None, **prices: float | None
) -> None:
    """Estimate the puzzles, tokens and cost of an evaluation.

    Numbers are those of the paper's models: their fitted curves, and their tokens as Tables 7 to 10 print them. A cost
    is shown when a price is given.

    \b
    Examples:
      cogniload plan --within 10%
      cogniload plan --width 0.1 --price-in 1.25 --price-out 10
      cogniload plan --model QwQ-32B
      cogniload plan --distinguish o3-2025-04-16 gemini-2.5-pro
    """
    from cogniload_repro.evaluation.planning import count_needed, separate
    from cogniload_repro.models import NAMES, find_model
    from cogniload_repro.statistics.cell_tables import origin_note

    if width is not None and within is not None:
        raise click.UsageError("--width and --within say the same in two ways; give one of them")
    if within is not None:
        width = 2 * math.log10(1 + _read_share(within))
    needed = count_needed(width := 0.1 if width is None else width)
    name = find_model(model).name if model else None
    own = needed[needed["model"] == name] if name else needed
    shown = own.drop(columns="model").groupby("form", sort=False).median().apply(lambda column: column.map(math.ceil))
    if any(price is not None for price in prices.values()):
        kinds = {"prompt_tokens": prices["price_in"], "response_tokens": prices["price_out"]}
        cost = sum(shown[kind] * (price or 0) / 1e6 for kind, price in kinds.items())
        shown["cost"] = cost.map("{:,.2f}".format)
    factor = 10 ** (width / 2)
    say(f"For a 95% interval of log10 ECL50 that is {width:.3g} wide, {name or f'median of the {len(NAMES)} models'}:")
    say(f"from ECL50 / {factor:.3g} to ECL50 x {factor:.3g}, {1 - 1 / factor:.0%} below to {factor - 1:.0%} above it.")
    say(shown.reset_index().to_string(index=False, formatters={n: "{:,}".format for n in shown if n != "cost"}))
    if pair:
        cells = separate(*pair)
        say(f"\nCells that best distinguish {cells.columns[3]} and {cells.columns[4]}; puzzles for each of them:")
        say(cells.head(8).to_string(index=False, formatters={"puzzles": "{:,.0f}".format, "ratio_pct": "{:g}".format},
                                    float_format="{:.2f}".format))  # fmt: skip
    say(f"\nCurves: {origin_note('reconstructed')}.")


def _read_share(text: str) -> float:
    """Return the fraction that a share such as 10% or 0.1 is."""
    try:
        share = float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise ValueError(f"{text} is no share of ECL50; give a percentage between 0% and 100%, such as 10%")
    return share


@click.command()
@click.argument("answers", type=EXISTING_FILE, required=False)
@click.option("--out", type=FILE, default=Path("probes.jsonl"), show_default=True, help="File of probes to ask next.")
@click.option("--repeats", type=FROM_1, default=36, show_default=True, help="Probes a size.")
@click.option("--seed", type=FROM_0, default=42, show_default=True, help="Seed of all probes.")
def scap(answers: Path | None, out: Path, repeats: int, seed: int) -> None:
    """Estimate a model's critical load from its ANSWERS to probes, and write the probes to ask next.

    ANSWERS is a .csv or .jsonl table of all probes asked so far, each with the model's `response`, or the log of
    `inspect eval cogniload_repro/scap`, which asks until nothing is left; without it the first probes are written. When
    nothing is left to ask, no file is written.

    \b
    Examples:
      cogniload scap
      cogniload scap answers.jsonl --out next.jsonl
      cogniload scap logs/NAME.eval
    """
    from cogniload_repro.companions import scap as protocol

    counts = protocol.read_counts(answers)
    if answers:
        estimates = protocol.estimate_capacity(counts)
        say(estimates.to_string(index=False, na_rep="", float_format="{:.1f}".format))
    rows = list(protocol.list_probes(protocol.next_sizes(counts), repeats, seed))
    if rows:
        write_whole(out, "".join(json.dumps(row) + "\n" for row in rows))
    say(f"{len(rows)} probes to ask in {out}" if rows else "Nothing is left to ask")
