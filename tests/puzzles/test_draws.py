"""Statements drawn one after the other, and the editions of the generator."""

import pytest

from cogniload_repro.puzzles.draws import StatementDraws, resolve_edition
from cogniload_repro.puzzles.rng import ElixirDraws, PortDraws


@pytest.mark.parametrize("draws", [PortDraws(), ElixirDraws()])
def test_a_statement_is_given_up_after_51_attempts(draws):
    """Where two people are equal no statement is allowed, and the 51st failure in a row stops."""
    draws.seed(3)
    statements = StatementDraws(draws, poi=0, everybody=[[0], [0]], sizes=[3])
    failed = []
    with pytest.raises(ValueError, match="51 attempts in a row at statement 1 failed"):
        statements.draw(6, 3, failed)
    assert len(failed) == 51


@pytest.mark.parametrize("name", ["python", "elixir-1.17", "elixir"])
def test_names_stand_for_editions(name):
    """Elixir without a version is the only one."""
    expected = "elixir-1.17" if name == "elixir" else name
    assert resolve_edition(name) == expected


@pytest.mark.parametrize("name", ["elixir-1.14", None])
def test_an_unknown_edition_is_refused_with_those_that_there_are(name):
    """The sentence names the value."""
    message = f"edition is {name!r}; choose one of: python, elixir-1.17"
    with pytest.raises(ValueError, match=message):
        resolve_edition(name)
