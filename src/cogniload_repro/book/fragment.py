"""A piece of a page, as Markdown for the book and HTML for Jupyter; its caption and downloads."""

from dataclasses import dataclass
from pathlib import Path

from cogniload_repro.book.evidence import EVIDENCE, rests_on_paper

_DOWNLOADS = {".csv": "CSV", ".tex": "LaTeX", ".png": "PNG", ".svg": "SVG"}


@dataclass(frozen=True, repr=False)
class Fragment:
    """Something to show at the end of a cell: the book takes the Markdown, Jupyter the HTML."""

    markdown: str
    html: str

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/markdown": self.markdown, "text/html": self.html}

    def __repr__(self) -> str:
        return "Fragment"

    def __add__(self, other: "Fragment") -> "Fragment":
        return Fragment(f"{self.markdown}\n\n{other.markdown}", self.html + other.html)


def write_caption(kind: str, caption: str, source: str = "") -> str:
    """Return a caption with its badge and, if numbers rest on the paper's tables, its source."""
    color, words, _ = EVIDENCE[kind]
    badge = f"{{bdg-{color}}}`{words}`" if words else ""
    origin = f"Source: {source}." if source and rests_on_paper(kind) else ""
    return " ".join(filter(None, [badge, caption, origin]))


def list_downloads(*files: Path, what: str = "Download") -> str:
    """Return links to files of the build, named by their kind."""
    links = [
        f"{{download}}`{_DOWNLOADS[file.suffix]} <../{file.parent.name}/{file.name}>`"
        for file in files
    ]
    return f":::{{div}} downloads\n{what}: {' · '.join(links)}\n:::"
