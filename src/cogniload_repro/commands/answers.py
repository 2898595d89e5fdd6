"""The commands that look at answers: explain a score, compare two models."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import click

from cogniload_repro.commands.options import BUILD, EDITION, say


@click.command()
@click.argument("name")
@click.argument(
    "response",
    type=click.File(encoding="utf-8", errors="surrogateescape"),
    default="-",
    metavar="[FILE]",
)
@EDITION
def explain(name: str, response: TextIO, edition: str) -> None:
    """Explain how a response was scored.

    FILE (default: standard input) holds the response to the puzzle NAME. The explanation
    says where the scorer looks, what it finds, and which rule decides. The context limit is tested
    by `cogniload_repro.score_response`, which takes both counts of tokens.

    \b
    Examples:
      cogniload explain 20_1_1_770487_red < answer.txt
      cogniload explain 20_1_1_770487_red answer.txt --edition elixir
    """
    from cogniload_repro.puzzles.rows import redraw
    from cogniload_repro.scoring.response import score_response

    say(score_response(response.read(), redraw(name, edition)).explain())


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
    over the reconstructions, where the printed tables do not identify a number. The difference is
    that of the more accurate model minus the other one, over the cells that both have; the tables
    have all cells of each model, in the order given. Two models with answers in the build are also
    compared puzzle by puzzle.

    \b
    Examples:
      cogniload compare-models QwQ-32B Qwen3-32B
      cogniload compare-models mine QwQ-32B
    """
    from cogniload_repro.book.compare_rows import compare_pair
    from cogniload_repro.book.terminal import format_pair

    compared = compare_pair(build, first, second)
    answers = _compare_answers(build, [*compared["cells"].index])
    say("\n".join([*format_pair(compared), *answers]))


def _compare_answers(build: Path, models: Any) -> Iterator[str]:
    """Yield the comparison of two models on the same puzzles, if both have answers to some."""
    import pandas as pd

    from cogniload_repro.analysis.comparisons import compare_answers
    from cogniload_repro.formats import describe_p
    from cogniload_repro.storage import partition_path

    files = [partition_path(build / "scores", model) for model in models]
    if not all(file.exists() for file in files):
        return
    first, second = (
        pd.read_parquet(file).set_index("name")["correct"] for file in files
    )
    if first.index.intersection(second.index).empty:
        return
    counts, difference = compare_answers(first, second)
    yield f"\n{counts.sum():,} puzzles answered by both (first model: {models[0]})"
    yield counts.to_string()
    yield f"McNemar's test: {describe_p(difference.p, 2)}"
