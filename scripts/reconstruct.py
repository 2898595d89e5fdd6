"""Regenerate data/reconstructed/cells.csv: of each model, the typical one of the committed tables.

It has the median deviance. It is not the authors' data: all these tables of counts agree with the
paper's printed numbers (`sample_reconstructions.py`). The smoothest table, or the mean of all,
would make the paper's regression fit too well.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
from tqdm import tqdm

from cogniload_repro.models import MODELS, Model
from cogniload_repro.reconstruction.reconstruct import (
    DRAW_SEED,
    assemble_cells,
    find_typical,
    write_csv,
)
from cogniload_repro.reconstruction.sufficient import ModelSums, recover_sums
from cogniload_repro.regression.reconstructions import CELLS_FILE, KEYS, load_tables


def reconstruct(models: Iterable[Model] = MODELS) -> Iterator[pd.DataFrame]:
    """Yield each model's typical table: 140 cells with their errors by type.

    Error types are assigned to cells at random, from a random stream of the model's own.
    """
    for model in models:
        rng = np.random.default_rng([DRAW_SEED, MODELS.index(model)])
        model_sums = recover_sums(model)
        yield assemble_cells(model_sums, _find_committed(model_sums), rng)


def _find_committed(model_sums: ModelSums) -> np.ndarray:
    """Return the typical one of a model's committed tables."""
    tables = load_tables()
    of_model = tables[tables["model"] == model_sums.model]
    counts = of_model.drop(columns=KEYS).to_numpy().T
    return counts[find_typical(counts, model_sums.answers)]


if __name__ == "__main__":
    tables = tqdm(reconstruct(), "models", total=len(MODELS))
    print("wrote", write_csv(CELLS_FILE, tables))
