"""The steps score and fit, and the comparison with the paper."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cogniload_repro.commands import params
from cogniload_repro.commands.options import (
    BUILD,
    EXISTING_FILE,
    FILE,
    JOBS,
    say,
)
from cogniload_repro.commands.outputs import COUNTS_FILE, check_outputs_whole
from cogniload_repro.files import locked, write_whole

if TYPE_CHECKING:
    import pandas as pd

#: The paper's regression tables, by the name of the file that holds each.
_TABLE_TITLES = {
    "glm": "Table 2",
    "interactions": "interactions (Table 3)",
    "aic": "Table 6",
}


@click.command()
@click.option(
    "--scorer",
    help="Scorer variant. pseudocode: Algorithms 1 to 3 of Appendix D; prose: the "
    "appendix's text; late_drop, cut_windows, last_mention: the pseudocode with one rule "
    "changed; answer_only: ignore the reasoning (not the paper's rule). Default: the scorer "
    "in params.yaml. Scores by any other scorer are written to scorers/NAME.",
)
@click.option(
    "--scheduler", help="Score on the workers of this Dask scheduler (tcp://host:8786)."
)
@BUILD
@JOBS
def score(scorer: str | None, scheduler: str | None, build: Path, jobs: int) -> None:
    """Score the outputs and count them by cell.

    Writes the scores by the rules of Appendix D to scores/ and the counts to cells.parquet. Models
    without outputs are included with their reconstructed counts; the column provenance marks them.
    The scores of two baselines that do no reasoning are written to baselines.parquet, the lengths
    of prompts and responses to tokens.parquet.
    """
    import pandas as pd

    from cogniload_repro import __version__
    from cogniload_repro.executors import open_executor
    from cogniload_repro.puzzles.baselines import write_baselines
    from cogniload_repro.scoring import cells, scores, verdict

    parameters = params.read_parameters()
    scorer = scorer or parameters.scorer
    rules = verdict.find_scorer(scorer)
    place = build if scorer == parameters.scorer else build / "scorers" / scorer
    with locked(build):
        check_outputs_whole(build)
        if place == build:
            params.write_parameters(build, "scores", parameters)
        puzzles = (build / "puzzles.parquet").absolute()
        with open_executor(jobs, scheduler) as executor:
            baselines = puzzles.with_name("baselines.parquet")
            written = executor.submit(write_baselines, puzzles, baselines)
            scores.score_dataset(
                build / "outputs", puzzles, place / "scores", executor, rules
            )
            written.result()
        committed = build / COUNTS_FILE
        counts = pd.read_parquet(committed) if committed.exists() else None
        metadata = {"scorer": str(rules), "version": __version__}
        frame = cells.write_cells(place, metadata, counts)
    _say_scores(place, frame, scorer)


def _say_scores(place: Path, cells: "pd.DataFrame", scorer: str) -> None:
    """Print how many models have reconstructed counts, and how the others scored."""
    from cogniload_repro.book.terminal import format_scores
    from cogniload_repro.scoring.answers import summarise_answers
    from cogniload_repro.scoring.cells import read_scores

    is_scored = cells["provenance"] == "scored"
    counted = cells.loc[~is_scored, "model"].nunique()
    if counted:
        say(f"{counted} models: counts reconstructed from the printed tables")
    answers = summarise_answers(read_scores(place / "scores"))
    if answers.empty:
        return
    responses = f"responses: {answers['answers'].sum():,}, models: {len(answers):,}"
    say(f"{responses}, scored by {scorer} and written to {place / 'scores'}")
    say(format_scores(answers))


@click.command()
@click.option(
    "--formula", help="Your regression, such as 'correct ~ d * log10_N + rho'."
)
@click.option(
    "--family", help="Link: logit (default), probit, cloglog or quasi-binomial."
)
@click.option(
    "--model",
    "models",
    multiple=True,
    help="Fit only this model (may be repeated); default: all.",
)
@click.option(
    "--compare",
    is_flag=True,
    help="Compare log-likelihood, AIC and BIC with the paper's regression.",
)
@click.option("--out", type=FILE, help="CSV file to write the coefficients to.")
@BUILD
def fit_command(
    models: tuple[str, ...],
    compare: bool,
    out: Path | None,
    build: Path,
    formula: str | None,
    family: str | None,
) -> None:
    """Fit the paper's regressions, or your own.

    Without options, writes Tables 2, 3 and 6, the lengths of prompts, and the comparison of all
    numbers with the paper's (fidelity.csv). With any option but --build, prints your regression and
    writes it only to --out. A formula has the form `correct ~ ...` with the variables d, N,
    log10_N, rho, ratio_pct, needles and prompt_mean; default: the paper's formula.
    """
    if models or compare or out or formula is not None or family is not None:
        _fit_own(build, models, compare, out, formula or "", family or "")
    else:
        _fit_paper(build)


def _fit_own(
    build: Path,
    models: tuple[str, ...],
    compare: bool,
    out: Path | None,
    formula: str,
    family: str,
) -> None:
    """Fit a reader's regression; print it or its comparison with the paper's, write it to `out`."""
    from cogniload_repro.book.terminal import format_comparison, format_fits
    from cogniload_repro.files import for_spreadsheet
    from cogniload_repro.regression import cell_tables, fits, reconstructions, selection
    from cogniload_repro.regression.glm import QUADRATIC

    formula = formula or QUADRATIC
    family = family or "logit"
    cells = cell_tables.load_cells(build, models or None)
    origin = cell_tables.describe_cells(cells)
    fitted = reconstructions.with_ranges(
        cells, lambda table: fits.fit(table, formula, family), ["model", "term"]
    )
    if out is not None:
        table = fitted.assign(cells=origin)
        csv = for_spreadsheet(table).to_csv(index=False, lineterminator="\n")
        write_whole(out, csv)
    if origin:
        say(origin)
    if compare:
        compared = reconstructions.with_ranges(
            cells, lambda table: selection.compare_fits(table, formula, family)
        )
        say(format_comparison(compared, formula, family))
    else:
        say(format_fits(fitted))


def _fit_paper(build: Path) -> None:
    """Fit the paper's regressions, compare prompt lengths meanwhile, then write the ledger."""
    from cogniload_repro.executors import open_executor
    from cogniload_repro.ledger.prompts import compare_prompts, load_prompt_counts
    from cogniload_repro.regression import paper_tables
    from cogniload_repro.schemas import CELLS, read_frame

    remedy = "create it with `make score` (outside a checkout: `cogniload score`)"
    with locked(build), open_executor(2) as executor:
        cells = read_frame(build / "cells.parquet", CELLS, remedy)
        prompts = executor.submit(compare_prompts, load_prompt_counts())
        interactions = executor.submit(paper_tables.interactions_table, cells)
        tables = {
            "aic": paper_tables.aic_table(cells),
            "glm": paper_tables.glm_table(cells),
            "interactions": interactions.result(),
        }
        _write_paper_tables(build, cells, tables)
        _write_ledger(build, prompts.result())


