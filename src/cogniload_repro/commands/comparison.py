"""Two models of a build compared."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cogniload_repro.commands.options import BUILD, say

if TYPE_CHECKING:
    import pandas as pd

_LOADS = {"N": ["N"], "d": ["d"], "rho": ["ratio_pct"], "cell": ["N", "d", "ratio_pct"]}


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
    type=click.Choice(list(_LOADS)),
    multiple=True,
    default=("N", "d", "rho"),
    show_default=True,
    help="Compare at each level of this load, or in each cell (may be repeated).",
)
@BUILD
def compare_models(first: str, second: str, margin: float, by: tuple[str, ...], build: Path) -> None:
    """Compare the accuracies of the models FIRST and SECOND: overall, by load, and answer by answer.

    Names may be full or short. Without a build, the committed counts of the paper's models are compared.
    Differences are FIRST minus SECOND over the cells that both have, with intervals; p-values are Holm-adjusted
    over the rows of a table, overall over all pairs of models. The printed tables do not identify levels of rho and
    single cells of the paper's models: there a range over the reconstructions stands in place of a p-value. Real
    answers of both models to the same puzzles are also compared puzzle by puzzle (McNemar).

    \b
    Examples:
      cogniload compare-models QwQ-32B Qwen3-32B
      cogniload compare-models mine QwQ-32B --margin 0.02 --by cell
    """
    from cogniload_repro.robustness.comparisons import compare_models as compare
    from cogniload_repro.statistics.cell_tables import describe_cells, load_cells

    built = (build / "cells.parquet").exists()
    counts = load_cells(build if built else None)
    first, second = (_find_name(name, counts["model"].unique()) for name in (first, second))
    say(f"{first} minus {second}")
    identified, marked = True, False
    for columns in [[], *(_LOADS[one] for one in dict.fromkeys(by))]:
        table = compare(counts, first, second, columns, margin)
        text = _table_text(table, columns, [counts[counts["model"] == model] for model in (first, second)])
        identified, marked = identified and table["identified"].all(), marked or "*" in text
        say(text + "\n")
    if not identified:
        say("Without a verdict: not identified by the printed tables; median and range over the reconstructions.")
    if marked:
        say("*: more than 10% of the answers ran out of context and count as wrong.")
    if note := describe_cells(counts):
        say(f"{note}.")
    for line in _pair_lines(build, first, second, margin) if built else ["No single answers are here to be paired."]:
        say(line)


def _find_name(name: str, known: Iterable[str]) -> str:
    """Return the full name of a model that is given by its full or short name, in any case."""
    from cogniload_repro.models import BY_NAME

    full = {str(one): str(one) for one in known}
    lower = {BY_NAME[one].label.lower(): one for one in full if one in BY_NAME} | {one.lower(): one for one in full}
    if found := full.get(name, lower.get(name.lower())):
        return found
    near = dict.fromkeys(lower[one] for one in get_close_matches(name.lower(), lower, n=3, cutoff=0.5))
    hint = f"did you mean {' or '.join(near)}?" if near else f"they have: {', '.join(full)}"
    raise ValueError(f"the cells have no model {name}; {hint} (a model that was added comes with `make score`)")


def _table_text(frame: "pd.DataFrame", columns: list[str], cells: list["pd.DataFrame"]) -> str:
    """Return a table of differences in percentage points; a star marks a model with many overflows."""
    from cogniload_repro.published import CONFIDENCE
    from cogniload_repro.robustness.overflows import MARKED_SHARE

    shown = frame[columns].assign(cells=frame["cells"])
    for word, own in zip(("first", "second"), cells, strict=True):
        sums = own.assign(all=0).groupby(columns or ["all"])[own.columns.intersection(["ctx", "total"])].sum()
        marks = sums.get("ctx", 0) > MARKED_SHARE * sums["total"]
        stars = marks.reindex(frame.set_index(columns).index if columns else [0]).map({True: "*"}).fillna("")
        shown[word] = frame[f"accuracy_{word}"].map("{:.1%}".format) + stars.to_numpy()
    identified = frame["identified"].all()
    ends = ("ci_low", "ci_high") if identified else ("difference_p10", "difference_p90")
    name = f"difference ({CONFIDENCE})" if identified else "difference (range)"
    shown[name] = [f"{100 * one:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"
                   for one, low, high in frame[["difference", *ends]].to_numpy()]  # fmt: skip
    if identified:
        shown["p (Holm)"], shown["verdict"] = frame["p_holm"].map("{:.2g}".format), frame["verdict"]
    return shown.rename(columns={"ratio_pct": "rho (%)"}).to_string(index=False)


def _pair_lines(build: Path, first: str, second: str, margin: float) -> Iterator[str]:
    """Yield what the answers to the same puzzles say, or why there are none."""
    import pandas as pd

    from cogniload_repro.published import CONFIDENCE
    from cogniload_repro.robustness.comparisons import compare_answers, judge
    from cogniload_repro.storage import partition_path, read_metadata

    paths = [partition_path(build / "scores", name) for name in (first, second)]
    for name, path in zip((first, second), paths, strict=True):
        if not path.exists():
            yield f"Not paired: {name} has no scores in {build}; make them with `make score`."
            return
        if read_metadata(path).get("provenance") != "imported":
            yield f"Not paired: the answers of {name} are reconstructed, and which puzzles it solved is not printed."
            return
    one, other = (pd.read_parquet(path, columns=["name", "correct"]).set_index("name")["correct"] for path in paths)
    counts, found = compare_answers(one, other, margin)
    said = ", ".join(f"{count:,} {word.replace('_', ' ')}" for word, count in counts.items())
    yield f"{counts.sum():,} puzzles answered by both: {said}"
    yield (
        f"difference {100 * found.difference:+.1f} points ({CONFIDENCE}: {100 * found.ci_low:+.1f} to "
        f"{100 * found.ci_high:+.1f}), McNemar p = {found.p:.2g}: {judge(found.p, found.p_equivalence)}"
    )
