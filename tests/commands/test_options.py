"""Options that several commands share."""

import click
import pytest

from cogniload_repro.cli import main
from cogniload_repro.companions.perturbations import PERTURBATIONS
from cogniload_repro.companions.protocol import BASELINE
from cogniload_repro.puzzles import editions
from cogniload_repro.scoring.verdict import SCORERS
from cogniload_repro.statistics.regression import FAMILIES


@pytest.mark.parametrize(
    ("command", "option", "names"),
    [
        ("score", "scorer", SCORERS),
        ("fit", "family", FAMILIES),
        ("puzzles", "edition", editions.NAMES),
        ("puzzles", "perturbation", [BASELINE, *PERTURBATIONS]),
    ],
)
def test_help_names_what_functions_take(command, option, names):
    """Words that an option takes are written out in its help, all of them."""
    (found,) = (one for one in main.commands[command].params if one.name == option)
    assert isinstance(found, click.Option)
    assert [name for name in names if name not in found.help + str(found.default)] == []
