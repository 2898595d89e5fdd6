"""The chapters of a build with a reader's models, whatever these models are."""

import pytest
from harness import run, write_lines
from odd_models import ODD, odd_cells
from reading import NOTEBOOKS, read_chapter

from cogniload_repro.puzzles.generate import draw_puzzle


def answer(names):
    """Answers of odd models to the same puzzles.

    As many are right, wrong and cut off as their counts say.
    """
    puzzles = {}
    for row in odd_cells(*names).itertuples():
        for place in range(row.total):
            key = row.N, row.d, row.needles, 100_000 + place
            if key not in puzzles:
                puzzles[key] = draw_puzzle(*key)
            puzzle = puzzles[key]
            answer = {"model": row.model, "name": puzzle.name, "finish_reason": "stop"}
            if place < row.correct:
                yield answer | {"response": f"The final value is {puzzle.solution}"}
            elif place < row.correct + row.ctx:
                yield answer | {"response": "", "finish_reason": "length"}
            else:
                yield answer | {"response": "I do not know."}


#: Odd models with so few answers that all can be written down.
FEW = [name for name, cells in ODD.items() if 0 < cells["total"].sum() <= 300]
CHAPTERS = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))


@pytest.fixture(scope="module", params=["beside the paper's", "alone"])
def odd_build(request, tmp_path_factory):
    """A build whose models are the odd ones, through the whole chain.

    They stand beside those of the paper, or alone.
    """
    folder = tmp_path_factory.mktemp("odd")
    answers = write_lines(folder / "odd.jsonl", answer(FEW))
    option = "--add" if request.param == "beside the paper's" else "--source"
    build = folder / "build"
    run("download-outputs", "--build", build, "--jobs", 1, option, answers)
    run("score", "--build", build, "--jobs", 1)
    run("fit", "--build", build)
    return build


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_chapter_fails_because_of_added_models(chapter, odd_build, monkeypatch):
    """Every chapter is made with odd models, also where they are named."""
    read_chapter(chapter, monkeypatch, build=odd_build)
    read_chapter(chapter, monkeypatch, build=odd_build, models=FEW)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["constant", "perfect", "one cell", "one length", "two lengths"]
)
def test_no_chapter_fails_because_of_a_model_alone(name, tmp_path, monkeypatch):
    """A build that holds one such model has all of its chapters."""
    build = tmp_path / "build"
    answers = write_lines(tmp_path / "odd.jsonl", answer([name]))
    run("download-outputs", "--build", build, "--jobs", 1, "--source", answers)
    run("score", "--build", build, "--jobs", 1)
    run("fit", "--build", build)
    for chapter in CHAPTERS:
        read_chapter(chapter, monkeypatch, build=build)
