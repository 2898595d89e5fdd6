"""Committed counts of prompt tokens; printed lengths against them: constants and departures."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest
from harness import read_metadata
from samples import (
    GPT5,
    LLAMA,
    PROMPT_TOKENS,
    TEMPLATE,
    counts_like,
    prompt_descriptions,
)
from scipy.stats import chi2

from cogniload_repro.ledger import prompts as prompt_lengths
from cogniload_repro.ledger.prompts import (
    TOKENIZERS,
    load_prompt_lengths,
    load_tokenizers,
)
from cogniload_repro.models import NAMES
from cogniload_repro.published import load_printed, load_table
from cogniload_repro.puzzles.rows import draw_named


@pytest.fixture(scope="module")
def llama():
    """Lengths in tokens of one model, from the right distribution."""
    return prompt_descriptions.describe_all(counts_like(LLAMA, "llama3"))


@pytest.fixture(scope="module")
def comparison(llama):
    """The comparison of these lengths."""
    return prompt_lengths.compare_prompts(llama)


def test_only_counted_models_are_compared(comparison, llama):
    """There is a row per printed number of each model whose tokenizer has counted.

    Its numbers fit together.
    """
    assert set(comparison["model"]) == {LLAMA}
    assert len(comparison) == 2 * 20
    rest = comparison["printed"] - comparison["counted"] - comparison["overhead"]
    np.testing.assert_allclose(comparison["difference"], rest)
    np.testing.assert_allclose(comparison["z"], rest / comparison["se"])
    # two samples of the same size, and rounding
    ours = llama.query("per_cell == 100")["se_mean"] ** 2
    means = comparison[comparison["quantity"] == "prompt_mean"]
    np.testing.assert_allclose(sorted(means["se"] ** 2), sorted(2 * ours + 1 / 12))


def test_the_template_is_recovered(comparison):
    """The constant is found within four standard errors.

    No other has a lower chi-square, and the rest is chance.
    """
    means = comparison[comparison["quantity"] == "prompt_mean"]
    assert (
        abs(means["overhead"].iloc[0] - TEMPLATE)
        < 4 * (1 / means["se"] ** 2).sum() ** -0.5
    )
    square = (means["z"] ** 2).sum()
    assert 0.001 < chi2.sf(square, 19) < 1
    assert means["z"].abs().max() < 3
    for shift in (-0.1, 0.1):
        assert (((means["difference"] + shift) / means["se"]) ** 2).sum() > square


def test_odd_numbers_are_compared_but_estimate_nothing():
    """A flagged number is listed with its z-score and leaves constant and chi-square alone."""
    lengths_of_gpt5 = prompt_descriptions.describe_all(counts_like(GPT5, "o200k"))
    compared = prompt_lengths.compare_prompts(lengths_of_gpt5)
    nano = compared[
        (compared["model"] == "gpt-5-nano-2025-08-07")
        & (compared["quantity"] == "prompt_mean")
    ]
    flagged = load_printed("tokens").query(
        "model == 'gpt-5-nano-2025-08-07' and flag == 'odd'"
    )
    assert nano["odd"].sum() == len(flagged) > 0
    clean = nano[~nano["odd"]]
    weights = 1 / clean["se"] ** 2
    mean = np.average(clean["printed"] - clean["counted"], weights=weights)
    np.testing.assert_allclose(nano["overhead"], mean)
    misprint = nano[(nano["N"] == 50) & (nano["d"] == 7)].iloc[0]
    assert misprint["z"] > 10


def test_departures_beyond_chance_differ(comparison):
    """Three standard errors are the edge.

    Every legible length of other models has its row, not computable.
    """
    rows = prompt_lengths.prompt_rows(
        comparison.assign(z=np.where(comparison["d"] == 3, -3.1, 3.0))
    )
    of_llama = rows[rows["model"] == LLAMA]
    at_three = of_llama["condition"].str.contains("d=3,")
    assert set(of_llama.loc[at_three, "verdict"]) == {"differs"}
    assert set(of_llama.loc[~at_three, "verdict"]) == {"within"}
    assert (
        len(rows)
        == load_table("tokens")[["prompt_mean", "prompt_p90"]].notna().to_numpy().sum()
    )
    others = rows[rows["model"] != LLAMA]
    assert set(others["verdict"]) == {"not_computable"}
    assert set(others["reason"]) == {"the model's tokenizer is not available"}
    assert others["recomputed"].isna().all()


RATIOS = (5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0)


def lengths(rng, size=100, spread=30.0):
    """Return counts of one N and d, longer the more needles there are."""
    ratios = np.repeat(RATIOS, size)
    counts = np.rint(rng.normal(1000 + 5 * ratios, spread)).astype(int)
    return pd.DataFrame(
        {"ratio_pct": ratios, "tiny": counts, "N": 50, "d": 3, "name": ""}
    )


def test_statistics_are_those_of_the_puzzles():
    """Mean and 90th percentile are the set's own, for each N and d apart."""
    first = lengths(np.random.default_rng(1))
    counts = pd.concat([first, first.assign(d=5, tiny=2 * first["tiny"])])
    described = prompt_descriptions.describe_lengths(counts, "tiny", 100)
    three, five = described.itertuples(index=False)
    assert (three.N, three.d, three.per_cell) == (50, 3, 100)
    assert three.mean == first["tiny"].mean()
    assert three.p90 == np.quantile(first["tiny"], 0.9)
    assert (five.d, five.mean, five.p90) == (5, 2 * three.mean, 2 * three.p90)


