"""Stand-in responses: scored for real they give the reconstructed counts back, with the printed token counts."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogniload_repro.endings import CONTEXT_TOKENS, RESERVED_TOKENS
from cogniload_repro.grid import grid_cells
from cogniload_repro.models import NAMES
from cogniload_repro.published import ERRORS, load_table
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.sets import describe_set, draw_rows, write_parquet
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.reconstruction.stand_ins import draw_tokens, printed_tokens, stand_in_outputs
from cogniload_repro.schemas import OUTPUTS
from cogniload_repro.scoring.cells import BUCKET_COLUMNS
from cogniload_repro.scoring.verdict import CORRECT_BUCKETS, score_response
from cogniload_repro.storage import read_metadata

pytestmark = pytest.mark.filterwarnings("error")

KEYS = ["N", "d", "ratio_pct"]
COUNTS = ["total", "correct", *ERRORS]
#: A part of the grid that is drawn fast, with all ratios.
SMALL = grid_cells("N=20 ratio=5,10,25,50,75,90,95 d=1,10")


def measured(rows):
    """Puzzles with the lengths of their texts."""
    puzzles = pd.DataFrame(rows)
    return puzzles.assign(characters=puzzles["text"].str.len())


@pytest.fixture(scope="module")
def few():
    """Ten puzzles a cell of the ends of the paper's grid, where most and fewest answers overflow."""
    return measured(
        draw_rows(
            PuzzleSet(grid_cells("N=20,250 ratio=5,10,25,50,75,90,95 d=1,10"), 10, scheme="spawn")
        )
    )


@pytest.fixture(scope="module")
def many():
    """A hundred puzzles a cell on a small part of the grid."""
    return measured(draw_rows(PuzzleSet(SMALL, 100, scheme="spawn")))


@pytest.fixture(scope="module")
def cells():
    """The committed reconstruction."""
    return load_counts()


def score(outputs, puzzles):
    """The outputs with their puzzles and the bucket that the scorer gives them."""
    rows = outputs.merge(puzzles, on="name", validate="one_to_one")
    fields = ("poi", "gold", "domain", "category", "prompt_tokens", "response_tokens")
    buckets = [
        score_response(row["response"], **{field: row[field] for field in fields})
        for row in rows.to_dict("records")
    ]
    return rows.assign(bucket=buckets)


def recount(scored):
    """Scores counted by cell, in the columns of the cells table."""
    column = scored["bucket"].map(BUCKET_COLUMNS)
    counted = scored[KEYS].assign(
        total=1, **{name: (column == name).astype("int64") for name in COUNTS[1:]}
    )
    return counted.groupby(KEYS)[COUNTS].sum()


CASES = {"o3-2025-04-16": "few", "Phi-4-reasoning-plus": "many"}


@pytest.fixture(scope="module", params=CASES)
def case(request, cells):
    """A model's cells, puzzles and scored stand-ins."""
    puzzles = request.getfixturevalue(CASES[request.param])
    own = cells[cells["model"] == request.param]
    own = own[own["N"].isin(puzzles["N"]) & own["d"].isin(puzzles["d"])]
    outputs = stand_in_outputs(request.param, own, puzzles)
    return request.param, own, outputs, score(outputs, puzzles)


def test_scores_give_the_cells_back(case):
    """Every bucket of every cell has exactly the reconstructed count."""
    _, own, outputs, scored = case
    assert len(scored) == len(outputs) == own["total"].sum()
    expected = own.astype({"ratio_pct": float}).set_index(KEYS)[COUNTS].sort_index()
    pd.testing.assert_frame_equal(recount(scored), expected)


def test_tokens_are_the_printed_ones(case):
    """Means and 90th percentiles by (N, d) round to every legible number of Tables 7 to 10."""
    model, _, _, scored = case
    grouped = scored.groupby(["N", "d"])
    printed = printed_tokens().loc[model]
    for kind, column in (("prompt", "prompt_tokens"), ("output", "response_tokens")):
        for statistic, found in (
            ("mean", grouped[column].mean()),
            ("p90", grouped[column].quantile(0.9)),
        ):
            expected = printed[f"{kind}_{statistic}"].reindex(found.index).dropna()
            assert len(expected) > 0
            assert (found[expected.index] - expected).abs().max() <= 0.5
    for _, own in grouped:  # a longer text has at least as many tokens
        assert own.sort_values(["characters", "prompt_tokens"])[
            "prompt_tokens"
        ].is_monotonic_increasing


def test_only_context_failures_overflow_or_are_empty(case):
    """A full context or an empty response is a context failure, and every context failure is one of them."""
    _, _, _, scored = case
    full = scored["prompt_tokens"] + scored["response_tokens"] + 20 >= 32_768
    assert ((full | (scored["response"] == "")) == (scored["bucket"] == "wrong_max_context")).all()
    assert (full == ((scored["bucket"] == "wrong_max_context") & (scored["response"] != ""))).all()


def pair(first, second, **counts):
    """Two puzzles in one cell, and the cell with these counts."""
    row = {"N": 20, "d": 1, "ratio_pct": 50.0, "characters": 9, "category": "clothes_hat"}
    puzzles = pd.DataFrame([row | first | {"name": "a"}, row | second | {"name": "b"}])
    cell = {"model": "QwQ-32B", "N": 20, "d": 1, "ratio_pct": 50, "total": 2, "correct": 0}
    return puzzles, pd.DataFrame([cell | dict.fromkeys(ERRORS, 0) | counts])


