"""The steps score and fit."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cogniload_repro.commands.inputs import write_step
from cogniload_repro.commands.options import BUILD, JOBS, say
from cogniload_repro.commands.outputs import COUNTS_FILE, check_outputs_whole
from cogniload_repro.commands.params import Parameters
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
        check_outputs_whole(build)
        write_step(build, "scores", Parameters())
        puzzles = (build / "puzzles.parquet").absolute()
        with open_executor(jobs, scheduler) as executor:
            baselines = puzzles.with_name("baselines.parquet")
            written = executor.submit(write_baselines, puzzles, baselines)
            scores.score_dataset(build / "outputs", puzzles, build / "scores", executor)
            written.result()
        committed = build / COUNTS_FILE
        counts = pd.read_parquet(committed) if committed.exists() else None
        metadata = {"version": __version__}
        _say_scores(build, cells.write_cells(build, metadata, counts))


def _say_scores(build: Path, cells: "pd.DataFrame") -> None:
    """Print how many models have reconstructed counts, and how the others scored."""
    from cogniload_repro.book.terminal import format_scores
    from cogniload_repro.scoring.cells import read_scores, summarise_answers

    counted = cells.loc[cells["provenance"] != "scored", "model"].nunique()
    if counted:
        say(f"{counted} models: counts reconstructed from the printed tables")
    answers = summarise_answers(read_scores(build / "scores"))
    if len(answers):
        say(f"responses: {answers['answers'].sum():,}, models: {len(answers):,}")
        say(format_scores(answers))


@click.command("fit")
@BUILD
def fit_command(build: Path) -> None:
    """Fit the paper's regressions, and compare its numbers with the recomputed ones.

    Writes Tables 2, 3 and 6, the lengths of prompts, and the ledger of all printed numbers
    (fidelity.csv). A regression of your own is fitted by `cogniload_repro.fit` in Python.
    """
    from cogniload_repro.executors import open_executor
    from cogniload_repro.ledger import entries, prompts, results
    from cogniload_repro.regression import paper_tables
    from cogniload_repro.storage import CELLS, read_frame, read_metadata, write_table

    remedy = "create it with `make score` (outside a checkout: `cogniload score`)"
    with locked(build), open_executor(2) as executor:
        cells = read_frame(build / "cells.parquet", CELLS, remedy)
        write_step(build, "fits", Parameters())
        lengths = executor.submit(prompts.compare_prompts, prompts.load_prompt_counts())
        interactions = executor.submit(paper_tables.interactions_table, cells)
        tables = {
            "aic": paper_tables.aic_table(cells),
            "glm": paper_tables.glm_table(cells),
            "interactions": interactions.result(),
        }
        for name, table in tables.items():
            write_table(
                build / f"{name}.parquet", table, read_metadata(build / "cells.parquet")
            )
        _say_fits(tables)
        ledger = entries.compare(
            results.load_results(build), prompts.prompt_rows(lengths.result())
        )
        say(entries.scoreboard(ledger).to_string(index=False))
        say(entries.LEGEND)
        write_table(build / "prompts.parquet", lengths.result())
        write_table(build / "fidelity.parquet", ledger)
        # last, for make compares its time
        write_whole(
            build / "fidelity.csv", ledger.to_csv(index=False, lineterminator="\n")
        )


def _say_fits(tables: dict[str, "pd.DataFrame"]) -> None:
    """Print the capacity points of readers' models, and which models have no fit."""
    from cogniload_repro.book.terminal import format_capacity
    from cogniload_repro.formats import display_names
    from cogniload_repro.models import NAMES

    glm = tables["glm"]
    names = display_names(glm["model"])
    say(f"fitted models: {len(names)}")
    others = glm[~glm["model"].isin(NAMES)]
    if len(others):
        say(format_capacity(others))
    for name, title in _TABLE_TITLES.items():
        for row in tables[name].query("status != 'ok'").itertuples():
            say(f"  no fit of {title} for {names[row.model]}: {row.status}")
