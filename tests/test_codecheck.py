"""The manifest of figures and tables.

Complete, true of the notebooks, and a built book has its files.
"""

from pathlib import Path

import pandas as pd
import pytest
import yaml
from browsing import book_html
from samples import committed_ledger

from cogniload_repro.ledger.entries import title
from cogniload_repro.ledger.prompts import (
    compare_prompts,
    load_prompt_lengths,
    prompt_rows,
)
from cogniload_repro.storage import KINDS

ROOT = Path(__file__).resolve().parents[1]
ENTRIES = yaml.safe_load((ROOT / "codecheck.yml").read_text(encoding="utf-8"))[
    "manifest"
]
PRINTED = [f"Figure {n}" for n in range(1, 8)] + [f"Table {n}" for n in range(1, 11)]


def test_every_printed_figure_and_table_has_one_entry():
    """The paper has seven figures and ten tables; the ledger follows."""
    assert [entry["item"] for entry in ENTRIES] == [*PRINTED, "Ledger"]


def test_kinds_are_those_of_the_ledger():
    """Of a table, those of its numbers; of the ledger, all. Figures show counts of these kinds."""
    kinds = {entry["item"]: set(entry["kind"]) for entry in ENTRIES}
    prompts = prompt_rows(compare_prompts(load_prompt_lengths()))
    checks = pd.concat([committed_ledger(), prompts])
    for table, found in checks.groupby("table")["kind"].agg(set).items():
        if table.startswith("table"):
            assert kinds[title(table)] == found
    assert kinds["Ledger"] == set(checks["kind"]) == set(KINDS)
    assert set.union(*kinds.values()) <= set(KINDS)


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["item"] for entry in ENTRIES])
def test_an_entry_is_true(entry):
    """Its notebook is there; a built book has the file, and the notebook that was run names it."""
    notebook = Path(entry["notebook"])
    file = Path(entry["file"])
    assert (ROOT / notebook).is_file()
    html = book_html()
    if html is None:
        pytest.skip("no built book: run `make smoke` first")
    build = html.parents[2]
    assert (build / file.relative_to("data/build")).is_file()
    assert file.parent.name == "notebooks" or file.stem in (build / notebook).read_text(
        encoding="utf-8"
    )
