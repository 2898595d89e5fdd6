"""Counting prompt tokens, and what a set's mean and percentile are worth."""

import dataclasses
import hashlib
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cogniload_repro.prompts import counts as tokens
from cogniload_repro.prompts.tokenizers import find_tokenizers
from cogniload_repro.puzzles.catalog import draw_named, puzzle_row
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.storage import DATA, write_table

RATIOS = (5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0)


class Letters:
    """A tokenizer to which every character is a token, with the methods of tiktoken."""

    def encode_ordinary_batch(self, texts):
        return [list(text) for text in texts]


class Words:
    """A tokenizer to which every word is a token, with the methods of the library tokenizers."""

    def encode_batch_fast(self, texts, add_special_tokens=True):
        return [["<s>"] * add_special_tokens + text.split() for text in texts]


def lengths(rng, size=100, spread=30.0):
    """Return counts of one N and d, longer the more needles there are."""
    ratios = np.repeat(RATIOS, size)
    counts = np.rint(rng.normal(1000 + 5 * ratios, spread)).astype(int)
    return pd.DataFrame({"ratio_pct": ratios, "tiny": counts, "N": 50, "d": 3, "name": ""})


@example(["a" * (number % 7) for number in range(2 * tokens._BATCH + 3)])
@given(st.lists(st.text(max_size=12), max_size=40))
def test_every_text_is_counted_in_its_place(texts):
    """One count a text, in order, whatever the library, and no special token added."""
    assert tokens.count_tokens(texts, Letters()).tolist() == [len(text) for text in texts]
    assert tokens.count_tokens(texts, Words()).tolist() == [len(text.split()) for text in texts]


def test_statistics_are_those_of_the_puzzles():
    """Total, mean and 90th percentile are the set's own, for each N and d apart."""
    first = lengths(np.random.default_rng(1))
    counts = pd.concat([first, first.assign(d=5, tiny=2 * first["tiny"])])
    three, five = tokens.prompt_statistics(counts, "tiny").itertuples(index=False)
    assert (three.N, three.d, three.total) == (50, 3, 700)
    assert three.mean == first["tiny"].mean()
    assert three.p90 == np.quantile(first["tiny"], 0.9)
    assert (five.d, five.mean, five.p90) == (5, 2 * three.mean, 2 * three.p90)


def test_standard_errors_are_the_scatter_of_sets():
    """Sets drawn anew, with the ratios fixed, scatter as the standard errors say, also smaller sets."""
    rng = np.random.default_rng(2)
    counts = lengths(rng, size=2000)
    for size in (100, 10):
        (row,) = tokens.prompt_statistics(counts, "tiny", size).itertuples()
        sets = [lengths(rng, size)["tiny"].to_numpy() for _ in range(400)]
        assert row.se_mean == pytest.approx(np.std([one.mean() for one in sets]), rel=0.12)  # 400 sets: 3.5%
        assert row.se_p90 == pytest.approx(np.std([np.quantile(one, 0.9) for one in sets]), rel=0.15)


