"""Sample counts that agree with the paper; `reconstruct.py` then regenerates cells.csv.

Writes two files to data/reconstructed: reconstructions.csv, the sampled tables of counts (a quarter
of an hour), and bounds.csv, bounds on accuracy at each rho (half a minute). `search_divisions.py`
then writes divisions.csv, the slopes among answers that did not run out of context.
"""

import click

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
    print("wrote", write_csv(BOUNDS, find_bounds(load_cells())))


if __name__ == "__main__":
    main()
