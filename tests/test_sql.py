"""Tables of a build in SQL, whose names ignore case."""

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from cogniload_repro.storage import DATA

BUILD = Path(__file__).parents[1] / "data" / "build-mini"
TABLES = [*sorted(BUILD.glob("*.parquet")), *sorted((DATA / "reconstructed").glob("*.csv"))]


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_no_two_columns_differ_by_case_only(path):
    """SQL names ignore case: n beside N was read in its place."""
    columns = pq.read_schema(path).names if path.suffix == ".parquet" else pd.read_csv(path, nrows=1).columns
    assert len({name.lower() for name in columns}) == len(columns)
