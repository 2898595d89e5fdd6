"""Tables of responses, scored by partition."""

from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pyarrow as pa
import pytest

from cogniload_repro.schemas import OUTPUTS, PUZZLES, SCORES
from cogniload_repro.scoring import scores
from cogniload_repro.scoring.cells import (
    count_cells,
    count_endings,
    read_scores,
    read_summary,
    token_stats,
)
from cogniload_repro.scoring.scores import WINDOW_CHARS, score_dataset, scores_folder
from cogniload_repro.scoring.verdict import SCORERS
from cogniload_repro.storage import read_metadata, table_writer, write_table

IMPORTED = {"source": "made by a test"}


def puzzles_frame():
    """Two puzzles of one cell and one of another."""
    red, blue = ((f"20_1_1_10000{at}_{gold}", 20, 1, 5.0, 1, 0.05, 100000 + at, "", poi, "hair", gold,
                  ["blue", "red", "gray"]) for at, poi, gold in ((1, "Sue", "red"), (2, "Ian", "blue")))  # fmt: skip
    bar = (
        "50_3_25_100003_bar",
        50,
        3,
        50.0,
        25,
        0.5,
        100003,
        "",
        "Zoe",
        "location",
        "bar",
        ["bar", "inn"],
    )
    return pd.DataFrame([red, blue, bar], columns=PUZZLES.names)


def outputs_frame(model="mine"):
    """One response to each puzzle: right, wrong, and beyond the budget."""
    rows = [
        (model, "20_1_1_100001_red", "Sue has red hair.", 500, 900, "stop"),
        (model, "20_1_1_100002_blue", "Hm.\nIan has red hair.", None, None, None),
        (model, "50_3_25_100003_bar", "Zoe is in the bar", 2000, 32000, "context"),
    ]
    return pd.DataFrame(rows, columns=OUTPUTS.names)


def write_outputs(path, frame, rows=None):
    """Write a table of responses, in row groups of so many rows."""
    with table_writer(path, OUTPUTS, IMPORTED) as writer:
        writer.write_table(
            pa.Table.from_pandas(frame, OUTPUTS, preserve_index=False), row_group_size=rows
        )


@pytest.fixture
def build(tmp_path):
    """A folder with puzzles and the outputs of three models, of different sizes."""
    write_table(
        tmp_path / "puzzles.parquet", pa.Table.from_pandas(puzzles_frame(), PUZZLES), IMPORTED
    )
    for copies, model in enumerate(["a", "b", "c"], start=1):
        write_outputs(
            tmp_path / f"outputs/{model}.parquet", pd.concat([outputs_frame(model)] * 30 * copies)
        )
    return tmp_path


def score_all(build, scores="scores", **options):
    """Score the folder and return the bytes of the score files by name."""
    paths = score_dataset(build / "outputs", build / "puzzles.parquet", build / scores, **options)
    return {path.name: path.read_bytes() for path in paths}


def score(folder, outputs):
    """Score a table of responses to the three puzzles."""
    write_table(
        folder / "puzzles.parquet", pa.Table.from_pandas(puzzles_frame(), PUZZLES), IMPORTED
    )
    write_outputs(folder / "outputs/mine.parquet", outputs)
    score_all(folder)
    return pd.read_parquet(folder / "scores/mine.parquet")


def test_responses_are_scored_in_order(tmp_path):
    """Every response gets its bucket, the puzzle's covariates and its evidence."""
    scores = score(tmp_path, outputs_frame())
    assert list(scores.columns) == SCORES.names
    assert scores["bucket"].tolist() == ["correct_valid", "wrong_logic", "wrong_max_context"]
    assert scores["correct"].tolist() == [True, False, False]
    assert scores["rho"].tolist() == [0.05, 0.05, 0.5]
    assert scores["window"].tolist() == ["sue has red hair.", "ian has red hair.", ""]
    assert scores["answer"].tolist() == ["red", "red", ""]
    assert scores["prompt_tokens"].isna().tolist() == [False, True, False]
    assert scores["stopped"].fillna("").tolist() == ["stop", "", "context"]


def test_what_a_verdict_leans_on_stands_beside_it(tmp_path):
    """A trace that is not closed, an answer right without its reasoning, one that is not sure; a window is cut."""
    answers = [
        "<think>Sue has red hair.",
        "Sue has red hair.\nI am not sure.",
        "<think></think>Sue: red",
        "Sue: gray",
        "so " * 1000 + "Sue has red hair" + " yes" * 1000,
    ]
    outputs = outputs_frame().iloc[[0] * len(answers)].assign(response=answers)
    scores = score(tmp_path, outputs)
    found = scores[["correct", "unclosed_trace", "answer_correct", "unsure"]].to_numpy().tolist()
    assert found == [
        [True, True, False, False],
        [True, False, False, True],
        [True, False, True, False],
        [False, False, False, False],
        [True, False, True, False],
    ]
    assert len(scores["window"][4]) == WINDOW_CHARS
    assert "sue has red hair" in scores["window"][4]


def test_scores_are_those_of_the_outputs_that_are_there(build):
    """A run scores what there is, by the puzzles as they are, and removes what is left of other runs."""
    score_all(build)
    (build / "outputs/c.parquet").unlink()
    write_outputs(build / "outputs/b.parquet", outputs_frame("b").assign(response="Nobody knows."))
    (build / "scores/.c.parquet.1.part").write_bytes(b"left by a killed run")
    mended = puzzles_frame().assign(gold=["blue", "blue", "bar"])
    write_table(build / "puzzles.parquet", pa.Table.from_pandas(mended, PUZZLES), IMPORTED)
    assert sorted(score_all(build)) == ["a.parquet", "b.parquet"]
    assert sorted(path.name for path in (build / "scores").iterdir()) == ["a.parquet", "b.parquet"]
    assert pd.read_parquet(build / "scores/a.parquet")["bucket"][0] == "wrong_logic"
    buckets = pd.read_parquet(build / "scores/b.parquet")["bucket"]
    assert set(buckets) == {"wrong_other", "wrong_max_context"}


