"""What the page that fits in the browser starts from."""

from cogniload_repro.models import NAMES
from cogniload_repro.presentation.page_data import gather_cells, workbench_data
from cogniload_repro.statistics.cell_tables import load_cells
from cogniload_repro.storage import write_table


def test_a_build_of_own_models_stands_beside_the_papers(tmp_path):
    """Committed counts come with every reconstruction, imported ones alone; sentences ask the paper's models only."""
    cells = load_cells()
    own = cells[cells["model"].isin(["QwQ-32B", "o3-2025-04-16"])].drop(columns="log10_N")
    own = own.replace({"model": {"o3-2025-04-16": "</script>mine"}})
    write_table(tmp_path / "cells.parquet", own, {"provenance": "imported"})
    data = workbench_data(tmp_path)
    assert [model["name"] for model in data["models"]] == [*NAMES, "</script>mine"]
    assert sum(data["models"][-1]["k"]) == cells.loc[cells["model"] == "o3-2025-04-16", "correct"].sum()
    assert len(gather_cells(tmp_path)) == len(cells) + (cells["model"] == "o3-2025-04-16").sum()
    for model in data["models"]:
        if model["name"] in ("QwQ-32B", "</script>mine"):
            assert model["tables"] is None
        else:
            assert len(model["tables"]) == 25
            assert {sum(table) for table in model["tables"]} == {sum(model["k"])}
    asked = {row["text"]: row["models"] for row in data["questions"]}
    assert all(set(models) <= set(NAMES) for models in asked.values())
    named = {tuple(models) for text, models in asked.items() if text.startswith("gpt-5 and o3")}
    assert named == {("gpt-5-2025-08-07", "o3-2025-04-16")}
