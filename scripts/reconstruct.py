"""Regenerate data/reconstructed/cells.csv: of each model, the typical one of the committed tables.

These tables of counts agree with the paper's printed numbers (`sample_reconstructions.py`).
"""

from tqdm import tqdm

from cogniload_repro.models import MODELS
from cogniload_repro.reconstruction.reconstruct import reconstruct, write_csv
from cogniload_repro.regression.reconstructions import CELLS_FILE

print("wrote", write_csv(CELLS_FILE, tqdm(reconstruct(), "models", total=len(MODELS))))