def test_standard_errors_are_the_scatter_of_sets():
    """Sets drawn anew scatter as the standard errors say.

    The ratios are fixed; smaller sets do so too.
    """
    rng = np.random.default_rng(2)
    counts = lengths(rng, size=2000)
    for size in (100, 10):
        (row,) = prompt_descriptions.describe_lengths(counts, "tiny", size).itertuples()
        sets = [lengths(rng, size)["tiny"].to_numpy() for _ in range(400)]
        scatter = np.std([counts_of_set.mean() for counts_of_set in sets])
        assert row.se_mean == pytest.approx(scatter, rel=0.12)  # 400 sets: 3.5%
        p90 = np.std([np.quantile(counts_of_set, 0.9) for counts_of_set in sets])
        assert row.se_p90 == pytest.approx(p90, rel=0.15)


def test_every_tokenizer_has_counted_and_has_models_of_the_paper():
    """One column of counts for each tokenizer, made by the file that the manifest names.

    No model has two.
    """
    counts = pd.read_parquet(PROMPT_TOKENS)
    tokenizers = load_tokenizers()
    models = tokenizers["models"].explode()
    assert set(models) <= set(NAMES)
    assert models.is_unique
    assert list(counts.columns) == ["name", "N", "d", "ratio_pct", *tokenizers["name"]]
    sums = {
        name: entry["sha256"]
        for name, entry in json.loads(TOKENIZERS.read_text("utf-8")).items()
    }
    assert json.loads(read_metadata(PROMPT_TOKENS)["tokenizers"]) == sums
    assert counts.groupby(["N", "d", "ratio_pct"]).size().unique().tolist() == [100]


def test_the_committed_lengths_are_those_of_the_committed_counts():
    """The script finds them again."""
    described = prompt_descriptions.describe_all(pd.read_parquet(PROMPT_TOKENS))
    pd.testing.assert_frame_equal(described, load_prompt_lengths())


@pytest.mark.slow
def test_the_committed_counts_are_those_of_the_default_puzzles():
    """Names, order and texts of the 14,000 puzzles."""
    names = pd.read_parquet(PROMPT_TOKENS)["name"]
    texts = "\0".join(draw_named(name)["text"] for name in names)
    assert (
        read_metadata(PROMPT_TOKENS)["texts"]
        == hashlib.sha256(texts.encode("utf-8")).hexdigest()
    )
