"""Planning puzzles by search, against counts and moves that are known from elsewhere."""

from math import comb

import pytest

from cogniload_repro.companions.planning import search_blocks, search_checkers, search_hanoi, search_river


@pytest.mark.parametrize("total", range(1, 11))
def test_hanoi_has_all_arrangements_and_the_known_minimum(n):
    """Every one of the 3^n arrangements can be reached, and the last in 2^n - 1 moves."""
    assert search_hanoi(n) == (2**n - 1, 3**n)


@pytest.mark.parametrize("total", range(1, 7))
def test_checkers_need_the_known_minimum(n):
    """The swap takes (n + 1)^2 - 1 moves; checkers that cannot go back do not reach all arrangements from n = 2 on."""
    found = search_checkers(n)
    assert found.moves == (n + 1) ** 2 - 1
    arrangements = (2 * n + 1) * comb(2 * n, n)
    assert found.reachable == arrangements if n == 1 else found.reachable < arrangements


@pytest.mark.parametrize(("total", "moves"), [(2, 5), (3, 11), (4, 9), (5, 11), (6, None)])
def test_rivers_are_crossed_in_the_known_moves(n, moves):
    """As the jealous couples: 5 and 11 crossings in a boat for two, 9 and 11 in one for three, six pairs never."""
    assert search_river(n).moves == moves


def test_four_pairs_need_a_boat_for_three():
    """With a boat for two nobody brings four pairs over."""
    assert search_river(4, capacity=2).moves is None


@pytest.mark.parametrize("total", range(2, 6))
def test_the_rule_in_the_boat_changes_nothing(n):
    """The post does not say whether the boat is a place; moves and states are the same either way."""
    assert search_river(n) == search_river(n, boat_is_a_place=False)


def test_blocks_have_the_known_number_of_states():
    """Blocks form as many sets of stacks as there are sets of lists (OEIS A000262); a stack turns over in n moves."""
    assert [search_blocks(n).reachable for n in range(1, 7)] == [1, 3, 13, 73, 501, 4051]
    assert [search_blocks(n).moves for n in range(2, 7)] == [2, 3, 4, 5, 6]
