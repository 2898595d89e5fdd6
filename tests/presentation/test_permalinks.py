"""Printed numbers with what became of them, by table, row and column."""

import pandas as pd
import pytest

from cogniload_repro.presentation.permalinks import numbers_data


@pytest.fixture
def build(tmp_path):
    """A build whose comparison has a number of each kind of table."""
    rows = [
        ("table2", "QwQ-32B", "beta_d", "", "derived", "-0.21", "-0.21", "exact"),
        ("table2", "QwQ-32B", "beta_d stars", "", "derived", "***", "***", "exact"),
        ("table4", "QwQ-32B", "ctx", "d=3", "input", "7", "7", "exact"),
        ("table7", "QwQ-32B", "prompt_mean", "N=20 d=3", "input", "400", "", "not_computable"),
        ("prose", "", "models", "C001", "derived", "22", "22", "exact"),
    ]
    columns = ["table", "model", "quantity", "condition", "kind", "published", "shown", "verdict"]
    pd.DataFrame(rows, columns=columns).assign(reason="").to_parquet(tmp_path / "fidelity.parquet")
    return tmp_path


def test_each_number_stands_at_its_row_and_column(build):
    """Stars stand with their coefficient, levels in the row where a model has several, in the column elsewhere."""
    data = numbers_data(build)
    assert [entry[0] for entry in data["rows"]["table2"]["QwQ-32B"]["beta_d"]] == ["beta_d", "beta_d stars"]
    assert data["rows"]["table4"]["QwQ-32B d=3"]["ctx"] == [["ctx", "7", "7", "input", "exact", ""]]
    assert data["columns"] == {"table2": ["beta_d"], "table4": ["ctx"], "table7": ["d=3"]}
    assert "prose" not in data["rows"]
