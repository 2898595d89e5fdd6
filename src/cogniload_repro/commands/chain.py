"""The steps that the Makefile chains, from outputs to the comparison with the paper."""

from contextlib import nullcontext
from pathlib import Path

import click

from cogniload_repro.commands.options import BUILD, DATA, FAMILY, FORMULA, JOBS, KEY_ORDER, NAMED_EDITION, READINGS, say


@click.command("download-outputs")
@click.option(
    "--source",
    default=None,
    help="`reconstructed`, or real outputs: a folder, a file, an archive, an https:// or hf:// address, "
    "with #sha256=... where the sum is known. It is kept as a choice; by default the kept one, or reconstructed.",
)
@click.option(
    "--grid", default=None, help="Cells to reconstruct: paper, mini, or 'N=20,50 ratio=5 d=1,3'; by default as before."
)
@click.option("--max-rejected", type=click.IntRange(min=0), default=None, help="Rejected rows to put up with.")
@click.option("--model", default=None, help="Model of rows that name none; OLD=NEW gives one another name.")
@click.option("--add", is_flag=True, help="Put the models of this source beside those of the others.")
@NAMED_EDITION
@KEY_ORDER
@BUILD
@JOBS
def download_outputs(
    source: str | None,
    grid: str | None,
    max_rejected: int | None,
    model: str | None,
    add: bool,
    edition: str | None,
    key_order: str | None,
    build: Path,
    jobs: int,
) -> None:
    """Fetch or reconstruct the models' outputs: puzzles.parquet and outputs/ in the build folder."""
    from cogniload_repro.commands.choices import choose_added, keep_choices, read_choices
    from cogniload_repro.commands.fetch import fetch_added, fetch_outputs
    from cogniload_repro.commands.steps import read_grid
    from cogniload_repro.files import locked

    told = {"source": source, "max_rejected": None if max_rejected is None else str(max_rejected)}
    given = {name: value for name, value in told.items() if value is not None}
    options = {"model": model, "edition": edition, "key_order": key_order}
    with locked(build):
        grid = grid or read_grid(build)
        if add:
            fetch_added(build, choose_added(read_choices(build), given, **options), grid, jobs)
        else:
            fetch_outputs(build, keep_choices(build, given, **options), grid, jobs)


@click.command()
@click.option(
    "--reading",
    type=READINGS,
    default=None,
    help="How Appendix D is read: as Algorithms 1 to 3, as its prose, or as the algorithms with the remark dropped "
    "after the line breaks, windows cut to a sentence, or the last mention counting; or, not the paper's rule, the "
    "last sentence after the reasoning only. By default the one chosen for the build (READING=), or pseudocode; "
    "scores of another are kept beside these, in readings/NAME.",
)
@click.option("--scheduler", default=None, help="Dask scheduler whose workers score, such as tcp://host:8786.")
@click.option(
    "--build", default="data/build", show_default=True, help="Build folder, here or in a store: s3://bucket/build."
)
@JOBS
def score(reading: str | None, scheduler: str | None, build: str, jobs: int) -> None:
    """Score the outputs (Appendix D) into scores/ and count them by cell into cells.parquet."""
    from cogniload_repro.commands.choices import PAPERS_READING, read_choices
    from cogniload_repro.commands.steps import read_sources
    from cogniload_repro.executors import open_executor
    from cogniload_repro.files import locked
    from cogniload_repro.outputs.settings import find_chosen
    from cogniload_repro.presentation.score_text import print_scores
    from cogniload_repro.scoring.cells import read_summary, write_cells
    from cogniload_repro.scoring.readings import place_scores
    from cogniload_repro.scoring.scores import score_dataset
    from cogniload_repro.scoring.verdict import find_reading
    from cogniload_repro.storage import as_place

    outputs = as_place(build)
    chosen = (read_choices(outputs).reading if isinstance(outputs, Path) else "") or PAPERS_READING
    place = place_scores(outputs, reading := reading or chosen, chosen)
    with locked(outputs) if isinstance(outputs, Path) and outputs.is_dir() else nullcontext():  # a store has no locks
        with open_executor(jobs, scheduler) as executor:
            score_dataset(
                outputs / "outputs", outputs / "puzzles.parquet", place / "scores", executor, find_reading(reading)
            )
        asked_chosen = find_chosen(read_sources(outputs)) if isinstance(outputs, Path) else set()
        cells = write_cells(place / "scores", place / "cells.parquet", asked_chosen)
    models = cells["model"].nunique()
    count = int(cells["total"].sum())
    counted = f"{count:,} response{'s' * (count != 1)} of {models} model{'s' * (models != 1)}"
    say(f"{counted} scored in {place / 'scores'}" + (f", read as {reading}" if reading != PAPERS_READING else ""))
    say(print_scores(read_summary(place / "scores", "endings"), asked_chosen))
    if isinstance(outputs, Path):
        _tell_rejected(outputs)


