"""The page on the public functions."""

import cogniload_repro as cl
from cogniload_repro.presentation.api_page import api_page


def test_every_public_name_has_its_section_and_every_example_its_block():
    """The page has a heading for each name of the list, in its order, and shows the examples as code."""
    page = api_page()
    headings = [line.removeprefix("## `").rstrip("`") for line in page.splitlines() if line.startswith("## ")]
    assert headings == [name for name in cl.__all__ if not name.startswith("__")]
    assert page.count("```pycon\n>>> ") >= 10
    assert "cl.fit(cells, formula='correct ~ d + log10_N + rho + I(rho**2)', family='logit')" in page


def test_parameters_and_columns_are_described():
    """Each parameter is an entry with its description, and what is returned is said."""
    entry = api_page().split("## `compare_fits`")[1].split("## ")[0]
    for name in ("cells", "formula, family", "against"):
        assert f"\n`{name}`: " in entry
    assert "\nDataFrame\n: One row per model" in entry
