"""The steps that the Makefile chains, from outputs to the comparison with the paper."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from cogniload_repro.commands.options import (
    BUILD,
    DATA,
    EDITIONS,
    FAMILY,
    FORMULA,
    JOBS,
    KEY_ORDER,
    NAMED_EDITION,
    READINGS,
    say,
    takes_source,
)

if TYPE_CHECKING:
    import pandas as pd


@click.command("download-outputs")
@takes_source(
    "`reconstructed`, or real outputs: a folder, a file, an archive, an https:// or hf:// address, "
    "with #sha256=... where the sum is known. It is kept as a choice; by default the kept one, or reconstructed.",
    required=False,
)
@click.option(
    "--grid", default=None, help="Cells to reconstruct: paper, mini, or 'N=20,50 ratio=5 d=1,3'; by default as before."
)
@click.option("--max-rejected", type=click.IntRange(min=0), default=None, help="Maximum number of rejected rows.")
@click.option("--model", default=None, help="Model name for rows without one; OLD=NEW renames a model.")
@click.option("--add", is_flag=True, help="Add the models of this source to those of the build.")
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

    limit = {} if max_rejected is None else {"max_rejected": str(max_rejected)}
    given = limit if source is None else {"source": source, **limit}
    options = {"model": model, "edition": edition, "key_order": key_order}
    with locked(build):
        grid = grid or read_grid(build)
        if add:
            fetch_added(build, choose_added(read_choices(build), given, **options), grid, jobs)
        else:
            fetch_outputs(build, keep_choices(build, given, **options), grid, jobs)


@click.command()
@click.option(
    "--scorer",
    "--reading",
    "reading",
    type=READINGS,
    default=None,
    help="Scorer variant. pseudocode: Algorithms 1 to 3 of Appendix D (default); prose: its text; late_drop, "
    "cut_windows, last_mention: one difference each; answer_only: ignore the reasoning (not the paper's rule). Without "
    "it, the one chosen for the build (SCORER=); scores of another are kept beside these, in readings/NAME.",
)
@click.option("--scheduler", default=None, help="Dask scheduler whose workers score, such as tcp://host:8786.")
@click.option(
    "--build", default="data/build", show_default=True, help="Build folder, here or in a store: s3://bucket/build."
)
@JOBS
def score(reading: str | None, scheduler: str | None, build: str, jobs: int) -> None:
    """Score the outputs (Appendix D) into scores/ and count them by cell into cells.parquet."""
    from cogniload_repro.commands.choices import PAPERS_SCORER, read_choices
    from cogniload_repro.commands.steps import read_sources
    from cogniload_repro.executors import open_executor
    from cogniload_repro.files import locked
    from cogniload_repro.outputs.rows import find_chosen
    from cogniload_repro.presentation.terminal import print_scores
    from cogniload_repro.scoring.cells import read_summary, write_cells
    from cogniload_repro.scoring.readings import place_scores
    from cogniload_repro.scoring.scores import score_dataset
    from cogniload_repro.scoring.verdict import find_reading
    from cogniload_repro.storage import as_place

    outputs = as_place(build)
    chosen = (read_choices(outputs).scorer if isinstance(outputs, Path) else "") or PAPERS_SCORER
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
    say(f"{counted} scored in {place / 'scores'}" + (f", scorer {reading}" if reading != PAPERS_SCORER else ""))
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
@click.argument("name")
@click.argument("response", type=click.File(encoding="utf-8", errors="surrogateescape"), default="-")
@click.option("--prompt-tokens", type=click.IntRange(min=0), help="Tokens of the prompt, for the context limit.")
@click.option("--response-tokens", type=click.IntRange(min=0), help="Tokens of the response.")
@click.option("--edition", type=EDITIONS, default="python", show_default=True, help="Generator edition of the puzzle.")
def explain(name: str, response: TextIO, prompt_tokens: int | None, response_tokens: int | None, edition: str) -> None:
    """Explain the score of a RESPONSE to the puzzle NAME: where the scorer looks, what it finds, which rule decides.

    \b
    Examples:
      cogniload explain 20_1_1_770487_red < answer.txt
      cogniload explain 20_1_1_770487_red answer.txt --edition elixir-1.16
    """
    from cogniload_repro.scoring.explain import explain

    tokens = {"prompt_tokens": prompt_tokens, "response_tokens": response_tokens}
    say(explain(name, response.read(), edition=edition, **tokens))


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
    """Fit the paper's regressions to cells.parquet and compare all with the paper, or fit a regression of your own.

    Without options: Tables 2, 3 and 6, lengths of prompts, and fidelity.csv. A formula reads `correct ~ ...` over d, N,
    log10_N, rho, ratio_pct, needles and prompt_mean; an empty one stands for the paper's specification. Your own
    regression is printed, and kept where --out says.
    """
    if (formula, family, data, models, compare, out) == (None, None, None, (), False, None):
        _fit_paper(build)
        return
    from cogniload_repro.escapes import for_spreadsheet
    from cogniload_repro.files import write_whole
    from cogniload_repro.presentation.terminal import print_comparison, print_fits
    from cogniload_repro.statistics.cell_tables import describe_cells, load_cells
    from cogniload_repro.statistics.fits import compare_each
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
    say(print_comparison(compare_each(cells, fits), formula, family) if compare else print_fits(fits))


def _fit_paper(build: Path) -> None:
    from cogniload_repro.frames import check_frame, read_frame
    from cogniload_repro.presentation.terminal import print_fit_summary
    from cogniload_repro.schemas import CELLS, FRAMES
    from cogniload_repro.scoring.cells import read_summary
    from cogniload_repro.statistics import paper_tables
    from cogniload_repro.storage import read_metadata, write_table

    path = build / "cells.parquet"
    if not path.exists():
        raise ValueError(f"{path} is missing; make it with `make score`, outside a checkout `cogniload score`")
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
    _count_prompts(build)
    _compare(build)


def _count_prompts(build: Path) -> None:
    """Count the prompts of the paper's grid."""
    from cogniload_repro.commands.steps import read_grid
    from cogniload_repro.prompts.counts import write_prompt_counts

    if read_grid(build) == "paper" and (build / "puzzles.parquet").exists():
        write_prompt_counts(build / "puzzles.parquet", build / "prompt_tokens.parquet", Path("data/tokenizers"))


@click.command()
@click.option(
    "--against",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="fidelity.csv of another build; list numbers that changed.",
)
@BUILD
def compare(against: Path | None, build: Path) -> None:
    """Compare every printed number with the recomputed one: fidelity.parquet and fidelity.csv."""
    import pandas as pd

    from cogniload_repro.fidelity.ledger import find_moved

    fidelity = _compare(build)
    if against is not None:
        moved = find_moved(fidelity, pd.read_csv(against, dtype=str, keep_default_na=False))
        say(f"{len(moved):,} of {len(fidelity):,} numbers moved{'' if moved.empty else ':'}")
        say("" if moved.empty else moved.to_string(index=False))


def _compare(build: Path) -> "pd.DataFrame":
    from cogniload_repro.fidelity.ledger import LEGEND, compare, scoreboard
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
    return fidelity
