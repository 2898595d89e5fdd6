"""Logs of Inspect: archives, single files, damage, retries."""

import json
import zipfile

import pytest
from harness import read_source
from inspect_log import make_header, make_sample, write_archive, write_json

from cogniload_repro.outputs import inspect_logs
from cogniload_repro.outputs.inspect_logs import find_finished
from cogniload_repro.outputs.records import Row
from cogniload_repro.outputs.responses import Output, read_response
from cogniload_repro.outputs.rows import read_rows

NAME = "20_1_1_770487_red"
OTHER = "20_1_1_586907_purple"


def read(path):
    """The responses of a log, and row and reason of what is refused."""
    rows = list(read_rows(path))
    refused = [(row.number, row.refusal[0]) for row in rows if row.refusal]
    outputs = [read_response(row) for row in rows if not row.refusal]
    return outputs, refused


def damage(path, name):
    """Change the check sum that an archive states for a member."""
    with zipfile.ZipFile(path) as archive:
        digits = archive.getinfo(name).CRC.to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(digits, bytes(4)))


@pytest.mark.parametrize("kind", ["Zstandard", "deflated", "JSON"])
def test_a_log_is_read(tmp_path, kind):
    """Compressed in either way or one JSON file: model, puzzle, response, tokens, settings."""
    samples = [make_sample(NAME), make_sample(OTHER)]
    if kind == "JSON":
        path = write_json(tmp_path / "run.json", samples)
    else:
        path = write_archive(
            tmp_path / "run.eval", samples, zstandard=kind == "Zstandard"
        )
        with zipfile.ZipFile(path) as archive:
            kinds = {info.compress_type for info in archive.infolist()}
        assert kinds == {93 if kind == "Zstandard" else zipfile.ZIP_DEFLATED}
    settings = {
        "provider": "openai",
        "version": "gpt-5-2025-08-07",
        "date": "2026-01-01",
    }
    output = Output(
        "openai/gpt-5-2025-08-07", NAME, "Sue wears red.", 500, 900, "stop", settings
    )
    assert read(path) == ([output, output._replace(name=OTHER)], [])


@pytest.mark.parametrize("name", ["run.json", "run.eval"])
@pytest.mark.parametrize("order", [list, sorted])
@pytest.mark.parametrize("indent", [None, 4])
def test_a_log_in_json_is_known_by_what_it_says(tmp_path, name, order, indent):
    """In any order of its keys, behind a byte order mark, under another ending."""
    path = write_json(tmp_path / name, [make_sample(NAME)])
    log = json.loads(path.read_text())
    log = {key: log[key] for key in order(list(log))}
    path.write_text("\ufeff" + json.dumps(log, indent=indent), "utf-8")
    (output,), _ = read_source(path)
    assert output.name == NAME


def test_a_sample_of_a_json_log_is_known_by_its_number(tmp_path):
    """The first sample has the number 1; one that is no object is refused by its own."""
    path = write_json(tmp_path / "run.json", [make_sample(NAME), "no sample"])
    outputs, refused = read(path)
    assert [output.name for output in outputs] == [NAME]
    assert refused == [(2, "wrong type")]


@pytest.mark.parametrize("zstandard", [True, False])
def test_a_bad_sample_is_refused_and_the_others_read(tmp_path, zstandard):
    """An error of the evaluation, no answer, another check sum, no JSON: each with its reason."""
    failed = [
        make_sample(
            "20_1_1_2_red", error={"message": "RateLimitError()", "traceback": ""}
        ),
        make_sample("20_1_1_1_red", output={"choices": []}),
    ]
    samples = [make_sample(NAME), make_sample(OTHER), *failed]
    path = write_archive(tmp_path / "run.eval", samples, zstandard=zstandard)
    damage(path, f"samples/{NAME}_epoch_1.json")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("samples/x_epoch_1.json", "{")
    outputs, refused = read(path)
    assert [output.name for output in outputs] == [OTHER]
    reasons = {
        1: "unreadable file",
        3: "failed request",
        4: "failed request",
        5: "malformed row",
    }
    assert refused == list(reasons.items())


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"metadata": {"puzzle": OTHER}}, OTHER),
        ({"id": f"{NAME}.txt"}, NAME),
        ({"metadata": None}, None),
    ],
)
def test_a_sample_names_its_puzzle_somewhere(fields, name):
    """As its id or among its metadata."""
    sample = Row(1, make_sample(1) | fields)
    (row,) = inspect_logs.read_log_sample(sample, {"model": "m"})
    assert row.fields["name"] == name


