"""Verdicts that another reading would move."""

import pandas as pd
import pyarrow as pa
import pytest

from cogniload_repro.puzzles.catalog import draw_named
from cogniload_repro.schemas import OUTPUTS, PUZZLES
from cogniload_repro.scoring.readings import OTHERS, count_moves, place_scores, score_all_ways, summarise_moves
from cogniload_repro.scoring.scores import read_questions
from cogniload_repro.scoring.verdict import READINGS
from cogniload_repro.storage import write_table

LABEL = {"provenance": "imported"}
PUZZLE = draw_named("20_1_1_770487_red")
BEFORE_LAST_STOP = "Raymond is wearing red underwear. So be it. Bye"
OLD_VALUE_LAST = "Raymond is wearing red, no longer blue underwear"
REMARK = "Raymond is wearing blue underwear\n(Raymond is wearing red underwear)\n"


@pytest.fixture
def build(tmp_path):
    """Outputs of two models: one on which all readings agree, one on which they do not."""
    write_table(tmp_path / "puzzles.parquet", pa.Table.from_pylist([PUZZLE], PUZZLES), LABEL)
    for model, responses in {"a": ["Raymond is wearing red underwear."], "b": [BEFORE_LAST_STOP] * 2}.items():
        if model == "b":
            responses += [OLD_VALUE_LAST, REMARK, ""]
        columns = [[model] * len(responses), [PUZZLE["name"]] * len(responses), responses]
        columns += [[None] * len(responses)] * 3
        table = pa.table(dict(zip(OUTPUTS.names, columns, strict=True)), schema=OUTPUTS)
        write_table(tmp_path / f"outputs/{model}.parquet", table, LABEL)
    return tmp_path


def test_moves_are_counted_by_reading_model_and_buckets(build):
    """Each reading moves what it reads otherwise, a reading of two differences the moves of both."""
    counts = count_moves(build / "outputs", build / "puzzles.parquet")
    moves = counts[counts["bucket"] != counts["becomes"]]
    assert moves.to_numpy().tolist() == [
        ["prose", "b", "correct_valid", "wrong_other", 3],
        ["late_drop", "b", "correct_valid", "wrong_logic", 1],
        ["cut_windows", "b", "correct_valid", "wrong_other", 2],
        ["last_mention", "b", "correct_valid", "wrong_other", 1],
    ]
    assert counts.groupby(["reading", "model"])["responses"].sum().to_dict() == {
        (reading, model): size for reading in OTHERS for model, size in (("a", 1), ("b", 5))
    }


def test_moves_are_added_up_by_what_they_do_to_accuracy(build):
    """Every reading has a row; a move between two wrong buckets changes no accuracy."""
    moves = count_moves(build / "outputs", build / "puzzles.parquet")
    more = [["prose", "a", "wrong_logic", "correct_poi", 2], ["prose", "a", "wrong_logic", "wrong_other", 4]]
    summary = summarise_moves(pd.concat([moves, pd.DataFrame(more, columns=moves.columns)]))
    assert list(summary.index) == list(OTHERS)
    assert summary.loc["prose"].tolist() == [12, 9, 3, 2]
    assert summary.loc["late_drop"].tolist() == [6, 1, 1, 0]
    assert summarise_moves(moves.iloc[:0]).to_numpy().tolist() == [[0, 0, 0, 0]] * len(OTHERS)
    sample = summarise_moves(count_moves(build / "outputs", build / "puzzles.parquet", sample=2))  # of each file
    assert set(sample["responses"]) == {3}


def test_a_response_is_read_in_all_ways(build):
    """The default comes first, then every other reading that can be chosen."""
    question = read_questions(build / "puzzles.parquet")[PUZZLE["name"]].question
    buckets = dict(zip(("pseudocode", *OTHERS), score_all_ways(REMARK, question), strict=True))
    assert set(buckets) == set(READINGS) - {"answer_only"}
    assert {name for name, bucket in buckets.items() if bucket != "correct_valid"} == {"late_drop"}
    spent = score_all_ways(REMARK, question, 1, 40_000)
    assert set(spent) == {"wrong_max_context"}


def test_scores_under_another_reading_have_a_place_of_their_own(tmp_path):
    """Only the default's are the build's scores; a name that is no reading is no folder."""
    assert place_scores(tmp_path, "pseudocode") == tmp_path
    places = [place_scores(tmp_path, name) for name in READINGS if name != "pseudocode"]
    assert len({tmp_path, *places}) == len(READINGS)
    assert all(place.is_relative_to(tmp_path) for place in places)
    with pytest.raises(ValueError, match=r"unknown reading '\.\./x'"):
        place_scores(tmp_path, "../x")
