"""Compare printed prompt lengths in tokens (Appendix H) with those of the default puzzles.

`scripts/count_prompt_tokens.py` counts tokens with the models' own tokenizers; the package reads
its output. If the generator is the authors', both sets are samples from one distribution: mean
lengths differ by sampling error and by a constant, the tokens of the model's chat template.
"""

import json
from functools import cache

import numpy as np
import pandas as pd

from cogniload_repro.grid import CELL
from cogniload_repro.models import BY_NAME, NAMES
from cogniload_repro.paths import DATA
from cogniload_repro.published import TOKEN_TABLES, load_table
from cogniload_repro.storage import FIDELITY

#: Tokens of the default set's 14,000 puzzles: name, N, d, ratio_pct, and one column per tokenizer.
PROMPT_TOKENS = DATA / "prompt_tokens.parquet"
TOKENIZERS = DATA / "tokenizers.json"
_RESAMPLES = 500
_SEED = 42
#: Flag of printed numbers that are inconsistent with the others of the model's family: they are
#: compared, but not used in any estimate.
ODD = "odd"
#: Largest difference, in standard errors, that is attributed to sampling error.
LARGEST_Z = 3
#: Variance of the rounding error of a number printed to whole tokens.
_ROUNDING = 1 / 12


def load_prompt_counts() -> pd.DataFrame:
    """Return the committed counts: name, N, d, ratio_pct, and one column per tokenizer."""
    return pd.read_parquet(PROMPT_TOKENS)


def load_tokenizers() -> pd.DataFrame:
    """Return the tokenizers with which prompts were counted.

    One row per tokenizer: name, label, package, version, models (a list) and basis (why it is
    taken as the tokenizer of these models).
    """
    tokenizers = json.loads(TOKENIZERS.read_text("utf-8"))
    table = pd.DataFrame.from_dict(tokenizers, orient="index")
    table = table.rename_axis("name").reset_index()
    return table[["name", "label", "package", "version", "models", "basis"]]


def prompt_statistics(
    counts: pd.DataFrame, tokenizer: str, per_cell: int | None = None
) -> pd.DataFrame:
    """Return mean and 90th percentile of the prompt lengths (tokens) by N and d.

    One row per condition (N, d): N, d, total, mean, p90, se_mean, se_p90. The sample is stratified
    by needle ratio. Standard errors are those of a set with ``per_cell`` puzzles per (d, N, ratio),
    by default those of the counts. That of the percentile is a stratified bootstrap with
    `_RESAMPLES` resamples, and so has a relative error of 3%.
    """
    rows = []
    for (N, d), group in counts.groupby(["N", "d"]):
        lengths = group[tokenizer].to_numpy()
        places = group.groupby("ratio_pct").indices.values()
        strata = [lengths[of_ratio] for of_ratio in places]
        counted = tuple(len(stratum) for stratum in strata)
        sizes = tuple(per_cell or count for count in counted)
        variances = [_variance(stratum) for stratum in strata]
        error = np.sqrt(np.dot(variances, sizes))
        se_mean = error / sum(sizes)
        resampled = _resample(counted, sizes)
        stacked = np.concatenate(strata)
        percentiles = np.quantile(stacked[resampled], 0.9, axis=1)
        rows.append(
            {
                "N": N,
                "d": d,
                "total": len(lengths),
                "mean": lengths.mean(),
                "p90": np.quantile(lengths, 0.9),
                "se_mean": se_mean,
                "se_p90": percentiles.std(ddof=1),
            }
        )
    return pd.DataFrame(rows)


def _variance(lengths: np.ndarray) -> float:
    """Return the variance of some lengths, NaN of a single one."""
    return lengths.var(ddof=1) if len(lengths) > 1 else np.nan


@cache
def _resample(lengths: tuple[int, ...], sizes: tuple[int, ...]) -> np.ndarray:
    """Return bootstrap indices, drawn with replacement within consecutive strata.

    ``lengths`` are the sizes of the strata, ``sizes`` the numbers drawn from them.
    """
    rng = np.random.default_rng(_SEED)
    drawn = []
    end = 0
    for length, size in zip(lengths, sizes, strict=True):
        start = end
        end = start + length
        indices = rng.integers(start, end, (_RESAMPLES, size))
        drawn.append(indices)
    return np.concatenate(drawn, axis=1)


