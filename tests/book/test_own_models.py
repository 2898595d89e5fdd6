"""What chapter 13 says of a reader's model."""

import re

import pytest
import reading
from extreme_models import extreme_rows, few_rows
from harness import run, write_lines
from matplotlib.text import Text
from reading import save_nothing

import cogniload_repro as cl
from cogniload_repro.book.style import PHONE_IN
from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.sets import PuzzleSet, draw_rows


def run_chain(folder, rows):
    """Import and score answers; return what the chapter shows of them, and its figures by name."""
    source = write_lines(folder / "answers.jsonl", rows)
    for step in (["download-outputs", "--source", source], ["score", "--jobs", "1"]):
        done = run(*step, "--build", folder)
        assert done.exit_code == 0, done.output
    figures = {}

    def keep(figure, stem, *arguments, **options):
        figures[stem.name] = figure
        return save_nothing(figure, stem, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "save_nothing", keep)
        outputs = reading.read_chapter("13_your_model", patch, build=str(folder))
    return outputs, figures


@pytest.fixture(scope="module")
def chapter(one_process, tmp_path_factory):
    """What the chapter shows of four extreme models and one with 18 answers."""
    return run_chain(tmp_path_factory.mktemp("own"), [*extreme_rows(), *few_rows()])


@pytest.fixture(scope="module")
def said(chapter):
    """The sentences on each model."""
    outputs, _ = chapter
    said = {}
    for text in re.findall(r"<p>(.*?)</p>", "\n".join(outputs)):
        if model := re.search(r"answers of (\S+) (are|lie)", text):
            said[model[1]] = f"{said.get(model[1], '')} {text}"
    return said


def test_every_model_has_a_share_and_a_rank(said, chapter):
    """The clearest cases too: perfect, the last clause only, guessing, all cut off."""
    assert len(said) == 5
    for text in said.values():
        assert re.search(r"are correct \(\d+\.\d%\); .* guessing scores \d", text)
        assert "nan" not in text
    outputs, _ = chapter
    (table,) = (text for text in outputs if "| Rank |" in text)
    ranks = dict(re.findall(r"\| (\S+) \| \d+ \| \S+ \| (\d+) of 23 \|", table))
    assert len(ranks) == 5
    assert ranks[r"mine\-perfect"] == "1"


def test_clear_cases_are_called_so(said):
    """A perfect model is above guessing; one at chance cannot be distinguished from it."""
    assert "72 of 72 answers of mine-perfect are correct" in said["mine-perfect"]
    assert "is above guessing" in said["mine-perfect"]
    assert "cannot be distinguished from guessing" in said["mine-guess"]


def test_answers_that_were_all_cut_off_say_nothing_of_reasoning(said):
    """The sentence asks for a larger limit, and judges neither guessing nor the last clause."""
    assert "72 of 72 answers were cut off" in said["mine-cut"]
    assert "guessing." not in said["mine-cut"]


def test_a_few_answers_are_counted_by_whether_the_last_clause_is_right(said):
    """With one answer per cell no cell has both kinds, but both counts are there."""
    pattern = (
        r"right, (\d+) of (\d+) answers are correct; where it is wrong, (\d+) of (\d+)"
    )
    right, of_right, wrong, of_wrong = map(
        int, re.search(pattern, said["tiny"]).groups()
    )
    assert (right + wrong, of_right + of_wrong) == (5, 18)


def test_a_table_for_a_paper_has_the_models_and_their_nearest(chapter):
    """In the form of Table 2, as CSV and LaTeX; a model without a fit says why."""
    outputs, _ = chapter
    (shown,) = (text for text in outputs if "your-model.tex" in text)
    assert "In the form of Table 2" in shown
    assert "mine\\-perfect" in shown
    assert any(name in shown for name in cl.models.NAMES)
    rows = [line.strip("| ").split(" | ") for line in shown.splitlines() if "|" in line]
    heading, _, *rows = [row for row in rows if len(row) > 2]
    cells = heading.index("cells")
    ecl50 = heading.index(r"$\mathrm{ECL}_{50}$")
    assert {row[0]: row[cells] for row in rows}["tiny"] == "18"
    assert any(row[cells] == "140" for row in rows)
    # as the table of capacity points below it
    assert not any(re.match(r"-?0\\", row[ecl50]) for row in rows)


def test_text_of_figures_is_legible(chapter):
    """It has 11 pixels or more at 390: a figure has 342 there, a wide one 640 and scrolls."""
    _, figures = chapter
    assert {"your-accuracy", "your-slide"} <= set(figures)
    for name, figure in figures.items():
        width = figure.get_figwidth()
        pixels = (640 if width > PHONE_IN else 342) / (72 * width)
        sizes = [
            text.get_size()
            for text in figure.findobj(Text)
            if text.get_visible() and text.get_text().strip()
        ]
        assert pixels * min(sizes) >= 11, name


def test_a_model_is_in_the_tables_that_it_can_fill(chapter):
    """No row has dashes alone, and a model goes without the name of its server."""
    outputs, _ = chapter
    text = "\n".join(outputs)
    rows = re.findall(r"^\| (?!:)(.*)\|$", text, re.MULTILINE)
    assert len(rows) > 20
    for row in rows:
        _, *values = map(str.strip, row.split("|"))
        assert not set(values) <= {r"\-\-", "nan", "", "not stated"}, row
    assert "openai" not in text
    assert "{code-block} text" in text


@pytest.mark.parametrize(
    ("grid", "is_one_cell"),
    [
        pytest.param(
            "N=20,200,1000 ratio=5,50,95 d=1,3", False, marks=pytest.mark.slow
        ),
        ("N=250 ratio=50 d=5", True),
    ],
)
def test_levels_that_the_paper_does_not_have_stop_nothing(
    grid, is_one_cell, one_process, tmp_path
):
    """Nor does a single one; what cannot be fitted says why."""
    rows = []
    for row in draw_rows(PuzzleSet(grid_cells(grid), 2, 5)):
        response = f"So {row['poi']}: {row['gold']}."
        rows.append({"model": "mine", "name": row["name"], "response": response})
    outputs, figures = run_chain(tmp_path, rows)
    (lacking,) = (text for text in outputs if "There is no regression for mine" in text)
    assert ("determine 1 of the formula's 5" in lacking) == is_one_cell
    assert list(figures) == ["your-accuracy", "your-slide"]
