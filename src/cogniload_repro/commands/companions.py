"""Studies beside the paper: the SCAP protocol."""

from pathlib import Path

import click

from cogniload_repro.commands.options import say


@click.command()
@click.argument("answers", type=click.Path(path_type=Path, exists=True, dir_okay=False), required=False)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("probes.jsonl"),
    show_default=True,
    help="File of the probes to ask next.",
)
@click.option("--repeats", type=click.IntRange(min=1), default=36, show_default=True, help="Probes a size.")
@click.option("--seed", type=click.IntRange(min=0), default=42, show_default=True, help="Seed of all probes.")
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
    import json

    from cogniload_repro.companions import scap as protocol
    from cogniload_repro.files import write_whole

    counts = protocol.read_counts(answers)
    if answers:
        estimates = protocol.estimate_capacity(counts)
        say(estimates.to_string(index=False, na_rep="", float_format="{:.1f}".format))
    rows = list(protocol.list_probes(protocol.next_sizes(counts), repeats, seed))
    if rows:
        write_whole(out, "".join(json.dumps(row) + "\n" for row in rows))
        say(f"{len(rows)} probes to ask in {out}")
    else:
        say("Nothing is left to ask")