FRED = {"poi": "Fred", "gold": "red", "domain": ["red", "blue", "green"]}
ANNA = {"poi": "Anna", "gold": "red", "domain": ["red", "blue", "green"]}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("order", [(FRED, ANNA), (ANNA, FRED)], ids=["Fred first", "Fred last"])
def test_a_bucket_that_a_puzzle_cannot_have_goes_to_another(order, seed):
    """The scorer finds "red" in every sentence about Fred: his puzzle takes the other bucket of the cell."""
    puzzles, cells = pair(*order, correct=1, valid_logic=1)
    outputs = stand_in_outputs("QwQ-32B", cells, puzzles, seed)
    scored = score(outputs, puzzles).set_index("poi")["bucket"]
    assert scored["Fred"] in CORRECT_BUCKETS
    assert scored["Anna"] == "wrong_logic"


def test_a_cell_that_cannot_have_its_buckets_is_refused():
    """With two such puzzles the cell is named and nothing is returned."""
    puzzles, cells = pair(FRED, FRED, correct=1, valid_logic=1)
    with pytest.raises(
        ValueError, match=r"no puzzle of the cell of [ab] can be worded as wrong_logic"
    ):
        stand_in_outputs("QwQ-32B", cells, puzzles)


WRITE = """
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.reconstruction.stand_ins import write_stand_ins
pools = {"1": lambda: ThreadPoolExecutor(1), "2": lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn"))}
puzzles, outputs, workers = sys.argv[1:]
cells = load_counts()
cells = cells[cells["model"].isin(["o3-2025-04-16", "gpt-5-2025-08-07"])]
cells = cells[(cells["N"] == 20) & cells["d"].isin([1, 10])]
with pools[workers]() as executor:
    print(write_stand_ins(puzzles, cells, outputs, executor))
"""


@pytest.mark.slow
def test_files_do_not_depend_on_workers_or_hash_seeds(tmp_path):
    """One thread and two processes, under other hash seeds, write the same bytes, labelled as reconstructed."""
    puzzles = tmp_path / "puzzles.parquet"
    drawn = PuzzleSet(SMALL, 10, scheme="spawn")
    write_parquet(puzzles, draw_rows(drawn), describe_set(drawn, ""))
    (tmp_path / "2").mkdir()
    (tmp_path / "2" / "QwQ-32B.parquet").write_bytes(b"left from another run")
    for workers in ("1", "2"):
        result = subprocess.run(
            [sys.executable, "-c", WRITE, str(puzzles), str(tmp_path / workers), workers],
            env=os.environ | {"PYTHONHASHSEED": workers},
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stdout.strip() == "280"
    files = sorted(path.name for path in (tmp_path / "2").iterdir())
    assert files == ["gpt-5-2025-08-07.parquet", "o3-2025-04-16.parquet"]
    for name in files:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
        assert read_metadata(tmp_path / "1" / name)["provenance"] == "reconstructed"
        assert pq.read_schema(tmp_path / "1" / name).equals(OUTPUTS)


STATISTICS = ["prompt_mean", "prompt_p90", "output_mean", "output_p90"]


def test_stand_ins_are_what_the_family_prints():
    """Models whose prompts are equal wherever both are clean have equal prompts; a p90 that is the family's stays."""
    used, printed = (
        printed_tokens()[STATISTICS[:2]],
        load_table("tokens").set_index(["model", "N", "d"]),
    )
    family = [f"gpt-5-{size}2025-08-07" for size in ("", "mini-", "nano-")]
    for name in family[1:]:
        pd.testing.assert_frame_equal(used.loc[name], used.loc[family[0]])
    nano = ("gpt-5-nano-2025-08-07", 250, 10)
    assert used.loc[nano].tolist() == [16265, 16934]
    assert printed.loc[nano, STATISTICS[:2]].tolist() == [16267, 16934]
    constant = used.loc["Phi-4-reasoning"] - used.loc["DeepSeek-R1-Distill-Llama-70B"]
    assert constant.sub(221).abs().le(1).all(axis=None)
    exaone = printed.loc["EXAONE-Deep-32B"], used.loc["EXAONE-Deep-32B"]
    kept = [table.loc[(100, 1), "prompt_mean"] for table in exaone]
    assert kept[0] == kept[1]
    assert exaone[1].loc[(100, 1), "prompt_p90"] < exaone[0].loc[(100, 1), "prompt_p90"] - 25
    # means printed as 625 and 393, a swap and a lost digit
    assert [exaone[1].loc[place, "prompt_mean"] for place in ((20, 3), (100, 5))] == [652, 3932]


@settings(deadline=None, max_examples=30)
@given(
    model=st.sampled_from(NAMES), N=st.sampled_from([20, 50, 100, 250]), d=st.sampled_from([1, 3, 5, 7, 10]),
    size=st.integers(1, 120), share=st.floats(0, 1), seed=st.integers(0, 10**6),
)  # fmt: skip
def test_the_bucket_is_never_contradicted(model, N, d, size, share, seed):
    """Whatever the number of answers and of context failures, no other answer overflows and all counts are possible."""
    rng = np.random.default_rng(seed)
    late = rng.random(size) < share
    rows = pd.DataFrame(
        {"N": N, "d": d, "bucket": np.where(late, "wrong_max_context", "wrong_other")}
    )
    rows["characters"] = rng.integers(N * 5, N * 40, size)
    tokens = draw_tokens(model, rows, rng)
    total = tokens["prompt_tokens"] + tokens["response_tokens"] + RESERVED_TOKENS
    np.testing.assert_array_equal(tokens["overflows"], total >= CONTEXT_TOKENS)
    assert not (tokens["overflows"] & ~late).any()
    assert (tokens["prompt_tokens"] >= 1).all()
    assert (tokens["response_tokens"] >= 1).all()
    printed_most = load_table("tokens")[
        "output_p90"
    ].max()  # beyond the budget: the paper prints such percentiles
    assert (tokens["response_tokens"] <= max(CONTEXT_TOKENS, printed_most)).all()
