"""Why a response has its score."""

import pytest

import cogniload_repro as cl

NAME = "20_1_1_770487_red"  # what is Raymond wearing: yellow, blue or red underwear
PUZZLE = cl.draw_puzzle(20, 1, 1, 770487)
ASKED = {"poi": PUZZLE.poi, "gold": PUZZLE.solution, "category": PUZZLE.category}


@pytest.mark.parametrize(
    ("response", "bucket", "words"),
    [
        ("Raymond is wearing red underwear.", "correct_valid", "window 1 has 'red'"),
        (
            "Raymond is wearing blue underwear.\nIt is red",
            "correct_last_sentence",
            "window 3 has 'red'",
        ),
        ("Raymond: blue", "wrong_logic_poi", "window 2 has 'blue'"),
        ("Hm.", "wrong_other", "no window has the correct value"),
        ("Raymond: red...", "wrong_max_context", "last sentence is empty"),
    ],
)
def test_the_explanation_is_the_verdicts(response, bucket, words):
    """Its bucket is the scorer's, its last line names the rule, and a name stands for its puzzle."""
    found = cl.explain(NAME, response)
    assert found == cl.explain(PUZZLE, response)
    assert found.bucket == bucket == cl.score_response(response, PUZZLE)
    assert words in found.reason
    assert str(found).splitlines()[-1] == f"{bucket}: {found.reason}"


def test_windows_and_matches_are_shown():
    """What is found is shown as it is spelled; a window that is the same as the one before is not repeated."""
    found = cl.explain(PUZZLE, "Raymond is wearing blue, no, RED underwear.")
    assert [(gold, others) for _, _, gold, others in found.windows] == [("red", ("blue",))] * 3
    assert str(found).count("no, red underwear") == 2
    assert "the same" in str(found)
    found = cl.explain(PUZZLE, "Raymond: red", prompt_tokens=1, response_tokens=40_000)
    assert (found.bucket, "32,768" in found.reason) == ("wrong_max_context", True)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: cl.explain("Raymond: red", PUZZLE), TypeError, "explain\\(puzzle_or_name, response\\)"),
        (lambda: cl.explain("Raymond", "red"), ValueError, "'Raymond'.*not of the form.*or give the puzzle itself"),
        (lambda: cl.explain("20_1_1_770487_blue", "red"), ValueError, "has the solution 'red'"),
        (lambda: cl.explain(NAME, "red", edition="ruby"), ValueError, "choose one of"),
        (lambda: cl.score_response("red", NAME), TypeError, "the puzzle is a str"),
        (lambda: cl.score_response("red"), TypeError, "must be text, domain the values"),
        # all categories in place of one would be judged without a word
        *((lambda one=one: cl.score_response("red", **ASKED, domain=one), TypeError, "must be text, domain the values")
          for one in (PUZZLE.domains, "red", [1, 2], None)),
        (lambda: cl.explain_response("red", **ASKED, domain="red"), TypeError, "must be text, domain the values"),
    ],
)  # fmt: skip
def test_what_is_none_is_refused(call, error, words):
    """Whatever is mixed up, the message says what to give."""
    with pytest.raises(error, match=words):
        call()
