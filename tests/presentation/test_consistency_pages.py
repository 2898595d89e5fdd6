"""Pieces of the consistency chapter."""

import re

import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.presentation import consistency_pages as chapter
from cogniload_repro.reconstruction.derivation import RULES, derive_all
from cogniload_repro.reconstruction.reconstruct import load_cells

ODD = "DeepSeek-R1-Distill-Qwen-32B"


@pytest.fixture(scope="module")
def derived():
    """Every model under every reading of rho."""
    return [one for rule in RULES for one in derive_all(rule)]


@pytest.fixture
def facts(monkeypatch):
    """What the page keeps for its sentences."""
    kept = {}
    monkeypatch.setattr(chapter, "glue_facts", lambda **values: kept.update(values))
    return kept


def rows(fragment):
    """Return the cells of a shown table, row by row, without its head."""
    lines = [line for line in fragment.markdown.splitlines() if line.startswith("|")]
    return [[cell.strip().replace("\\", "") for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_pictures_are_saved_described_and_offered(tmp_path, derived, facts):
    """The lattice comes as two files with a description, both offered, and with facts that say what it shows."""
    fragment = chapter.show_lattice(derived, tmp_path)
    assert sorted(file.name for file in (tmp_path / "figures").iterdir()) == ["lattice.png", "lattice.svg"]
    assert {"lattice.png", "lattice.svg"} <= set(re.findall(r"figures/(lattice\.\w+)>", fragment.markdown))
    assert re.search(r':alt: "Three dot plots.{40,}', fragment.markdown)
    assert facts["complete_paper"] == "19 of 19"
    assert 0 < float(facts["chance_all"]) < 0.01


def test_table_2_has_every_model_and_a_file(tmp_path, derived, facts):
    """All coefficients are shown with four decimals and offered whole; the facts count what agrees."""
    fragment = chapter.show_table2(derived, tmp_path)
    shown = rows(fragment)
    assert [row[0] for row in shown] == list(NAMES)
    assert all(re.fullmatch(r"-?\d+\.\d{4} \(\d+\.\d{4}\)\*{0,3}", cell) for row in shown for cell in row[1:])
    assert (tmp_path / "tables" / "consistency_table2.csv").read_text().count("\n") == 1 + 3 * 8 * 22
    assert facts["stars_right"] == facts["stars"] == 110
    assert facts["numbers"] - facts["right"] == 2


def test_one_row_cannot_be_mended(facts):
    """For the odd row no slip leads to the AIC it needs; a row that agrees needs the AIC it has."""
    assert [row[1] for row in rows(chapter.show_one_row(ODD))] == ["16487.488", "16409.647"]
    assert facts["slips_linear"] == facts["slips_quadratic"] == 0
    for row in rows(chapter.show_one_row("QwQ-32B")):
        low, high = map(float, row[2].split(" to "))
        assert low <= float(row[1]) <= high


def test_missing_puzzles_are_listed_with_the_choice_in_use(facts):
    """Each of the three models has exactly one row in use and one without missing puzzles."""
    shown = rows(chapter.show_missing(load_cells()))
    for model in {row[0] for row in shown}:
        own = [row for row in shown if row[0] == model]
        assert [row[5] for row in own].count("yes") == 1
        assert [row[1] for row in own].count("none missing") == 1
    assert (facts["fits_qwen3_1_7b"], facts["tried_o3"], facts["whole_o3"]) == (28, 49, 1)


def test_sums_of_one_model_add_up():
    """Under each of the two tables stands the sum of its columns."""
    shown = [[cell.replace(",", "") for cell in row] for row in rows(chapter.show_sums("QwQ-32B"))]
    ends = [place for place, row in enumerate(shown) if row[0] == "sum"]
    assert ends == [5, len(shown) - 1]
    for first, last in zip((0, ends[0] + 3), ends, strict=True):
        for column in (1, 2, 3, 5):
            levels = sum(float(row[column]) for row in shown[first:last])
            assert float(shown[last][column]) == pytest.approx(levels, abs=0.0003)


def test_rules_and_open_questions(tmp_path, derived, facts):
    """The remaining pieces show a row a reading or a model, and keep the numbers their sentences need."""
    assert [row[0] for row in rows(chapter.show_rules(derived))] == list(RULES.values())
    assert len(rows(chapter.show_deviations(derived))) == len(rows(chapter.show_all_sums())) == 22
    cells = load_cells()
    assert len(rows(chapter.show_table3(cells))) == 22
    assert float(facts["worst_table3"]) <= 1
    assert "Reconstructed" in chapter.show_spread(cells, tmp_path).markdown
    assert facts["still"] == "0.0"
    assert len(rows(chapter.show_possible(cells))) == 22
    assert float(facts["fewest"]) < float(facts["most"])
