"""Figures of puzzles and prompts as pieces of pages; no result of a model enters them, so none carries a label."""

import html
import os
from pathlib import Path

from matplotlib.figure import Figure

from cogniload_repro.presentation.figures import save_figure
from cogniload_repro.presentation.fragments import Fragment


def show_drawing(figure: Figure, name: str, build: str | Path, *, caption: str, alt: str) -> Fragment:
    """Save a figure of puzzles, which no result of a model enters, and return it with caption and downloads.

    Parameters
    ----------
    figure : Figure
    name : str
        Of the files; also the label for references, with hyphens.
    build : path
        Where ``figures/`` is.
    caption, alt : str
        MyST Markdown, and words for readers who do not see it.
    """
    png, svg = save_figure(figure, Path(build) / "figures" / name)
    links = " · ".join(f"{{download}}`{file.suffix[1:].upper()} <../figures/{file.name}>`" for file in (png, svg))
    label = name.replace("_", "-")
    picture = f":::{{figure}} ../figures/{svg.name}\n:name: {label}\n:figclass: wide\n:alt: {alt}\n\n{caption}\n:::"
    return Fragment(
        f"{picture}\n\n:::{{div}} downloads\nDownload: {links}\n:::",
        f'<img src="{html.escape(os.path.relpath(svg))}" alt="{html.escape(alt)}" width="760">'
        f"<p>{html.escape(caption)}</p>",
    )
