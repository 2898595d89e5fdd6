"""Sample counts that agree with the paper; `reconstruct.py` then regenerates cells.csv.

Writes three files to data/reconstructed: reconstructions.csv, the sampled tables of counts (a
quarter of an hour); divisions.csv, the slopes among answers that did not run out of context (three
minutes); bounds.csv, bounds on accuracy at each rho (half a minute).
"""

import click

from cogniload_repro.analysis.divisions import DIVISIONS, search_divisions
from cogniload_repro.commands.options import JOBS
from cogniload_repro.executors import open_executor
from cogniload_repro.reconstruction.bounds import BOUNDS, find_bounds
from cogniload_repro.reconstruction.feasible import write_tables
from cogniload_repro.reconstruction.reconstruct import write_csv
from cogniload_repro.regression.cell_tables import load_cells


@click.command()
@JOBS
def main(jobs: int) -> None:
    """Sample the committed reconstructions and their bounds again."""
    with open_executor(jobs) as executor:
        print("wrote", write_tables(executor))
        cells = load_cells()
        models = [counts for _, counts in cells.groupby("model", sort=False)]
        print("wrote", write_csv(DIVISIONS, executor.map(search_divisions, models)))
    print("wrote", write_csv(BOUNDS, find_bounds(cells)))


if __name__ == "__main__":
    main()
