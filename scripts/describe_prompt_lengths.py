"""Describe the committed counts of prompt tokens, and write data/prompt_lengths.parquet.

    .venv/bin/python scripts/describe_prompt_lengths.py

Reads data/prompt_tokens.parquet (`count_prompt_tokens.py`). Takes seconds.
"""

import numpy as np
import pandas as pd

from cogniload_repro.models import BY_NAME
from cogniload_repro.paths import DATA
from cogniload_repro.storage import write_table

#: Tokens of the default set's 14,000 puzzles: name, N, d, ratio_pct, and one column per tokenizer.
PROMPT_TOKENS = DATA / "prompt_tokens.parquet"
KEYS = ["name", "N", "d", "ratio_pct"]
RESAMPLES = 500
SEED = 42


def describe_lengths(
    counts: pd.DataFrame, tokenizer: str, per_cell: int
) -> pd.DataFrame:
    """Return mean and 90th percentile of the prompt lengths (tokens) by N and d.

    The sample is stratified by needle ratio. The standard errors se_mean and se_p90 are those of a
    set with ``per_cell`` puzzles per (d, N, ratio); that of the percentile is a stratified
    bootstrap, and so has a relative error of 3%.
    """
    rows = []
    for (N, d), group in counts.groupby(["N", "d"]):
        rng = np.random.default_rng(SEED)
        variances = []
        resampled = []
        for _, stratum in group.groupby("ratio_pct"):
            lengths = stratum[tokenizer].to_numpy()
            variances.append(np.var(lengths, ddof=1))
            drawn = rng.integers(0, len(lengths), (RESAMPLES, per_cell))
            resampled.append(lengths[drawn])
        sizes = [per_cell] * len(variances)
        percentiles = np.quantile(np.concatenate(resampled, axis=1), 0.9, axis=1)
        rows.append(
            {
                "tokenizer": tokenizer,
                "N": N,
                "d": d,
                "per_cell": per_cell,
                "mean": group[tokenizer].mean(),
                "p90": group[tokenizer].quantile(0.9),
                "se_mean": np.sqrt(np.dot(variances, sizes)) / sum(sizes),
                "se_p90": percentiles.std(ddof=1),
            }
        )
    return pd.DataFrame(rows)


def describe_all(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the lengths by all tokenizers, for sets of this size and of the paper's."""
    sizes = {model.puzzles_per_cell for model in BY_NAME.values()}
    sizes.add(int(counts.groupby(KEYS[1:]).size().max()))
    tables = []
    for tokenizer in counts.columns.drop(KEYS):
        for per_cell in sorted(sizes):
            tables.append(describe_lengths(counts, tokenizer, per_cell))
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    table = describe_all(pd.read_parquet(PROMPT_TOKENS))
    write_table(DATA / "prompt_lengths.parquet", table)
