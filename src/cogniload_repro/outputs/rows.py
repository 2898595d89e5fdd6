"""Files of outputs -> rows with the columns of a table, whatever program wrote them."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from cogniload_repro.outputs import harness
from cogniload_repro.outputs.batches import is_batch_line, read_batch_line
from cogniload_repro.outputs.inspect_logs import is_log, read_log
from cogniload_repro.outputs.records import (
    DAMAGE,
    MALFORMED,
    MISSING_FIELD,
    UNREADABLE,
    WRONG_TYPE,
    Entry,
    read_table,
)
from cogniload_repro.outputs.responses import REASONING, SETTINGS, Row, is_unknown_place
from cogniload_repro.schemas import OUTPUTS, PUZZLES

#: Columns under which a table may say why a model stopped; the first that is not empty counts.
STOP_COLUMNS = ("stopped", "finish_reason", "stop_reason")

# columns whose loss would change a result; a perturbation is how the prompt was perturbed
_NEEDED = {*OUTPUTS.names, *STOP_COLUMNS, *REASONING, "perturbation"}


def read_rows(path: Path, finished: Mapping[str, str] = {}) -> Iterator[Entry]:
    """Yield the rows of a file, with the reasons of those that are no responses.

    For `finished` see `inspect_logs.read_log`.
    """
    entries = read_log(path, finished) if is_log(path) else _read_table(path)
    return end_at_damage(entries)


def end_at_damage(entries: Iterator[Entry]) -> Iterator[Entry]:
    """Yield entries; if the file is damaged, the last one says so."""
    try:
        yield from entries
    except MemoryError:
        yield Entry(0, {}, (UNREADABLE, "it takes more memory than there is"))
    except DAMAGE as error:
        yield Entry(0, {}, (UNREADABLE, str(error) or type(error).__name__))


def _read_table(path: Path) -> Iterator[Entry]:
    model = harness.find_model_name(path)
    filters: dict[str, object] = {}
    for entry in read_table(path):
        record = entry.fields
        if entry.refusal:
            yield entry
            continue
        if harness.is_sample(record):
            response = harness.identify_response(record)
            label = record.get("filter")
            if filters.setdefault(response, label) != label:
                continue  # the same response again, for another filter
        for fields, refusal in read_record(record):
            yield Entry(entry.row, {"model": model} | fields, refusal)


def read_record(record: dict) -> list[Row]:
    """Return the rows of a record: of a line of a batch, of a sample of the harness, of a table."""
    try:
        if is_batch_line(record):
            return read_batch_line(record)
        if harness.is_sample(record):
            return harness.read_harness_sample(record)
        return [_read_row(record)]
    except RecursionError:
        return [({}, (MALFORMED, "it is nested too deeply"))]


def _read_row(row: dict) -> Row:
    """Return a row of a table; the columns with its texts are read like the keys of a message."""
    fields = {name: row[name] for name in row if name in _NEEDED or name in SETTINGS}
    message: dict = {name: fields[name] for name in REASONING if name in fields}
    response = fields.get("response")
    if not isinstance(response, str | None):
        return fields, (WRONG_TYPE, f"response is {type(response).__name__}, not text")
    if "response" in fields:
        message["content"] = response
    for name in [name for name in row if name not in fields]:
        column = name.strip().lower()
        if column in _NEEDED and column not in row:
            fault = f"{column}: the column is called {name!r}; rename it"
            return fields, (MISSING_FIELD, fault)
        if name not in PUZZLES.names and is_unknown_place(name):
            message[f"column {name}"] = row[name]
    stops = [fields[name] for name in STOP_COLUMNS if fields.get(name)]
    fields |= {"message": message, "stopped": stops[0] if stops else None}
    return fields, None if message else (MISSING_FIELD, "response")
