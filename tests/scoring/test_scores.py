"""Tables of responses scored, one file per model."""

from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pyarrow as pa
import pytest

from cogniload_repro.scoring.scores import score_dataset
from cogniload_repro.storage import (
    OUTPUTS,
    PUZZLES,
    SCORES,
    table_writer,
    write_table,
)

IMPORTED = {"source": "made by a test"}
#: The first two are of one cell, the third of another.
QUESTIONS = [
    {
        "name": "20_1_1_100001_red",
        "N": 20,
        "d": 1,
        "ratio_pct": 5.0,
        "rho": 0.05,
        "poi": "Sue",
        "category": "hair",
        "gold": "red",
        "domain": ["blue", "red", "gray"],
    },
    {
        "name": "20_1_1_100002_blue",
        "N": 20,
        "d": 1,
        "ratio_pct": 5.0,
        "rho": 0.05,
        "poi": "Ian",
        "category": "hair",
        "gold": "blue",
        "domain": ["blue", "red", "gray"],
    },
    {
        "name": "50_3_25_100003_bar",
        "N": 50,
        "d": 3,
        "ratio_pct": 50.0,
        "rho": 0.5,
        "poi": "Zoe",
        "category": "location",
        "gold": "bar",
        "domain": ["bar", "inn"],
    },
]
RED, BLUE, BAR = (question["name"] for question in QUESTIONS)
#: A correct, a wrong and an overlong response.
RESPONSES = [
    {
        "name": RED,
        "response": "Sue has red hair.",
        "prompt_tokens": 500,
        "response_tokens": 900,
        "stopped": "stop",
    },
    {"name": BLUE, "response": "Hm.\nIan has red hair."},
    {
        "name": BAR,
        "response": "Zoe is in the bar",
        "prompt_tokens": 2_000,
        "response_tokens": 32_000,
        "stopped": "context",
    },
]


def write_puzzles(build, questions=QUESTIONS):
    """Write the table of puzzles of a build."""
    write_table(
        build / "puzzles.parquet", pa.Table.from_pylist(questions, PUZZLES), IMPORTED
    )


def write_outputs(build, model, responses, group_rows=None):
    """Write the responses of a model, in row groups of so many rows."""
    rows = [{"model": model, **response} for response in responses]
    with table_writer(build / f"outputs/{model}.parquet", OUTPUTS, IMPORTED) as writer:
        writer.write_table(
            pa.Table.from_pylist(rows, OUTPUTS), row_group_size=group_rows
        )


@pytest.fixture
def build(tmp_path):
    """A folder with puzzles and the outputs of three models, one of them in nine row groups."""
    write_puzzles(tmp_path)
    write_outputs(tmp_path, "a", RESPONSES * 10)
    write_outputs(tmp_path, "b", RESPONSES * 20)
    write_outputs(tmp_path, "c", RESPONSES * 90, group_rows=30)
    return tmp_path


def score_all(build, folder="scores", workers=1):
    """Score a build; return the bytes of the score files by name."""
    with ThreadPoolExecutor(workers) as executor:
        places = (build / "outputs", build / "puzzles.parquet", build / folder)
        paths = score_dataset(*places, executor)
    return {path.name: path.read_bytes() for path in paths}


def score_some(build, responses):
    """Score responses of one model."""
    write_puzzles(build)
    write_outputs(build, "mine", responses)
    score_all(build)
    return pd.read_parquet(build / "scores/mine.parquet")


def list_names(folder):
    """The names of the files of a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_responses_are_scored_in_order(tmp_path):
    """Every response gets its bucket, the puzzle's covariates and its evidence."""
    table = score_some(tmp_path, RESPONSES)
    assert list(table.columns) == SCORES.names
    assert table["bucket"].tolist() == [
        "correct_valid",
        "wrong_logic",
        "wrong_max_context",
    ]
    assert table["correct"].tolist() == [True, False, False]
    assert table["rho"].tolist() == [0.05, 0.05, 0.5]
    assert table["answer"].tolist() == ["red", "red", ""]
    assert table["prompt_tokens"].isna().tolist() == [False, True, False]
    assert table["stopped"].fillna("").tolist() == ["stop", "", "context"]


@pytest.mark.parametrize(
    ("response", "correct", "unclosed_trace", "answer_correct"),
    [
        ("<think>Sue has red hair.", True, True, False),
        ("Sue has red hair.\nI am not sure.", True, False, False),
        ("<think>Sue: red</think>\nShe has gray hair.", True, False, False),
        ("<think></think>Sue: red", True, False, True),
        ("Sue: gray", False, False, False),
        ("<think></think>Sue: red\r\rI am not sure.\r", True, False, False),
    ],
)
def test_scores_say_what_a_correct_response_rests_on(
    tmp_path, response, correct, unclosed_trace, answer_correct
):
    """Open reasoning, and an answer that is correct without its reasoning."""
    (row,) = score_some(tmp_path, [{"name": RED, "response": response}]).to_dict(
        "records"
    )
    assert row["correct"] == correct
    assert row["unclosed_trace"] == unclosed_trace
    assert row["answer_correct"] == answer_correct


def test_scores_are_those_of_the_outputs_that_are_there(build):
    """A run uses outputs and puzzles as they are, and removes what is left of other runs."""
    score_all(build)
    (build / "outputs/c.parquet").unlink()
    write_outputs(build, "b", [{"name": RED, "response": "Nobody knows."}])
    write_puzzles(build, [QUESTIONS[0] | {"gold": "blue"}, *QUESTIONS[1:]])
    assert sorted(score_all(build)) == ["a.parquet", "b.parquet"]
    assert list_names(build / "scores") == ["a.parquet", "b.parquet"]
    assert pd.read_parquet(build / "scores/a.parquet")["bucket"][0] == "wrong_logic"
    assert pd.read_parquet(build / "scores/b.parquet")["bucket"].tolist() == [
        "wrong_other"
    ]


@pytest.mark.parametrize(
    ("response", "message"),
    [
        ({"name": "20_1_1_9_red", "response": ""}, "b.parquet: puzzle '20_1_1_9_red'"),
        ({"name": RED, "response": None}, f"puzzle '{RED}': a response must be text"),
    ],
)
def test_a_row_that_cannot_be_scored_is_named(build, response, message):
    """An unknown puzzle and a missing response; no part of the file is left."""
    write_outputs(build, "b", [*RESPONSES * 10, response], group_rows=15)
    with pytest.raises(ValueError, match=message):
        score_all(build)
    assert "a.parquet" in list_names(build / "scores")
    assert not list((build / "scores").glob("*b.parquet*"))


def test_a_damaged_file_is_named(build):
    """One that is cut short."""
    path = build / "outputs/c.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"c\.parquet is not a whole Parquet file"):
        score_all(build)


def test_the_bytes_do_not_depend_on_who_works(build):
    """Files are the tasks; the number of workers does not matter."""
    serial = score_all(build, "serial")
    # tests/test_executors.py has processes
    assert score_all(build, "parallel", workers=2) == serial
    assert list_names(build / "serial") == ["a.parquet", "b.parquet", "c.parquet"]
    buckets = pd.read_parquet(build / "serial/c.parquet")["bucket"].tolist()
    assert buckets == ["correct_valid", "wrong_logic", "wrong_max_context"] * 90
