"""One response to a puzzle scored for readers' own code."""

import pytest

from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.scoring.response import reward, score_response

PUZZLE = draw_puzzle(20, 1, 1, 770487)
CASE = {
    "poi": "Sue",
    "gold": "red",
    "domain": ["blue", "red", "green"],
    "category": "hair",
}


@pytest.mark.parametrize("name", ["prompt_tokens", "response_tokens"])
@pytest.mark.parametrize("count", [-5, 1.5, float("nan"), True, "7"])
def test_a_number_of_tokens_is_a_whole_number(name, count):
    """Another value is refused by its name, since the budget would be tested with it in silence."""
    with pytest.raises(
        ValueError, match=f"{name} is .*; give a whole number of at least 0"
    ):
        score_response("Sue has red hair", **CASE, **{name: count})


@pytest.mark.parametrize(
    ("ending", "value"), [("{poi}: {gold}.", 1.0), ("{poi}: {other}.", 0.0), ("", 0.0)]
)
def test_a_reward_is_1_for_a_correct_response(ending, value):
    """A wrong and an empty response earn nothing."""
    other = next(
        value for value in PUZZLE.domains[PUZZLE.category] if value != PUZZLE.solution
    )
    response = ending.format(poi=PUZZLE.poi, gold=PUZZLE.solution, other=other)
    assert reward(PUZZLE, response) == value
    assert reward(PUZZLE, response, prompt_tokens=30_000, response_tokens=5_000) == 0.0


def test_a_puzzle_is_no_name():
    """A name does not say which edition of the generator draws it."""
    with pytest.raises(TypeError, match="the puzzle is a str; give what draw_puzzle"):
        score_response("red", "20_1_1_770487_red")


# all categories in place of one would be judged without a word
@pytest.mark.parametrize("domain", [PUZZLE.domains, "red", [1, 2], None])
def test_a_domain_is_the_values_of_the_asked_category(domain):
    """Another type is refused, and the sentence says where the values are."""
    with pytest.raises(
        TypeError, match="must be text, domain the values of the asked category"
    ):
        score_response("Sue: red", **CASE | {"domain": domain})
