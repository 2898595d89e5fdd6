"""What messages, pages and documents tell a reader to run exists."""

import re
from pathlib import Path

import click
import pandas as pd
import pytest

import cogniload_repro as cl
from cogniload_repro.cli import main
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.ledger.prompts import (
    LARGEST_Z,
    compare_prompts,
    load_prompt_lengths,
)
from cogniload_repro.puzzles.sets import PuzzleSet, draw_rows
from cogniload_repro.reconstruction.bounds import load_bounds

ROOT = Path(__file__).resolve().parents[1]
PATTERNS = (
    "src/**/*.py",
    "book/*.md",
    "notebooks/*.ipynb",
    "docs/*.md",
    "benchmarks/*.py",
    "scripts/*",
    "*.md",
)
TEXTS = [
    ROOT / "Makefile",
    *(file for pattern in PATTERNS for file in ROOT.glob(pattern) if file.is_file()),
]
#: In code or at the start of a line, as commands are written; "make sense" is none.
MAKE = re.compile(
    r"(?:`|^|\\n|  )make ((?:[a-z][a-z-]*)(?: [a-z-]+)*)(?=[` \n\\])", re.MULTILINE
)
COMMAND = re.compile(
    r"(?:`|^|bin/|  )cogniload ([a-z][a-z-]*)((?: --[a-z-]+)*)", re.MULTILINE
)


def find(pattern: re.Pattern) -> dict[str, list[str]]:
    """Return what a pattern finds, with the files where it stands."""
    places: dict[str, list[str]] = {}
    for file in TEXTS:
        if file.name != "CHANGELOG.md":
            for match in pattern.finditer(file.read_text(encoding="utf-8")):
                places.setdefault(match[1].split()[0], []).append(file.name)
    return places


def test_every_target_and_command_that_is_named_exists():
    """A remedy such as `make score` is a target of the Makefile, `cogniload check` a command."""
    targets = re.findall(
        r"^([a-z][a-z-]*):",
        (ROOT / "Makefile").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    for pattern, known, some in (
        (MAKE, targets, {"reproduce", "score", "render"}),
        (COMMAND, main.commands, {"check", "puzzles"}),
    ):
        named = find(pattern)
        assert some <= set(named)
        assert {name: files for name, files in named.items() if name not in known} == {}


def test_every_option_that_is_named_exists():
    """An option that is named with its command belongs to it."""
    wrong = []
    for file in TEXTS:
        for name, options in COMMAND.findall(file.read_text(encoding="utf-8")):
            command = main.commands.get(name, click.Command("none"))
            known = {
                option
                for parameter in command.params
                for option in (*parameter.opts, *parameter.secondary_opts)
            }
            wrong += [
                (file.name, name, option)
                for option in options.split()
                if option not in known
            ]
    assert wrong == []


README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


def test_the_readme_counts_the_prompt_lengths_that_differ():
    """They are counted again."""
    z = compare_prompts(load_prompt_lengths())["z"].dropna().abs()
    assert (
        f"Of {len(z)} published prompt lengths that can be compared with puzzles drawn here, "
        f"{(z > LARGEST_Z).sum()} differ by more than three standard errors" in README
    )


@pytest.mark.slow
def test_the_findings_of_the_readme_are_those_of_the_data():
    """What is proved of the shortcut is computed again, on the default set."""
    baseline = baselines_of_default_set()
    cells = cl.load_cells()
    sums = cells.groupby("model")[["correct", "total"]].sum()
    below = (sums["correct"] / sums["total"] < baseline["last_clause"].mean()).sum()
    assert f"beats {below} of {len(sums)} models" in README
    shortcut = baseline.groupby("ratio_pct")["last_clause"].mean()
    bounds = load_bounds().query("load == ''").set_index("ratio_pct")
    better = (bounds.loc[5, "least"] > shortcut[5]).sum()
    worse = (bounds.loc[95, "most"] < shortcut[95]).sum()
    assert f"prove that {better} models do better where 5%" in README
    assert f"that {worse} do worse where 95%" in README


def baselines_of_default_set():
    """What the last-clause shortcut scores on 100 puzzles of each cell of the default set."""
    rows = draw_rows(PuzzleSet(PAPER_GRID, 100))
    return cl.baselines(pd.DataFrame(rows))
