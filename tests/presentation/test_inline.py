"""Data that stand in scripts."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.presentation.inline import write_json, write_script

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
