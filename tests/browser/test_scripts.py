"""Scripts of the book's pages: formatted, and few."""

import re
from pathlib import Path

SCRIPTS = sorted((Path(__file__).parents[2] / "book" / "_scripts").rglob("*.js"))
_TEXTS = re.compile(r'"[^"]*"|`[^`]*`|/\*.*?\*/|//[^\n]*', re.S)


def test_lines_are_short_and_hold_one_statement():
    """As prettier writes them at 100 columns; CONTRIBUTING says how to run it."""
    assert SCRIPTS
    for script in SCRIPTS:
        text = script.read_text("utf-8")
        assert [line for line in text.splitlines() if len(line) > 100] == []
        code = _TEXTS.sub("", text)
        assert [
            line for line in code.splitlines() if re.search(r";[ \t]*\S", line)
        ] == []


def test_scripts_of_the_project_stay_few():
    """What a page computes belongs into the build."""
    assert (
        sum(len(script.read_text("utf-8").splitlines()) for script in SCRIPTS) < 1_300
    )
