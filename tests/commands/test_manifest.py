"""What is known of a build."""

import os

import pytest

from cogniload_repro.commands import manifest
from cogniload_repro.commands.manifest import Manifest


@pytest.fixture
def build(tmp_path):
    """A build of two files, which a step has made."""
    (tmp_path / "scores").mkdir()
    for name in ("cells.parquet", "scores/a.parquet"):
        (tmp_path / name).write_text(name)
    known = Manifest(tmp_path)
    known.record("scores", {"outputs": "1"}, ["cells.parquet", "scores/*"])
    return tmp_path


def test_a_step_is_known_by_what_it_was_made_from(build):
    """Another content, or more or less of it, is not the same."""
    known = Manifest(build)
    assert known.is_made_from("scores", {"outputs": "1"})
    for other in ({"outputs": "2"}, {}, {"outputs": "1", "code": "1"}):
        assert not known.is_made_from("scores", other)
    assert not known.is_made_from("fits", {})


def test_damage_is_found_and_dates_are_none(build):
    """Missing, cut and exchanged files are found, whatever their dates; another date alone is nothing."""
    os.utime(build / "cells.parquet", (1, 1))
    os.utime(build / "scores/a.parquet", (4e9, 4e9))
    assert Manifest(build).find_damage("scores") == []
    (build / "cells.parquet").write_text("Cells.parquet")
    os.utime(build / "cells.parquet", (1, 1))
    (build / "scores/a.parquet").unlink()
    assert Manifest(build).find_damage("scores") == ["cells.parquet", "scores/a.parquet"]


def test_what_looks_the_same_is_not_read_again(build, monkeypatch):
    """The quick look is enough, and nothing is written."""
    before = (build / manifest.MANIFEST_FILE).stat().st_ino
    monkeypatch.setattr(manifest, "digest_of", None)
    known = Manifest(build)
    assert known.find_damage("scores") == []
    known.save()
    assert (build / manifest.MANIFEST_FILE).stat().st_ino == before


@pytest.mark.parametrize("content", ["", "{", "[]", '{"steps": 1, "looks": {}}'])
def test_a_damaged_manifest_counts_as_none(build, content):
    """Everything is made again then."""
    (build / manifest.MANIFEST_FILE).write_text(content)
    assert Manifest(build).steps == {}
