"""Files whole or absent, places local or in stores, Parquet with its provenance."""

import importlib.util
import os
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from cogniload_repro.files import write_whole
from cogniload_repro.storage import (
    as_place,
    move,
    open_parquet,
    read_metadata,
    remove_parts,
    replacing,
    table_writer,
    weakest_provenance,
    write_table,
)


def test_content_and_folders(tmp_path):
    """Text keeps its line ends and letters, bytes stay bytes, folders are made."""
    path = write_whole(tmp_path / "a" / "b.txt", "ρ\nN\r\n")
    assert path.read_bytes() == "ρ\nN\r\n".encode()
    assert write_whole(path, b"\x00").read_bytes() == b"\x00"
    assert [item.name for item in path.parent.iterdir()] == ["b.txt"]


def test_failure_leaves_the_old_file(tmp_path, monkeypatch):
    """When the last step fails, the old content stands and nothing else lies about."""
    path = write_whole(tmp_path / "a.txt", "old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_whole(path, "new")
    assert [item.read_text() for item in tmp_path.iterdir()] == ["old"]


def test_a_path_stays_a_path(tmp_path):
    """Only what has a scheme is an address."""
    assert as_place("data/build") == Path("data/build")
    assert as_place(tmp_path) is tmp_path


def test_a_file_moves_over_another(tmp_path):
    """The old content is gone, and the time of the new one is told."""
    (tmp_path / "a").write_text("new")
    (tmp_path / "b").write_text("old")
    move(tmp_path / "a", tmp_path / "b")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["new"]


def test_an_address_needs_its_extra(monkeypatch):
    """The message names the address and what to install."""
    monkeypatch.setitem(sys.modules, "upath", None)
    with pytest.raises(ValueError, match=r"s3://bucket/build is an address; install cogniload-repro\[cluster\]"):
        as_place("s3://bucket/build")


def test_tables_are_written_to_a_store():
    """A table appears whole in a store, over the older one, and nothing else stays there."""
    pytest.importorskip("upath", reason="needs the extra `cluster`: pip install universal-pathlib")
    import pandas as pd

    folder = as_place("memory://build/scores")
    for n in (1, 2):
        path = write_table(folder / "cells.parquet", pd.DataFrame({"total": [n]}), {"provenance": "imported"})
    (folder / ".cells.parquet.1.part").write_bytes(b"")
    remove_parts("memory://build/scores")
    assert [path.name for path in folder.iterdir()] == ["cells.parquet"]
    assert read_metadata(path)["provenance"] == "imported"
    with path.open("rb") as file:
        assert pd.read_parquet(file)["total"].tolist() == [2]


def test_an_unknown_store_is_refused():
    """A scheme that fsspec does not know is an error that names it."""
    pytest.importorskip("upath", reason="needs the extra `cluster`: pip install universal-pathlib")
    with pytest.raises(ValueError, match="nosuch://x"):
        as_place("nosuch://x/y")


FRAME = pd.DataFrame({"model": ["a", "b"], "total": [1, 2]})
SCHEMA = pa.Schema.from_pandas(FRAME, preserve_index=False)
LABEL = {"provenance": "imported", "source": "a test"}


@pytest.mark.parametrize(("address", "package"), [("s3://b/x", "s3fs"), ("gs://b/x", "gcsfs"), ("abfs://b/x", "adlfs")])
def test_a_store_without_its_package_is_refused(address, package):
    """The package is imported when a store is opened, so its absence is a sentence and not found out in the middle."""
    pytest.importorskip("upath", reason="needs the extra `cluster`: pip install universal-pathlib")
    if importlib.util.find_spec(package):
        pytest.skip(f"{package} is here")
    with pytest.raises(ValueError, match=f"{address}: .*; install the package of this store, or use a local path"):
        as_place(address)


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
        (["imported"], "imported"),
        (["imported", "reconstructed", "imported"], "reconstructed"),
    ],
)
def test_joined_tables_are_as_weak_as_their_weakest(words, weakest):
    """Reconstructed goes before imported."""
    assert weakest_provenance(words) == weakest


@pytest.mark.parametrize("words", [[], ["imported", ""]])
def test_unlabelled_tables_are_not_joined(words):
    """A table without a word cannot pass as one with it."""
    with pytest.raises(ValueError, match="cannot be joined"):
        weakest_provenance(words)
