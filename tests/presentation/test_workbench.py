"""What the page that fits in the browser starts from."""

import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.presentation.workbench import gather_cells, workbench_data
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


def test_sentences_are_about_the_papers_models_only(build):
    """A reader's model is asked by none of them; where the paper names models, these are."""
    questions = workbench_data(build)["questions"]
    assert all(set(row["models"]) <= set(NAMES) for row in questions)
    named = [row for row in questions if row["text"].startswith("gpt-5 and o3")]
    assert {tuple(row["models"]) for row in named} == {("gpt-5-2025-08-07", "o3-2025-04-16")}


def test_only_reconstructed_models_have_other_counts(build):
    """Imported outputs are what they are; the committed counts come with every reconstruction and its totals."""
    for model in workbench_data(build)["models"]:
        own = model["name"] in ("QwQ-32B", "</script>mine")
        assert (model["tables"] is None) == own
        if not own:
            assert len(model["tables"]) == 25
            assert {sum(table) for table in model["tables"]} == {sum(model["k"])}


def test_models_that_a_build_lacks_come_with_the_committed_counts(build, cells):
    """The paper's 22 stand beside a reader's own, whose counts are those of the build."""
    data = workbench_data(build)
    names = [model["name"] for model in data["models"]]
    assert names == [*NAMES, "</script>mine"]
    assert sum(data["models"][-1]["k"]) == cells.loc[cells["model"] == "o3-2025-04-16", "correct"].sum()
    assert len(gather_cells(build)) == len(cells) + (cells["model"] == "o3-2025-04-16").sum()
