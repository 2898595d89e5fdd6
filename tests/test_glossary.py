"""The glossary and the tables name the same columns."""

import fnmatch
import re

from reading import read_sources

from cogniload_repro import storage
from cogniload_repro.importing.report import Rejected

PAGE = "\n".join(read_sources("glossary", "markdown").values())
#: Columns stand before the unit in brackets, at the start of an entry's definition.
ENTRIES = "\n".join(re.findall(r"^  ([^(\n]*)\(", PAGE, re.MULTILINE))
LISTED = re.findall(r"`([^`]+)`", ENTRIES)
TABLES = (
    *(
        storage.PUZZLES.names,
        storage.OUTPUTS.names,
        Rejected._fields,
        storage.SCORES.names,
        storage.FIDELITY,
    ),
    *(table.names for table in storage.FRAMES.values()),
)
COLUMNS = {name for table in TABLES for name in table}


def test_every_column_is_in_the_glossary():
    """Whatever a table of a build is called by has a line that says what it is."""
    described = [set(fnmatch.filter(COLUMNS, name)) for name in LISTED]
    assert COLUMNS - set().union(*described) == set()


def test_the_glossary_has_no_other_columns():
    """A column that was renamed or dropped leaves no line behind, and none has two.

    SQL does not tell n from N.
    """
    assert [name for name in LISTED if not fnmatch.filter(COLUMNS, name)] == []
    assert len(LISTED) == len(set(LISTED))
    for table in TABLES:
        assert len(set(map(str.lower, table))) == len(table)
