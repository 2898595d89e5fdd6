"""What the page that fits in the browser starts from."""

import pandas as pd
import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.presentation.workbench import gather_cells, judge, workbench_data
from cogniload_repro.published import load_claims
from cogniload_repro.statistics.cell_tables import load_cells
from cogniload_repro.storage import write_table


@pytest.fixture(scope="module")
def cells():
    """The committed counts."""
    return load_cells()


@pytest.fixture
def build(tmp_path, cells):
    """A build with one model of a reader's, and one of the paper's."""
    own = cells[cells["model"].isin(["QwQ-32B", "o3-2025-04-16"])].drop(columns="log10_N")
    own = own.replace({"model": {"o3-2025-04-16": "</script>mine"}})
    write_table(tmp_path / "cells.parquet", own, {"provenance": "imported"})
    return tmp_path


def test_sentences_are_judged_as_the_ledger_counts_them(cells):
    """Where the paper counts by stars, the baseline is the number that the comparison with the paper recomputes."""
    rows = {row["claims"][0]: row for row in judge(cells)}
    claims = load_claims().set_index("id")
    for claim in ("C063", "C064", "C066", "C074", "C079", "C083", "C097"):
        assert len(rows[claim]["found"]) == int(claims.loc[claim, "value"])
    assert set(rows["C070"]["found"]) == {"gpt-5-2025-08-07", "o3-2025-04-16"} == set(rows["C077"]["models"])


def test_sentences_are_about_the_papers_models_only(cells):
    """A reader's model changes none of them."""
    strangers = cells.assign(model=cells["model"] + " of mine")
    assert judge(pd.concat([cells, strangers], ignore_index=True)) == judge(cells)
    assert all(row["models"] == [] == row["found"] for row in judge(strangers))


def test_models_that_a_build_lacks_come_with_the_committed_counts(build, cells):
    """The paper's 22 stand beside a reader's own, whose counts are those of the build."""
    data = workbench_data(build)
    names = [model["name"] for model in data["models"]]
    assert names == [*NAMES, "</script>mine"]
    assert [model["name"] for model in data["models"] if model["built"]] == ["QwQ-32B", "</script>mine"]
    assert sum(data["models"][-1]["k"]) == cells.loc[cells["model"] == "o3-2025-04-16", "correct"].sum()
    assert len(gather_cells(build)) == len(cells) + (cells["model"] == "o3-2025-04-16").sum()
