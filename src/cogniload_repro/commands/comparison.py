"""Two models of a build held against one another."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cogniload_repro.commands.options import BUILD, DATA, say

if TYPE_CHECKING:
    import pandas as pd

_LOADS = {"N": ["N"], "d": ["d"], "rho": ["ratio_pct"], "cell": ["N", "d", "ratio_pct"]}


@click.command("compare-models")
@click.argument("first")
@click.argument("second")
@DATA
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Difference of accuracies below which models are called alike.",
)
@click.option(
    "--by",
    type=click.Choice(list(_LOADS)),
    multiple=True,
    default=("N", "d", "rho"),
    show_default=True,
    help="Compare at each level of this load, or in each cell (may be repeated).",
)
@BUILD
def compare_models(first: str, second: str, data: str | None, margin: float, by: tuple[str, ...], build: Path) -> None:
    """Compare the accuracies of the models FIRST and SECOND: overall, by load, and answer by answer.

    Without a build, the committed counts of the paper's models are compared. Differences are FIRST minus SECOND over
    the cells that both have, with 95% intervals; p-values are corrected for all rows of a table (Holm). Where both
    have real answers to the same puzzles, these are compared pair by pair (McNemar). Reconstructed answers are paired
    with nothing: which puzzles a model had right is not printed.

    \b
    Examples:
      cogniload compare-models QwQ-32B Qwen3-32B
      cogniload compare-models mine QwQ-32B --margin 0.02 --by cell
    """
    from cogniload_repro.robustness import differences
    from cogniload_repro.statistics.cell_tables import describe_cells, load_cells

    built = data is None and (build / "cells.parquet").exists()
    cells = load_cells(build if built else data)
    say(f"{first} minus {second}")
    for columns in [[], *(_LOADS[one] for one in dict.fromkeys(by))]:
        say(_table_text(differences.compare_models(cells, first, second, columns, margin), columns) + "\n")
    if note := describe_cells(cells):
        say(f"{note}.")
    for line in _pair_lines(build, first, second, margin) if built else ["No single answers are here to be paired."]:
        say(line)


def _table_text(frame: "pd.DataFrame", columns: list[str]) -> str:
    """Return a table of differences in percentage points."""
    shown = frame[columns].copy()
    shown["cells"], shown["first"], shown["second"] = frame["cells"], frame["accuracy_first"], frame["accuracy_second"]
    shown[["first", "second"]] = shown[["first", "second"]].map("{:.1%}".format)
    ends = zip(frame["difference"], frame["low"], frame["high"], strict=True)
    shown["difference (95%)"] = [f"{100 * one:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})" for one, low, high in ends]
    shown["p"], shown["verdict"] = frame["p_holm"].map("{:.2g}".format), frame["verdict"]
    return shown.to_string(index=False)


def _pair_lines(build: Path, first: str, second: str, margin: float) -> Iterator[str]:
    """Yield what the answers to the same puzzles say, or why there are none."""
    import pandas as pd

    from cogniload_repro.robustness.differences import compare_answers
    from cogniload_repro.storage import partition_path, read_metadata

    paths = [partition_path(build / "scores", name) for name in (first, second)]
    for name, path in zip((first, second), paths, strict=True):
        if not path.exists():
            yield f"Not paired: {name} has no scores in {build}; make them with `make score`."
            return
        if read_metadata(path).get("provenance") != "imported":
            yield f"Not paired: the answers of {name} are reconstructed, and which puzzles it had right is not printed."
            return
    one, other = (pd.read_parquet(path, columns=["name", "correct"]).set_index("name")["correct"] for path in paths)
    counts, found = compare_answers(one, other, margin)
    yield f"{counts.sum():,} puzzles answered by both: " + ", ".join(
        f"{count:,} {word.replace('_', ' ')}" for word, count in counts.items()
    )
    yield (
        f"difference {100 * found.difference:+.1f} points (95%: {100 * found.low:+.1f} to {100 * found.high:+.1f}), "
        f"McNemar p = {found.p:.2g}: {found.verdict}"
    )
