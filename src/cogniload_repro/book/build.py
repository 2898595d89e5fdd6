"""The frames of a build, as chapters read them."""

from collections.abc import Collection
from functools import cached_property
from pathlib import Path

import pandas as pd

from cogniload_repro.analysis.specifications import (
    SPECIFICATIONS,
    fit_specifications,
)
from cogniload_repro.book import markdown
from cogniload_repro.book.markdown import Fragment
from cogniload_repro.formats import display_names
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME, NAMES
from cogniload_repro.regression.cell_tables import coverage, load_cells
from cogniload_repro.regression.reconstructions import from_printed_tables


class Build:
    """The frames of one build folder (its ``cells.parquet`` and the like)."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)

    @cached_property
    def _cells(self) -> pd.DataFrame:
        return load_cells(self.folder)

    def cells(self, models: Collection[str] | str | None = None) -> pd.DataFrame:
        """Return the cells of some models.

        Default: the paper's models if the build has any, else all models of the build.
        """
        if models is not None:
            return load_cells(self.folder, models)
        paper = self._cells["model"].isin(NAMES)
        chosen = self._cells[paper] if paper.any() else self._cells
        return chosen.reset_index(drop=True)

    @cached_property
    def labels(self) -> dict[str, str]:
        """The label of each model; the paper's have the names of its figures."""
        paper = {name: model.label for name, model in BY_NAME.items()}
        return display_names(self._cells["model"]) | paper

    @cached_property
    def complete(self) -> bool:
        """Whether the build suffices to judge the paper's statements.

        It must have the paper's 22 models on the whole grid, each with a finite fit of the paper's
        regression, and know which answers ran out of context.
        """
        paper = self._cells[self._cells["model"].isin(NAMES)]
        has_models = paper["model"].nunique() == len(NAMES)
        has_cells = coverage(paper)[0] == len(PAPER_GRID)
        if not (has_models and has_cells and paper["ctx"].notna().all()):
            return False
        fits = fit_specifications(paper, SPECIFICATIONS[:1])
        return bool((fits["status"] == "ok").all())

    @cached_property
    def paper(self) -> pd.DataFrame:
        """The cells of the paper's 22 models: the build's, else the committed ones."""
        cells = self._cells if self.complete else load_cells()
        return cells[cells["model"].isin(NAMES)].reset_index(drop=True)

    @property
    def covers(self) -> str:
        """The sentence that replaces statements on the paper in an incomplete build."""
        models = self._cells["model"].nunique()
        fewest, most = coverage(self._cells)
        cells_held = f"{most}" if fewest == most else f"{fewest} to {most}"
        return (
            f"This build holds {models:,} model{'s' * (models != 1)} on {cells_held} of the grid's "
            f"{len(PAPER_GRID)} cells; statements on the paper need its {len(NAMES)} models on "
            "all of them, as make reproduce has them by default, each with a finite fit of the "
            "paper's regression and all token counts."
        )

    def state(self, text: str) -> Fragment:
        """Return a statement on the paper (Markdown); in an incomplete build, `covers`."""
        return markdown.paragraph(
            text if self.complete else markdown.escape(self.covers)
        )

    @cached_property
    def checks(self) -> pd.DataFrame:
        """The ledger, one row per printed number (`ledger.entries.compare`)."""
        return pd.read_parquet(self.folder / "fidelity.parquet")

    @property
    def reconstructed(self) -> bool:
        """Whether the counts of the paper's models are a reconstruction."""
        return bool(from_printed_tables(self._cells).any())
