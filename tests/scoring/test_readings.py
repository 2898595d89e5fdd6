"""Verdicts that another reading would move."""

import pyarrow as pa
import pytest

from cogniload_repro.puzzles.catalog import draw_named
from cogniload_repro.schemas import OUTPUTS, PUZZLES
from cogniload_repro.scoring.readings import OTHERS, count_moves, place_scores, score_all_ways
from cogniload_repro.scoring.scores import read_questions
from cogniload_repro.scoring.verdict import READINGS
from cogniload_repro.storage import write_table

LABEL = {"provenance": "imported"}
PUZZLE = draw_named("20_1_1_770487_red")
BEFORE_LAST_STOP = "Raymond is wearing red underwear. So be it. Bye"
OLD_VALUE_LAST = "Raymond is wearing red, no longer blue underwear"
REMARK = "Raymond is wearing blue underwear\n(Raymond is wearing red underwear)\n"
BACK = "Raymond is wearing red underwear.\n(Raymond is wearing blue underwear)\n"
BOTH_WRONG = "Raymond wears bluered"


@pytest.fixture
def build(tmp_path):
    """Outputs of two models: one on which all readings agree, one on which they do not."""
    write_table(tmp_path / "puzzles.parquet", pa.Table.from_pylist([PUZZLE], PUZZLES), LABEL)
    for model, responses in {"a": ["Raymond is wearing red underwear."], "b": [BEFORE_LAST_STOP] * 2}.items():
        if model == "b":
            responses += [OLD_VALUE_LAST, REMARK, "", BACK, BOTH_WRONG]
        columns = [[model] * len(responses), [PUZZLE["name"]] * len(responses), responses]
        columns += [[None] * len(responses)] * 3
        table = pa.table(dict(zip(OUTPUTS.names, columns, strict=True)), schema=OUTPUTS)
        write_table(tmp_path / f"outputs/{model}.parquet", table, LABEL)
    return tmp_path


def test_moves_are_counted_by_reading(build):
    """Each reading moves what it reads otherwise, one of two differences the moves of both; a sample has fewer."""
    moves = count_moves(build / "outputs", build / "puzzles.parquet")
    assert moves.index.tolist() == list(OTHERS)
    assert moves.T.to_dict("list") == {
        "prose": [8, 4, 3, 0], "late_drop": [8, 2, 1, 1], "cut_windows": [8, 2, 2, 0], "last_mention": [8, 2, 1, 0],
    }  # fmt: skip
    sample = count_moves(build / "outputs", build / "puzzles.parquet", sample=2)  # of each file
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
