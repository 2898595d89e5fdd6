"""What is true of an answer is true in the files of every program: a test per kind of fault."""

import pytest
from harness import check_source, read_source, write_lines
from program_files import (
    FORMATS,
    MODEL,
    NAMES,
    Answer,
    table_row,
    write_answers,
)

from cogniload_repro.scoring.reasoning import MARKS, take_answer

RED, PURPLE = NAMES
GOOD = Answer(PURPLE)


def read(path):
    """Responses by name, and reasons of rejected rows by their detail."""
    # samples of the harness do not name their model
    samples = (
        path.name == FORMATS["harness"].file
        or (path / FORMATS["harness"].file).exists()
    )
    outputs, rejected = read_source(path, model=MODEL if samples else None)
    reasons = {row.detail: row.reason for row in rejected}
    return {output.name: output for output in outputs}, reasons


@pytest.mark.parametrize("kind", FORMATS)
def test_an_answer_is_read_from_every_format(tmp_path, kind):
    """Model, puzzle and text are those of the answer."""
    outputs, rejected = read(write_answers(tmp_path, kind, Answer(), GOOD))
    assert rejected == {}
    facts = {name: (output.model, output.response) for name, output in outputs.items()}
    assert facts == dict.fromkeys(NAMES, ("m", "Sue wears red."))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("stop", ["stop", "length", "error", None])
def test_an_answer_without_text_counts_only_if_the_model_ended_it_or_a_limit_did(
    tmp_path, kind, stop
):
    """It is a wrong, empty answer then, and else a failed request; the harness keeps no reasons."""
    text = "" if kind in ("completions", "harness") else None
    outputs, rejected = read(
        write_answers(tmp_path, kind, Answer(text=text, stop=stop), GOOD)
    )
    if stop in ("stop", "length") and kind != "harness":
        assert (outputs[RED].response, rejected) == ("", {})
    else:
        assert list(outputs) == [PURPLE]
        assert set(rejected.values()) == {"failed request"}


THOUGHT = "Raymond is wearing red underwear."


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind != "harness"])
def test_reasoning_stands_before_the_answer_in_every_format(tmp_path, kind):
    """The paper scores both; cut off within its reasoning, a response stays open."""
    cut = Answer(PURPLE, text=None, stop="length", reasoning=THOUGHT)
    outputs, rejected = read(
        write_answers(tmp_path, kind, Answer(reasoning=THOUGHT), cut)
    )
    assert rejected == {}
    assert outputs[RED].response == f"<think>\n{THOUGHT}\n</think>\n\nSue wears red."
    assert outputs[PURPLE].response == f"<think>\n{THOUGHT}"


@pytest.mark.parametrize("kind", FORMATS)
def test_nan_is_a_missing_value(tmp_path, kind):
    """Token counts may be missing; pandas, R and JSON write that in their ways."""
    outputs, rejected = read(
        write_answers(tmp_path, kind, Answer(tokens=float("nan")), GOOD)
    )
    assert rejected == {}
    assert outputs[RED].prompt_tokens is None
    assert outputs[PURPLE].prompt_tokens == (None if kind == "harness" else 9)


FAILURES = {
    "JSONL": table_row(Answer(text="", stop="error")),
    "a part of the text": table_row(Answer(text="Raymond is wea", stop="abort")),
    "an error beside": table_row(Answer()) | {"error": "connection reset"},
    "chat": {"custom_id": RED, "response": None, "error": {"code": "batch_expired"}},
    "Anthropic": {
        "custom_id": RED,
        "result": {"type": "errored", "error": {"type": "api_error"}},
    },
    "Gemini": {"key": RED, "error": {"code": 429}},
}


@pytest.mark.parametrize(
    ("first", "second"),
    [(failure, "JSONL") for failure in FAILURES]
    + [("chat", kind) for kind in FORMATS if kind != "harness"],
)
def test_a_failure_that_a_later_file_makes_good_is_listed_and_counts_for_nothing(
    tmp_path, first, second
):
    """The answer counts, in whichever file it stands; without it, the failure is a rejected row."""
    source = tmp_path / "source"
    source.mkdir()
    write_lines(source / "a.jsonl", [FAILURES[first]])
    outputs, rejected = read(source)
    assert (outputs, list(rejected.values())) == ({}, ["failed request"])
    write_answers(source, second, Answer())
    outputs, rejected = read(source)
    assert (list(outputs), list(rejected.values())) == ([RED], ["answered elsewhere"])
    report = check_source(source)
    assert (report.responses.total(), report.unusable) == (1, 0)
    report.check(0)


def test_a_failure_is_not_made_good_by_another_model(tmp_path):
    """A line of a failed batch names no model; with two models in a source it stays rejected."""
    rows = [table_row(Answer()) | {"model": model} for model in "ab"]
    path = write_lines(tmp_path / "o.jsonl", [FAILURES["chat"], *rows])
    assert list(read(path)[1].values()) == ["failed request"]


MARKED = [
    *(
        "<think>",
        "<Think>",
        '<think time="3">',
        "<mm:think>",
        "<seed:think>",
        "<antThinking>",
    ),
    *(
        "<thinking>",
        "<thought>",
        "<Thoughts>",
        "<reasoning>",
        "<reason>",
        "<scratchpad>",
    ),
    *(
        "<reflection>",
        "<inner_monologue>",
        "<rationale>",
        "<chain-of-thought>",
        "<analysis>",
    ),
    *(
        "<|START_THINKING|>",
        "<|thinking|>",
        "<|begin_of_thought|>",
        "<|start_reasoning|>",
    ),
    *("<|channel|>analysis<|message|>", "<|channel>thought\n", "<unused94>thought\n"),
    *(
        "[THINK]",
        "[think]",
        "[REASONING]",
        "◁think▷",
        "<cot>",
        "<scratch-pad>",
        "<思考>",
    ),
]
ENDS = [
    *(
        "</think>",
        "</Think>",
        "</think >",
        "</mm:think>",
        "</Thoughts>",
        "</scratchpad>",
    ),
    *("<|END_THINKING|>", "<|/thinking|>", "<|end_of_thought|>", "<|end_reasoning|>"),
    *(
        "<|channel|>final<|message|>",
        "<channel|>",
        "<unused95>",
        "[/THINK]",
        "◁/think▷",
    ),
    *("<|thought_end|>", "<|REASONING_END|>", "</scratch_pad>", "[/reasoning]"),
]


def test_reasoning_that_does_not_end_has_no_answer():
    """Under the marks of many models, in capitals, with attributes."""
    text = "So far Raymond is wearing red underwear"
    assert [mark for mark in MARKED if take_answer(mark + text) is not None] == []


def test_the_answer_follows_the_mark_that_ends_reasoning():
    """The mark that begins it may stand in the prompt."""
    assert {take_answer(f"So far blue.{mark}Red.") for mark in ENDS} == {"Red."}


def test_a_reader_may_add_marks(tmp_path, monkeypatch):
    """A line of the list is a word of tags, or a pair of marks."""
    from cogniload_repro.scoring import reasoning

    marks = tmp_path / "marks.txt"
    marks.write_text(MARKS.read_text("utf-8") + "ponder\n{{ ... }}\n", "utf-8")
    monkeypatch.setattr(reasoning, "MARKS", marks)
    reasoning._read_marks.cache_clear()
    reasoning._compile_marks.cache_clear()
    try:
        assert [take_answer(text) for text in ("<pondering>a", "{{a", "{{a}}b")] == [
            None,
            None,
            "b",
        ]
    finally:
        reasoning._read_marks.cache_clear()
        reasoning._compile_marks.cache_clear()