def test_an_archive_is_read_in_bounded_memory(tmp_path, monkeypatch):
    """All samples together are bounded, and each one, whatever the directory says of its size."""
    samples = [
        make_sample(identifier=number, content="a" * 90_000) for number in range(30)
    ]
    path = write_archive(tmp_path / "run.eval", samples)
    monkeypatch.setenv("COGNILOAD_MAX_UNPACKED_GB", "0.001")
    (row,) = read_rows(path)
    assert (row.number, row.refusal[0]) == (0, "unreadable file")
    assert "has more than 0.001 GB" in row.refusal[1]
    monkeypatch.delenv("COGNILOAD_MAX_UNPACKED_GB")
    path = write_archive(path, [make_sample()])
    monkeypatch.setattr(inspect_logs, "ROW_BYTES", 700)
    assert read(path) == ([], [(1, "unreadable file")])


def test_a_long_log_in_one_file_is_to_be_converted(tmp_path, monkeypatch):
    """It would have to be in memory at once."""
    monkeypatch.setattr(inspect_logs, "JSON_BYTES", 100)
    (row,) = read_rows(write_json(tmp_path / "run.json", [make_sample()]))
    assert "convert it: `inspect log convert --to eval" in row.refusal[1]


def test_an_interrupted_log_gives_what_it_has(tmp_path):
    """Without a header the journal names the model."""
    path = tmp_path / "run.eval"
    header = make_header("mockllm/model")
    del header["status"]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps(header))
        archive.writestr("samples/1.json", json.dumps(make_sample()))
    (output,), refused = read(path)
    assert (output.model, refused) == ("mockllm/model", [(0, "unfinished log")])


@pytest.mark.parametrize("status", ["success", "error"])
def test_a_log_without_samples_says_so(tmp_path, status):
    """It was run without keeping them, or ended before the first one."""
    path = write_archive(tmp_path / "run.eval", [], run_header("t", status))
    (row,) = read_rows(path, find_finished({path: path.name}))
    assert row.refusal[0] == "log without samples"
    assert "--no-log-samples" in row.refusal[1]


def test_other_zip_files_are_no_logs(tmp_path):
    """A log without its end is unreadable."""
    with zipfile.ZipFile(tmp_path / "run.eval", "w") as archive:
        archive.writestr("header.json", "{}")
    content = write_archive(tmp_path / "whole.eval", [make_sample()]).read_bytes()
    (tmp_path / "cut.eval").write_bytes(content[:-40])
    for name in ("run.eval", "cut.eval"):
        assert read(tmp_path / name) == ([], [(0, "unreadable file")])


def test_a_run_that_was_taken_up_again_has_each_sample_once(tmp_path):
    """The archive keeps what the first attempt left under the same name; the later one counts."""
    path = write_archive(
        tmp_path / "run.eval", [make_sample(NAME, error={"message": "Cancelled"})]
    )
    with (
        zipfile.ZipFile(path, "a") as archive,
        pytest.warns(UserWarning, match="Duplicate name"),
    ):
        archive.writestr(f"samples/{NAME}_epoch_1.json", json.dumps(make_sample(NAME)))
    outputs, refused = read(path)
    assert ([output.name for output in outputs], refused) == ([NAME], [])


def run_header(task, status="success"):
    """The header of a log of a task."""
    header = make_header("m") | {"status": status}
    header["eval"] = header["eval"] | {"task_id": task}
    return header


def test_a_log_beside_its_retry_lacks_nothing(tmp_path):
    """The retry has the samples again and the failed one; without it, the log is unfinished."""
    done = make_sample(NAME, uuid="a")
    failed = make_sample(OTHER, uuid="b", error={"message": "gone"})
    write_archive(tmp_path / "1.eval", [done, failed], run_header("t", "error"))
    (output,), rejected = read_source(tmp_path)
    assert output.name == NAME
    assert {row.reason for row in rejected} == {"unfinished log", "failed request"}
    write_archive(
        tmp_path / "2.eval", [done, make_sample(OTHER, uuid="c")], run_header("t")
    )
    outputs, rejected = read_source(tmp_path)
    assert [output.name for output in outputs] == [NAME, OTHER]
    assert {row.reason: row.detail for row in rejected} == {
        "continued log": "it was continued in '2.eval', which is read too",
        "answered elsewhere": f"{OTHER}: it is answered in '2.eval'",
    }


def test_a_second_run_in_one_folder_is_named(tmp_path):
    """Its answers are duplicates of the first run's, whose file the reason gives."""
    write_archive(tmp_path / "1.eval", [make_sample(NAME, uuid="a")], run_header("t"))
    write_archive(tmp_path / "2.eval", [make_sample(NAME, uuid="b")], run_header("u"))
    _, (row,) = read_source(tmp_path)
    assert (row.reason, row.detail) == (
        "duplicate",
        f"m has answered {NAME} already, in '1.eval'",
    )
