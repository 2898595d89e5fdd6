"""Parquet that says how it was made."""

import pandas as pd
import pyarrow as pa
import pytest

from cogniload_repro.storage import (
    open_parquet,
    read_metadata,
    remove_parts,
    table_writer,
    write_table,
)

FRAME = pd.DataFrame({"model": ["a", "b"], "total": [1, 2]})
LABEL = {"scorer": "pseudocode", "source": "a test"}


def test_the_same_table_gives_the_same_bytes(tmp_path):
    """Content and label come back as they were; neither time, nor path, nor the order of the keys is in the file."""
    one = write_table(tmp_path / "folder/one.parquet", FRAME, LABEL)
    two = write_table(tmp_path / "two.parquet", FRAME, dict(reversed(LABEL.items())))
    assert one.read_bytes() == two.read_bytes()
    pd.testing.assert_frame_equal(pd.read_parquet(one), FRAME)
    assert read_metadata(one) == LABEL


def test_an_interrupted_write_leaves_the_old_file(tmp_path):
    """A reader meets the old content or the new, and no rubbish stays behind."""
    path = write_table(tmp_path / "cells.parquet", FRAME, LABEL)
    before = path.read_bytes()
    with pytest.raises(KeyboardInterrupt), table_writer(path, pa.Schema.from_pandas(FRAME), LABEL):
        raise KeyboardInterrupt
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_no_parquet_is_refused(tmp_path):
    """The message names the file; of a folder's files, only hidden parts of killed runs are removed."""
    (tmp_path / "page.parquet").write_text("<html>")
    (tmp_path / ".page.parquet.17.part").touch()
    (tmp_path / "own.part").touch()
    remove_parts(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own.part", "page.parquet"]
    named = pytest.raises(ValueError, match=r"page\.parquet is not a whole Parquet file")
    with named, open_parquet(tmp_path / "page.parquet"):
        pass
