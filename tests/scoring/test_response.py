"""One response to a puzzle scored for readers' own code."""

import pytest

from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.scoring.response import score_response

PUZZLE = draw_puzzle(20, 1, 1, 770487)
CASE = {
    "poi": "Sue",
    "gold": "red",
    "domain": ["blue", "red", "green"],
    "category": "hair",
}


# all categories in place of one would be judged without a word
@pytest.mark.parametrize("domain", [PUZZLE.domains, "red", [1, 2], None])
def test_a_domain_is_the_values_of_the_asked_category(domain):
    """Another type is refused, and the sentence says where the values are."""
    with pytest.raises(
        TypeError, match="must be text, domain the values of the asked category"
    ):
        score_response("Sue: red", **CASE | {"domain": domain})
