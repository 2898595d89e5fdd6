"""Before a model is evaluated: how many puzzles and tokens it takes."""

import click

from cogniload_repro.commands.options import say


class _Within(click.ParamType):
    """A share such as 10% or 0.1."""

    name = "PERCENT"

    def convert(self, value, param, ctx):
        """Return the fraction."""
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            share = 0.0
        if not 0 < share < 1:
            self.fail(f"{text} is no share of ECL50; give a percentage between 0% and 100%, such as 10%", param, ctx)
        return share


@click.command()
@click.option("--width", type=float, help="Width of the 95% interval of log10 ECL50 to reach (0.1 if nothing is said).")
@click.option("--within", type=_Within(), help="The same as a distance from ECL50: 10% for ECL50 / 1.1 to ECL50 x 1.1.")
@click.option("--model", help="A model of the paper that yours resembles; by default the median of all.")
@click.option("--price-in", type=click.FloatRange(min=0), help="Price of a million tokens of prompts.")
@click.option("--price-out", type=click.FloatRange(min=0), help="Price of a million tokens of responses.")
@click.option("--distinguish", nargs=2, metavar="A B", help="Also list the cells that best distinguish two models.")
@click.option("--apart", nargs=2, hidden=True)
def plan(
    width: float | None,
    within: float | None,
    model: str | None,
    price_in: float | None,
    price_out: float | None,
    distinguish: tuple[str, str] | None,
    apart: tuple[str, str] | None,
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
    import math

    from cogniload_repro.evaluation.planning import count_needed, separate
    from cogniload_repro.models import NAMES, find_model
    from cogniload_repro.statistics.provenance import origin_note

    if width is not None and within is not None:
        raise click.UsageError("--width and --within say the same in two ways; give one of them")
    if within is not None:
        width = 2 * math.log10(1 + within)
    needed = count_needed(width := 0.1 if width is None else width)
    name = find_model(model).name if model else None
    own = needed[needed["model"] == name] if name else needed
    shown = own.drop(columns="model").groupby("form", sort=False).median().apply(lambda column: column.map(math.ceil))
    if price_in is not None or price_out is not None:
        cost = (shown["prompt_tokens"] * (price_in or 0) + shown["response_tokens"] * (price_out or 0)) / 1e6
        shown["cost"] = cost.map("{:,.2f}".format)
    factor = 10 ** (width / 2)
    say(f"For a 95% interval of log10 ECL50 that is {width:.3g} wide, {name or f'median of the {len(NAMES)} models'}:")
    say(f"from ECL50 / {factor:.3g} to ECL50 x {factor:.3g}, {1 - 1 / factor:.0%} below to {factor - 1:.0%} above it.")
    say(shown.reset_index().to_string(index=False, formatters={n: "{:,}".format for n in shown if n != "cost"}))
    if pair := distinguish or apart:
        if apart:
            say("--apart is now called --distinguish; the old name goes with the next release", err=True)
        cells = separate(*pair)
        say(f"\nCells that best distinguish {cells.columns[3]} and {cells.columns[4]}; puzzles for each of them:")
        say(cells.head(8).to_string(index=False, formatters={"puzzles": "{:,.0f}".format, "ratio_pct": "{:g}".format},
                                    float_format="{:.2f}".format))  # fmt: skip
    say(f"\nCurves: {origin_note('reconstructed')}.")
