"""The steps between outputs and book: scores, fits, and the comparison with the paper."""

from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from cogniload_repro.commands.options import BUILD, EXISTING_FILE, FILE, FROM_0, JOBS, REGRESSION, say, takes
from cogniload_repro.commands.params import Parameters, read_parameters, write_parameters
from cogniload_repro.files import locked, write_whole

if TYPE_CHECKING:
    import pandas as pd


@click.command()
@click.option(
    "--scorer",
    help="Scorer variant. pseudocode: Algorithms 1 to 3 of Appendix D (default); prose: its text; late_drop, "
    "cut_windows, last_mention: one difference each; answer_only: ignore the reasoning (not the paper's rule). Without "
    "it, the one of params.yaml; scores of another are kept beside these, in scorers/NAME.",
)
@click.option("--scheduler", help="Dask scheduler whose workers score, such as tcp://host:8786.")
@takes(BUILD, JOBS)
def score(scorer: str | None, scheduler: str | None, build: Path, jobs: int) -> None:
    """Score the outputs (Appendix D) into scores/ and count them by cell into cells.parquet."""
    from cogniload_repro.executors import open_executor
    from cogniload_repro.presentation.terminal import print_scores
    from cogniload_repro.scoring import cells, scores, verdict

    parameters = read_parameters()
    place = scores.scores_folder(build, scorer := scorer or parameters.scorer, parameters.scorer)
    rule = verdict.find_scorer(scorer)
    with locked(build):
        if place == build and (build / "outputs").is_dir():
            write_parameters(build, "scores", parameters)
        with open_executor(jobs, scheduler) as executor:
            scores.score_dataset(build / "outputs", build / "puzzles.parquet", place / "scores", executor, rule)
        frame = cells.write_cells(place / "scores", place / "cells.parquet")
    counted = f"{_count(frame['total'].sum(), 'response')} of {_count(frame['model'].nunique(), 'model')}"
    say(f"{counted} scored in {place / 'scores'}" + (f", scorer {scorer}" if scorer != Parameters.scorer else ""))
    say(print_scores(cells.read_summary(place / "scores", "endings")))
    _say_rejected(build)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _say_rejected(build: Path) -> None:
    """Say where the rejected rows of a build are, if it has any."""
    import pyarrow.parquet as pq

    path = build / "rejected.parquet"
    if path.is_file() and (count := pq.read_metadata(path).num_rows):
        say(f"{_count(count, 'rejected row')}: {path}")


@click.command()
@click.argument("name")
@click.argument("response", type=click.File(encoding="utf-8", errors="surrogateescape"), default="-")
@click.option("--prompt-tokens", type=FROM_0, help="Tokens of the prompt, for the context limit.")
@click.option("--response-tokens", type=FROM_0, help="Tokens of the response.")
@click.option("--edition", default="python", show_default=True, help="Generator edition of the puzzle.")
def explain(name: str, response: TextIO, edition: str, **tokens: int | None) -> None:
    """Explain the score of a RESPONSE to the puzzle NAME: where the scorer looks, what it finds, which rule decides.

    \b
    Examples:
      cogniload explain 20_1_1_770487_red < answer.txt
      cogniload explain 20_1_1_770487_red answer.txt --edition elixir-1.16
    """
    from cogniload_repro.scoring.explain import explain

    say(explain(name, response.read(), edition=edition, **tokens))


@click.command()
@takes(*REGRESSION)
@click.option("--model", "models", multiple=True, help="Only this model (repeatable); all by default.")
@click.option("--compare", is_flag=True, help="Show logLik, AIC, BIC and changed coefficients against the paper's.")
@click.option("--out", type=FILE, help="CSV file to keep the coefficients in.")
@BUILD
def fit(models: tuple[str, ...], compare: bool, out: Path | None, build: Path, **regression: str | None) -> None:
    """Fit the paper's regressions to cells.parquet and compare all with the paper, or fit a regression of your own.

    Without options: Tables 2, 3 and 6, lengths of prompts, and fidelity.csv. A formula reads `correct ~ ...` over d, N,
    log10_N, rho, ratio_pct, needles and prompt_mean; an empty one stands for the paper's specification. Your own
    regression is printed, and kept where --out says.
    """
    if not (models or compare or out) and set(regression.values()) == {None}:
        _fit_paper(build)
        return
    from cogniload_repro.files import for_spreadsheet
    from cogniload_repro.presentation.terminal import print_comparison, print_fits
    from cogniload_repro.statistics import cell_tables, fits
    from cogniload_repro.statistics.regression import QUADRATIC

    formula, family = regression["formula"] or QUADRATIC, regression["family"] or "logit"
    cells = cell_tables.load_cells(build, models or None)
    origin, fitted = cell_tables.describe_cells(cells), fits.fit(cells, formula, family)
    if out is not None:
        kept = fitted.assign(formula=formula, family=family, cells=origin)
        write_whole(out, for_spreadsheet(kept).to_csv(index=False, lineterminator="\n"))
    if origin:
        say(origin)
    say(print_comparison(fits.compare_each(cells, fitted), formula, family) if compare else print_fits(fitted))


def _fit_paper(build: Path) -> None:
    from cogniload_repro.presentation.terminal import print_fit_summary
    from cogniload_repro.schemas import CELLS, FRAMES, check_frame, read_frame
    from cogniload_repro.scoring.cells import read_summary
    from cogniload_repro.statistics import fits
    from cogniload_repro.storage import read_metadata, write_table

    path = build / "cells.parquet"
    cells = read_frame(path, CELLS, "make it with `make score`, outside a checkout `cogniload score`")
    tables = {
        "tokens": read_summary(build / "scores", "tokens"),
        "interactions": fits.interactions_table(cells),
        "aic": fits.aic_table(cells),
        "glm": fits.glm_table(cells),
    }
    for name, table in tables.items():
        table = check_frame(table, FRAMES[name], f"the table {name}", "report it, it is a fault here")
        write_table(build / f"{name}.parquet", table, read_metadata(path))
    say(f"fitted {_count(cells['model'].nunique(), 'model')}")
    say(print_fit_summary(cells, tables["glm"]))
    _say_rejected(build)
    for name, what in (("glm", "Table 2"), ("interactions", "interactions (Table 3)"), ("aic", "Table 6")):
        for row in tables[name].query("status != 'ok'").itertuples():
            say(f"  no fit of {what} for {row.model}: {row.status}")
    _compare(build)


@click.command()
@click.option("--against", type=EXISTING_FILE, help="fidelity.csv of another build; list numbers that changed.")
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
    from cogniload_repro.fidelity import ledger, results
    from cogniload_repro.prompts.comparison import compare_prompts, prompt_rows
    from cogniload_repro.prompts.counts import load_prompt_counts
    from cogniload_repro.storage import write_table

    found = results.load_results(build)
    fidelity = ledger.compare(found, prompt_rows(compare_prompts(load_prompt_counts())))
    write_table(build / "fidelity.parquet", fidelity, {"provenance": found.provenance})
    write_whole(build / "fidelity.csv", fidelity.to_csv(index=False, lineterminator="\n"))  # last: make looks at it
    say(ledger.scoreboard(fidelity).to_string(index=False))
    say(ledger.LEGEND)
    return fidelity
