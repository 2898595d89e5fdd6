"""Records of any program under the documented columns: one table of paths.

``data/programs.csv`` has a line for each place where a program writes a column. A path is the keys
and indices from the record down, as in ``choices.0.text``. Of several paths to a column the first
one with a value counts; ``a + b`` has two counts that are added up. A record is a program's if it
has one of the program's paths to the column ``mark``.
"""

import csv
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Any

from cogniload_repro.files import DATA
from cogniload_repro.importing.rejections import (
    IMPORT_PAGE,
    UNKNOWN_SHAPE,
    RowError,
)

PROGRAMS = DATA / "programs.csv"

# no such key or index, or nothing that has keys
_ABSENT = (LookupError, TypeError, ValueError)


@cache
def load_programs() -> dict[str, dict[str, list[str]]]:
    """Return the paths to each column by program, in the order of the file."""
    programs: dict = defaultdict(lambda: defaultdict(list))
    with PROGRAMS.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            programs[line["program"]][line["column"]].append(line["path"])
    return programs


def take_columns(record: Mapping) -> dict[str, Any]:
    """Return a record's documented columns; RowError if it is of no known program."""
    for columns in load_programs().values():
        if any(is_marked(record, mark) for mark in columns["mark"]):
            return {name: take_first(record, paths) for name, paths in columns.items()}
    names = ", ".join(map(str, record))
    needed = "a row needs the columns name, model and response"
    raise RowError(UNKNOWN_SHAPE, f"it has {names[:300]}; {needed}; {IMPORT_PAGE}")


def is_marked(record: Mapping, mark: str) -> bool:
    """Return whether a record has all paths of a mark, be their values empty or not."""
    try:
        for path in mark.split(" + "):
            find_value(record, path)
    except _ABSENT:
        return False
    return True


def take_first(record: Mapping, paths: list[str]) -> Any:
    """Return the value at the first path that has one: a list of counts for ``a + b``."""
    for path in paths:
        parts = path.split(" + ")
        values = [take_value(record, part) for part in parts]
        stated = [value for value in values if value is not None]
        if stated:
            return stated if len(parts) > 1 else stated[0]
    return None


def take_value(record: Mapping, path: str) -> Any:
    """Return the value at a path, None if it is missing, an empty text or not a number."""
    try:
        value = find_value(record, path)
    except _ABSENT:
        return None
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    is_empty = value == "" or value != value
    return None if is_empty else value


def find_value(record: Any, path: str) -> Any:
    """Return the value at a path; an error of `_ABSENT` if there is none."""
    for key in path.split("."):
        record = record[int(key)] if isinstance(record, list) else record[key]
    return record


def find_unread(record: Mapping) -> set[str]:
    """Return the names of a table's columns that are not read."""
    table = load_programs()["table"]
    if not is_marked(record, table["mark"][0]):
        return set()
    known = {path for paths in table.values() for path in paths}
    return set(map(str, record)) - known
