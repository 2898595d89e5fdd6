"""What many tests do: run the command in this process, write rows as JSON lines."""

import json

from click.testing import CliRunner, Result

from cogniload_repro.cli import main
from cogniload_repro.outputs.imports import read_outputs
from cogniload_repro.outputs.report import Report
from cogniload_repro.puzzles.catalog import Catalog


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


def read_source(source, **options):
    """The responses of a source, and its rejected rows."""
    report = Report()
    outputs = list(read_outputs(source, Catalog(), report, **options))
    return outputs, report.rejected
