"""The page that steps through puzzles, driven as a reader drives it."""

from urllib.parse import urlencode

import pytest
from browsing import complaints, turn_to, wait
from selenium.webdriver.common.by import By

import cogniload_repro as cl
from cogniload_repro.book.page_data import cells_to_show
from cogniload_repro.formats import display_names
from cogniload_repro.puzzles.rows import split_name

pytestmark = pytest.mark.book

_HOSTILE = "<img src=x onerror=alert(1)></script>"


@pytest.fixture
def explorer(browser, html):
    """The page, open from a file."""
    turn_to(browser, f"{html.as_uri()}/explorer.html")
    wait(browser, lambda b: b.find_elements(By.ID, "explorer-people"))
    return browser


def test_every_puzzle_ends_at_its_answer(explorer, html):
    """Replayed in the page, every puzzle ends at the value in its name.

    It has the needles of its name.
    """
    scripts = sorted((html / "instruments").glob("puzzles?*-data.js"))
    assert len(scripts) >= 18
    for script in scripts[::9]:
        explorer.execute_script(script.read_text(encoding="utf-8"))
    ends = explorer.execute_script("""
        const sets = Object.keys(cogniload.data).filter((name) => /^puzzles\\d/.test(name));
        return sets.flatMap((name) => cogniload.data[name]).map((puzzle) => {
            const { answer, isNeedle } = cogniload.explorer.solve(puzzle);
            const needles = isNeedle.filter(Boolean).length;
            return [puzzle.name, answer, needles];
        });
    """)
    assert len(ends) >= len(scripts[::9])
    for name, answer, needles in ends:
        parts = split_name(name)
        assert answer == parts.gold
        assert needles == parts.needles


def read_puzzle(explorer):
    """The puzzle on the page, with its answer and that of the shortcut."""
    return explorer.execute_script("""
        const place = new URLSearchParams(location.hash.slice(1));
        const sets = Object.keys(cogniload.data).filter((name) => /^puzzles\\d/.test(name));
        const { N, d, ratio_pct } = cogniload.data.puzzles.configurations;
        const at = N.findIndex((_, row) => N[row] === Number(place.get("N"))
            && d[row] === Number(place.get("d"))
            && ratio_pct[row] === Number(place.get("ratio_pct")));
        const puzzles = cogniload.data[`puzzles${at}`];
        return cogniload.explorer.solve(puzzles[Number(place.get("puzzle"))]);
    """)


def choices(explorer):
    """The buttons with the answers, by their words."""
    buttons = explorer.find_elements(By.CSS_SELECTOR, "#explorer .choices button")
    return {button.text: button for button in buttons}


def test_a_reader_answers_before_the_needles_are_shown(explorer):
    """The page says whether the answer is right, keeps score, and then shows the steps."""
    score = explorer.find_element(By.CSS_SELECTOR, "#explorer .score")
    for draw in (1, 2):
        another = explorer.find_element(By.XPATH, "//button[text()='Draw a puzzle']")
        another.click()
        wait(explorer, lambda b: "puzzle=" in b.current_url and choices(b))
        assert "step=" not in explorer.current_url
        assert not explorer.find_elements(By.CSS_SELECTOR, "#explorer .strip")
        puzzle = read_puzzle(explorer)
        assert {*puzzle["values"], "Show the steps"} == {*choices(explorer)}
        choices(explorer)[puzzle["answer"]].click()
        wait(explorer, lambda b: b.find_elements(By.CSS_SELECTOR, "#explorer .strip"))
        assert f"You: {draw} of {draw} right." in score.text
    explorer.back()
    wait(explorer, lambda b: "step=" in b.current_url)


def test_a_wrong_answer_is_named_as_what_it_is(explorer):
    """Whoever repeats the last value is told so."""
    for _ in range(20):
        explorer.find_element(By.XPATH, "//button[text()='Draw a puzzle']").click()
        wait(explorer, lambda b: "puzzle=" in b.current_url and choices(b))
        puzzle = read_puzzle(explorer)
        if puzzle.get("shortcut") not in (None, puzzle["answer"]):
            break
    choices(explorer)[puzzle["shortcut"]].click()
    text = "document.querySelector('#explorer').textContent"
    wait(explorer, f"{text}.includes('Repeating the last value gives that')")


