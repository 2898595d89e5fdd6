"""Before a model is evaluated: what it takes."""

import click

from cogniload_repro.commands.options import say


@click.command()
@click.option("--width", type=float, default=0.1, show_default=True, help="Wanted: the 95% interval of log10 ECL50.")
@click.option("--model", help="One of the paper's models that yours is like; by default the median of all.")
@click.option("--price-in", type=float, default=0.0, help="Price of a million tokens of prompts.")
@click.option("--price-out", type=float, default=0.0, help="Price of a million tokens of responses.")
@click.option("--apart", nargs=2, metavar="A B", help="Also the cells that tell two of the paper's models apart.")
def plan(width: float, model: str | None, price_in: float, price_out: float, apart: tuple[str, str] | None) -> None:
    """Tell how many puzzles, tokens and how much money an evaluation takes.

    Numbers are those of the paper's models: their fitted curves, and their tokens as Tables 7 to 10 print them.

    \b
    Examples:
      cogniload plan --width 0.1 --price-in 1.25 --price-out 10
      cogniload plan --model QwQ-32B
      cogniload plan --apart o3-2025-04-16 gemini-2.5-pro
    """
    from cogniload_repro.evaluation.costs import count_needed, separate
    from cogniload_repro.models import NAMES
    from cogniload_repro.statistics.provenance import origin_note

    needed = count_needed(width)
    if model is not None and model not in NAMES:
        raise ValueError(f"the paper has no model {model!r}; choose among: {', '.join(NAMES)}")
    chosen = needed[needed["model"] == model] if model else needed
    typical = chosen.drop(columns="model").groupby("form", sort=False).median()
    typical["cost"] = (typical["prompt_tokens"] * price_in + typical["response_tokens"] * price_out) / 1e6
    say(f"For an interval of log10 ECL50 that is {width:g} wide, {model or f'median of the {len(NAMES)} models'}:")
    say(typical.reset_index().to_string(index=False, float_format="{:,.0f}".format if typical["cost"].max() > 100
                                        else "{:,.2f}".format))  # fmt: skip
    if apart:
        say(f"\nCells that tell {apart[0]} and {apart[1]} apart, puzzles for each of them:")
        say(separate(*apart).head(8).to_string(index=False, float_format="{:.2f}".format))
    say(f"\nCurves: {origin_note('reconstructed')}.")
