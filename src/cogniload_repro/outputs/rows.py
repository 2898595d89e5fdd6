"""Files of outputs -> rows with the columns of a table, whatever program wrote them."""

import csv
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from cogniload_repro.outputs import harness
from cogniload_repro.outputs.batches import is_batch_line, read_batch_line
from cogniload_repro.outputs.inspect_logs import DAMAGE, is_log, read_log
from cogniload_repro.outputs.messages import (
    REASONING,
    Row,
    is_unknown_place,
)
from cogniload_repro.outputs.records import (
    MALFORMED,
    MISSING_FIELD,
    UNREADABLE,
    WRONG_TYPE,
    Entry,
)
from cogniload_repro.outputs.tables import read_table
from cogniload_repro.schemas import OUTPUTS, PUZZLES

#: What a source may say of a request, by the names of columns.
SETTINGS = (
    "provider",
    "version",
    "date",
    "effort",
    "temperature",
    "top_p",
    "max_tokens",
)
#: Columns under which a table may say why a model stopped; the first that is not empty counts.
STOP_COLUMNS = ("stopped", "finish_reason", "stop_reason")
#: Columns of a table. A perturbation is how the prompt was perturbed.
ROW_COLUMNS = frozenset(
    (*OUTPUTS.names, *STOP_COLUMNS[1:], *REASONING, "perturbation", *SETTINGS)
)

# columns whose loss would change a result
_NEEDED = ROW_COLUMNS - set(SETTINGS)


def read_rows(
    path: Path,
    finished: Mapping[str, str] = {},
    is_wanted: Callable[[str], bool] | None = None,
) -> Iterator[Entry]:
    """Yield the rows of a file, with the reasons of those that are no responses.

    Of tables these columns are read, all that may matter by default. For `finished` see
    `inspect_logs.read_log`.
    """
    if is_log(path):
        return end_at_damage(read_log(path, finished))
    return end_at_damage(_read_table_rows(path, is_wanted or _may_matter))


def end_at_damage(entries: Iterator[Entry]) -> Iterator[Entry]:
    """Yield entries; if the file is damaged, the last one says so."""
    try:
        yield from entries
    except MemoryError:
        yield Entry(0, {}, (UNREADABLE, "it takes more memory than there is"))
    except (*DAMAGE, csv.Error) as error:
        yield Entry(0, {}, (UNREADABLE, str(error) or type(error).__name__))


def _may_matter(name: str) -> bool:
    """Return whether a column is read, is misspelt, or may hold what the model wrote."""
    is_puzzle = name in PUZZLES.names  # its text is no answer
    return _normalise(name) in ROW_COLUMNS or (is_unknown_place(name) and not is_puzzle)


def _normalise(name: str) -> str:
    return name.strip().lower()


def _read_table_rows(path: Path, is_wanted: Callable[[str], bool]) -> Iterator[Entry]:
    model = harness.find_model_name(path)
    filters: dict[str, object] = {}
    for entry in read_table(path, is_wanted):
        record = entry.fields
        if harness.is_sample(record):
            response = harness.identify_response(record)
            if filters.setdefault(response, record.get("filter")) != record.get(
                "filter"
            ):
                continue  # the same response again, for another filter
        for fields, refusal in [] if entry.refusal else read_record(record):
            yield Entry(entry.row, {"model": model} | fields, refusal)
        if entry.refusal:
            yield entry


def read_record(record: dict) -> list[Row]:
    """Return the rows of a record: of a line of a batch, of a sample of the harness, of a table."""
    try:
        if is_batch_line(record):
            return read_batch_line(record)
        return (
            harness.read_harness_sample(record)
            if harness.is_sample(record)
            else [_read_row(record)]
        )
    except RecursionError:
        return [({}, (MALFORMED, "it is nested too deeply"))]


def _read_row(row: dict) -> Row:
    """Return a row of a table; the columns with its texts are read like the keys of a message."""
    fields = {name: value for name, value in row.items() if name in ROW_COLUMNS}
    others = {
        name: row[name] for name in row if name not in ROW_COLUMNS and _may_matter(name)
    }
    for name in others:
        column = _normalise(name)
        if column in _NEEDED and column not in row:
            return fields, (
                MISSING_FIELD,
                f"{column}: the column is called {name!r}; rename it",
            )
    message: dict = {f"column {name}": value for name, value in others.items()}
    response = fields.get("response")
    if not isinstance(response, str | None):
        return fields, (WRONG_TYPE, f"response is {type(response).__name__}, not text")
    if "response" in fields:
        message["content"] = response
    message |= {name: fields[name] for name in REASONING if name in fields}
    stops = [fields[name] for name in STOP_COLUMNS if fields.get(name)]
    fields |= {"message": message, "stopped": stops[0] if stops else None}
    return fields, None if message else (MISSING_FIELD, "response")