def _write_paper_tables(
    build: Path, cells: "pd.DataFrame", tables: dict[str, "pd.DataFrame"]
) -> None:
    """Write Tables 2, 3 and 6 of a build, and print which models have no fit."""
    from cogniload_repro.book.terminal import format_capacity
    from cogniload_repro.formats import display_names
    from cogniload_repro.models import NAMES
    from cogniload_repro.storage import read_metadata, write_table

    metadata = read_metadata(build / "cells.parquet")
    for name, table in tables.items():
        write_table(build / f"{name}.parquet", table, metadata)
    say(f"fitted models: {cells['model'].nunique()}")
    glm = tables["glm"]
    others = glm[~glm["model"].isin(NAMES)]
    if len(others):
        say(format_capacity(others))
    names = display_names(cells["model"])
    for name, title in _TABLE_TITLES.items():
        for row in tables[name].query("status != 'ok'").itertuples():
            say(f"  no fit of {title} for {names[row.model]}: {row.status}")


@click.command("compare")
@click.option(
    "--against",
    type=EXISTING_FILE,
    help="fidelity.csv of another build; list the numbers that differ from it.",
)
@BUILD
def compare_command(against: Path | None, build: Path) -> None:
    """Compare printed with recomputed numbers.

    Prints the same comparison as fit, but writes no tables.
    """
    import pandas as pd

    from cogniload_repro.ledger.entries import find_differences
    from cogniload_repro.ledger.prompts import compare_prompts, load_prompt_counts

    with locked(build):
        fidelity = _compare_build(build, compare_prompts(load_prompt_counts()))
    if against is None:
        return
    moved = find_differences(
        fidelity, pd.read_csv(against, dtype=str, keep_default_na=False)
    )
    say(f"{len(moved):,} of {len(fidelity):,} numbers differ")
    if len(moved):
        say(moved.to_string(index=False))


def _write_ledger(build: Path, prompts: "pd.DataFrame") -> None:
    """Write the ledger of a build, and the comparison of prompt lengths."""
    from cogniload_repro.storage import write_table

    fidelity = _compare_build(build, prompts)
    write_table(build / "prompts.parquet", prompts)
    write_table(build / "fidelity.parquet", fidelity)
    csv = fidelity.to_csv(index=False, lineterminator="\n")
    write_whole(build / "fidelity.csv", csv)  # last, for make compares its time


def _compare_build(build: Path, prompts: "pd.DataFrame") -> "pd.DataFrame":
    """Return the ledger of a build, and print how many numbers agree."""
    from cogniload_repro.ledger import entries, results
    from cogniload_repro.ledger.prompts import prompt_rows

    fidelity = entries.compare(results.load_results(build), prompt_rows(prompts))
    say(entries.scoreboard(fidelity).to_string(index=False))
    say(entries.LEGEND)
    return fidelity
