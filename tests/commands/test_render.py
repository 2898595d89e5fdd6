"""Which chapters the book of a build has."""

import json
from pathlib import Path

import pytest

from cogniload_repro.commands.outputs import SOURCES
from cogniload_repro.commands.render import choose_chapters
from cogniload_repro.storage import partition_path

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def chapters_of(build, grid, models):
    """Return the names of the chapters of a build on a grid, with outputs of some models."""
    source = {"source": "answers.jsonl", "models": models, "settings": {}}
    (build / SOURCES).write_text(json.dumps([source]))
    (build / "outputs").mkdir()
    for model in models:
        partition_path(build / "outputs", model).touch()
    return {chapter.source.stem for chapter in choose_chapters(NOTEBOOKS, build, grid)}


@pytest.mark.parametrize(
    ("grid", "has_conclusions"), [("paper", True), ("mini", False)]
)
def test_the_papers_conclusions_are_judged_on_its_whole_grid_only(
    tmp_path, grid, has_conclusions
):
    """The book of the mini-grid has the other chapters and not these."""
    names = chapters_of(tmp_path, grid, ["QwQ-32B"])
    assert ("10_conclusions" in names) == has_conclusions
    assert "05_glm" in names


@pytest.mark.parametrize(
    ("models", "has_own"), [(["QwQ-32B"], False), (["QwQ-32B", "mine"], True)]
)
def test_the_chapter_on_your_model_needs_a_model_that_is_not_the_papers(
    tmp_path, models, has_own
):
    """Answers of one of the paper's models do not make it a reader's own."""
    assert ("13_your_model" in chapters_of(tmp_path, "paper", models)) == has_own
