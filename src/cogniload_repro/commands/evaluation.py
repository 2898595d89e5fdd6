"""What to ask a model: how many puzzles an evaluation takes, and the probes of SCAP."""

import json
import math
from pathlib import Path

import click

from cogniload_repro.commands.options import EXISTING_FILE, FILE, FROM_0, FROM_1, say
from cogniload_repro.files import write_whole


@click.command()
@click.option("--width", type=float, help="Width of the 95% interval of log10 ECL50 to reach (0.1 if nothing is said).")
@click.option("--within", help="The same as a distance from ECL50: 10% for ECL50 / 1.1 to ECL50 x 1.1.")
@click.option("--model", help="A model of the paper that yours resembles; by default the median of all.")
@click.option("--price-in", type=click.FloatRange(min=0), help="Price of a million tokens of prompts.")
@click.option("--price-out", type=click.FloatRange(min=0), help="Price of a million tokens of responses.")
@click.option("--distinguish", nargs=2, metavar="A B", help="Also list the cells that best distinguish two models.")
@click.option("--apart", nargs=2, hidden=True)
def plan(
    width: float | None,
    within: str | None,
    model: str | None,
    distinguish: tuple[str, str] | None,
    apart: tuple[str, str] | None,
    **prices: float | None,
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
    if apart:
        say("--apart is now called --distinguish; the old name goes with the next release", err=True)
    if pair := distinguish or apart:
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
