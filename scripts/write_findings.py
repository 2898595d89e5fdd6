"""Copy what the book finds into README.md, from the last build of the paper's grid.

The findings are those of the first page; each chapter has a row with its question and its answer.
"""

import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
COPIES = ROOT / "data" / "build" / "notebooks"


def read_cells(path: Path) -> list:
    """Return the cells of an executed notebook."""
    return nbformat.read(path, as_version=4).cells


def read_outputs(cell) -> list[str]:
    """Return the Markdown that a cell shows."""
    texts = []
    for output in cell.get("outputs", ()):
        shown = output.get("data", {})
        texts.append(shown.get("text/markdown", ""))
    return texts


def plain_links(text: str) -> str:
    """Return the text with every link replaced by its words."""
    return re.sub(r"\{\w+\}`([^`<]+) <[^>]+>`", r"\1", text)


def find_answer(shown: str) -> str:
    """Return the first sentence in bold of what a chapter shows, without its links."""
    bold = re.search(r"^\*\*(.+?)\*\*", shown, re.M | re.S)
    return plain_links(bold[1])


def read_findings() -> str:
    """Return the list of findings that the first page shows."""
    (cell,) = (
        cell
        for cell in read_cells(COPIES / "00_introduction.ipynb")
        if cell.id == "findings"
    )
    *_, findings = read_outputs(cell)
    return plain_links(findings)


def read_answers() -> str:
    """Return a table of the chapters: the title asks, the first sentence in bold answers."""
    lines = ["| chapter | question | answer |", "|:--|:--|:--|"]
    # not the first page, and not the last chapter, whose model is not the paper's
    for path in sorted(COPIES.glob("[0-9]*.ipynb"))[1:-1]:
        title, *cells = read_cells(path)
        heading, *_ = title.source.splitlines()
        question = heading.removeprefix("# ")
        texts = []
        for cell in cells:
            texts += read_outputs(cell)
        answer = find_answer("\n".join(texts))
        link = f"[{path.stem}](notebooks/{path.name})"
        lines.append(f"| {link} | {question} | {answer} |")
    return "\n".join(lines)


def replace_part(readme: str, part: str, text: str) -> str:
    """Return the README with the text between the two marks of a part replaced."""
    begin = f"<!-- {part}: begin -->"
    end = f"<!-- {part}: end -->"
    before, _, rest = readme.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{text}\n{end}{after}"


if __name__ == "__main__":
    path = ROOT / "README.md"
    readme = path.read_text(encoding="utf-8")
    readme = replace_part(readme, "findings", read_findings())
    readme = replace_part(readme, "answers", read_answers())
    path.write_text(readme, encoding="utf-8")
