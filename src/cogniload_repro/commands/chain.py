"""The steps score and fit; a reader's own regression."""

from functools import partial
from pathlib import Path

import click

from cogniload_repro.commands.options import BUILD, JOBS, say
from cogniload_repro.commands.outputs import COUNTS_FILE, read_sources
from cogniload_repro.files import locked, write_whole


@click.command()
@click.option(
    "--scheduler", help="Score on the workers of this Dask scheduler (tcp://host:8786)."
)
@BUILD
@JOBS
def score(scheduler: str | None, build: Path, jobs: int) -> None:
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
    from cogniload_repro.scoring import cells, scores

    with locked(build):
        read_sources(build)  # refuses an interrupted import
        puzzles = (build / "puzzles.parquet").absolute()
        with open_executor(jobs, scheduler) as executor:
            baselines = puzzles.with_name("baselines.parquet")
            written = executor.submit(write_baselines, puzzles, baselines)
            scores.score_dataset(build / "outputs", puzzles, build / "scores", executor)
            written.result()
        committed = build / COUNTS_FILE
        counts = pd.read_parquet(committed) if committed.exists() else None
        cells.write_cells(build, {"version": __version__}, counts)


@click.command("fit")
@click.option(
    "--formula", help="Your regression, such as 'correct ~ d * log10_N + rho'."
)
@click.option("--family", help="Link: logit (default), probit or cloglog.")
@click.option(
    "--model", "models", multiple=True, help="Fit only this model (may be repeated)."
)
@click.option("--compare", is_flag=True, help="Compare with the paper's regression.")
@BUILD
def fit_command(
    build: Path, models: tuple[str, ...], compare: bool, **regression: str | None
) -> None:
    """Fit the paper's regressions, and compare its numbers with the recomputed ones; or fit yours.

    Writes Tables 2, 3 and 6, and the ledger of all printed numbers
    (fidelity.csv). With any option but --build, a regression is printed and nothing else is done:
    `cogniload_repro.fit` or `compare_fits`, with ranges over the reconstructions where it is not
    identified. A build without counts is replaced by the committed ones.
    """
    options = {name: value for name, value in regression.items() if value}
    if options or models or compare:
        _fit_own(build, options, models, compare)
    else:
        _fit_paper(build)


def _fit_own(
    build: Path, regression: dict[str, str], models: tuple[str, ...], compare: bool
) -> None:
    """Print a reader's regression, or its comparison with the paper's."""
    from cogniload_repro.book.terminal import format_comparison, format_fits
    from cogniload_repro.regression import cell_tables, fits, reconstructions, selection

    has_counts = (build / "cells.parquet").exists()
    cells = cell_tables.load_cells(build if has_counts else None, models or None)
    function = selection.compare_fits if compare else fits.fit
    table = reconstructions.with_ranges(cells, partial(function, **regression))
    say(cell_tables.describe_cells(cells))
    say(format_comparison(table, **regression) if compare else format_fits(table))


def _fit_paper(build: Path) -> None:
    """Write the paper's tables and the ledger."""
    from cogniload_repro.ledger import entries, prompts, results
    from cogniload_repro.regression import paper_tables
    from cogniload_repro.storage import CELLS, read_frame, write_table

    remedy = "create it with `make score` (outside a checkout: `cogniload score`)"
    with locked(build):
        cells = read_frame(build / "cells.parquet", CELLS, remedy)
        write_table(build / "aic.parquet", paper_tables.aic_table(cells))
        write_table(build / "glm.parquet", paper_tables.glm_table(cells))
        interactions = paper_tables.interactions_table(cells)
        write_table(build / "interactions.parquet", interactions)
        lengths = prompts.compare_prompts(prompts.load_prompt_lengths())
        ledger = entries.compare(
            results.load_results(build), prompts.prompt_rows(lengths)
        )
        say(entries.scoreboard(ledger).to_string(index=False))
        say(entries.LEGEND)
        write_table(build / "fidelity.parquet", ledger)
        # last, for make compares its time
        write_whole(
            build / "fidelity.csv", ledger.to_csv(index=False, lineterminator="\n")
        )