def compare_prompts(counts: pd.DataFrame) -> pd.DataFrame:
    """Compare every printed prompt length with counts of the whole grid (`load_prompt_counts`).

    One row per model with a tokenizer, quantity (prompt_mean, prompt_p90), N and d: also tokenizer,
    odd, printed, counted, se (sampling error of both sets and rounding to whole tokens), overhead
    (tokens of the model's chat template, estimated by the weighted mean of its differences without
    the odd rows), difference (printed - counted - overhead) and z (difference / se).
    """
    tokenizers = load_tokenizers().explode("models").set_index("models")["name"]

    @cache
    def statistics(tokenizer: str, per_cell: int | None) -> pd.DataFrame:
        return prompt_statistics(counts, tokenizer, per_cell)

    sizes = set(counts.groupby(CELL).size())
    frames = []
    for model in NAMES:
        tokenizer = tokenizers.get(model)
        if tokenizer not in counts:
            continue
        ours = statistics(tokenizer, None)
        per_cell = BY_NAME[model].puzzles_per_cell
        theirs = ours if sizes == {per_cell} else statistics(tokenizer, per_cell)
        frame = _compare_model(model, ours, theirs)
        frame.insert(3, "tokenizer", tokenizer)
        frames.append(frame)
    rows = pd.concat(frames, ignore_index=True)

    # overhead: mean of a model's differences, weighted by inverse variance, per quantity
    precision = 1 / rows["se"] ** 2
    weights = precision.where(~rows["odd"], 0.0)
    keys = [rows["model"], rows["quantity"]]
    weighted = weights * (rows["printed"] - rows["counted"])
    sums = weighted.groupby(keys).transform("sum")
    rows["overhead"] = sums / weights.groupby(keys).transform("sum")
    rows["difference"] = rows["printed"] - rows["counted"] - rows["overhead"]
    return rows.assign(z=rows["difference"] / rows["se"])


def _compare_model(
    model: str, ours: pd.DataFrame, theirs: pd.DataFrame
) -> pd.DataFrame:
    """Return a model's printed lengths beside ours, with the standard error of the difference."""
    pairs = ours.merge(theirs, on=["N", "d"], suffixes=("", "_theirs"))
    printed = load_table("tokens").query("model == @model").merge(pairs, on=["N", "d"])
    is_odd = printed["flag"].str.split(";").map(lambda flags: ODD in flags)
    frames = []
    for statistic in ("mean", "p90"):
        se_ours = printed[f"se_{statistic}"]
        se_theirs = printed[f"se_{statistic}_theirs"]
        variance = se_ours**2 + se_theirs**2 + _ROUNDING
        rows = printed[["model", "N", "d"]].assign(
            quantity=f"prompt_{statistic}",
            odd=is_odd,
            printed=printed[f"prompt_{statistic}"],
            counted=printed[statistic],
            se=np.sqrt(variance),
        )
        frames.append(rows.dropna(subset="printed"))
    return pd.concat(frames, ignore_index=True)


def prompt_rows(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return the comparison as rows of the ledger, of kind independent.

    The verdict is not about printed digits: it is "within" if the numbers are at most `LARGEST_Z`
    standard errors apart, else "differs".
    """
    keys = ["model", "N", "d"]
    quantities = ["prompt_mean", "prompt_p90"]
    printed = load_table("tokens").melt(keys, quantities, "quantity", "printed")
    compared = comparison.drop(columns="printed")
    rows = printed.dropna().merge(compared, how="left", on=[*keys, "quantity"])
    expected = rows["printed"] - rows["difference"]
    is_known = rows["z"].notna()
    is_near = rows["z"].abs() <= LARGEST_Z
    verdict = np.where(is_near, "within", "differs")
    at_N = "N=" + rows["N"].astype(str)
    at_d = " d=" + rows["d"].astype(str)
    table = pd.DataFrame(
        {
            "table": rows["N"].map(TOKEN_TABLES),
            "model": rows["model"],
            "quantity": rows["quantity"],
            "condition": at_N + at_d + ", counted",
            "kind": "independent",
            "evidence": "",
            "published": rows["printed"].map("{:.0f}".format),
            "recomputed": expected,
            "shown": expected.map("{:.0f}".format).where(is_known, ""),
            "verdict": np.where(is_known, verdict, "not_computable"),
            "reason": np.where(is_known, "", "the model's tokenizer is not available"),
        }
    )
    return table[list(FIDELITY)]
