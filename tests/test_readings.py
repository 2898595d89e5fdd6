"""Verdicts that another reading would move."""

import pyarrow as pa
import pytest

from cogniload_repro.catalog import draw_named, rows_table
from cogniload_repro.parquet import write_table
from cogniload_repro.readings import count_moves
from cogniload_repro.schemas import OUTPUTS

LABEL = {"provenance": "imported"}
PUZZLE = draw_named("20_1_1_770487_red")
BEFORE_LAST_STOP = "Raymond is wearing red underwear. So be it. Bye"
OLD_VALUE_LAST = "Raymond is wearing red, no longer blue underwear"
REMARK = "Raymond is wearing blue underwear\n(Raymond is wearing red underwear)\n"


@pytest.fixture
def build(tmp_path):
    """Outputs of two models: one on which all readings agree, one on which they do not."""
    write_table(tmp_path / "puzzles.parquet", rows_table([PUZZLE]), LABEL)
    for model, responses in {"a": ["Raymond is wearing red underwear."], "b": [BEFORE_LAST_STOP] * 2}.items():
        if model == "b":
            responses += [OLD_VALUE_LAST, REMARK, ""]
        columns = [[model] * len(responses), [PUZZLE["name"]] * len(responses), responses]
        columns += [[None] * len(responses)] * 2
        table = pa.table(dict(zip(OUTPUTS.names, columns, strict=True)), schema=OUTPUTS)
        write_table(tmp_path / f"outputs/{model}.parquet", table, LABEL)
    return tmp_path


def test_moves_are_counted_by_reading_and_buckets(build):
    """Each reading moves what it reads otherwise, a reading of two differences the moves of both."""
    moves = count_moves(build / "outputs", build / "puzzles.parquet")
    assert moves.drop(columns="share").values.tolist() == [
        ["prose", "correct_valid", "wrong_other", 3],
        ["late_drop", "correct_valid", "wrong_logic", 1],
        ["cut_windows", "correct_valid", "wrong_other", 2],
        ["last_mention", "correct_valid", "wrong_other", 1],
    ]
    assert moves["share"].tolist() == [3 / 6, 1 / 6, 2 / 6, 1 / 6]


def test_without_moves_the_table_is_empty(build):
    """Its columns are there nevertheless."""
    (build / "outputs/b.parquet").unlink()
    moves = count_moves(build / "outputs", build / "puzzles.parquet")
    assert moves.empty
    assert list(moves.columns) == ["reading", "bucket", "becomes", "responses", "share"]


def test_a_puzzle_that_is_not_known_is_refused(build):
    """The message names it."""
    write_table(build / "puzzles.parquet", rows_table([]), LABEL)
    with pytest.raises(ValueError, match=PUZZLE["name"]):
        count_moves(build / "outputs", build / "puzzles.parquet")
