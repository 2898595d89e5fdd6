"""The language of the book, the documents and the messages: phrases that docs/writing.md rules out."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIST = re.search(
    r"<!-- banned: begin -->(.*?)<!-- banned: end -->", (ROOT / "docs/writing.md").read_text("utf-8"), re.S
)
BANNED = [phrase.strip() for line in LIST[1].strip().splitlines() for phrase in line.lstrip("- ").split(",")]
PATTERN = re.compile("|".join(rf"\b{re.escape(phrase)}\b" for phrase in BANNED), re.I)
PAGES = [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("book/*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*.md")]
MODULES = sorted((ROOT / "src").rglob("*.py"))


def read_page(path):
    """Return a page's prose: of a notebook the text and the strings of its code."""
    if path.suffix != ".ipynb":
        return re.sub(r"<!-- banned: begin -->.*?<!-- banned: end -->", "", path.read_text("utf-8"), flags=re.S)
    cells = json.loads(path.read_text("utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return "\n".join(["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"] + [code])


def test_there_are_phrases_and_pages():
    """The search has something to look for, and somewhere to look."""
    assert (len(BANNED) > 10, len(PAGES) > 20) == (True, True)
    assert PATTERN.search("Table 2 does not come out with halves rounded to even")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_use_the_words_of_the_field(path):
    """No page holds a phrase of the list."""
    assert not (found := sorted({one.lower() for one in PATTERN.findall(read_page(path))})), found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT / "src").as_posix())
def test_messages_use_the_words_of_the_field(path):
    """Neither a docstring nor a message holds one; a command's help is a docstring."""
    tree = ast.parse(path.read_text("utf-8"))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert not (found := sorted({one.lower() for text in texts for one in PATTERN.findall(text)})), found