@pytest.mark.parametrize("part", ["d=99", "N=abc", "puzzle=77", "step=x"])
def test_a_bad_address_is_named(explorer, part):
    """Another puzzle is shown, and the page says which part of the address is wrong."""
    explorer.execute_script(f"location.hash = '{part}'")
    problem = explorer.find_element(By.CSS_SELECTOR, "#explorer .problem")
    name, _, value = part.partition("=")
    wait(explorer, lambda _: f"{name} = {value}" in problem.text)
    assert explorer.find_element(By.CSS_SELECTOR, "#explorer .question").is_displayed()


def test_stepping_shows_who_matches_and_the_answer_only_at_the_end(explorer):
    """A click goes one statement on, and the address keeps the place."""
    explorer.execute_script("location.hash = 'step=0'")
    wait(explorer, lambda b: b.find_elements(By.ID, "explorer-go-next"))
    end = explorer.find_element(By.CSS_SELECTOR, "#explorer .answer")
    assert not end.is_displayed()
    statement = explorer.find_element(By.CSS_SELECTOR, "#explorer .statement")
    explorer.find_element(By.ID, "explorer-go-next").click()
    wait(explorer, lambda _: "Matches:" in statement.text)
    assert "step=1" in explorer.current_url
    explorer.find_element(By.ID, "explorer-go-end").click()
    wait(explorer, lambda _: end.is_displayed())
    gold = end.find_element(By.TAG_NAME, "strong").text
    assert end.text.endswith(f"_{gold}).")
    levels = explorer.find_elements(By.CSS_SELECTOR, "#explorer-d option")
    numbers = [int(level.text) for level in levels]
    assert numbers == sorted(numbers)
    assert complaints(explorer) == []


def test_a_name_stays_text(explorer):
    """A model whose name looks like markup is shown letter by letter."""
    explorer.execute_script(
        """
        cogniload.data.puzzles.models[0] = arguments[0];
        location.hash = "step=2";
        """,
        _HOSTILE,
    )
    script = "document.querySelector('#explorer-models tbody').textContent"
    wait(explorer, f"{script}.includes({_HOSTILE!r})")
    inserted = "#explorer img, #explorer script"
    assert explorer.find_elements(By.CSS_SELECTOR, inserted) == []
    explorer.refresh()


def test_counts_of_a_configuration_are_those_of_the_build(explorer, html):
    """For reconstructed models the 10 to 90% range of all tables of counts; else the count."""
    build = html.parents[2]
    if not (build / "cells.parquet").is_file():
        pytest.skip("the book lies apart from its build")
    cells = cells_to_show(build)
    names = display_names(cells["model"])
    place = {"N": 20, "d": 1, "ratio_pct": 50}
    explorer.execute_script(f"location.hash = '{urlencode(place)}'")
    caption = f"N = {place['N']}, d = {place['d']}, ρ = {place['ratio_pct']}%"
    wait(
        explorer,
        f"document.querySelector('#explorer-models caption').textContent.includes('{caption}')",
    )
    rows = explorer.execute_script("""
        return [...document.querySelectorAll("#explorer-models tbody tr")].map((row) =>
            [...row.cells].map((cell) => cell.textContent));
    """)
    is_configuration = (cells[list(place)] == list(place.values())).all(axis=1) & (
        cells["total"] > 0
    )
    expected = cells[is_configuration].set_index("model")
    assert {row[0] for row in rows} == {names[model] for model in expected.index}
    samples = cl.load_reconstructions()
    samples = samples[(samples[list(place)] == list(place.values())).all(axis=1)]
    counts = samples.groupby("model")["correct"].quantile([0.1, 0.9]).unstack()
    for model, row in expected.iterrows():
        low, high = (
            counts.loc[model]
            if row["provenance"] == "reconstructed"
            else [row["correct"]] * 2
        )
        (texts,) = (cells for cells in rows if cells[0] == names[model])
        ends = [
            explorer.execute_script("return arguments[0].toFixed(0)", float(end))
            for end in (low, high)
        ]
        correct = " to ".join(dict.fromkeys(ends))
        assert texts[1:3] == [str(row["total"]), correct]
