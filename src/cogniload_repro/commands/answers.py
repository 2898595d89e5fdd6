"""The commands that look at answers: explain a score, compare two models."""

from pathlib import Path
from typing import Any, TextIO

import click

from cogniload_repro.commands.options import BUILD, FROM_0, say

#: Columns of the cells table that define the levels of each load.
_LEVEL_COLUMNS = {
    "N": ["N"],
    "d": ["d"],
    "rho": ["ratio_pct"],
    "cell": ["N", "d", "ratio_pct"],
}


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
      cogniload explain 20_1_1_770487_red answer.txt --edition elixir-1.16
    """
    from cogniload_repro.puzzles.catalog import redraw
    from cogniload_repro.puzzles.draws import resolve_edition
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
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Differences in accuracy below this are negligible.",
)
@click.option(
    "--by",
    "loads",
    type=click.Choice(list(_LEVEL_COLUMNS)),
    multiple=True,
    default=("N", "d", "rho"),
    show_default=True,
    help="Compare at each level of this load, or in each cell (may be repeated).",
)
@BUILD
def compare_models_command(
    first: str, second: str, margin: float, loads: tuple[str, ...], build: Path
) -> None:
    """Compare the accuracies of two models.

    The models are compared overall and by load; names may be full or short. Without a build, the
    committed counts of the paper's models are compared. Differences are FIRST minus SECOND over
    the cells that both models have, with score intervals and the tests that agree with them.
    p-values are Holm-adjusted over the rows of a table, the overall one over all pairs of models.
    The printed tables do not identify the accuracy of the paper's models at levels of rho, in
    single cells and on parts of the grid. There, a range over the reconstructions replaces the
    p-value, with the number of reconstructions in which the models differ. If both models have
    real answers to the same puzzles, these are also compared puzzle by puzzle (McNemar).

    \b
    Examples:
      cogniload compare-models QwQ-32B Qwen3-32B
      cogniload compare-models mine QwQ-32B --margin 0.02 --by cell
    """
    from cogniload_repro.book.pair import describe_pair

    columns = [_LEVEL_COLUMNS[load] for load in dict.fromkeys(loads)]
    for paragraph in describe_pair(build, first, second, columns, margin):
        say(paragraph)
