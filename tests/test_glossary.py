"""The glossary and the schemas name the same columns."""

import json
import re
from fnmatch import fnmatchcase
from pathlib import Path

from cogniload_repro import schemas

CELLS = json.loads(
    (Path(__file__).parents[1] / "notebooks" / "glossary.ipynb").read_text(
        encoding="utf-8"
    )
)["cells"]
PAGE = "\n".join(
    "".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "markdown"
)
#: Columns stand before the unit in brackets, at the start of an entry's second line.
LISTED = [
    name
    for line in re.findall(r"^: ([^(]*)\(", PAGE, re.MULTILINE)
    for name in re.findall(r"`([^`]+)`", line)
]
TABLES = (
    *(
        schemas.PUZZLES.names,
        schemas.OUTPUTS.names,
        schemas.REJECTED.names,
        schemas.SCORES.names,
        schemas.FIDELITY,
    ),
    *(table.names for table in schemas.FRAMES.values()),
)
COLUMNS = {name for table in TABLES for name in table}


def test_every_column_is_in_the_glossary():
    """Whatever a table of a build is called by has a line that says what it is."""
    assert {
        column
        for column in COLUMNS
        if not any(fnmatchcase(column, name) for name in LISTED)
    } == set()


def test_the_glossary_has_no_other_columns():
    """A column that was renamed or dropped leaves no line behind, and none has two; SQL does not tell n from N."""
    assert {
        name
        for name in LISTED
        if not any(fnmatchcase(column, name) for column in COLUMNS)
    } == set()
    assert len(LISTED) == len(set(LISTED))
    assert all(len({name.lower() for name in table}) == len(table) for table in TABLES)
