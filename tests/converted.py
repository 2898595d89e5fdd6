"""Logs of Inspect as tables, for tests in its environment."""

from pathlib import Path

from harness import write_lines

from cogniload_repro.asking.logs import read_log_rows


def convert_logs(source):
    """Write the answers in a log, or in a folder of logs, beside it; return the file."""
    source = Path(source)
    logs = sorted(source.glob("*.eval")) if source.is_dir() else [source]
    rows = [row for log in logs for row in read_log_rows(str(log))]
    return write_lines(source.with_name("converted.jsonl"), rows)
