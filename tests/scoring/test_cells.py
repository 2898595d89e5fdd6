"""Scores counted by cell."""

import json

import pandas as pd
import pytest

from cogniload_repro.grid import MINI_GRID
from cogniload_repro.published import load_table
from cogniload_repro.schemas import SCORES
from cogniload_repro.scoring.cells import (
    BUCKET_COLUMNS,
    count_cells,
    count_endings,
    token_stats,
    write_cells,
)
from cogniload_repro.scoring.verdict import BUCKETS
from cogniload_repro.statistics.cell_tables import reconstructed_cells
from cogniload_repro.storage import read_metadata, write_table

COLUMNS = [
    "model",
    "N",
    "d",
    "ratio_pct",
    "needles",
    "rho",
    "total",
    "correct",
    "ctx",
    "valid_logic",
    "poi_logic",
]
COLUMNS += ["last_logic", "other"]
TOKENS = ["prompt_mean", "prompt_p90", "output_mean", "output_p90"]


def scores_frame(model, buckets, N=20, tokens=None):
    """One score a bucket, all in one cell; tokens are the response tokens."""
    size = len(buckets)
    frame = pd.DataFrame(
        {"model": [model] * size, "name": "x", "N": N, "d": 1, "ratio_pct": 5.0, "rho": 1 / 20}
    )
    frame = frame.assign(
        bucket=buckets, correct=False, prompt_tokens=700, response_tokens=tokens or [None] * size
    )
    frame[["prompt_tokens", "response_tokens"]] = frame[
        ["prompt_tokens", "response_tokens"]
    ].astype("Int64")
    notes = {"stopped": None, "unclosed_trace": False, "answer_correct": False, "unsure": False}
    return frame.assign(window="", answer="", **notes)[SCORES.names]


def test_every_bucket_is_counted_once():
    """The eight buckets fall into correct and the five error columns of Tables 4 and 5; models come as printed."""
    cells = count_cells(scores_frame("mine", list(BUCKETS)))
    assert list(cells.columns) == COLUMNS + TOKENS
    counts = cells.loc[0, COLUMNS[6:]].tolist()
    assert counts == [8, 3, 1, 1, 1, 1, 1]
    assert set(BUCKET_COLUMNS) == set(BUCKETS)
    assert cells.loc[0, "needles"] == 1
    asked = [("another", 20), ("QwQ-32B", 100), ("QwQ-32B", 20), ("DeepSeek-R1-0528", 20)]
    cells = count_cells(pd.concat([scores_frame(model, ["wrong_other"], N) for model, N in asked]))
    found = list(zip(cells["model"], cells["N"], strict=True))
    assert found == [("DeepSeek-R1-0528", 20), ("QwQ-32B", 20), ("QwQ-32B", 100), ("another", 20)]


def test_tokens_are_averaged_where_they_are_known():
    """Unknown counts are left out, and a cell without any has no mean."""
    known = count_cells(scores_frame("mine", ["wrong_other"] * 3, tokens=[100, 300, None]))
    assert known.loc[0, TOKENS].tolist() == [700, 700, 200, 280]
    unknown = count_cells(scores_frame("mine", ["wrong_other"]))
    assert unknown.loc[0, TOKENS].isna().tolist() == [False, False, True, True]


def test_endings_are_counted_by_model():
    """Hedged are the correct ones that are so by their reasoning alone, and end unsure."""
    scores = scores_frame("mine", ["correct_valid"] * 4).assign(
        correct=[True, True, True, False], answer_correct=[True, False, False, False],
        unsure=[False, True, False, True], stopped=["stop", "length", "context", None],
        unclosed_trace=[False, True, False, False],
    )  # fmt: skip
    assert count_endings(scores).to_dict("records") == [
        {"model": "mine", "answers": 4, "correct": 3, "cut": 2, "unclosed": 1, "hedged": 1}
    ]


def write_scores(folder, model, buckets):
    """Write the scores of one model, as the step `score` does."""
    frame = scores_frame(model, buckets)
    frames = {"cells": count_cells(frame), "tokens": token_stats(frame)}
    counted = {name: json.dumps(summary.to_dict("list")) for name, summary in frames.items()}
    write_table(folder / f"scores/{model}.parquet", frame, counted)


def test_counts_stand_beside_scores_and_each_row_says_which_it_is(tmp_path):
    """Counts of the paper's models come first; token lengths of theirs are the given ones."""
    write_scores(tmp_path, "mine", ["correct_valid", "wrong_other"])
    counts = reconstructed_cells(MINI_GRID).query("model == 'QwQ-32B'")
    cells = write_cells(tmp_path, {"scorer": "r"}, counts)
    assert cells["provenance"].tolist() == ["reconstructed"] * len(counts) + ["scored"]
    assert cells["model"].tolist() == ["QwQ-32B"] * len(counts) + ["mine"]
    assert cells[COLUMNS[6:]].iloc[-1].tolist() == [2, 1, 0, 0, 0, 0, 1]
    written = pd.read_parquet(tmp_path / "cells.parquet")
    pd.testing.assert_frame_equal(written, cells, check_dtype=False)
    assert read_metadata(tmp_path / "cells.parquet") == {"scorer": "r"}
    tokens = pd.read_parquet(tmp_path / "tokens.parquet").set_index(["model", "N", "d"])
    assert tokens.loc[("mine", 20, 1), TOKENS[:2]].tolist() == [700, 700]
    printed = load_table("tokens").set_index(["model", "N", "d"])[TOKENS]
    places = [("QwQ-32B", N, d) for N in (20, 50) for d in (1, 5, 10)]
    assert tokens.loc[places].to_numpy().tolist() == printed.loc[places].to_numpy().tolist()


def test_a_build_may_hold_counts_or_scores_alone(tmp_path):
    """Counts need no scores; without both there is nothing to count."""
    counts = reconstructed_cells(MINI_GRID)
    assert set(write_cells(tmp_path, {}, counts)["provenance"]) == {"reconstructed"}
    with pytest.raises(ValueError, match="holds no scores"):
        write_cells(tmp_path, {})
    write_scores(tmp_path, "mine", ["wrong_other"])
    assert write_cells(tmp_path, {})["provenance"].tolist() == ["scored"]
