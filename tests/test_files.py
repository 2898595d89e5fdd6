"""Files written whole or not at all."""

import os

import pytest

from cogniload_repro.files import write_whole


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
