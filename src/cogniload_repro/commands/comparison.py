"""Two models of a build compared."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cogniload_repro.commands.options import BUILD, say

if TYPE_CHECKING:
    import pandas as pd

_LOADS = {"N": ["N"], "d": ["d"], "rho": ["ratio_pct"], "cell": ["N", "d", "ratio_pct"]}


@click.command("compare-models")
@click.argument("first")
@click.argument("second")
@click.option(
    "--margin", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
    help="Differences of accuracy below it are negligible.",
)  # fmt: skip
@click.option(
    "--by", type=click.Choice(list(_LOADS)), multiple=True, default=("N", "d", "rho"), show_default=True,
    help="Compare at each level of this load, or in each cell (may be repeated).",
)  # fmt: skip
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
    from cogniload_repro.robustness.overflows import MARKED_SHARE
    from cogniload_repro.statistics.cell_tables import describe_cells, load_cells

    built = (build / "cells.parquet").exists()
    counts = load_cells(build if built else None)
    first, second = (_find_name(name, counts["model"].unique().tolist()) for name in (first, second))
    say(f"{first} minus {second}")
    for columns in [[], *(_LOADS[one] for one in dict.fromkeys(by))]:
        say(_table_text(compare(counts, first, second, columns, margin), columns) + "\n")
    lost = counts.assign(ctx=counts.get("ctx", 0)).groupby("model")[["ctx", "total"]].sum().loc[[first, second]]
    for name, share in (lost["ctx"] / lost["total"]).items():
        if share > MARKED_SHARE:
            say(f"{name}: {share:.0%} of the answers ran out of context and count as wrong.")
    if note := describe_cells(counts):
        say(f"{note}.")
    for line in _answer_lines(build, first, second, margin) if built else ["No single answers are here."]:
        say(line)


def _find_name(name: str, known: Collection[str]) -> str:
    """Return the full name of a model that is given by its full or short name, in any case."""
    from cogniload_repro.models import BY_NAME

    full = {BY_NAME[one].label.lower(): one for one in known if one in BY_NAME} | {one.lower(): one for one in known}
    if name.lower() not in full:
        raise ValueError(f"no model {name} in the cells, which have: {', '.join(known)} (`make score` adds a new one)")
    return name if name in known else full[name.lower()]


def _table_text(frame: "pd.DataFrame", columns: list[str]) -> str:
    """Return a table of differences in percentage points, without verdicts where they are not identified."""
    from cogniload_repro.published import CONFIDENCE

    shown = frame[columns].assign(cells=frame["cells"])
    for word in ("first", "second"):
        shown[word] = frame[f"accuracy_{word}"].map("{:.1%}".format)
    identified = frame["identified"].all()
    ends = ("ci_low", "ci_high") if identified else ("difference_p10", "difference_p90")
    name = f"difference ({CONFIDENCE})" if identified else "median and range over the reconstructions"
    shown[name] = [f"{100 * one:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"
                   for one, low, high in frame[["difference", *ends]].to_numpy()]  # fmt: skip
    if identified:
        shown["p (Holm)"], shown["verdict"] = frame["p_holm"].map("{:.2g}".format), frame["verdict"]
    return shown.rename(columns={"ratio_pct": "rho (%)"}).to_string(index=False)


def _answer_lines(build: Path, first: str, second: str, margin: float) -> Iterator[str]:
    """Yield what single answers say: use of the last clause by each model, and both compared on the same puzzles."""
    import pandas as pd

    from cogniload_repro.puzzles.baselines import baselines
    from cogniload_repro.robustness.comparisons import compare_answers, judge, shortcut_use
    from cogniload_repro.storage import partition_path, read_metadata

    paths = {name: partition_path(build / "scores", name) for name in (first, second)}
    real = [name for name, path in paths.items()
            if path.exists() and read_metadata(path).get("provenance") == "imported"]  # fmt: skip
    yield from (f"{name} has no real answers here: none are paired." for name in paths if name not in real)
    scores = [pd.read_parquet(paths[name]) for name in real]
    for one in shortcut_use(pd.concat(scores), baselines(build / "puzzles.parquet")).itertuples() if scores else ():
        shares = f"accuracy {one.right:.1%} where the last clause is right, {one.wrong:.1%} where it is wrong"
        known = f"{shares}; within cells, {_interval(one)}"
        yield f"{one.model}: {known if one.answers else 'no cell has puzzles whose last clause is right and wrong'}"
    answers = [frame.set_index("name")["correct"] for frame in scores]
    if len(answers) == 2 and len(answers[0].index.intersection(answers[1].index)):
        counts, found = compare_answers(answers[0], answers[1], margin)
        said = ", ".join(f"{count:,} {word.replace('_', ' ')}" for word, count in counts.items())
        yield f"{counts.sum():,} puzzles answered by both: {said}"
        yield f"{_interval(found)}, McNemar p = {found.p:.2g}: {judge(found.p, found.p_equivalence)}"


def _interval(found: Any) -> str:
    from cogniload_repro.published import CONFIDENCE

    ends = f"{100 * found.ci_low:+.1f} to {100 * found.ci_high:+.1f}" if found.ci_low == found.ci_low else "unknown"
    return f"difference {100 * found.difference:+.1f} points ({CONFIDENCE}: {ends})"
