"""Logs of Inspect, sample by sample."""

import gzip
import json
import tracemalloc
import zipfile

import pytest
from inspect_log import make_header, make_sample, write_archive, write_json

from cogniload_repro.outputs import inspect_logs
from cogniload_repro.outputs.readers import is_table, read_table
from cogniload_repro.schemas import OUTPUTS

NAMES = ["20_1_1_770487_red", "20_1_1_586907_purple"]

TRACE = "<think>\nI compared."


def read(path):
    """The rows of a log, and the refusals with the sample's number."""
    entries = list(read_table(path, OUTPUTS.names))
    return [e.fields for e in entries if e.fields], [(e.row, *e.refusal) for e in entries if e.refusal]


def write(path, samples, **options):
    """Write a log in the form that the name's ending says."""
    return write_json(path, samples) if path.suffix == ".json" else write_archive(path, samples, **options)


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_a_log_is_read(tmp_path, ending):
    """Both forms of a log give model, puzzle, response and token counts."""
    path = write(tmp_path / f"run.{ending}", [make_sample(name) for name in NAMES])
    found, refused = read(path)
    assert (is_table(path), refused) == (True, [])
    assert found == [
        {
            "model": "openai/gpt-5-2025-08-07",
            "name": name,
            "response": "Sue wears red.",
            "prompt_tokens": 500,
            "response_tokens": 900,
            "stopped": "stop",
        }
        for name in NAMES
    ]


def test_older_archives_are_read_too(tmp_path):
    """Members were deflated before they were compressed with Zstandard."""
    new = write_archive(tmp_path / "new.eval", [make_sample()])
    old = write_archive(tmp_path / "old.eval", [make_sample()], zstandard=False)
    with zipfile.ZipFile(new) as archive:
        assert {info.compress_type for info in archive.infolist()} == {93}
    assert read(new) == read(old)


@pytest.mark.parametrize(
    ("parts", "response"),
    [
        (
            [{"type": "reasoning", "reasoning": "I compared."}, {"type": "text", "text": "Blue."}],
            "<think>\nI compared.\n</think>\n\nBlue.",
        ),
        (
            [{"type": "reasoning", "reasoning": "eNrT0", "redacted": True, "summary": "I compared."}],
            TRACE,
        ),
        ([{"type": "reasoning", "reasoning": "eNrT0", "redacted": True}, {"type": "text", "text": "Blue."}], "Blue."),
        ([{"type": "reasoning", "reasoning": "", "summary": "I compared."}], TRACE),
        ([], ""),
        ("", ""),
    ],
)
def test_the_response_is_reasoning_and_answer(tmp_path, parts, response):
    """A trace that can be read is scored with the answer; an encrypted one never is."""
    (row,), _ = read(write_json(tmp_path / "run.json", [make_sample(content=parts)]))
    assert row["response"] == response


def test_cached_prompt_tokens_are_prompt_tokens(tmp_path):
    """Inspect counts them apart, the context holds them all."""
    sample = make_sample()
    sample["output"]["usage"] |= {"input_tokens_cache_read": 20, "input_tokens_cache_write": 3}
    (row,), _ = read(write_archive(tmp_path / "run.eval", [sample]))
    assert row["prompt_tokens"] == 523


def test_unknown_token_counts_stay_unknown(tmp_path):
    """A log without usage gives rows without counts."""
    sample = make_sample()
    del sample["output"]["usage"]
    (row,), _ = read(write_archive(tmp_path / "run.eval", [sample]))
    assert (row["prompt_tokens"], row["response_tokens"]) == (None, None)


@pytest.mark.parametrize(
    ("fields", "puzzle"),
    [
        ({"identifier": 1, "metadata": {"puzzle": NAMES[1]}}, {"name": NAMES[1]}),
        ({"identifier": 1}, {"text": "Solve this logic puzzle."}),
        ({"identifier": 1, "input": [{"role": "user", "content": "Solve!"}]}, {"text": "Solve!"}),
        ({"identifier": f"{NAMES[0]}.txt"}, {"name": NAMES[0]}),
    ],
)
def test_the_puzzle_is_named_by_id_metadata_or_text(tmp_path, fields, puzzle):
    """The first that is a puzzle's name counts, else the prompt."""
    (row,), _ = read(write_json(tmp_path / "run.json", [make_sample(**fields)]))
    assert {key: row[key] for key in ("name", "text") if key in row} == puzzle


def test_a_failed_sample_is_refused_and_the_others_read(tmp_path):
    """An error of the evaluation is not an answer of the model."""
    failed = [
        make_sample(NAMES[1], error={"message": "RateLimitError()", "traceback": ""}),
        make_sample("20_1_1_1_red", output={"choices": []}),
    ]
    found, refused = read(write_archive(tmp_path / "run.eval", [make_sample(), *failed]))
    assert [row["name"] for row in found] == NAMES[:1]
    assert [refusal[:2] for refusal in refused] == [(2, "failed request"), (3, "failed request")]
    assert "RateLimitError" in refused[0][2]


