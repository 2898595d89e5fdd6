"""Data for scripts: what stands in them as JSON, and the cells that they show."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.book import page_data
from cogniload_repro.models import NAMES
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.storage import write_table

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(_VALUES)
def test_a_script_leaves_the_very_value(value):
    """What follows the name is the value as JSON on one line of letters that any encoding has."""
    text = page_data.write_script("name", value)
    assert text.isascii()
    *_, last = text.rstrip(";\n").splitlines()
    assert json.loads(last.removeprefix("cogniload.data.name = ")) == value


@pytest.fixture
def own_build(tmp_path):
    """A build in which one of the paper's models was scored, and a model of somebody else."""
    cells = load_cells(models=["QwQ-32B", "o3-2025-04-16"]).drop(columns="log10_N")
    cells = cells.replace({"model": {"o3-2025-04-16": "server/</b>/mine"}})
    write_table(tmp_path / "cells.parquet", cells.assign(provenance="scored"))
    return tmp_path


def test_scored_models_stand_beside_the_papers(own_build):
    """Scored answers take the place of a model's committed counts; all other models keep theirs."""
    cells = page_data.cells_to_show(own_build)
    provenance = cells.groupby("model")["provenance"].unique().str.join("")
    assert set(provenance.index) == {*NAMES, "server/</b>/mine"}
    scored = provenance[provenance == "scored"]
    assert set(scored.index) == {"QwQ-32B", "server/</b>/mine"}
