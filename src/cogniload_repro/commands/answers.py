"""The commands that look at answers: explain a score, compare two models."""

from pathlib import Path
from typing import Any, TextIO

import click

from cogniload_repro.commands.options import BUILD, FROM_0, say

#: Columns of the cells by the load that they are the levels of.
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
    "--prompt-tokens", type=FROM_0, help="Tokens of the prompt, for the context limit."
)
@click.option("--response-tokens", type=FROM_0, help="Tokens of the response.")
@click.option(
    "--edition",
    default="python",
    show_default=True,
    help="Generator edition of the puzzle.",
)
def explain(name: str, response: TextIO, edition: str, **tokens: Any) -> None:
    """Explain the score of the response in FILE to the puzzle NAME.

    It says where the scorer looks, what it finds, and which rule decides.

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
            f"{name[:80]!r}, drawn with edition {edition}: {error}; "
            "name the generator's edition (--edition)"
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
    help="Differences of accuracy below it are negligible.",
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
    """Compare two models' accuracies: overall, by load, and answer by answer.

    Names may be full or short. Without a build, the committed counts of the paper's models are
    compared. Differences are FIRST minus SECOND over the cells that both have, with score
    intervals, which the tests invert; p-values are Holm-adjusted over the rows of a table, overall
    over all pairs of models. The printed tables do not identify accuracy of the paper's models at
    levels of rho, in single cells and on parts of the grid: there a range over the reconstructions
    stands in place of a p-value, with the number of them in which the models differ. Real answers
    of both models to the same puzzles are also compared puzzle by puzzle (McNemar).

    \b
    Examples:
      cogniload compare-models QwQ-32B Qwen3-32B
      cogniload compare-models mine QwQ-32B --margin 0.02 --by cell
    """
    from cogniload_repro.book.pair import describe_pair

    columns = [_LEVEL_COLUMNS[load] for load in dict.fromkeys(loads)]
    for paragraph in describe_pair(build, first, second, columns, margin):
        say(paragraph)
