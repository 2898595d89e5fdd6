"""The commands that score, fit and compare."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from cogniload_repro.commands import params
from cogniload_repro.commands.options import (
    BUILD,
    EXISTING_FILE,
    FILE,
    FROM_0,
    JOBS,
    REGRESSION,
    say,
    takes,
)
from cogniload_repro.commands.outputs import COUNTS_FILE, check_outputs_whole
from cogniload_repro.commands.params import Parameters
from cogniload_repro.files import locked, write_whole

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas as pd

_LEVEL_COLUMNS = {
    "N": ["N"],
    "d": ["d"],
    "rho": ["ratio_pct"],
    "cell": ["N", "d", "ratio_pct"],
}


@click.command()
@click.option(
    "--scorer",
    help="Scorer variant. pseudocode: Algorithms 1 to 3 of Appendix D (default); prose: its text; late_drop, "
    "cut_windows, last_mention: one difference each; answer_only: ignore the reasoning (not the paper's rule). Without "
    "it, the one of params.yaml; scores of another are kept beside these, in scorers/NAME.",
)
@click.option(
    "--scheduler", help="Dask scheduler whose workers score, such as tcp://host:8786."
)
@takes(BUILD, JOBS)
def score(scorer: str | None, scheduler: str | None, build: Path, jobs: int) -> None:
    """Score the outputs (Appendix D) into scores/ and count them by cell into cells.parquet.

    Models without outputs stand there with their reconstructed counts; the column provenance says
    which. What two answerers without reasoning score on the same puzzles goes into
    baselines.parquet, lengths of prompts and responses into tokens.parquet.
    """
    import pandas as pd

    from cogniload_repro import __version__
    from cogniload_repro.executors import open_executor
    from cogniload_repro.puzzles.baselines import write_baselines
    from cogniload_repro.scoring import cells, scores, verdict

    parameters = params.read_parameters()
    scorer = scorer or parameters.scorer
    place = scores.scores_folder(build, scorer, parameters.scorer)
    rule = verdict.find_scorer(scorer)
    with locked(build):
        check_outputs_whole(build)
        if place == build:
            params.write_parameters(build, "scores", parameters)
        puzzles = (build / "puzzles.parquet").absolute()
        with open_executor(jobs, scheduler) as executor:
            baselines = puzzles.with_name("baselines.parquet")
            written = executor.submit(write_baselines, puzzles, baselines)
            scores.score_dataset(
                build / "outputs", puzzles, place / "scores", executor, rule
            )
            written.result()
        committed = build / COUNTS_FILE
        counts = pd.read_parquet(committed) if committed.exists() else None
        metadata = {"scorer": str(rule), "version": __version__}
        frame = cells.write_cells(place, metadata, counts)
    _say_scores(
        place, frame, "" if scorer == Parameters.scorer else f", scorer {scorer}"
    )
    _say_rejected(build)


def _say_scores(place: Path, cells: "pd.DataFrame", rules: str) -> None:
    """Say what was counted, and what was scored."""
    from cogniload_repro.book.terminal import print_scores
    from cogniload_repro.scoring.answers import summarise_answers
    from cogniload_repro.scoring.cells import count_scores

    is_scored = cells["provenance"] == "scored"
    counted = cells.loc[~is_scored, "model"].nunique()
    if counted:
        say(f"{_count(counted, 'model')}: counts reconstructed from the printed tables")
    scored = cells[is_scored]
    if len(scored):
        responses = _count(scored["total"].sum(), "response")
        models = _count(scored["model"].nunique(), "model")
        say(f"{responses} of {models} scored in {place / 'scores'}{rules}")
        say(print_scores(count_scores(place / "scores", summarise_answers)))


def _say_rejected(build: Path) -> None:
    from pyarrow.parquet import read_table

    rejected = build / "rejected.parquet"
    count = read_table(rejected).num_rows if rejected.is_file() else 0
    if count:
        say(f"{_count(count, 'rejected row')}: {rejected.with_suffix('.csv')}")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


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
    from cogniload_repro.scoring.verdict import score_response

    try:
        puzzle = redraw(name, resolve_edition(edition))
    except ValueError as error:
        remedy = "name the generator's edition (--edition)"
        raise ValueError(
            f"{name[:80]!r}, drawn with edition {edition}: {error}; {remedy}"
        ) from None
    say(score_response(response.read(), puzzle, **tokens).explain())


@click.command("fit")
@takes(*REGRESSION)
@click.option(
    "--model",
    "models",
    multiple=True,
    help="Only this model (repeatable); all by default.",
)
@click.option(
    "--compare",
    is_flag=True,
    help="Compare the likelihood, AIC and BIC with the paper's.",
)
@click.option("--out", type=FILE, help="CSV file to keep the coefficients in.")
@BUILD
def fit_command(
    models: tuple[str, ...],
    compare: bool,
    out: Path | None,
    build: Path,
    **regression: str | None,
) -> None:
    """Fit the paper's regressions and compare them with the paper, or fit your own regression.

    Without options: Tables 2, 3 and 6, lengths of prompts, and fidelity.csv. A formula reads
    `correct ~ ...` over d, N, log10_N, rho, ratio_pct, needles and prompt_mean; an empty one stands
    for the paper's specification. Your own regression is printed, and kept where --out says.
    """
    if not (models or compare or out) and set(regression.values()) == {None}:
        from cogniload_repro.executors import open_executor
        from cogniload_repro.ledger.prompts import compare_prompts, load_prompt_counts

        with (
            locked(build),
            open_executor(2) as executor,
        ):  # beside the other regressions
            prompts = executor.submit(compare_prompts, load_prompt_counts())
            _fit_paper(build, executor)
            _compare_build(build, prompts.result())
        return
    from cogniload_repro.book.terminal import print_comparison, print_fits
    from cogniload_repro.files import for_spreadsheet
    from cogniload_repro.regression import cell_tables, fits, selection
    from cogniload_repro.regression.glm import QUADRATIC

    formula, family = (
        regression["formula"] or QUADRATIC,
        regression["family"] or "logit",
    )
    cells = cell_tables.load_cells(build, models or None)
    origin, fitted = cell_tables.describe_cells(cells), fits.fit(cells, formula, family)
    if out is not None:
        kept = fitted.assign(formula=formula, family=family, cells=origin)
        write_whole(out, for_spreadsheet(kept).to_csv(index=False, lineterminator="\n"))
    if origin:
        say(origin)
    say(
        print_comparison(selection.compare_fits(cells, fitted), formula, family)
        if compare
        else print_fits(fitted)
    )


def _fit_paper(build: Path, executor: "Executor") -> None:
    from cogniload_repro.book.terminal import print_fit_summary
    from cogniload_repro.formats import display_names
    from cogniload_repro.regression import paper_tables
    from cogniload_repro.schemas import CELLS, read_frame
    from cogniload_repro.storage import read_metadata, write_table

    path = build / "cells.parquet"
    cells = read_frame(
        path, CELLS, "make it with `make score`, outside a checkout `cogniload score`"
    )
    interactions = executor.submit(paper_tables.interactions_table, cells)
    tables = {
        "aic": paper_tables.aic_table(cells),
        "glm": paper_tables.glm_table(cells),
    }
    tables["interactions"] = interactions.result()
    for name, table in tables.items():
        write_table(build / f"{name}.parquet", table, read_metadata(path))
    say(f"fitted {_count(cells['model'].nunique(), 'model')}")
    say(print_fit_summary(cells, tables["glm"]))
    names = display_names(cells["model"])
    for name, what in (
        ("glm", "Table 2"),
        ("interactions", "interactions (Table 3)"),
        ("aic", "Table 6"),
    ):
        for row in tables[name].query("status != 'ok'").itertuples():
            say(f"  no fit of {what} for {names[row.model]}: {row.status}")


@click.command("compare")
@click.option(
    "--against",
    type=EXISTING_FILE,
    help="fidelity.csv of another build; list numbers that changed.",
)
@BUILD
def compare_command(against: Path | None, build: Path) -> None:
    """Compare every printed number with the recomputed one (fidelity.csv, prompts.parquet)."""
    import pandas as pd

    from cogniload_repro.ledger.entries import find_moved
    from cogniload_repro.ledger.prompts import compare_prompts, load_prompt_counts

    with locked(build):
        fidelity = _compare_build(build, compare_prompts(load_prompt_counts()))
    if against is not None:
        moved = find_moved(
            fidelity, pd.read_csv(against, dtype=str, keep_default_na=False)
        )
        say(
            f"{len(moved):,} of {len(fidelity):,} numbers moved{'' if moved.empty else ':'}"
        )
        say("" if moved.empty else moved.to_string(index=False))


def _compare_build(build: Path, prompts: "pd.DataFrame") -> "pd.DataFrame":
    from cogniload_repro.ledger import entries, results
    from cogniload_repro.ledger.prompts import prompt_rows
    from cogniload_repro.storage import write_table

    found = results.load_results(build)
    fidelity = entries.compare(found, prompt_rows(prompts))
    for name, table in (("prompts", prompts), ("fidelity", fidelity)):
        write_table(build / f"{name}.parquet", table)
    write_whole(
        build / "fidelity.csv", fidelity.to_csv(index=False, lineterminator="\n")
    )  # last: make looks at it
    say(entries.scoreboard(fidelity).to_string(index=False))
    say(entries.LEGEND)
    return fidelity


@click.command("compare-models")
@click.argument("first")
@click.argument("second")
@click.option(
    "--margin", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
    help="Differences of accuracy below it are negligible.",
)  # fmt: skip
@click.option(
    "--by", type=click.Choice(list(_LEVEL_COLUMNS)), multiple=True, default=("N", "d", "rho"), show_default=True,
    help="Compare at each level of this load, or in each cell (may be repeated).",
)  # fmt: skip
@BUILD
def compare_models_command(
    first: str, second: str, margin: float, by: tuple[str, ...], build: Path
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
    from cogniload_repro.analysis.comparisons import compare_models as compare
    from cogniload_repro.analysis.overflows import MARKED_SHARE
    from cogniload_repro.formats import display_names
    from cogniload_repro.models import resolve_model
    from cogniload_repro.regression.cell_tables import describe_cells, load_cells

    place = build if (build / "cells.parquet").exists() else None
    counts = load_cells(place)
    names = display_names(counts["model"])
    first = resolve_model(first, counts["model"])
    second = resolve_model(second, counts["model"])
    say(f"{names[first]} minus {names[second]}")
    for columns in [[], *(_LEVEL_COLUMNS[one] for one in dict.fromkeys(by))]:
        say(
            _table_text(compare(counts, first, second, columns, margin), columns) + "\n"
        )
    lost = (
        counts.assign(ctx=counts.get("ctx", 0))
        .groupby("model")[["ctx", "total"]]
        .sum()
        .loc[[first, second]]
    )
    for name, share in (lost["ctx"] / lost["total"]).items():
        if share > MARKED_SHARE:
            say(
                f"{names[name]}: {share:.0%} of the answers ran out of context and count as wrong."
            )
    if note := describe_cells(counts):
        say(f"{note}.")
    for line in _answer_lines(build, counts, first, second, margin):
        say(line)


def _table_text(frame: "pd.DataFrame", columns: list[str]) -> str:
    """Return a table of differences in points; those that are not identified have no verdict."""
    from cogniload_repro.published import CONFIDENCE

    shown = frame[columns].assign(cells=frame["cells"])
    for word in ("first", "second"):
        shown[word] = frame[f"accuracy_{word}"].map("{:.1%}".format)
    identified = frame["identified"].all()
    ends = ("ci_low", "ci_high") if identified else ("difference_p10", "difference_p90")
    name = (
        f"difference ({CONFIDENCE})"
        if identified
        else "median and range over the reconstructions"
    )
    numbers = 100 * frame[["difference", *ends]].to_numpy()
    shown[name] = ["{:+.1f} ({:+.1f} to {:+.1f})".format(*row) for row in numbers]
    if identified:
        shown["p (Holm)"] = frame["p_holm"].map("{:.2g}".format)
    shown["verdict"] = frame["verdict"]
    return shown.rename(columns={"ratio_pct": "rho (%)"}).to_string(index=False)


def _answer_lines(
    build: Path, counts: "pd.DataFrame", first: str, second: str, margin: float
) -> Iterator[str]:
    """Yield each model's use of the last clause, and both models on the same puzzles."""
    import pandas as pd

    from cogniload_repro.analysis.comparisons import compare_answers
    from cogniload_repro.analysis.differences import judge_difference
    from cogniload_repro.analysis.shortcut import shortcut_use
    from cogniload_repro.formats import display_names
    from cogniload_repro.storage import partition_path

    names = display_names((first, second))
    scores = []
    for model in (first, second):
        if (counts.loc[counts["model"] == model, "provenance"] == "scored").all():
            scores.append(pd.read_parquet(partition_path(build / "scores", model)))
        else:
            yield (
                f"{names[model]}: no single answers exist, its counts are reconstructed from "
                "the printed tables."
            )
    if not scores:
        return
    baselines = pd.read_parquet(build / "baselines.parquet")
    for row in shortcut_use(pd.concat(scores), baselines).itertuples():
        yield f"{names[row.model]}: {_describe_kinds(row)}"
    answers = [frame.set_index("name")["correct"] for frame in scores]
    if len(answers) == 2 and len(answers[0].index.intersection(answers[1].index)):
        counts, difference = compare_answers(answers[0], answers[1], margin)
        solved = ", ".join(
            f"{count:,} {word.replace('_', ' ')}" for word, count in counts.items()
        )
        yield f"{counts.sum():,} puzzles answered by both: {solved}"
        verdict = judge_difference(difference.p, difference.p_equivalence)
        yield f"{_interval(difference)}, McNemar p = {difference.p:.2g}: {verdict}"


def _describe_kinds(row: Any) -> str:
    """Return a model's accuracy where the last clause is right and where it is wrong."""
    right = f"{row.correct_right:,} of {row.answers_right:,} correct where the last clause is right"
    wrong = f"{row.correct_wrong:,} of {row.answers_wrong:,} where it is wrong"
    within = (
        f"within cells, {_interval(row)}"
        if row.answers
        else "no cell has puzzles of both kinds"
    )
    return f"{right}, {wrong}; {within}"


def _interval(difference: Any) -> str:
    from cogniload_repro.published import CONFIDENCE

    ends = f"{100 * difference.ci_low:+.1f} to {100 * difference.ci_high:+.1f}"
    return (
        f"difference {100 * difference.difference:+.1f} points ({CONFIDENCE}: {ends})"
    )
