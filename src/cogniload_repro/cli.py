"""The `cogniload` command: the steps that the Makefile chains, each of use alone."""

import time
from pathlib import Path

import click
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.cli_tools import BUILD, JOBS, TOOLS


class _Group(click.Group):
    """Turns bad input into one sentence on standard error and exit code 2."""

    def invoke(self, ctx: click.Context):
        try:
            return super().invoke(ctx)
        except (ValueError, OSError) as error:
            raise _Refusal(str(error)) from error


class _Refusal(click.ClickException):
    exit_code = 2


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__)
def main() -> None:
    """Rebuild every table and figure of the CogniLoad paper (ICLR 2026).

    The steps, in order: download-outputs, score, fit, run-notebook (one a chapter), build-book.
    `make reproduce` runs them all.
    """


@main.command("download-outputs")
@click.option(
    "--source",
    default="reconstructed",
    show_default=True,
    help="`reconstructed`, or real outputs: a folder, a file, an archive, an https:// or hf:// address, "
    "with #sha256=... where the sum is known.",
)
@click.option(
    "--grid", default="paper", show_default=True, help="Cells to reconstruct: paper, mini, or 'N=20,50 ratio=5 d=1,3'."
)
@click.option(
    "--max-rejected", type=click.IntRange(min=0), default=0, show_default=True, help="Rejected rows to put up with."
)
@click.option("--model", default=None, help="Model of rows that name none.")
@click.option("--add", is_flag=True, help="Keep the outputs of other models that are there.")
@BUILD
@JOBS
def download_outputs(
    source: str, grid: str, max_rejected: int, model: str | None, add: bool, build: Path, jobs: int
) -> None:
    """Fetch or reconstruct the models' outputs: puzzles.parquet and outputs/ in the build folder."""
    if source != "reconstructed":
        from cogniload_repro.intake.imports import import_outputs
        from cogniload_repro.intake.sources import open_source

        local = open_source(source, build / "downloads")
        places = build / "outputs", build / "puzzles.parquet", build / "rejected.parquet"
        report = import_outputs(local.path, *places, label=local.label, model=model, refused=local.refused, keep=add)
        click.echo(report.summary())
        report.check(max_rejected)
        return
    from cogniload_repro.executors import open_executor
    from cogniload_repro.grid import grid_cells
    from cogniload_repro.puzzle_ids import PUZZLES_PER_CELL, SEED
    from cogniload_repro.puzzle_sets import describe_set, draw_rows, write_parquet
    from cogniload_repro.reconstruction.reconstruct import cells_in
    from cogniload_repro.reconstruction.stand_ins import write_stand_ins

    chosen = grid_cells(grid)
    cells = cells_in(chosen)
    rows = tqdm(
        draw_rows(chosen, scheme="default", jobs=jobs), "puzzles", total=PUZZLES_PER_CELL * len(chosen), disable=None
    )
    description = describe_set(chosen, SEED, "default", "cogniload download-outputs")
    count = write_parquet(build / "puzzles.parquet", rows, description)
    with open_executor(jobs) as executor:
        outputs = write_stand_ins(build / "puzzles.parquet", cells, build / "outputs", executor)
    click.echo(f"{count:,} puzzles and {outputs:,} reconstructed responses in {build}")


@main.command()
@click.option(
    "--reading",
    default="pseudocode",
    show_default=True,
    help="How Appendix D is read: pseudocode, prose, late_drop, cut_windows or last_mention. Scores of any but the "
    "first are kept beside it, in readings/NAME.",
)
@click.option("--scheduler", default=None, help="Dask scheduler whose workers score, such as tcp://host:8786.")
@click.option(
    "--build", default="data/build", show_default=True, help="Build folder, here or in a store: s3://bucket/build."
)
@JOBS
def score(reading: str, scheduler: str | None, build: str, jobs: int) -> None:
    """Score the outputs (Appendix D) into scores/ and count them by cell into cells.parquet."""
    from cogniload_repro.cells import write_cells
    from cogniload_repro.executors import open_executor
    from cogniload_repro.places import as_place
    from cogniload_repro.readings import place_scores
    from cogniload_repro.scores import score_dataset
    from cogniload_repro.scoring import find_reading

    outputs = as_place(build)
    place = place_scores(outputs, reading)
    with open_executor(jobs, scheduler) as executor:
        score_dataset(
            outputs / "outputs", outputs / "puzzles.parquet", place / "scores", executor, find_reading(reading)
        )
    cells = write_cells(place / "scores", place / "cells.parquet")
    models = cells["model"].nunique()
    click.echo(f"{cells['n'].sum():,} responses of {models} model{'s' * (models != 1)} scored in {place / 'scores'}")


FORMULA = click.option("--formula", default=None, help="Regression, such as 'correct ~ d * log10_N + rho'.")
FAMILY = click.option("--family", default=None, help="logit, probit, cloglog or quasi-binomial; logit when empty.")
DATA = click.option("--data", default=None, help="Another table of cells, CSV or Parquet, in place of the build's.")


