"""The commands that look at answers: explain a score, compare two models."""

from pathlib import Path
from typing import Any, TextIO

import click

from cogniload_repro.commands.options import BUILD, FROM_0, say


@click.command()
@click.argument("name")
@click.argument(
    "response",
    type=click.File(encoding="utf-8", errors="surrogateescape"),
    default="-",
    metavar="[FILE]",
)
@click.option(
    "--prompt-tokens", type=FROM_0, help="Tokens of the prompt (for the context limit)."
)
@click.option(
    "--response-tokens",
    type=FROM_0,
    help="Tokens of the response; the context limit is tested only if both are given.",
)
@click.option(
    "--edition",
    default="python",
    show_default=True,
    help="Generator edition of the puzzle.",
)
def explain(name: str, response: TextIO, edition: str, **tokens: Any) -> None:
    """Explain how a response was scored.

    FILE (default: standard input) holds the response to the puzzle NAME. The explanation
    says where the scorer looks, what it finds, and which rule decides.

    \b
    Examples:
      cogniload explain 20_1_1_770487_red < answer.txt
      cogniload explain 20_1_1_770487_red answer.txt --edition elixir
    """
    from cogniload_repro.puzzles.draws import resolve_edition
    from cogniload_repro.puzzles.rows import redraw
    from cogniload_repro.scoring.response import score_response

    try:
        puzzle = redraw(name, resolve_edition(edition))
    except ValueError as error:
        raise ValueError(
            f"{name[:80]!r} cannot be drawn with edition {edition}: {error}; "
            "set --edition to the edition that drew it"
        ) from None
    say(score_response(response.read(), puzzle, **tokens).explain())


@click.command("compare-models")
@click.argument("first")
@click.argument("second")
@BUILD
def compare_models_command(first: str, second: str, build: Path) -> None:
    """Compare two models: the rows of the page Compare.

    These are the difference in accuracy, overall and by length, accuracies by load, overflows,
    and the paper's regression. Names may be full or short. Models that the build lacks have the
    committed counts of the paper. p and the verdict are those of a pair chosen beforehand; p (Holm)
    is for one picked out of all pairs, at one length out of the lengths. Square brackets: range
    over the reconstructions, where the printed tables do not identify a number.

    \b
    Examples:
      cogniload compare-models QwQ-32B Qwen3-32B
      cogniload compare-models mine QwQ-32B
    """
    from cogniload_repro.book.compare_rows import compare_pair
    from cogniload_repro.book.terminal import format_pair

    for text in format_pair(compare_pair(build, first, second)):
        say(text)
