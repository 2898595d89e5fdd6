"""Parquet that says how it was made."""

import pandas as pd
import pytest

from cogniload_repro.storage import (
    open_parquet,
    read_metadata,
    remove_parts,
    write_table,
)

FRAME = pd.DataFrame({"model": ["a", "b"], "total": [1, 2]})
LABEL = {"scorer": "pseudocode", "source": "a test"}


def test_the_same_table_gives_the_same_bytes(tmp_path):
    """Neither time, nor path, nor the order of the metadata is in the file."""
    first = write_table(tmp_path / "folder/first.parquet", FRAME, LABEL)
    second = write_table(
        tmp_path / "second.parquet", FRAME, dict(reversed(LABEL.items()))
    )
    assert first.read_bytes() == second.read_bytes()


def test_a_table_comes_back_with_its_label(tmp_path):
    """Content and metadata are those that were written."""
    path = write_table(tmp_path / "cells.parquet", FRAME, LABEL)
    pd.testing.assert_frame_equal(pd.read_parquet(path), FRAME)
    assert read_metadata(path) == LABEL


def test_only_hidden_parts_of_killed_runs_are_removed(tmp_path):
    """A reader's own files stay."""
    for name in ("page.parquet", ".page.parquet.17.part", "own.part"):
        (tmp_path / name).touch()
    remove_parts(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "own.part",
        "page.parquet",
    ]


def test_a_file_that_is_no_parquet_is_refused_by_name(tmp_path):
    """Such as a page of a server that was saved in its place."""
    path = tmp_path / "page.parquet"
    path.write_text("<html>")
    refused = pytest.raises(
        ValueError, match=r"page\.parquet is not a whole Parquet file"
    )
    with refused, open_parquet(path):
        pass
