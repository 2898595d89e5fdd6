"""Scores counted by cell."""

import math

import pandas as pd
import pyarrow as pa
from harness import read_metadata

from cogniload_repro.grid import MINI_GRID
from cogniload_repro.published import load_table
from cogniload_repro.regression.cell_tables import reconstructed_cells
from cogniload_repro.scoring.cells import (
    BUCKET_COLUMNS,
    count_cells,
    read_scores,
    summarise_answers,
    write_cells,
)
from cogniload_repro.scoring.outcome import BUCKETS
from cogniload_repro.storage import CELLS, SCORES, write_table

COUNTS = ["total", "correct", "ctx", "valid_logic", "poi_logic", "last_logic", "other"]
TOKENS = ["prompt_mean", "prompt_p90", "output_mean", "output_p90"]


def make_scores(model, buckets, N=20, tokens=None):
    """Scores of one cell, one per bucket; tokens are those of the responses."""
    rows = [
        {
            "model": model,
            "name": "x",
            "N": N,
            "d": 1,
            "ratio_pct": 5.0,
            "rho": 1 / 20,
            "bucket": bucket,
            "correct": False,
            "prompt_tokens": 700,
            "unclosed_trace": False,
            "answer_correct": False,
        }
        for bucket in buckets
    ]
    scores = pa.Table.from_pylist(rows, SCORES).to_pandas()
    return scores.assign(
        response_tokens=pd.array(tokens or [None] * len(rows), "Int64")
    )


def write_scores(build, model, buckets):
    """Write the scores of a model into a build."""
    table = pa.Table.from_pandas(
        make_scores(model, buckets), SCORES, preserve_index=False
    )
    write_table(build / f"scores/{model}.parquet", table)


def test_every_bucket_is_counted_once():
    """The eight buckets are correct or one of the five errors of Tables 4 and 5."""
    cells = count_cells(make_scores("mine", BUCKETS, tokens=[9] * len(BUCKETS)))
    assert list(cells) == [name for name in CELLS.names if name in cells]
    assert cells.loc[0, COUNTS].tolist() == [8, 3, 1, 1, 1, 1, 1]
    assert cells.loc[0, "needles"] == 1
    more = make_scores("mine", BUCKETS, N=50).assign(rho=29 / 50)
    assert count_cells(more).loc[0, "needles"] == 29  # 50 * (29 / 50) is less
    assert set(BUCKET_COLUMNS) == set(BUCKETS)


def test_cells_come_in_the_order_of_the_printed_tables():
    """Models of the paper first, then others; the cells of a model by N."""
    scores = [
        make_scores("another", ["wrong_other"]),
        make_scores("QwQ-32B", ["wrong_other"], N=100),
        make_scores("QwQ-32B", ["wrong_other"], N=20),
        make_scores("DeepSeek-R1-0528", ["wrong_other"]),
    ]
    cells = count_cells(pd.concat(scores))
    assert cells["model"].tolist() == [
        "DeepSeek-R1-0528",
        "QwQ-32B",
        "QwQ-32B",
        "another",
    ]
    assert cells["N"].tolist() == [20, 20, 100, 20]


def test_tokens_are_averaged_where_they_are_known():
    """Unknown counts are left out, and a cell without any has no mean."""
    known = count_cells(
        make_scores("mine", ["wrong_other"] * 3, tokens=[100, 300, None])
    )
    assert known.loc[0, TOKENS].tolist() == [700, 700, 200, 280]
    unknown = count_cells(make_scores("mine", ["wrong_other"]))
    assert unknown.loc[0, TOKENS].isna().tolist() == [False, False, True, True]


def test_overflows_are_missing_where_an_answer_has_no_token_count():
    """An answer without its count may have run out of context."""
    answers = [
        make_scores("mine", ["wrong_max_context", "wrong_other"], tokens=[9, None]),
        make_scores("mine", ["wrong_max_context"], N=50, tokens=[9]),
    ]
    cells = count_cells(pd.concat(answers))
    assert cells["ctx"].isna().tolist() == [True, False]
    assert cells.loc[1, "ctx"] == 1
    assert cells["other"].tolist() == [1, 0]


