"""Compare printed prompt lengths in tokens (Appendix H) with those of the default puzzles.

`scripts/count_prompt_tokens.py` counts tokens with the models' own tokenizers, and
`scripts/describe_prompt_lengths.py` describes these counts. If the generator is the authors', both
sets are samples from one distribution: mean lengths differ by sampling error and by a constant, the
tokens of the model's chat template.
"""

import json

import numpy as np
import pandas as pd

from cogniload_repro.models import BY_NAME
from cogniload_repro.paths import DATA
from cogniload_repro.published import TOKEN_TABLES, load_table
from cogniload_repro.storage import FIDELITY

TOKENIZERS = DATA / "tokenizers.json"
#: Flag of printed numbers that are inconsistent with the others of the model's family: they are
#: compared, but not used in any estimate.
ODD = "odd"
#: Largest difference, in standard errors, that is attributed to sampling error.
LARGEST_Z = 3
#: Variance of the rounding error of a number printed to whole tokens.
_ROUNDING = 1 / 12


def load_prompt_lengths() -> pd.DataFrame:
    """Return the lengths of the default set's 14,000 prompts (tokens), by tokenizer, N and d.

    Mean and 90th percentile are those of all puzzles of N and d. The standard errors se_mean and
    se_p90 are those of a set with ``per_cell`` puzzles per configuration: 100 as here, or 10.
    """
    return pd.read_parquet(DATA / "prompt_lengths.parquet")


def load_tokenizers() -> pd.DataFrame:
    """Return the tokenizers with which prompts were counted.

    One row per tokenizer: name, label, package, version, models (a list) and basis (why it is
    taken as the tokenizer of these models).
    """
    tokenizers = json.loads(TOKENIZERS.read_text("utf-8"))
    table = pd.DataFrame.from_dict(tokenizers, orient="index")
    table = table.rename_axis("name").reset_index()
    return table[["name", "label", "package", "version", "models", "basis"]]


def compare_prompts(lengths: pd.DataFrame) -> pd.DataFrame:
    """Compare every printed prompt length with those of a whole grid (`load_prompt_lengths`).

    One row per model with a tokenizer, quantity (prompt_mean, prompt_p90), N and d: also tokenizer,
    odd, printed, counted, se (sampling error of both sets and rounding to whole tokens), overhead
    (tokens of the model's chat template, estimated by the weighted mean of its differences without
    the odd rows), difference (printed - counted - overhead) and z (difference / se).
    """
    pairs = _pair_conditions(lengths)
    flags = pairs["flag"].str.split(";")
    is_odd = flags.map(lambda names: ODD in names)
    frames = []
    for statistic in ("mean", "p90"):
        se_ours = pairs[f"se_{statistic}"]
        se_theirs = pairs[f"se_{statistic}_theirs"]
        variance = se_ours**2 + se_theirs**2 + _ROUNDING
        frame = pairs[["model", "N", "d", "tokenizer"]].assign(
            quantity=f"prompt_{statistic}",
            odd=is_odd,
            printed=pairs[f"prompt_{statistic}"],
            counted=pairs[statistic],
            se=np.sqrt(variance),
        )
        frames.append(frame.dropna(subset="printed"))
    rows = pd.concat(frames)
    rows = rows.sort_values("model", kind="stable", ignore_index=True)

    # overhead: mean of a model's differences, weighted by inverse variance, per quantity
    precision = 1 / rows["se"] ** 2
    weights = precision.where(~rows["odd"], 0.0)
    keys = [rows["model"], rows["quantity"]]
    weighted = weights * (rows["printed"] - rows["counted"])
    sums = weighted.groupby(keys).transform("sum")
    rows["overhead"] = sums / weights.groupby(keys).transform("sum")
    rows["difference"] = rows["printed"] - rows["counted"] - rows["overhead"]
    return rows.assign(z=rows["difference"] / rows["se"])


def _pair_conditions(lengths: pd.DataFrame) -> pd.DataFrame:
    """Return the printed conditions with our set's lengths, and the errors of the model's set."""
    tokenizers = load_tokenizers().explode("models")
    tokenizer_of = tokenizers.set_index("models")["name"]
    size_of = {name: model.puzzles_per_cell for name, model in BY_NAME.items()}
    printed = load_table("tokens")
    printed["tokenizer"] = printed["model"].map(tokenizer_of)
    printed["per_cell"] = printed["model"].map(size_of)
    our_size = lengths["per_cell"].max()
    ours = lengths[lengths["per_cell"] == our_size].drop(columns="per_cell")
    key = ["tokenizer", "N", "d"]
    pairs = printed.merge(ours, on=key)
    key.append("per_cell")
    return pairs.merge(lengths, on=key, suffixes=("", "_theirs"))


def prompt_rows(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return the comparison as rows of the ledger, of kind independent.

    The verdict is not about printed digits: it is "within" if the numbers are at most `LARGEST_Z`
    standard errors apart, else "differs".
    """
    keys = ["model", "N", "d"]
    quantities = ["prompt_mean", "prompt_p90"]
    printed = load_table("tokens").melt(keys, quantities, "quantity", "printed")
    compared = comparison.drop(columns="printed")
    keys.append("quantity")
    rows = printed.dropna().merge(compared, how="left", on=keys)
    expected = rows["printed"] - rows["difference"]
    is_known = rows["z"].notna()
    shown = expected.map("{:.0f}".format)
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
            "shown": shown.where(is_known, ""),
            "verdict": np.where(is_known, verdict, "not_computable"),
            "reason": np.where(is_known, "", "the model's tokenizer is not available"),
        }
    )
    return table[list(FIDELITY)]
