"""Two models of a build compared."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
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
def compare_models(first: str, second: str, data: str | None, margin: float, by: tuple[str, ...], build: Path) -> None:
    """Compare the accuracies of the models FIRST and SECOND: overall, by load, and answer by answer.

    Names may be full or short. Without a build, the committed counts of the paper's models are compared.
    Differences are FIRST minus SECOND over the cells that both have, with 95% intervals; p-values are Holm-adjusted
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

    built = data is None and (build / "cells.parquet").exists()
    cells = load_cells(build if built else data)
    first, second = (_find_name(name, cells["model"].unique(), build if built else None) for name in (first, second))
    tables = [(columns, compare(cells, first, second, columns, margin))
              for columns in [[], *(_LOADS[one] for one in dict.fromkeys(by))]]  # fmt: skip
    marks = _find_marks(cells)
    say(f"{first} minus {second}")
    for columns, table in tables:
        say(_table_text(table, columns, (first, second), marks) + "\n")
    if not all(table["identified"].all() for _, table in tables):
        say("Without a verdict: not identified by the printed tables; median and range over the reconstructions.")
    if any(model in (first, second) for model, *_ in marks):
        say("*: more than 10% of the answers ran out of context and count as wrong.")
    if note := describe_cells(cells):
        say(f"{note}.")
    for line in _pair_lines(build, first, second, margin) if built else ["No single answers are here to be paired."]:
        say(line)


def _find_name(name: str, known: Iterable[str], build: Path | None) -> str:
    """Return the full name of a model that is given by its full or short name."""
    import json

    from cogniload_repro.models import BY_NAME

    names = {str(one): str(one) for one in known}
    short = {BY_NAME[one].label.lower(): one for one in names if one in BY_NAME}
    if found := names.get(name, short.get(name.lower())):
        return found
    sources = build / "sources.json" if build else None
    if sources and sources.exists():
        listed = json.loads(sources.read_text(encoding="utf-8"))
        if any(name in source.get("models", ()) for source in listed):
            raise ValueError(f"{name} was added but not scored yet; run `make score` first")
    near = get_close_matches(name.lower(), [*(one.lower() for one in names), *short], n=3, cutoff=0.5)
    near = list(dict.fromkeys(short.get(one) or next(full for full in names if full.lower() == one) for one in near))
    hint = f"did you mean {' or '.join(near)}?" if near else f"they have: {', '.join(names)}"
    raise ValueError(f"the cells have no model {name}; {hint}")


def _find_marks(cells: "pd.DataFrame") -> set[tuple[str, str, float]]:
    """Return the models and levels (overall: "" and 0) of which many answers ran out of context."""
    from cogniload_repro.robustness.overflows import MARKED_SHARE, marked_levels

    if "ctx" not in cells:
        return set()
    marked = marked_levels(cells)
    sums = cells.groupby("model", observed=True)[["ctx", "total"]].sum()
    found = {(str(model), "", 0.0) for model in sums.index[sums["ctx"] > MARKED_SHARE * sums["total"]]}
    return found | {(str(row.model), row.load, float(row.level)) for row in marked.itertuples()}


def _table_text(
    frame: "pd.DataFrame", columns: list[str], models: tuple[str, str], marks: set[tuple[str, str, float]]
) -> str:
    """Return a table of differences in percentage points."""
    shown = frame[columns].assign(cells=frame["cells"])
    levels = frame[columns[0]] if len(columns) == 1 else [0.0] * len(frame)
    load = "".join(columns) if len(columns) < 2 else "cell"
    for word, model in zip(("first", "second"), models, strict=True):
        stars = ["*" * ((model, load, float(level)) in marks) for level in levels]
        shown[word] = [f"{share:.1%}{star}" for share, star in zip(frame[f"accuracy_{word}"], stars, strict=True)]
    identified = frame["identified"].all()
    ends = ("ci95_low", "ci95_high") if identified else ("difference_min", "difference_max")
    name = "difference (95%)" if identified else "difference (range)"
    shown[name] = [f"{100 * one:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"
                   for one, low, high in frame[["difference", *ends]].to_numpy()]  # fmt: skip
    if identified:
        shown["p (Holm)"], shown["verdict"] = frame["p_holm"].map("{:.2g}".format), frame["verdict"]
    return shown.rename(columns={"ratio_pct": "rho (%)"}).to_string(index=False)


def _pair_lines(build: Path, first: str, second: str, margin: float) -> Iterator[str]:
    """Yield what the answers to the same puzzles say, or why there are none."""
    import pandas as pd

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
    yield f"{counts.sum():,} puzzles answered by both: " + ", ".join(
        f"{count:,} {word.replace('_', ' ')}" for word, count in counts.items()
    )
    yield (
        f"difference {100 * found.difference:+.1f} points (95%: {100 * found.ci95_low:+.1f} to "
        f"{100 * found.ci95_high:+.1f}), McNemar p = {found.p:.2g}: {judge(found.p, found.p_equivalence)}"
    )
