"""Local paths and addresses."""

import sys
from pathlib import Path

import pytest

from cogniload_repro.parquet import read_metadata, remove_parts, write_table
from cogniload_repro.places import as_place, modified_ns, move


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
    assert modified_ns(tmp_path / "b") == (tmp_path / "b").stat().st_mtime_ns


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
        path = write_table(folder / "cells.parquet", pd.DataFrame({"n": [n]}), {"provenance": "imported"})
    (folder / ".cells.parquet.1.part").write_bytes(b"")
    remove_parts("memory://build/scores")
    assert [path.name for path in folder.iterdir()] == ["cells.parquet"]
    assert read_metadata(path)["provenance"] == "imported"
    with path.open("rb") as file:
        assert pd.read_parquet(file)["n"].tolist() == [2]


def test_an_unknown_store_is_refused():
    """A scheme that fsspec does not know is an error that names it."""
    pytest.importorskip("upath", reason="needs the extra `cluster`: pip install universal-pathlib")
    with pytest.raises(ValueError, match="nosuch://x"):
        as_place("nosuch://x/y")
