"""The package's public face: few names, imported when asked for, and examples that run."""

import doctest
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import cogniload_repro as cl

PACKAGE = Path(cl.__file__).parent
#: Modules whose docstrings hold examples.
WITH_EXAMPLES = [
    ".".join(
        ("cogniload_repro", *path.relative_to(PACKAGE).with_suffix("").parts)
    ).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if re.search(r"^ *>>> ", path.read_text("utf-8"), re.MULTILINE)
]


def test_importing_the_package_imports_nothing_else():
    """Neither pandas nor any other module comes along before a name is asked for."""
    names = "('cogniload_repro.', 'pandas')"
    code = (
        "import sys, cogniload_repro\n"
        f"print([name for name in sys.modules if name.startswith({names})])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )


def test_every_public_name_is_there_and_no_other():
    """What the list promises can be had and is seen by completion.

    Anything else is refused with the list.
    """
    assert set(cl.__all__) <= set(dir(cl))
    for name in cl.__all__:
        assert getattr(cl, name) is getattr(cl, name)
    with pytest.raises(
        AttributeError,
        match="no attribute 'regress'; it offers: read_puzzle, intervals",
    ):
        _ = cl.regress


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_run(name):
    """Every example in a docstring gives what it says."""
    failed, attempted = doctest.testmod(import_module(name))
    assert (failed, attempted > 0) == (0, True)


@pytest.mark.parametrize(
    "end", ["\n## Recipes", pytest.param(None, marks=pytest.mark.slow)]
)
def test_examples_of_the_book_run(end):
    """What the page on regressions shows in Python is what comes out; its recipes take a minute."""
    page = Path(__file__).parents[1] / "book" / "edit-a-regression.md"
    text = page.read_text(encoding="utf-8")
    examples = text[: text.index(end)] if end else text
    test = doctest.DocTestParser().get_doctest(examples, {}, page.name, None, 0)
    failed, attempted = doctest.DocTestRunner().run(test)
    assert (failed, attempted > 3) == (0, True)
