"""What a build has computed, in one place: the frames that tables, figures and the comparison are made from."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from cogniload_repro.frames import read_frame
from cogniload_repro.schemas import FRAMES
from cogniload_repro.statistics.accuracy import errors_by
from cogniload_repro.storage import read_metadata


@dataclass(frozen=True)
class Results:
    """The frames of one build: counts by cell, Tables 2, 3 and 6, token statistics; and where the outputs are from."""

    cells: pd.DataFrame
    glm: pd.DataFrame
    interactions: pd.DataFrame
    aic: pd.DataFrame
    tokens: pd.DataFrame
    provenance: str

    @cached_property
    def by_d(self) -> pd.DataFrame:
        """Table 4 as numbers."""
        return errors_by(self.cells, "d")

    @cached_property
    def by_N(self) -> pd.DataFrame:  # noqa: N802
        """Table 5 as numbers."""
        return errors_by(self.cells, "N")


def load_results(build: str | Path) -> Results:
    """Read the frames of a build folder; of one that is missing or damaged, the message says which step makes it."""
    build = Path(build)
    frames = {}
    for name, schema in FRAMES.items():
        path, step = build / f"{name}.parquet", "score" if name == "cells" else "fit"
        frames[name] = read_frame(path, schema, f"make it again with `make {step}`")
    return Results(**frames, provenance=read_metadata(build / "cells.parquet")["provenance"])
