"""Tables of builds and of the repository, and Parquet that says how it was made."""

import pandas as pd
import pytest
from harness import read_metadata

from cogniload_repro.storage import (
    CELLS,
    open_parquet,
    read_frame,
    write_table,
)

FRAME = pd.DataFrame({"model": ["a", "b"], "total": [1, 2]})
LABEL = {"scorer": "pseudocode", "source": "a test"}


def test_the_same_table_gives_the_same_bytes(tmp_path):
    """Neither time, nor path, nor the order of the metadata is in the file."""
    first = tmp_path / "folder/first.parquet"
    second = tmp_path / "second.parquet"
    write_table(first, FRAME, LABEL)
    write_table(second, FRAME, dict(reversed(LABEL.items())))
    assert first.read_bytes() == second.read_bytes()


def test_a_table_comes_back_with_its_label(tmp_path):
    """Content and metadata are those that were written."""
    path = tmp_path / "cells.parquet"
    write_table(path, FRAME, LABEL)
    pd.testing.assert_frame_equal(pd.read_parquet(path), FRAME)
    assert read_metadata(path) == LABEL


def test_a_file_that_is_no_parquet_is_refused_by_name(tmp_path):
    """Such as a page of a server that was saved in its place."""
    path = tmp_path / "page.parquet"
    path.write_text("<html>")
    refused = pytest.raises(
        ValueError, match=r"page\.parquet is not a whole Parquet file"
    )
    with refused, open_parquet(path):
        pass


CELL_TABLE = pd.DataFrame(
    {
        "model": ["nan", "my  model", "007"],
        "N": [20, 50, 100],
        "d": [1, 3, 5],
        "ratio_pct": [5.0, 25.0, 95.0],
        "rho": [0.05, 0.26, 0.95],
        "total": [100, 100, 99],
        "correct": [90, 0, 99],
    }
)


@pytest.mark.parametrize("name", ["cells.csv", "cells.parquet"])
def test_a_table_is_the_same_from_csv_and_parquet(tmp_path, name):
    """A model may have any name, a number's or NaN among them."""
    path = tmp_path / name
    if path.suffix == ".csv":
        CELL_TABLE.to_csv(path, index=False)
    else:
        CELL_TABLE.to_parquet(path)
    cells = read_frame(path, CELLS, "mend it")
    pd.testing.assert_frame_equal(cells, CELL_TABLE)


@pytest.mark.parametrize("name", ["empty.csv", "empty.parquet"])
def test_a_file_without_a_table_is_refused_by_name(tmp_path, name):
    """The sentence ends with the remedy."""
    (tmp_path / name).touch()
    with pytest.raises(
        ValueError, match=rf"{name} cannot be read .*; delete it and mend it"
    ):
        read_frame(tmp_path / name, CELLS, "mend it")


def test_a_missing_file_is_refused_by_name(tmp_path):
    """The sentence ends with the remedy."""
    with pytest.raises(ValueError, match=r"cells\.parquet is missing; mend it"):
        read_frame(tmp_path / "cells.parquet", CELLS, "mend it")


def test_absent_columns_are_named_together(tmp_path):
    """In the order of the schema."""
    path = tmp_path / "cells.csv"
    CELL_TABLE.drop(columns=["rho", "N"]).to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"cells\.csv has no column N, rho; mend it"):
        read_frame(path, CELLS, "mend it")
