"""Copy what the book finds into README.md, from the last build of the paper's grid.

The findings are those of the first page; each chapter has a row with its question and its answer.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIES = ROOT / "data" / "build" / "notebooks"


def plain_links(text: str) -> str:
    """Return the text with every link replaced by its words."""
    return re.sub(r"\{\w+\}`([^`<]+) <[^>]+>`", r"\1", text)


def read_outputs(cell: dict) -> list[str]:
    """Return the Markdown that a cell shows."""
    outputs = [output.get("data", {}) for output in cell.get("outputs", ())]
    return ["".join(data.get("text/markdown", "")) for data in outputs]


def read_findings(folder: Path = COPIES) -> str:
    """Return the list of findings that the executed first page shows."""
    page = json.loads((folder / "00_introduction.ipynb").read_text(encoding="utf-8"))
    (cell,) = (cell for cell in page["cells"] if cell["id"] == "findings")
    return plain_links(read_outputs(cell)[-1])


def read_answers(folder: Path = COPIES) -> str:
    """Return a table of the chapters: the title asks, the first sentence in bold answers."""
    lines = ["| chapter | question | answer |", "|:--|:--|:--|"]
    # not the first page, and not the last chapter, whose model is not the paper's
    for copy in sorted(folder.glob("[0-9]*.ipynb"))[1:-1]:
        title, *cells = json.loads(copy.read_text(encoding="utf-8"))["cells"]
        question = "".join(title["source"]).splitlines()[0].removeprefix("# ")
        shown = "\n".join(text for cell in cells for text in read_outputs(cell))
        answer = re.search(r"^\*\*(.+?)\*\*", shown, re.M | re.S)[1]
        link = f"[{copy.stem}](notebooks/{copy.name})"
        lines.append(f"| {link} | {question} | {plain_links(answer)} |")
    return "\n".join(lines)


def replace_part(readme: str, part: str, text: str) -> str:
    """Return the README with the text between the two marks of a part replaced."""
    begin, end = f"<!-- {part}: begin -->", f"<!-- {part}: end -->"
    before, _, rest = readme.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{text}\n{end}{after}"


if __name__ == "__main__":
    README = ROOT / "README.md"
    readme = README.read_text(encoding="utf-8")
    readme = replace_part(readme, "findings", read_findings())
    readme = replace_part(readme, "answers", read_answers())
    README.write_text(readme, encoding="utf-8")
