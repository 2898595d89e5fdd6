"""The line that says where shown data come from."""

import pandas as pd
import pytest
from fixtures.provisional import mini_cells, provisional_cells, rename_model

from cogniload_repro.grid import MINI_GRID, PAPER_GRID
from cogniload_repro.statistics.provenance import origin_note, source_note

CELLS = provisional_cells()


def test_reconstructed_data_say_so():
    """Reconstructed cells carry the label, imported ones do not."""
    assert source_note(CELLS, "reconstructed") == "Reconstructed from the paper's tables, not raw outputs"
    assert source_note(CELLS, "imported") == ""


def test_partial_grid_is_counted():
    """A grid with fewer cells than the paper's says how many there are, by model where that differs."""
    assert source_note(mini_cells(), "imported") == (
        f"Partial grid: {len(MINI_GRID)} of the paper's {len(PAPER_GRID)} cells"
    )
    own = rename_model(mini_cells(), "QwQ-32B", "own")
    assert source_note(pd.concat([CELLS, own]), "reconstructed").startswith("The paper's models: reconstructed")
    assert source_note(pd.concat([CELLS, own]), "reconstructed").endswith("18 to 140 of the paper's 140 cells")


def test_unknown_word_is_refused():
    """Only the three words of the data contract are taken."""
    with pytest.raises(ValueError, match=r"'raw' is not one of: reconstructed, imported"):
        origin_note("raw")