def test_scores_name_their_scorer(build):
    """So nobody takes those of one for those of another."""
    score_all(build, rules=SCORERS["prose"])
    assert "last_mention=True" in read_metadata(build / "scores/a.parquet")["scorer"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "20_1_1_999999_red"}, r"b answers puzzle '20_1_1_999999_red'"),
        ({"response": None}, r"b, puzzle '20_1_1_100001_red': a response must be text"),
        ("column", r"b\.parquet lacks the columns response"),
        ("cut", r"b\.parquet is not a whole Parquet file"),
    ],
)
def test_an_error_in_one_file_leaves_the_others_scored(build, changes, message, monkeypatch):
    """A row about an unknown puzzle, a response that is missing and damage stop their own file, and are named."""
    path, frame = build / "outputs/b.parquet", outputs_frame("b")
    if isinstance(changes, dict):
        write_outputs(
            path, pd.concat([outputs_frame("b")] * 10 + [frame.assign(**changes)]), rows=15
        )
    elif changes == "column":
        write_table(path, frame.drop(columns="response"), IMPORTED)
    else:
        path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=message):
        score_all(build)
    assert sorted(path.name for path in (build / "scores").iterdir()) == ["a.parquet", "c.parquet"]
    monkeypatch.setattr(scores, "_TASK_ROWS", 20)  # in parts: what is joined is whole
    with pytest.raises(ValueError, match=message):
        score_all(build, "parts")
    assert sorted(path.name for path in (build / "parts").iterdir()) == ["a.parquet", "c.parquet"]
    with pytest.raises(ValueError, match="holds no outputs"):
        score_dataset(build / "empty", build / "puzzles.parquet", build / "scores")


@pytest.fixture
def large(build, monkeypatch):
    """The build with one file of nine row groups, of which a task takes two."""
    monkeypatch.setattr(scores, "_TASK_ROWS", 70)
    write_outputs(build / "outputs/c.parquet", pd.concat([outputs_frame("c")] * 90), rows=30)
    return build


def test_a_large_file_is_scored_in_parts(large, monkeypatch):
    """Its row groups are the tasks, the bytes are the same for any number of workers, and no part is left."""
    plan = scores._plan(large / "outputs/c.parquet", large / "x")
    assert [len(groups) for _, groups in plan.parts] == [2, 2, 2, 2, 1]
    with ThreadPoolExecutor(2) as executor:  # tests/test_executors.py has processes
        parallel = score_all(large, "parallel", executor=executor)
    assert parallel == score_all(large, "serial")
    assert sorted(path.name for path in (large / "serial").iterdir()) == [
        "a.parquet",
        "b.parquet",
        "c.parquet",
    ]
    monkeypatch.setattr(scores, "_TASK_ROWS", 10_000)
    score_all(large, "whole")
    pd.testing.assert_frame_equal(
        *(pd.read_parquet(large / name / "c.parquet") for name in ("whole", "serial"))
    )
    assert read_metadata(large / "whole/c.parquet") == read_metadata(large / "serial/c.parquet")


def test_scores_that_a_worker_writes_elsewhere_are_missed(build):
    """A worker that does not see the folder cannot make models vanish."""

    class Elsewhere(ThreadPoolExecutor):
        def submit(self, work, outputs, puzzles, scores, *more):
            return super().submit(
                work, outputs, puzzles, scores.parent / "lost" / scores.name, *more
            )

    with (
        Elsewhere(1) as executor,
        pytest.raises(ValueError, match=r"a\.parquet has 0 of 90 rows; give all workers"),
    ):
        score_all(build, executor=executor)


def test_scores_carry_their_counts(large, monkeypatch):
    """Footers say what the rows are, by cell and model, however many are read or counted at once."""
    whole = score_all(large, "whole")
    many = pd.read_parquet(large / "whole/c.parquet")
    assert many["bucket"].tolist() == ["correct_valid", "wrong_logic", "wrong_max_context"] * 90
    assert read_metadata(large / "whole/c.parquet").items() >= IMPORTED.items()
    monkeypatch.setattr(scores, "_BATCH_BYTES", 500)
    score_all(large, "one")
    pd.testing.assert_frame_equal(many, pd.read_parquet(large / "one/c.parquet"))
    monkeypatch.undo()
    monkeypatch.setattr(scores, "_TASK_ROWS", 70)
    assert score_all(large) == whole
    rows = read_scores(large / "scores")
    for name, count in (
        ("cells", count_cells),
        ("tokens", token_stats),
        ("endings", count_endings),
    ):
        pd.testing.assert_frame_equal(
            read_summary(large / "scores", name), count(rows), check_dtype=False
        )


def test_scores_under_another_scorer_have_a_folder_of_their_own(tmp_path):
    """Only the default's are the build's scores; a name that is no scorer is no folder."""
    places = {scores_folder(tmp_path, name) for name in SCORERS}
    assert (len(places), scores_folder(tmp_path, "pseudocode")) == (len(SCORERS), tmp_path)
    assert all(place.is_relative_to(tmp_path) for place in places)
    with pytest.raises(ValueError, match=r"unknown scorer '\.\./x'"):
        scores_folder(tmp_path, "../x")
