"""What many tests do: run the command in this process, write rows as JSON lines."""

import json

import pyarrow.parquet as pq
from click.testing import CliRunner, Result

from cogniload_repro.cli import main
from cogniload_repro.importing.imports import read_source as read_layout
from cogniload_repro.importing.layout import find_files
from cogniload_repro.importing.report import Report
from cogniload_repro.puzzles.rows import KnownPuzzles


def run(*arguments, text=None) -> Result:
    """Run the command with these words."""
    return CliRunner().invoke(main, list(map(str, arguments)), input=text)


def ask(*arguments, text=None) -> tuple[int, str]:
    """Run the command; return its exit code and all that it says."""
    done = run(*arguments, text=text)
    return done.exit_code, done.output


def write_lines(path, rows):
    """Write rows, one JSON object per line; text stays as it is. Return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def read_source(source, known=None, **options):
    """The responses of a source, and its rejected rows."""
    report = Report()
    layout = find_files(source, source.name)
    known = KnownPuzzles() if known is None else known
    responses = list(read_layout(layout, known, report, **options))
    return responses, report.rejected


def check_source(source, known=None):
    """The report of a local source."""
    report = Report()
    known = KnownPuzzles() if known is None else known
    layout = find_files(source, source.name)
    for _ in read_layout(layout, known, report):
        pass
    return report


def read_metadata(path):
    """What a Parquet file says of how it was made, without pyarrow's own."""
    metadata = dict(pq.read_metadata(path).metadata or {})
    metadata.pop(b"ARROW:schema", None)
    return {key.decode(): text.decode() for key, text in metadata.items()}
