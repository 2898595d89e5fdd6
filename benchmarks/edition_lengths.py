"""Hold the prompt lengths of the editions' default sets, and those expected over many sets, against Tables 7 to 10.

    cogniload fetch-tokenizers llama3
    python benchmarks/edition_lengths.py [--sets 10] [--jobs 1]

Writes data/companions/edition_lengths.csv, which the chapter on the generator shows: one row a set, task length and
difficulty.
``counted`` is the mean length in tokens without the model's constant overhead, ``se`` its standard error as the
expected length of the rules, ``overhead`` the constant, ``z`` the distance of printed and counted mean in standard
errors of their difference. The rules are those of all editions, so the further sets are the port's. Ten sets take ten
minutes of processor time.
"""

import argparse
from itertools import islice
from pathlib import Path

import pandas as pd

from cogniload_repro.files import write_whole
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME
from cogniload_repro.prompts.comparison import compare_prompts
from cogniload_repro.prompts.counts import KEYS, count_prompts, prompt_statistics
from cogniload_repro.prompts.tokenizers import find_tokenizers, load_tokenizer
from cogniload_repro.puzzles.editions import PORT, resolve_edition
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.sets import draw_rows
from cogniload_repro.storage import DATA

#: Seed of the further sets; their ids are independent of order.
SEED = 7
PER_CELL = 100
MODEL = "DeepSeek-R1-Distill-Llama-70B"
COLUMNS = ["set", "puzzles", "N", "d", "printed", "counted", "se", "overhead", "z"]


def count_set(rows, tokenizers: dict) -> pd.DataFrame:
    """Count the tokens of drawn rows, a few at a time so that texts need not be in memory together."""
    rows, counted = iter(rows), []
    while batch := list(islice(rows, 5_000)):
        counted.append(count_prompts(pd.DataFrame(batch)[[*KEYS, "text"]], tokenizers))
    return pd.concat(counted, ignore_index=True)


def compare_set(name: str, counts: pd.DataFrame, tokenizer: str) -> pd.DataFrame:
    """Return a set's 20 mean lengths beside the printed ones, columns `COLUMNS`."""
    means = compare_prompts(counts).query("model == @MODEL and quantity == 'prompt_mean'").drop(columns="se")
    errors = prompt_statistics(counts, tokenizer, resamples=0)[["N", "d", "total", "se_mean"]]
    rows = means.merge(errors, on=["N", "d"]).assign(set=name)
    return rows.rename(columns={"total": "puzzles", "se_mean": "se"})[COLUMNS]


def main() -> None:
    """Count the three sets and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tokenizers", type=Path, default=Path("data/tokenizers"))
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=DATA / "companions" / "edition_lengths.csv")
    options = parser.parse_args()
    tokenizer = next(file.name for file in find_tokenizers() if MODEL in file.models)
    assert BY_NAME[MODEL].puzzles_per_cell == PER_CELL
    drawn = {
        str(edition): draw_rows(PuzzleSet(PAPER_GRID, edition=edition), jobs=options.jobs)
        for edition in (PORT, resolve_edition("elixir"))
    }
    further = PER_CELL * options.sets
    drawn["expected"] = draw_rows(PuzzleSet(PAPER_GRID, further, SEED, scheme="spawn"), jobs=options.jobs)
    loaded = {tokenizer: load_tokenizer(tokenizer, options.tokenizers)}
    table = pd.concat(compare_set(name, count_set(rows, loaded), tokenizer) for name, rows in drawn.items())
    write_whole(options.out, table.round(3).to_csv(index=False, lineterminator="\n"))
    print(table.assign(chi2=table["z"] ** 2).groupby("set", sort=False)["chi2"].sum().to_string())


if __name__ == "__main__":
    main()
