"""Prompt lengths in tokens (paper, Appendix H): the printed ones against those of the default puzzles.

`scripts/count_prompt_tokens.py` counts with the models' own tokenizers; the package reads what it has written. If the
generator is the authors', these are two samples from one distribution: mean lengths differ by sampling error and by a
constant, the tokens of the model's chat template.
"""

import json
from functools import cache

import numpy as np
import pandas as pd

from cogniload_repro.fidelity.ledger import COLUMNS
from cogniload_repro.files import DATA
from cogniload_repro.models import BY_NAME, NAMES
from cogniload_repro.published import TOKEN_TABLES, load_table

#: Tokens of the default set's 14,000 puzzles: name, N, d, ratio_pct, and one column per tokenizer.
COUNTS = DATA / "prompt_tokens.parquet"
TOKENIZERS = DATA / "tokenizers.json"
_RESAMPLES, _SEED = 500, 42
#: Flag of printed numbers that are off their own family's and are left out of estimates, though compared.
ODD = "odd"
#: Departures up to so many standard errors are chance.
LARGEST_Z = 3
_ROUNDING = 1 / 12  # variance of a printed whole number about the true one
_KEYS = ["model", "quantity"]


def load_prompt_counts() -> pd.DataFrame:
    """Return the committed counts: name, N, d, ratio_pct, and tokens by every tokenizer of `load_tokenizers`."""
    return pd.read_parquet(COUNTS)


def load_tokenizers() -> pd.DataFrame:
    """Return name, label, package, version, models (a list) and basis (why it is taken for theirs) by tokenizer."""
    table = pd.DataFrame.from_dict(json.loads(TOKENIZERS.read_text("utf-8")), orient="index")
    return table.rename_axis("name").reset_index()[
        ["name", "label", "package", "version", "models", "basis"]
    ]


def prompt_statistics(
    counts: pd.DataFrame, tokenizer: str, per_cell: int | None = None
) -> pd.DataFrame:
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
        drawn = np.concatenate(strata)[_resample(tuple(map(len, strata)), tuple(sizes))]
        se_mean = np.sqrt(np.dot(variances, sizes)) / sum(sizes)
        se_p90 = np.quantile(drawn, 0.9, axis=1).std(ddof=1)
        rows.append(
            (N, d, len(lengths), lengths.mean(), np.quantile(lengths, 0.9), se_mean, se_p90)
        )
    return pd.DataFrame(rows, columns=["N", "d", "total", "mean", "p90", "se_mean", "se_p90"])


@cache
def _resample(lengths: tuple[int, ...], sizes: tuple[int, ...]) -> np.ndarray:
    """Return places in strata of these lengths, one after the other, shape (resamples, sum of sizes)."""
    rng, parts = np.random.default_rng(_SEED), zip(lengths, np.cumsum(lengths), sizes, strict=True)
    return np.concatenate(
        [rng.integers(end - length, end, (_RESAMPLES, size)) for length, end, size in parts], axis=1
    )


def compare_prompts(counts: pd.DataFrame) -> pd.DataFrame:
    """Compare every printed prompt length with counts of the whole grid (`load_prompt_counts`).

    One row per model whose tokenizer has counted, mean and 90th percentile, N and d. se is of both samples and the
    rounding to whole tokens; overhead, of the model's chat template, is estimated from all its rows but the odd ones;
    difference is printed - counted - overhead, z that over se.
    """
    per_cell = set(counts.groupby(["N", "d", "ratio_pct"]).size())
    statistics = cache(lambda tokenizer, size: prompt_statistics(counts, tokenizer, size))
    tokenizers = load_tokenizers().explode("models").set_index("models")["name"]
    printed, frames = load_table("tokens").set_index("model"), []
    for model in [name for name in NAMES if tokenizers.get(name) in counts]:
        size = BY_NAME[model].puzzles_per_cell
        ours = statistics(tokenizers[model], None)
        theirs = ours if per_cell == {size} else statistics(tokenizers[model], size)
        own = ours.merge(theirs, on=["N", "d"], suffixes=("", "_theirs"))
        rows = printed.loc[[model]].reset_index().merge(own, on=["N", "d"])
        for name in ("mean", "p90"):
            variance = rows[f"se_{name}"] ** 2 + rows[f"se_{name}_theirs"] ** 2 + _ROUNDING
            odd = rows["flag"].str.split(";").map(lambda flags: ODD in flags)
            about = {"tokenizer": tokenizers[model], "quantity": f"prompt_{name}", "odd": odd}
            numbers = {
                "printed": rows[f"prompt_{name}"],
                "counted": rows[name],
                "se": np.sqrt(variance),
            }
            compared = rows[["model", "N", "d"]].assign(**about, **numbers)
            frames.append(compared.dropna(subset="printed"))
    rows = pd.concat(frames, ignore_index=True)
    weights = (1 / rows["se"] ** 2).where(~rows["odd"], 0.0)
    keys = [rows[key] for key in _KEYS]
    weighted = (weights * (rows["printed"] - rows["counted"])).groupby(keys).transform("sum")
    rows["overhead"] = weighted / weights.groupby(keys).transform("sum")
    rows["difference"] = rows["printed"] - rows["counted"] - rows["overhead"]
    return rows.assign(z=rows["difference"] / rows["se"])


def prompt_rows(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return the comparison as rows of the fidelity table, kind independent.

    The verdict is not on printed digits: within, where the numbers are at most `LARGEST_Z` standard errors apart.
    """
    quantities = ["prompt_mean", "prompt_p90"]
    printed = (
        load_table("tokens").melt(["model", "N", "d"], quantities, "quantity", "printed").dropna()
    )
    rows = printed.merge(comparison.drop(columns="printed"), how="left", on=[*_KEYS, "N", "d"])
    known = rows["z"].notna()
    expected = rows["printed"] - rows["difference"]
    verdicts = np.select(
        [~known, rows["z"].abs() <= LARGEST_Z], ["not_computable", "within"], "differs"
    )
    return pd.DataFrame(
        {
            "table": rows["N"].map(TOKEN_TABLES),
            "model": rows["model"],
            "quantity": rows["quantity"],
            "condition": [
                f"N={N} d={d}, counted" for N, d in zip(rows["N"], rows["d"], strict=True)
            ],
            "kind": "independent",
            "evidence": "",
            "published": rows["printed"].map("{:.0f}".format),
            "recomputed": expected,
            "shown": expected.map("{:.0f}".format).where(known, ""),
            "verdict": verdicts,
            "reason": np.where(known, "", "the model's tokenizer is not here"),
        },
        columns=list(COLUMNS),
    )
