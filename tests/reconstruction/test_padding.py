"""Longer responses with the same verdicts."""

import random
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pandas as pd
import pyarrow as pa
import pytest

from cogniload_repro.catalog import draw_named, rows_table
from cogniload_repro.parquet import read_metadata, write_table
from cogniload_repro.reconstruction.padding import _Question, pad_outputs, pad_response
from cogniload_repro.schemas import OUTPUTS
from cogniload_repro.scores import score_outputs

PUZZLE = draw_named("20_1_1_770487_red")
QUESTION = _Question(*(PUZZLE[name] for name in _Question._fields))
RESPONSES = {
    "correct_valid": "Raymond is wearing red underwear.",
    "correct_poi": "Raymond: red",
    "correct_last_sentence": "Answer: red",
    "wrong_logic": "Raymond is wearing **blue** underwear.\n(The state after the last statement.)",
    "wrong_logic_poi": "Raymond -> blue",
    "wrong_logic_last_sentence": "\\boxed{blue}",
    "wrong_other": "?",
    "wrong_max_context": "",
}
LABEL = {"provenance": "reconstructed", "seed": "1"}


@pytest.fixture
def build(tmp_path):
    """Outputs of two models with a response of each bucket, and one beyond the budget."""
    write_table(tmp_path / "puzzles.parquet", rows_table([PUZZLE]), LABEL)
    rows = [(PUZZLE["name"], response, 500, 900) for response in RESPONSES.values()]
    rows.append((PUZZLE["name"], "Wait, once more:", 500, 32_300))
    for model in ("a", "b"):
        frame = pd.DataFrame([(model, *row) for row in rows], columns=OUTPUTS.names)
        write_table(tmp_path / f"outputs/{model}.parquet", pa.Table.from_pandas(frame, OUTPUTS), LABEL)
    return tmp_path


def pad(build, target, **options):
    """Pad the folder; return the number of responses."""
    return pad_outputs(build / "outputs", build / "puzzles.parquet", build / target, 5000, **options)


def test_padding_changes_no_verdict(build):
    """Every bucket, window and answer is what it was, behind text of the length that was asked for."""
    assert pad(build, "long") == 18
    short, long = (pd.read_parquet(build / folder / "a.parquet") for folder in ("outputs", "long"))
    puzzles = pd.DataFrame([PUZZLE])
    scores = score_outputs(short, puzzles)
    assert scores["bucket"].tolist() == [*RESPONSES, "wrong_max_context"]
    pd.testing.assert_frame_equal(score_outputs(long, puzzles), scores)
    lengths = long["response"].str.len() - short["response"].str.len()
    assert lengths[7] == 0
    assert lengths.drop(7).between(4500, 5500).all()
    assert all(map(str.endswith, long["response"], short["response"]))


def test_padding_is_labelled_and_the_same_for_any_workers(build):
    """The provenance stays, the padding is told, and the bytes do not depend on the processes."""
    pad(build, "one")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        pad(build, "two", executor=executor)
    for name in ("a.parquet", "b.parquet"):
        assert (build / "one" / name).read_bytes() == (build / "two" / name).read_bytes()
    assert read_metadata(build / "one/a.parquet") == LABEL | {"padding": "5000 characters a response"}


def test_lines_that_would_decide_are_left_out():
    """Where a line about the person of interest in front would become the deciding one, none is there."""
    response, asked = RESPONSES["wrong_other"], {"prompt_tokens": None, "response_tokens": None}
    padding = pad_response(response, QUESTION, 3000, random.Random(1), **asked).removesuffix(response)
    assert padding
    assert "raymond" not in padding.lower()


@pytest.mark.parametrize(("source", "puzzles"), [("outputs", []), ("nothing", [PUZZLE])])
def test_padding_needs_outputs_and_puzzles(build, source, puzzles):
    """A missing folder and a puzzle that is not known are named."""
    write_table(build / "puzzles.parquet", rows_table(puzzles), LABEL)
    with pytest.raises(ValueError, match=r"nothing holds no outputs|puzzles table lacks"):
        pad_outputs(build / source, build / "puzzles.parquet", build / "long", 100)


def test_outputs_are_not_padded_in_place(build):
    """The target must be another folder."""
    with pytest.raises(ValueError, match="is the target itself"):
        pad(build, "outputs")
