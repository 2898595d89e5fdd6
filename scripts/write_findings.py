"""Copy the findings of the book's first page into README.md, from the last build of the paper's grid."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- findings: begin -->", "<!-- findings: end -->"
FIRST_PAGE = ROOT / "data" / "build" / "notebooks" / "00_introduction.ipynb"


def plain_links(findings: str) -> str:
    """Return the list with every link replaced by its words."""
    return re.sub(r"\{\w+\}`([^`<]+) <[^>]+>`", r"\1", findings)


def read_findings(notebook: Path = FIRST_PAGE) -> str:
    """Return the list of findings that an executed first page shows."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    (cell,) = (cell for cell in cells if cell["id"] == "findings")
    return plain_links("".join(cell["outputs"][-1]["data"]["text/markdown"]))


def replace_findings(readme: str, findings: str) -> str:
    """Return the README with the list between its two marks replaced."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{findings}\n{END}{after}"


if __name__ == "__main__":
    README = ROOT / "README.md"
    text = replace_findings(README.read_text(encoding="utf-8"), read_findings())
    README.write_text(text, encoding="utf-8")
