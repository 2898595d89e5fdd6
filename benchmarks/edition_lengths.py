"""Hold the prompt lengths of the editions' default sets, and those expected over many seeds, against Tables 7 to 10.

    python benchmarks/edition_lengths.py --tokenizers data/tokenizers --out lengths.csv [--sets 6] [--jobs 2]

Writes one row a task length and difficulty: the printed mean of one model, the means of the port's and of Elixir's
default set without the model's constant overhead, the mean over so many further sets, and standard errors. Prints the
chi-squares of the 20 means for that model. The rules are those of all editions, so the further sets are the port's.
"""

import argparse
from pathlib import Path

import pandas as pd

from cogniload_repro.files import write_whole
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.prompts.comparison import REFERENCES, compare_prompts, summarize_prompts
from cogniload_repro.prompts.counts import KEYS, count_prompts
from cogniload_repro.prompts.tokenizers import load_tokenizer, present_tokenizers
from cogniload_repro.puzzles.editions import PORT, resolve_edition
from cogniload_repro.puzzles.sets import draw_rows

#: Seed of the further sets; their ids are independent of order.
SEED = 7


def count_set(rows, tokenizers: dict) -> pd.DataFrame:
    """Count the tokens of drawn rows, a few at a time so that texts need not be in memory together."""
    rows, counted = iter(rows), []
    while batch := [row for row, _ in zip(rows, range(5_000), strict=False)]:
        counted.append(count_prompts(pd.DataFrame(batch)[[*KEYS, "text"]], tokenizers))
    return pd.concat(counted, ignore_index=True)


def compare_sets(counts: dict[str, pd.DataFrame], model: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the 20 mean lengths of every set beside the printed ones, and the chi-square of each set."""
    table, tests = None, []
    for name, own in counts.items():
        compared = compare_prompts(own)
        means = compared.query("model == @model and quantity == 'prompt_mean'").set_index(["N", "d"])
        columns = {"counted": name, "se": f"{name}_se_of_difference", "z": f"{name}_z"}
        table = means[["printed"]] if table is None else table
        table = table.join(means[list(columns)].rename(columns=columns))
        summary = summarize_prompts(compared).query("model == @model and quantity == 'prompt_mean'")
        tests.append(summary.assign(set=name)[["set", "overhead", "overhead_se", "chi2", "df", "p", "largest"]])
    return table.reset_index(), pd.concat(tests, ignore_index=True)


def main() -> None:
    """Count the three sets, write the table and print the tests."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tokenizers", type=Path, default=Path("data/tokenizers"))
    parser.add_argument("--sets", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    tokenizers = {name: load_tokenizer(name, options.tokenizers) for name in present_tokenizers(options.tokenizers)}
    counts = {
        str(edition): count_set(draw_rows(PAPER_GRID, edition=edition, jobs=options.jobs), tokenizers)
        for edition in (PORT, resolve_edition("elixir"))
    }
    further = draw_rows(PAPER_GRID, 100 * options.sets, SEED, scheme="spawn", jobs=options.jobs)
    counts["expected"] = count_set(further, tokenizers)
    table, tests = compare_sets(counts, REFERENCES[100])
    write_whole(options.out, table.to_csv(index=False, lineterminator="\n"))
    print(REFERENCES[100], tests.to_string(index=False), sep="\n")


if __name__ == "__main__":
    main()