def test_a_damaged_sample_is_refused_and_the_others_read(tmp_path):
    """A member whose bytes have changed, one that is no JSON and one beyond all sizes."""
    path = write_archive(tmp_path / "run.eval", [make_sample(name) for name in NAMES])
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo(f"samples/{NAMES[0]}_epoch_1.json").header_offset
    content = bytearray(path.read_bytes())
    content[start + 120] ^= 255
    path.write_bytes(content)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("samples/x_epoch_1.json", "{")
    found, refused = read(path)
    assert [row["name"] for row in found] == NAMES[1:]
    assert [refusal[:2] for refusal in refused] == [(1, "unreadable file"), (3, "malformed row")]


def test_a_huge_member_is_not_decompressed(tmp_path, monkeypatch):
    """The size in the directory is looked at first, and not believed afterwards."""
    path = write_archive(tmp_path / "run.eval", [make_sample()])
    monkeypatch.setattr(inspect_logs, "ROW_BYTES", 700)
    found, refused = read(path)
    assert (found, [refusal[:2] for refusal in refused]) == ([], [(1, "unreadable file")])


def test_an_interrupted_log_gives_what_it_has(tmp_path):
    """Without a header the journal names the model."""
    path = tmp_path / "run.eval"
    with zipfile.ZipFile(path, "w") as archive:
        journal = {key: value for key, value in make_header("mockllm/model").items() if key != "status"}
        archive.writestr("_journal/start.json", json.dumps(journal))
        archive.writestr("samples/1.json", json.dumps(make_sample()))
    (row,), ((number, reason, detail),) = read(path)
    assert (row["model"], number, reason) == ("mockllm/model", 0, "unfinished log")
    assert "eval-retry" in detail


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_a_log_cut_short_is_refused_whole(tmp_path, ending):
    """Neither a zip nor a JSON file can be read without its end."""
    path = write(tmp_path / f"run.{ending}", [make_sample()])
    path.write_bytes(path.read_bytes()[:-40])
    found, refused = read(path)
    assert (found, [refusal[:2] for refusal in refused]) == ([], [(0, "unreadable file")])


def test_other_json_and_zip_files_are_no_logs(tmp_path):
    """Only a file that begins as a log is taken for one."""
    (tmp_path / "results.json").write_text('{"results": {}, "version": 2}')
    (tmp_path / "run.json.gz").write_bytes(gzip.compress(json.dumps(make_header()).encode()))
    with zipfile.ZipFile(tmp_path / "run.eval", "w") as archive:
        archive.writestr("notes.txt", "")
    assert not is_table(tmp_path / "results.json")
    assert is_table(tmp_path / "run.json.gz")
    assert read(tmp_path / "run.eval")[1][0][:2] == (0, "unreadable file")


def test_all_samples_together_are_bounded(tmp_path, monkeypatch):
    """A small archive of many samples, or of one many times, does not keep the reader busy for ever."""
    path = write_archive(tmp_path / "run.eval", [make_sample(identifier=n, content="a" * 90_000) for n in range(30)])
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.001")
    found, refused = read(path)
    assert 0 < len(found) < 30
    assert refused[-1][:2] == (0, "unreadable file")
    assert "unpacks to more than 0.001 GB" in refused[-1][2]


@pytest.mark.parametrize(
    "content", [b"[1],", b'{"a":1},', b'"",', b"1.5,", '"→",'.encode(), '"🎈",'.encode(), b'"abcdefgh",']
)
def test_a_plain_log_is_weighed_before_it_is_read(tmp_path, monkeypatch, content):
    """What JSON takes in memory is not underrated, whatever it is made of; too heavy a log is refused."""
    log = b'{"version": 2, "status": "x", "eval": {}, "samples": [' + content * 200_000 + b"{}]}"
    tracemalloc.start()
    json.loads(log)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < inspect_logs._weigh(log) < 40 * taken
    (tmp_path / "run.json").write_bytes(log)
    monkeypatch.setattr(inspect_logs, "LOG_MEMORY_BYTES", taken)
    _, ((row, reason, detail),) = read(tmp_path / "run.json")
    assert (row, reason) == (0, "unreadable file")
    assert "convert a log to .eval" in detail


def test_a_run_that_was_taken_up_again_has_each_sample_once(tmp_path):
    """The archive keeps what the first attempt left under the same name; the later one counts."""
    path = write_archive(tmp_path / "run.eval", [make_sample(NAMES[0], error={"message": "Cancelled"})])
    again = json.dumps(make_sample(NAMES[0]))
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr(f"samples/{NAMES[0]}_epoch_1.json", again)
    found, refused = read(path)
    assert [row["name"] for row in found] == [NAMES[0]]
    assert refused == []
