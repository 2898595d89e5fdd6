"""Tables of a build in SQL, whose names ignore case."""

import sqlite3
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import cogniload_repro as cl
from cogniload_repro.storage import DATA

BUILD = Path(__file__).parents[1] / "data" / "build-mini"
TABLES = [*sorted(BUILD.glob("*.parquet")), *sorted((DATA / "reconstructed").glob("*.csv"))]


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_no_two_columns_differ_by_case_only(path):
    """SQL names ignore case: n beside N was read in its place."""
    columns = pq.read_schema(path).names if path.suffix == ".parquet" else pd.read_csv(path, nrows=1).columns
    assert len({name.lower() for name in columns}) == len(columns)


def test_sql_gives_the_accuracies_of_pandas():
    """SQLite takes the cells, and a query by model gives the accuracies that pandas gives."""
    cells = cl.load_cells()
    with sqlite3.connect(":memory:") as database:
        cells.to_sql("cells", database, index=False)
        query = "select model, sum(correct) * 1.0 / sum(total) as accuracy from cells group by model order by 2 desc"
        found = pd.read_sql(query, database).set_index("model")["accuracy"]
    sums = cells.groupby("model")[["correct", "total"]].sum()
    pd.testing.assert_series_equal(found.sort_index(), sums["correct"] / sums["total"], check_names=False)
    assert found.index[0] == "gpt-5-2025-08-07"
