"""Prompt lengths in tokens (paper, Appendix H): those of the default puzzles, by the models' own tokenizers.

`scripts/count_prompt_tokens.py` fetches the tokenizers and counts; the package reads what it has written.
"""

import json

import numpy as np
import pandas as pd

from cogniload_repro.storage import DATA

#: Tokens of the default set's 14,000 puzzles: name, N, d, ratio_pct, and one column per tokenizer.
COUNTS = DATA / "prompt_tokens.parquet"
TOKENIZERS = DATA / "tokenizers.json"
_RESAMPLES, _SEED = 500, 42


def load_prompt_counts() -> pd.DataFrame:
    """Return the committed counts: name, N, d, ratio_pct, and tokens by every tokenizer of `load_tokenizers`."""
    return pd.read_parquet(COUNTS)


def load_tokenizers() -> pd.DataFrame:
    """Return name, label, package, version, models (a list) and basis (why it is taken for theirs) by tokenizer."""
    table = pd.DataFrame.from_dict(json.loads(TOKENIZERS.read_text("utf-8")), orient="index")
    return table.rename_axis("name").reset_index()[["name", "label", "package", "version", "models", "basis"]]


def prompt_statistics(counts: pd.DataFrame, tokenizer: str, per_cell: int | None = None) -> pd.DataFrame:
    """Return mean and 90th percentile of the prompt lengths (tokens) by N and d, with their standard errors.

    Ratios are strata. ``per_cell`` are the puzzles per (d, N, ratio) of the set whose standard errors are wanted, by
    default those of the counts. That of the percentile comes from resampling the strata, and is good to 3%.
    """
    rows = []
    for (N, d), group in counts.groupby(["N", "d"]):
        lengths = group[tokenizer].to_numpy()
        strata = [lengths[places] for places in group.groupby("ratio_pct").indices.values()]
        sizes = [per_cell or len(stratum) for stratum in strata]
        variances = [stratum.var(ddof=1) if len(stratum) > 1 else np.nan for stratum in strata]
        rng = np.random.default_rng(_SEED)
        drawn = [rng.choice(stratum, (_RESAMPLES, size)) for stratum, size in zip(strata, sizes, strict=True)]
        se_mean = np.sqrt(np.dot(variances, sizes)) / sum(sizes)
        se_p90 = np.quantile(np.concatenate(drawn, axis=1), 0.9, axis=1).std(ddof=1)
        rows.append((N, d, len(lengths), lengths.mean(), np.quantile(lengths, 0.9), se_mean, se_p90))
    return pd.DataFrame(rows, columns=["N", "d", "total", "mean", "p90", "se_mean", "se_p90"])
