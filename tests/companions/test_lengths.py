"""Growth of perturbed texts, counted with a tokenizer that is known."""

import pytest

from cogniload_repro.companions.lengths import measure_growth
from cogniload_repro.companions.perturbations import PERTURBATIONS


class Bytes:
    """A tokenizer of one token a byte."""

    def encode_ordinary_batch(self, texts: list[str]) -> list[list[int]]:
        """Return the bytes."""
        return [list(text.encode()) for text in texts]


def test_growth_is_that_of_the_counts():
    """Reversed symbols take as many bytes, woven ones twice as many, and a rail fence three rows."""
    growth = measure_growth(["a" * 100, "b" * 100], {"bytes": Bytes()})
    assert list(growth.index) == list(PERTURBATIONS)
    assert growth.loc["reverse_symbols"].tolist() == [1, 1]
    assert growth.loc["interleave_symbol"].tolist() == [2, 2]
    frame = len("GRID START\n\n\n\nGRID END") / 100
    assert growth.loc["rail_fence", "symbols"] == pytest.approx(3 + frame)
    assert (growth["symbols"] == growth["bytes"]).all()


def test_one_text_is_too_few():
    """The interleavings need a partner."""
    with pytest.raises(ValueError, match="two or more"):
        measure_growth(["a"])