def test_scores_of_all_files_are_read(tmp_path):
    """Each file has the answers of one model; a build of counts alone has no file."""
    assert read_scores(tmp_path / "scores").empty
    write_scores(tmp_path, "mine", ["correct_valid", "wrong_other"])
    write_scores(tmp_path, "other", ["wrong_logic"])
    scores = read_scores(tmp_path / "scores")
    assert scores["model"].tolist() == ["mine", "mine", "other"]


def test_counts_stand_beside_scores_and_each_row_says_which_it_is(tmp_path):
    """The paper's models come first, with the counts that are given."""
    write_scores(tmp_path, "mine", ["correct_valid", "wrong_other"])
    counts = reconstructed_cells(MINI_GRID).query("model == 'QwQ-32B'")
    cells = write_cells(tmp_path, {"scorer": "r"}, counts)
    assert cells["provenance"].tolist() == ["reconstructed"] * len(counts) + ["scored"]
    assert cells["model"].tolist() == ["QwQ-32B"] * len(counts) + ["mine"]
    known = [name for name in COUNTS if name != "ctx"]
    assert cells[known].iloc[-1].tolist() == [2, 1, 0, 0, 0, 1]
    assert math.isnan(cells["ctx"].iloc[-1])
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "cells.parquet"), cells)
    assert read_metadata(tmp_path / "cells.parquet") == {"scorer": "r"}


def test_token_lengths_of_the_papers_models_are_the_printed_ones(tmp_path):
    """Those of other models are counted."""
    write_scores(tmp_path, "mine", ["correct_valid"])
    counts = reconstructed_cells(MINI_GRID).query("model == 'QwQ-32B'")
    write_cells(tmp_path, {}, counts)
    tokens = pd.read_parquet(tmp_path / "tokens.parquet").set_index(["model", "N", "d"])
    assert tokens.loc[("mine", 20, 1), "prompt_mean"] == 700
    printed = load_table("tokens").set_index(["model", "N", "d"])
    lengths = tokens.loc[["QwQ-32B"], TOKENS]
    pd.testing.assert_frame_equal(
        lengths, printed.loc[lengths.index, TOKENS], check_dtype=False
    )


#: How answers ended, and what decided.
ENDINGS = pd.DataFrame(
    [
        ("mine", "correct_valid", True, "stop", False, True),
        ("mine", "correct_valid", True, "stop", False, False),
        ("mine", "correct_poi", True, "length", True, False),
        ("mine", "wrong_logic", False, None, False, False),
        ("mine", "wrong_max_context", False, "context", False, False),
        ("mine", "wrong_other", False, "shrug", True, False),
        ("cut", "wrong_other", False, "length", False, False),
        ("cut", "wrong_max_context", False, "stop", False, False),
    ],
    columns=[
        "model",
        "bucket",
        "correct",
        "stopped",
        "unclosed_trace",
        "answer_correct",
    ],
).assign(prompt_tokens=700, response_tokens=9)


def test_finished_answers_met_no_limit_no_open_trace_and_no_full_context():
    """A limit, open reasoning or a full context cuts an answer off.

    Why it ended is counted once.
    """
    row, cut = summarise_answers(ENDINGS).to_dict("records")
    assert (row["model"], row["answers"], row["correct"]) == ("mine", 6, 3)
    stops = ("stop", "length", "context", "unknown")
    assert [row[kind] for kind in stops] == [2, 1, 1, 1]
    ends = ("unclosed_trace", "ctx", "finished", "correct_finished")
    assert [row[kind] for kind in ends] == [2, 1, 3, 2]
    assert (cut["answers"], cut["finished"]) == (2, 0)


def test_every_wrong_answer_has_one_kind_and_every_correct_one_a_window():
    """Leaning answers are correct by an earlier line only."""
    row = summarise_answers(ENDINGS).iloc[0]
    wrong = (
        "ctx",
        "valid_logic",
        "poi_logic",
        "last_logic",
        "other",
        "wrong",
    )
    assert [row[kind] for kind in wrong] == [1, 1, 0, 0, 1, 3]
    right = ("correct_valid", "correct_poi", "correct_last_sentence", "leaning")
    assert [row[kind] for kind in right] == [2, 1, 0, 2]
    uncounted = ENDINGS.assign(response_tokens=None)
    assert summarise_answers(uncounted)["ctx"].isna().all()
