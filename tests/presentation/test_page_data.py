"""Data that stand in scripts, and printed numbers with what became of them."""

import json

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.presentation.page_data import numbers_data, write_json, write_script

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(_VALUES)
def test_json_comes_back_and_cannot_end_its_element(value):
    """Any value is read again as it was, and no letter of it can close a script, open a comment or end a line."""
    text = write_json(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&`\u2028\u2029\n")


def test_numbers_that_are_none_are_null():
    """Scripts read null where there is no number, and numpy's scalars as plain ones."""
    assert (
        write_json({"a": [np.float64("nan"), float("inf"), np.int64(3), np.float64(0.5)]}) == '{"a":[null,null,3,0.5]}'
    )


def test_a_script_leaves_its_value_by_name():
    """The script of hostile text holds nothing that a page could read as markup."""
    text = write_script("cells", {"name": "</script><img src=x onerror=alert(1)>"})
    assert "cogniload.data.cells = " in text
    assert "<" not in text


def test_each_number_stands_at_its_row_and_column(tmp_path):
    """Stars stand with their coefficient, levels in the row where a model has several, in the column elsewhere."""
    rows = [
        ("table2", "QwQ-32B", "beta_d", "", "derived", "-0.21", "-0.21", "exact"),
        ("table2", "QwQ-32B", "beta_d stars", "", "derived", "***", "***", "exact"),
        ("table4", "QwQ-32B", "ctx", "d=3", "input", "7", "7", "exact"),
        ("table7", "QwQ-32B", "prompt_mean", "N=20 d=3", "input", "400", "", "not_computable"),
        ("prose", "", "models", "C001", "derived", "22", "22", "exact"),
    ]
    columns = ["table", "model", "quantity", "condition", "kind", "published", "shown", "verdict"]
    pd.DataFrame(rows, columns=columns).assign(reason="").to_parquet(tmp_path / "fidelity.parquet")
    data = numbers_data(tmp_path)
    assert [entry[0] for entry in data["rows"]["table2"]["QwQ-32B"]["beta_d"]] == ["beta_d", "beta_d stars"]
    assert data["rows"]["table4"]["QwQ-32B d=3"]["ctx"] == [["ctx", "7", "7", "input", "exact", ""]]
    assert data["columns"] == {"table2": ["beta_d"], "table4": ["ctx"], "table7": ["d=3"]}
    assert "prose" not in data["rows"]
