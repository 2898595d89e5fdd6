"""Samples of lm-evaluation-harness."""

import json
from pathlib import Path

import pytest
from harness import write_lines
from program_files import NAMES, Answer, harness_sample

from cogniload_repro.outputs.harness import SampleReader, find_model_name
from cogniload_repro.outputs.records import Row
from cogniload_repro.outputs.rows import read_rows

SAMPLE = harness_sample(Answer())


def test_a_sample_names_puzzle_and_limit():
    """The puzzle by its name in the document, wherever that stands."""
    samples = SampleReader(Path("samples.jsonl"))
    arguments = {"gen_args_0": {"arg_1": {"max_gen_toks": 4096}}}
    (row,) = samples.read(Row(1, SAMPLE | {"arguments": arguments}))
    assert (row.fields["name"], row.fields["max_tokens"]) == (NAMES[0], 4096)
    assert row.refusal is None
    unnamed = SAMPLE | {"doc": {"question": "Solve this.", "total": 20}}
    (row,) = samples.read(Row(2, unnamed))
    assert row.fields["name"] is None


def test_a_response_is_read_once_and_none_is_lost(tmp_path):
    """Samples come again for each filter; other tasks, puzzles and repeats have the same doc_id."""
    repeated = [SAMPLE | {"filter": word} for word in ("strict", "flexible")]
    other_task = harness_sample(Answer(NAMES[1])) | {"doc_id": 0, "filter": "flexible"}
    unnumbered = SAMPLE | {"doc_id": None, "filter": "flexible"}
    repeat = SAMPLE | {"resps": [["red"]], "filter": "flexible"}
    samples = [*repeated, other_task, unnumbered, repeat, "{"]
    path = write_lines(tmp_path / "samples.jsonl", samples)
    rows = list(read_rows(path))
    assert [row.number for row in rows] == [1, 3, 4, 5, 6]
    assert rows[-1].refusal[0] == "malformed row"


@pytest.mark.parametrize(
    ("content", "model"),
    [
        ("{", None),
        ("[]", None),
        ('{"model_name": "Qwen/QwQ-32B"}', "Qwen/QwQ-32B"),
        ('{"model_name": "/scratch/me/step_100"}', "step_100"),
    ],
)
def test_the_results_beside_samples_name_the_model(tmp_path, content, model):
    """Those of the same run; a path of another machine is cut to its last part."""
    samples = tmp_path / "samples_a_b_2025-06-01T10-20-30.123456.jsonl"
    samples.write_text(json.dumps(SAMPLE))
    (tmp_path / "results_2025-06-02T10-20-30.123456.json").write_text(
        '{"model_name": "other"}'
    )
    (tmp_path / "results_2025-06-01T10-20-30.123456.json").write_text(content)
    assert find_model_name(samples) == model
    assert find_model_name(tmp_path / "samples.jsonl") is None