def test_ratios_are_strata():
    """Puzzles that differ between ratios only give the same numbers in any set; without resampling p90 has no error."""
    counts = lengths(np.random.default_rng(3), spread=0.0)
    assert counts["tiny"].std() > 100
    for resamples, se_p90 in ((500, 0), (0, np.nan)):
        (row,) = tokens.prompt_statistics(counts, "tiny", resamples=resamples).itertuples()
        assert (row.se_mean, row.se_p90) == pytest.approx((0, se_p90), nan_ok=True)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Paths of a small puzzles table and of its counts, and a log of what the stand-in tokenizers have counted."""
    rows = [puzzle_row(draw_puzzle(N=20, d=1, needles=10, puzzle_id=number)) for number in (1, 2, 3)]
    puzzles = tmp_path / "puzzles.parquet"
    write_table(puzzles, pd.DataFrame(rows), {"provenance": "reconstructed"})
    log = []
    present = {"qwen": Letters(), "llama3": Words()}

    def load(name, folder):
        log.append(name)
        return present[name]

    monkeypatch.setattr(tokens, "present_tokenizers", lambda folder: tuple(present))
    monkeypatch.setattr(tokens, "load_tokenizer", load)
    return puzzles, tmp_path / "prompt_tokens.parquet", present, log


def test_counts_are_written_once(files):
    """Each present tokenizer has a column; a second run counts nothing, a new tokenizer only itself."""
    puzzles, target, present, log = files
    words = present.pop("llama3")
    assert tokens.write_prompt_counts(puzzles, target, "") == ("qwen",)
    texts = pd.read_parquet(puzzles)["text"]
    assert pd.read_parquet(target)["qwen"].tolist() == texts.str.len().tolist()
    first = target.read_bytes()
    tokens.write_prompt_counts(puzzles, target, "")
    assert target.read_bytes() == first
    present["llama3"] = words
    tokens.write_prompt_counts(puzzles, target, "")
    assert log == ["qwen", "llama3"]
    counts = pd.read_parquet(target)
    assert list(counts.columns) == [*tokens.KEYS, "qwen", "llama3"]
    assert counts["llama3"].tolist() == texts.str.split().str.len().tolist()


def test_other_texts_and_vocabularies_are_counted_anew(files, monkeypatch):
    """Counts are not kept when the puzzles, or a tokenizer's checksum, have changed."""
    puzzles, target, present, log = files
    present.pop("llama3")
    tokens.write_prompt_counts(puzzles, target, "")
    changed = pd.read_parquet(puzzles).assign(text=lambda frame: frame["text"] + "\n")
    write_table(puzzles, changed, {"provenance": "reconstructed"})
    tokens.write_prompt_counts(puzzles, target, "")
    assert pd.read_parquet(target)["qwen"].tolist() == changed["text"].str.len().tolist()
    (known,) = tokens.find_tokenizers(["qwen"])
    other = dataclasses.replace(known, sha256=hashlib.sha256(b"other").hexdigest())
    monkeypatch.setattr(tokens, "find_tokenizers", lambda names=None: [other])
    tokens.write_prompt_counts(puzzles, target, "")
    assert log == ["qwen"] * 3
    assert json.loads(tokens.read_metadata(target)["tokenizers"]) == {"qwen": other.sha256}


def test_committed_counts_of_the_same_texts_are_kept(files, monkeypatch):
    """A build without tokenizers has the committed counts of its texts; asked again, it counts with what is there."""
    puzzles, target, present, log = files
    committed = target.with_name("committed.parquet")
    tokens.write_prompt_counts(puzzles, committed, "")
    monkeypatch.setattr(tokens, "COMMITTED", committed)
    present.pop("qwen")
    assert tokens.write_prompt_counts(puzzles, target, "") == ("qwen", "llama3")
    assert log == ["qwen", "llama3"]
    pd.testing.assert_frame_equal(pd.read_parquet(target), pd.read_parquet(committed))
    assert tokens.write_prompt_counts(puzzles, target, "", again=True) == ("llama3",)


@pytest.mark.slow
def test_the_committed_counts_are_those_of_the_ports_puzzles():
    """Names, order and texts of the 14,000 puzzles; and the counts, where the tokenizers are here."""
    counts = pd.read_parquet(tokens.COMMITTED)
    drawn = [draw_named(name) for name in counts["name"]]
    digest = hashlib.sha256("\0".join(row["text"] for row in drawn).encode("utf-8")).hexdigest()
    assert tokens.read_metadata(tokens.COMMITTED)["texts"] == digest
    assert json.loads(tokens.read_metadata(tokens.COMMITTED)["tokenizers"]) == {
        file.name: file.sha256 for file in find_tokenizers()
    }
    assert len(counts) == 14_000
    some = pd.DataFrame(drawn[::200])
    for name in tokens.present_tokenizers(DATA / "tokenizers"):
        tokenizer = tokens.load_tokenizer(name, DATA / "tokenizers")
        assert tokens.count_tokens(some["text"], tokenizer).tolist() == counts[name][::200].tolist()


def test_without_tokenizers_there_are_no_counts(files):
    """A build without counts gives an empty frame with the keys; one without tokenizers the puzzles and no count."""
    puzzles, target, present, _ = files
    assert tokens.load_prompt_counts(target.parent).columns.tolist() == tokens.KEYS
    present.clear()
    assert tokens.write_prompt_counts(puzzles, target, "") == ()
    counts = tokens.load_prompt_counts(target.parent)
    assert (list(counts.columns), len(counts)) == (tokens.KEYS, 3)
