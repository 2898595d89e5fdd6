from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.puzzles.ontology import CATEGORIES, PHRASES, ontology
from cogniload_repro.puzzles.puzzle import Statement, clauses
from cogniload_repro.puzzles.text import _read_statement, parse_puzzle, read_question

FACTS = st.lists(st.sampled_from(CATEGORIES), min_size=1, unique=True).flatmap(
    lambda categories: st.tuples(
        *[st.tuples(st.just(name), st.sampled_from(ontology().values[name])) for name in categories]
    )
)


def join(kind, facts):
    """Word facts as a line does."""
    return " and ".join(clauses(kind)[category][value] for category, value in facts)


@given(FACTS, FACTS)
def test_statement_is_read_as_worded(conditions, updates):
    """Every pair of conditions and updates that can be worded is read back."""
    line = f"The people {join('condition', conditions)} {join('update', updates)}"
    assert _read_statement(line) == (conditions, updates)


@pytest.mark.parametrize("category", CATEGORIES)
def test_question_is_read_as_worded(category):
    """Each of the twelve questions names its category and person."""
    assert read_question(PHRASES[category].question.format("Sue")) == ("Sue", category)


TEXT = """Solve it.

Ann has red colored hair and is located at the zoo.
Bob is located at the bar and has blue colored hair.
1. The people having red hair move to the bar
2. The people located in the bar and having red hair color their hair to pink

What is the final hair color of Ann?"""


def test_a_text_gives_all_parts():
    """A text is read into instruction, initial lines, statements and question, and solved."""
    puzzle = parse_puzzle(TEXT)
    assert puzzle.instruction == "Solve it."
    assert puzzle.initial_states["Bob"] == {"location": "bar", "hair": "blue"}
    assert puzzle.statements[1] == Statement((("location", "bar"), ("hair", "red")), (("hair", "pink"),))
    assert (puzzle.poi, puzzle.category, puzzle.solution, puzzle.needles) == ("Ann", "hair", "pink", 2)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1. The", "2. The", "line 5: statement 2 where 1 is due"),
        ("2. The", "3. The", "line 6: statement 3 where 2 is due"),
        ("2. The", "The", "line 6: .*no initial line and no statement; number it"),
        ("red hair move", "reed hair move", "line 5: 'having reed hair' is no condition clause"),
        ("hair move to", "hair moves to", "line 5: .*is no statement"),
        ("color their hair to pink", "", "line 6: .*is no statement"),
        ("to the bar\n", "to the bar and move to the zoo\n", "line 5: .*names a category twice"),
        ("having red hair color", "located in the zoo color", "line 6: .*names a category twice"),
        ("zoo.", "zoo", "line 3: .*is no initial line"),
        ("has red colored hair and ", "", "line 4: other categories"),
        (" and has blue colored hair", "", "line 4: other categories"),
        ("is located at the bar", "last ate a pizza", "line 4: other categories"),
        ("move to the bar", "eat a pizza", "line 5: other categories"),
        ("Bob is", "Ann is", "line 4: a second initial line for Ann"),
        ("What is the final hair color", "What is the hair colour", "line 8: .*none of the benchmark's questions"),
        ("of Ann?", "of Ann?\nAnn has pink hair.", "line 9: the text goes on"),
        ("\n\nWhat is the final hair color of Ann?", "", "line 4: the text goes on"),
    ],
)
def test_broken_text_is_refused_with_its_line(old, new, message):
    """A text that cannot be read stops with the number of the line and what is wrong there."""
    assert TEXT.count(old) >= 1
    with pytest.raises(ValueError, match=message):
        parse_puzzle(TEXT.replace(old, new, 1))


@given(st.text() | st.text().map(lambda noise: TEXT.replace("pink", noise)))
def test_any_text_is_read_or_refused(text):
    """Whatever the text, the reader returns or raises a ValueError, never anything else."""
    with suppress(ValueError):
        parse_puzzle(text)
    for bare in ("", "  \n", "Where is Ann?", "Solve it.\n\nWhere is Ann?"):
        with pytest.raises(ValueError, match=r"whole text of a puzzle|no initial"):
            parse_puzzle(bare)