def _tell_rejected(build: Path) -> None:
    """Say where the rejected rows of a build are, if it has any."""
    import pyarrow.parquet as pq

    path = build / "rejected.parquet"
    if path.is_file() and (count := pq.read_metadata(path).num_rows):
        say(f"{count:,} rejected row{'s' * (count != 1)}: {path}")


@click.command()
@FORMULA
@FAMILY
@DATA
@click.option("--model", "models", multiple=True, help="Only this model (repeatable); all by default.")
@click.option("--compare", is_flag=True, help="Show logLik, AIC, BIC and changed coefficients against the paper's.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="CSV file to keep the coefficients in.")
@BUILD
def fit(
    formula: str | None,
    family: str | None,
    data: str | None,
    models: tuple[str, ...],
    compare: bool,
    out: Path | None,
    build: Path,
) -> None:
    """Fit the paper's regressions to cells.parquet (Tables 2, 3, 6), or with any other option one of yours.

    A formula reads `correct ~ ...` over d, N, log10_N, rho, ratio_pct, needles and prompt_mean; an empty one stands
    for the paper's specification. Yours is printed, and kept where --out says.
    """
    if (formula, family, data, models, compare, out) == (None, None, None, (), False, None):
        _fit_paper(build)
        return
    from cogniload_repro.escapes import for_spreadsheet
    from cogniload_repro.files import write_whole
    from cogniload_repro.presentation.fit_text import print_comparison, print_fits
    from cogniload_repro.statistics.cell_tables import describe_cells, load_cells
    from cogniload_repro.statistics.fits import compare_fits
    from cogniload_repro.statistics.fits import fit as fit_cells
    from cogniload_repro.statistics.regression import QUADRATIC

    cells = load_cells(data or build, models or None)
    formula, family, origin = formula or QUADRATIC, family or "logit", describe_cells(cells)
    fits = fit_cells(cells, formula, family)
    if out is not None:
        kept = fits.assign(formula=formula, family=family, cells=origin)
        write_whole(out, for_spreadsheet(kept).to_csv(index=False, lineterminator="\n"))
    if origin:
        say(origin)
    say(print_comparison(compare_fits(cells, fits), formula, family) if compare else print_fits(fits))


def _fit_paper(build: Path) -> None:
    from cogniload_repro.frames import check_frame, read_frame
    from cogniload_repro.presentation.score_text import print_fit_summary
    from cogniload_repro.schemas import CELLS, FRAMES
    from cogniload_repro.scoring.cells import read_summary
    from cogniload_repro.statistics import paper_tables
    from cogniload_repro.storage import read_metadata, write_table

    path = build / "cells.parquet"
    if not path.exists():
        raise ValueError(f"{path} is missing; make it with `make score`")
    cells, metadata = read_frame(path, CELLS, "make it again with `make score`"), read_metadata(path)
    tables = {
        "tokens": read_summary(build / "scores", "tokens"),
        "interactions": paper_tables.interactions_table(cells),
        "aic": paper_tables.aic_table(cells),
        "glm": paper_tables.glm_table(cells),
    }
    for name, table in tables.items():
        table = check_frame(table, FRAMES[name], f"the table {name}", "report it, it is a fault here")
        write_table(build / f"{name}.parquet", table, metadata)
    models = cells["model"].nunique()
    say(f"fitted {models} model{'s' * (models != 1)}")
    say(print_fit_summary(cells, tables["glm"]))
    _tell_rejected(build)
    for name, what in (("glm", "Table 2"), ("interactions", "interactions (Table 3)"), ("aic", "Table 6")):
        for row in tables[name].query("status != 'ok'").itertuples():
            say(f"  no fit of {what} for {row.model}: {row.status}")


@click.command()
@click.option(
    "--against",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The fidelity.csv of another build: tell which numbers have moved.",
)
@BUILD
def compare(against: Path | None, build: Path) -> None:
    """Compare every printed number with the recomputed one: fidelity.parquet and fidelity.csv."""
    import pandas as pd

    from cogniload_repro.fidelity.ledger import LEGEND, compare, find_moved, scoreboard
    from cogniload_repro.fidelity.results import load_results
    from cogniload_repro.files import write_whole
    from cogniload_repro.storage import write_table

    results, prompts = load_results(build), None
    if (build / "prompt_tokens.parquet").exists():
        from cogniload_repro.prompts.comparison import compare_prompts, prompt_rows
        from cogniload_repro.prompts.counts import load_prompt_counts

        prompts = prompt_rows(compare_prompts(load_prompt_counts(build)))
    fidelity = compare(results, prompts)
    write_whole(build / "fidelity.csv", fidelity.to_csv(index=False, lineterminator="\n"))
    write_table(build / "fidelity.parquet", fidelity, {"provenance": results.provenance})
    say(scoreboard(fidelity).to_string(index=False))
    say(LEGEND)
    if against is not None:
        moved = find_moved(fidelity, pd.read_csv(against, dtype=str, keep_default_na=False))
        say(f"{len(moved):,} of {len(fidelity):,} numbers moved{'' if moved.empty else ':'}")
        say("" if moved.empty else moved.to_string(index=False))
