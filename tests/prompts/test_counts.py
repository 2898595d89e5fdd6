"""Committed counts of prompt tokens, and what a set's mean and percentile are worth."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.prompts.counts import COUNTS, TOKENIZERS, load_prompt_counts, load_tokenizers, prompt_statistics
from cogniload_repro.puzzles.catalog import draw_named
from cogniload_repro.storage import read_metadata

RATIOS = (5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0)


def lengths(rng, size=100, spread=30.0):
    """Return counts of one N and d, longer the more needles there are."""
    ratios = np.repeat(RATIOS, size)
    counts = np.rint(rng.normal(1000 + 5 * ratios, spread)).astype(int)
    return pd.DataFrame({"ratio_pct": ratios, "tiny": counts, "N": 50, "d": 3, "name": ""})


def test_statistics_are_those_of_the_puzzles():
    """Total, mean and 90th percentile are the set's own, for each N and d apart."""
    first = lengths(np.random.default_rng(1))
    counts = pd.concat([first, first.assign(d=5, tiny=2 * first["tiny"])])
    three, five = prompt_statistics(counts, "tiny").itertuples(index=False)
    assert (three.N, three.d, three.total) == (50, 3, 700)
    assert three.mean == first["tiny"].mean()
    assert three.p90 == np.quantile(first["tiny"], 0.9)
    assert (five.d, five.mean, five.p90) == (5, 2 * three.mean, 2 * three.p90)


def test_standard_errors_are_the_scatter_of_sets():
    """Sets drawn anew, with the ratios fixed, scatter as the standard errors say, also smaller sets."""
    rng = np.random.default_rng(2)
    counts = lengths(rng, size=2000)
    for size in (100, 10):
        (row,) = prompt_statistics(counts, "tiny", size).itertuples()
        sets = [lengths(rng, size)["tiny"].to_numpy() for _ in range(400)]
        assert row.se_mean == pytest.approx(np.std([one.mean() for one in sets]), rel=0.12)  # 400 sets: 3.5%
        assert row.se_p90 == pytest.approx(np.std([np.quantile(one, 0.9) for one in sets]), rel=0.15)


def test_ratios_are_strata():
    """Puzzles that differ between ratios only give the same numbers in any set."""
    (row,) = prompt_statistics(lengths(np.random.default_rng(3), spread=0.0), "tiny").itertuples()
    assert (row.se_mean, row.se_p90) == (0, 0)


def test_every_tokenizer_has_counted_and_has_models_of_the_paper():
    """One column of counts for each tokenizer, made by the file that the manifest names; no model has two."""
    counts, tokenizers = load_prompt_counts(), load_tokenizers()
    models = tokenizers["models"].explode()
    assert set(models) <= set(NAMES)
    assert models.is_unique
    assert list(counts.columns) == ["name", "N", "d", "ratio_pct", *tokenizers["name"]]
    sums = {name: entry["sha256"] for name, entry in json.loads(TOKENIZERS.read_text("utf-8")).items()}
    assert json.loads(read_metadata(COUNTS)["tokenizers"]) == sums
    assert counts.groupby(["N", "d", "ratio_pct"]).size().unique().tolist() == [100]


@pytest.mark.slow
def test_the_committed_counts_are_those_of_the_default_puzzles():
    """Names, order and texts of the 14,000 puzzles."""
    texts = "\0".join(draw_named(name)["text"] for name in load_prompt_counts()["name"])
    assert read_metadata(COUNTS)["texts"] == hashlib.sha256(texts.encode("utf-8")).hexdigest()
