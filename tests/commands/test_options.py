"""Options that several commands share."""

from cogniload_repro.commands import options
from cogniload_repro.companions.perturbations import PERTURBATIONS
from cogniload_repro.companions.protocol import BASELINE
from cogniload_repro.puzzles import editions
from cogniload_repro.scoring.verdict import READINGS
from cogniload_repro.statistics.regression import FAMILIES


def test_choices_are_those_of_the_package():
    """Names that are written out for `--help` are the names that the functions take, all of them."""
    assert set(options.READINGS.choices) == set(READINGS)
    assert set(options.EDITIONS.choices) == set(editions.NAMES)
    assert set(options.PERTURBATION.choices) == {BASELINE, *PERTURBATIONS}
    families = next(one for one in options.FAMILY(lambda: None).__click_params__ if one.name == "family")
    assert set(families.type.choices) == set(FAMILIES)