@main.command()
@click.argument("given", nargs=-1, metavar="[NAME=VALUE]...")
@BUILD
def choose(given: tuple[str, ...], build: Path) -> None:
    """Keep choices for later calls of make, after checking them, and show all; an empty value goes back to the default.

    Names are SOURCE, FORMULA, FAMILY and DATA, as the Makefile takes them.
    """
    from cogniload_repro.choices import describe_choices, keep_choices

    pairs = (choice.partition("=") for choice in given)
    click.echo(describe_choices(keep_choices(build, {name.lower(): value for name, _, value in pairs})))


@main.command()
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
    from cogniload_repro.files import write_whole
    from cogniload_repro.presentation.pages import describe_cells, load_cells
    from cogniload_repro.regression import QUADRATIC
    from cogniload_repro.robustness import rivals

    cells = load_cells(build, data or None, models or None)
    formula, family, origin = formula or QUADRATIC, family or "logit", describe_cells(cells, build, data or None)
    fits = rivals.fit_table(cells, formula, family).assign(formula=formula, family=family, cells=origin)
    if out is not None:
        write_whole(out, fits.to_csv(index=False, lineterminator="\n"))
    if origin:
        click.echo(origin)
    if compare:
        click.echo(rivals.print_comparison(rivals.compare_fits(cells, formula, family), formula, family))
    else:
        click.echo(rivals.print_fits(fits))


def _fit_paper(build: Path) -> None:
    import pandas as pd

    from cogniload_repro import regression
    from cogniload_repro.cells import read_scores
    from cogniload_repro.parquet import read_metadata, write_table
    from cogniload_repro.presentation.tables import token_stats

    path = build / "cells.parquet"
    if not path.exists():
        raise ValueError(f"{path} is missing; make it with `make score`")
    cells, metadata = pd.read_parquet(path), read_metadata(path)
    tables = {
        "tokens": token_stats(read_scores(build / "scores")),
        "interactions": regression.interactions_table(cells),
        "aic": regression.aic_table(cells),
        "glm": regression.glm_table(cells),
    }
    for name, table in tables.items():
        write_table(build / f"{name}.parquet", table, metadata)
    models = cells["model"].nunique()
    click.echo(f"fitted {models} model{'s' * (models != 1)}")
    for name, what in (("glm", "Table 2"), ("interactions", "interactions (Table 3)"), ("aic", "Table 6")):
        for row in tables[name].query("status != 'ok'").itertuples():
            click.echo(f"  no fit of {what} for {row.model}: {row.status}")


@main.command()
@BUILD
def compare(build: Path) -> None:
    """Compare every printed number with the recomputed one: fidelity.parquet and fidelity.csv."""
    from cogniload_repro.fidelity import compare, scoreboard
    from cogniload_repro.files import write_whole
    from cogniload_repro.parquet import write_table
    from cogniload_repro.presentation.results import load_results

    results, prompts = load_results(build), None
    if (build / "prompt_tokens.parquet").exists():
        from cogniload_repro.presentation.prompt_pages import load_prompt_counts
        from cogniload_repro.prompt_lengths import compare_prompts, prompt_rows

        prompts = prompt_rows(compare_prompts(load_prompt_counts(build)))
    fidelity = compare(results, prompts)
    write_whole(build / "fidelity.csv", fidelity.to_csv(index=False, lineterminator="\n"))
    write_table(build / "fidelity.parquet", fidelity, {"provenance": results.provenance})
    click.echo(scoreboard(fidelity).to_string(index=False))


@main.command("run-notebook")
@click.argument("source", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("target", type=click.Path(path_type=Path, dir_okay=False))
@FORMULA
@FAMILY
@DATA
@BUILD
def run_notebook(
    source: Path, target: Path, formula: str | None, family: str | None, data: str | None, build: Path
) -> None:
    """Execute the notebook SOURCE on a build folder and write the result to TARGET.

    The notebook keeps parameters of its own for what is empty. A family or a table without a formula applies to the
    paper's specification.
    """
    from cogniload_repro.presentation.notebooks import run_notebook
    from cogniload_repro.regression import QUADRATIC

    start = time.monotonic()
    if formula == "" and (family or data):
        formula = QUADRATIC
    given = {"formula": formula, "family": family, "cells_path": Path(data).resolve() if data else None}
    given = {name: value for name, value in given.items() if value}
    run_notebook(source, target, {"build": build.resolve()} | given)
    click.echo(f"  {source.name:28} {time.monotonic() - start:5.1f} s")


@main.command("build-book")
@click.option("--leave-out", multiple=True, help="Page to do without, such as notebooks/10_alternatives (repeatable).")
@BUILD
def build_book(leave_out: tuple[str, ...], build: Path) -> None:
    """Put pages and executed notebooks together and build the HTML book."""
    from cogniload_repro.presentation import book

    book.stage_book(build, leave_out=leave_out)
    book.build_book(build)


for _tool in TOOLS:
    main.add_command(_tool)
