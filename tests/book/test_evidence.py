"""Badges follow the cells that a figure shows, not the word typed at the call."""

import pandas as pd
import pytest

import cogniload_repro as cl
from cogniload_repro.book.evidence import (
    judge_evidence,
    judge_parts,
    write_badges,
    write_line,
)

PAPER = cl.load_cells(models=["QwQ-32B"])
OWN = PAPER.assign(model="mine", provenance="scored")
PART = PAPER[PAPER["N"] == 20]


@pytest.mark.parametrize("claim", ["published", "identified", "independent", "bounded"])
def test_what_the_paper_fixes_holds_for_its_models_on_its_whole_grid_only(claim):
    """Evidence depends on whose cells are shown.

    A reader's model is outputs, both together are mixed, a part of the grid is one
    reconstruction.
    """
    assert judge_evidence(claim, PAPER) == claim
    assert judge_evidence(claim, OWN) == "outputs"
    assert judge_evidence(claim, pd.concat([PAPER, OWN])) == "mixed"
    assert judge_evidence(claim, PART) == "one reconstruction"
    assert judge_evidence(claim, None) == claim  # the chapter took no cells


def test_a_table_says_itself_whether_it_is_identified():
    """One row that the tables do not identify is enough for the badge."""
    rows = pd.DataFrame({"identified": [True, False]})
    assert judge_evidence(rows, PAPER) == "not identified"
    assert judge_evidence(rows[:1], PAPER) == "identified"


def test_a_misspelt_kind_is_refused():
    """A word that is no kind of evidence is named with the kinds there are."""
    with pytest.raises(
        ValueError, match="unknown evidence 'identifed'; kinds are published"
    ):
        judge_evidence("identifed", PAPER)


def test_each_panel_has_the_badge_of_its_numbers():
    """Of a reader's own answers all panels have the same one."""
    claims = {"left": "published", "right": "not identified"}
    kinds = judge_parts(claims, PAPER)
    assert write_badges(kinds) == (
        "{bdg-success}`published` left. {bdg-danger}`not identified` right."
    )
    assert write_line(kinds) == "left: published; right: not identified"
    assert judge_parts(claims, OWN) == {"": "outputs"}
    assert write_badges(judge_parts("", PAPER)) == ""  # a diagram
    assert (
        write_line(judge_parts("published", PAPER)) == "Numbers published in the paper"
    )
