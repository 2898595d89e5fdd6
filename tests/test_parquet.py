"""Parquet files: whole or absent, reproducible, labelled."""

import pandas as pd
import pyarrow as pa
import pytest

from cogniload_repro.parquet import (
    open_parquet,
    read_metadata,
    remove_parts,
    replacing,
    table_writer,
    weakest_provenance,
    write_table,
)

FRAME = pd.DataFrame({"model": ["a", "b"], "n": [1, 2]})
SCHEMA = pa.Schema.from_pandas(FRAME, preserve_index=False)
LABEL = {"provenance": "imported", "source": "a test"}


def test_a_table_comes_back_with_its_label(tmp_path):
    """Content and metadata are read as they were written, nothing else is added."""
    path = write_table(tmp_path / "folder/cells.parquet", FRAME, LABEL)
    pd.testing.assert_frame_equal(pd.read_parquet(path), FRAME)
    assert read_metadata(path) == LABEL


def test_the_same_table_gives_the_same_bytes(tmp_path):
    """Neither time, nor path, nor the order of the keys is in the file."""
    one = write_table(tmp_path / "one.parquet", FRAME, LABEL)
    two = write_table(tmp_path / "two.parquet", FRAME, dict(reversed(LABEL.items())))
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interrupted_write_leaves_the_old_file(tmp_path, error):
    """A reader meets the old content or the new, and no rubbish stays behind."""
    path = write_table(tmp_path / "cells.parquet", FRAME, LABEL)
    before = path.read_bytes()
    with pytest.raises(error), table_writer(path, SCHEMA, LABEL):
        raise error
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_parts_of_killed_runs_are_removed(tmp_path):
    """Only hidden part files go."""
    (tmp_path / ".cells.parquet.17.part").touch()
    (tmp_path / "cells.parquet").touch()
    remove_parts(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["cells.parquet"]


def test_a_replacement_appears_at_the_end(tmp_path):
    """Until the block ends, the path does not exist."""
    with replacing(tmp_path / "file") as part:
        part.write_text("new")
        assert not (tmp_path / "file").exists()
    assert (tmp_path / "file").read_text() == "new"


def test_a_table_without_provenance_is_refused(tmp_path):
    """Every table says where it comes from."""
    with pytest.raises(ValueError, match="provenance None"):
        write_table(tmp_path / "cells.parquet", FRAME, {})


def test_a_file_that_is_no_parquet_is_refused(tmp_path):
    """The message names the file."""
    (tmp_path / "page.parquet").write_text("<html>")
    with (
        pytest.raises(ValueError, match=r"page\.parquet is not a whole Parquet file"),
        open_parquet(tmp_path / "page.parquet"),
    ):
        pass


@pytest.mark.parametrize(
    ("words", "weakest"),
    [
        (["evaluated"], "evaluated"),
        (["evaluated", "imported"], "imported"),
        (["evaluated", "reconstructed", "imported"], "reconstructed"),
    ],
)
def test_joined_tables_are_as_weak_as_their_weakest(words, weakest):
    """Reconstructed goes before imported, imported before evaluated."""
    assert weakest_provenance(words) == weakest


@pytest.mark.parametrize("words", [[], ["imported", ""]])
def test_unlabelled_tables_are_not_joined(words):
    """A table without a word cannot pass as one with it."""
    with pytest.raises(ValueError, match="cannot be joined"):
        weakest_provenance(words)
