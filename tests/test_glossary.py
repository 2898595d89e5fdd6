"""The glossary and the schemas name the same columns."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

from cogniload_repro import schemas

PAGE = (Path(__file__).resolve().parents[1] / "book" / "glossary.md").read_text(encoding="utf-8")
#: Second cell of every row of the page's table.
ROWS = re.findall(r"^\| (?!:|term)[^|]*\|([^|]*)\|", PAGE, re.MULTILINE)
LISTED = [name for row in ROWS for name in re.findall(r"`([^`]+)`", row)]
TABLES = (
    *(schemas.PUZZLES, schemas.OUTPUTS, schemas.REJECTED, schemas.SCORES),
    *(schemas.CELLS, schemas.GLM, schemas.INTERACTIONS, schemas.AIC, schemas.TOKENS, schemas.FIDELITY),
)
COLUMNS = {name for table in TABLES for name in (table.columns if isinstance(table, schemas.Schema) else table.names)}


def test_every_column_is_in_the_glossary():
    """Whatever a table of a build is called by has a line that says what it is."""
    assert {column for column in COLUMNS if not any(fnmatchcase(column, name) for name in LISTED)} == set()


def test_the_glossary_has_no_other_columns():
    """A column that was renamed or dropped leaves no line behind, and none has two."""
    assert {name for name in LISTED if not any(fnmatchcase(column, name) for column in COLUMNS)} == set()
    assert len(LISTED) == len(set(LISTED))
