"""Regenerate data/reconstructed/cells.csv: of each model, the typical one of the committed tables.

It has the median deviance. It is not the authors' data: all these tables of counts agree with the
paper's printed numbers (`sample_reconstructions.py`). The smoothest table, or the mean of all,
would make the paper's regression fit too well.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from cogniload_repro.models import MODELS, Model
from cogniload_repro.reconstruction.reconstruct import (
    DRAW_SEED,
    assemble_cells,
    find_typical,
    write_csv,
)
from cogniload_repro.reconstruction.sufficient import recover_sums
from cogniload_repro.regression.reconstructions import CELLS_FILE, KEYS, load_tables


def reconstruct(models: Iterable[Model] = MODELS) -> Iterator[pd.DataFrame]:
    """Yield each model's typical table: 140 cells with their errors by type.

    Error types are assigned to cells at random, from a random stream of the model's own.
    """
    tables = load_tables().set_index("model").drop(columns=KEYS[1:])
    for model in models:
        rng = np.random.default_rng([DRAW_SEED, MODELS.index(model)])
        model_sums = recover_sums(model)
        counts = tables.loc[model.name].to_numpy().T
        typical = counts[find_typical(counts, model_sums.answers)]
        yield assemble_cells(model_sums, typical, rng)


if __name__ == "__main__":
    print("wrote", write_csv(CELLS_FILE, reconstruct()))
